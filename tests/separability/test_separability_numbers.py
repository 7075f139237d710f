"""Numbers that float64 rounds are refused by every estimator and every checker: a claim would be about other data."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from contract import all_estimators
from scipy import sparse

from separatrix import InvalidInputError, separability
from separatrix.certificates import Separator
from separatrix.certificates._held import unheld

BIG = 2**53
ROUNDED = {
    "list": [[BIG], [BIG + 1]],
    "int64": np.array([[BIG], [BIG + 1]]),
    "uint64": np.array([[BIG], [BIG + 1]], dtype=np.uint64),
    "negative": np.array([[-BIG], [-BIG - 1]]),
    "largest int64": np.array([[0], [2**63 - 1]]),
    "largest uint64": np.array([[0], [2**64 - 1]], dtype=np.uint64),
    "objects": np.array([[BIG], [BIG + 1]], dtype=object),
    "beside floats": [[BIG, 0.5], [BIG + 1, 0.5]],
    "beyond 64 bits": [[2**70], [2**70 + 1]],
    "fractions": [[Fraction(1, 3)], [Fraction(1)]],
    "decimals": [[Decimal("0.1")], [Decimal(1)]],
    "sparse": sparse.csr_array(np.array([[0, BIG], [0, BIG + 1]])),
    "sparse, by column": sparse.csc_array(np.array([[0, BIG], [0, BIG + 1]])),
}
HELD = {
    "powers of two": np.array([[2**60], [0]]),
    "smallest int64": np.array([[-(2**63)], [0]]),
    "up to 2**53": np.array([[BIG], [-BIG]]),
    "fractions": [[Fraction(1, 4)], [Fraction(1)]],
    "floats beyond": [[1e20], [0.1]],
    "text": np.array([["1"], ["2"]], dtype=object),
    "long floats": np.array([[1], [2]], dtype=np.longdouble),
}
if np.finfo(np.longdouble).eps < np.finfo(np.float64).eps:
    ROUNDED["long floats"] = np.nextafter(np.ones((2, 1), dtype=np.longdouble), [[1], [2]], dtype=np.longdouble)

SEPARATOR = Separator(np.array([0, 1]), np.array([[1.0]]), np.array([0.0]), 1, 0.0)


@pytest.mark.parametrize("name", ROUNDED)
def test_a_number_that_would_be_rounded_is_refused_by_name(name):
    X = ROUNDED[name]
    with pytest.raises(InvalidInputError, match=r"row \d, column \d.*float64"):
        separability(X, [0, 1], exact=True)
    with pytest.raises(ValueError, match="float64"):
        SEPARATOR.verify(X, [0, 1])


@pytest.mark.parametrize("name", HELD)
def test_a_number_that_float64_holds_is_welcome(name):
    result = separability(HELD[name], [0, 1], exact=True)
    assert result.verdict == "separable"
    assert result.verify(HELD[name], [0, 1])


def test_tables_of_mixed_columns():
    pandas = pytest.importorskip("pandas")
    numbers = {"size": [0.5, 1.5, 2.5], "when": [BIG, BIG + 1, BIG + 2]}
    for table in (
        pandas.DataFrame(numbers),
        pandas.DataFrame(numbers).astype({"when": "Int64"}),
        pandas.DataFrame(numbers).astype({"when": object}),
    ):
        with pytest.raises(InvalidInputError, match=r"row 1, column 1 \('when'\)"):
            separability(table, [0, 1, 1])
        with pytest.raises(ValueError, match="row 1, column 1"):
            Separator(np.array([0, 1]), np.array([[1.0, 0.0]]), np.array([-1.0]), 1, 0.0).verify(table, [0, 1, 1])
        table["when"] = table["when"] - BIG
        assert separability(table, [0, 1, 1]).verdict == "separable"


@pytest.mark.parametrize("estimator", all_estimators(), ids=lambda estimator: type(estimator).__name__)
def test_every_estimator_refuses(estimator):
    X = np.arange(20).reshape(10, 2) + np.array([0, BIG])
    with pytest.raises(InvalidInputError, match="float64"):
        estimator.fit(X, np.arange(10) % 2)


def test_the_place_in_a_sparse_matrix():
    dense = np.zeros((5, 4), dtype=np.int64)
    dense[0, 3], dense[3, 1], dense[3, 2] = 7, 5, BIG + 1
    X = sparse.csr_array(dense)
    assert unheld(X, X) == (3, 2)
    assert unheld(dense, dense) == (3, 2)
