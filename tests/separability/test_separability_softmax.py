"""separability of more than two classes: is there an argmax of linear scores without error?"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from separability.separability_oracles import softmax_rows, verdict
from sklearn.datasets import load_iris

from separatrix import separability


def test_three_classes_on_a_line_are_separable_though_the_middle_one_is_not_from_the_rest():
    X, y = np.array([[-1.0], [0.0], [1.0]]), np.array([0, 1, 2])
    result = separability(X, y, exact=True)
    assert result.verdict == "separable"
    assert result.verify(X, y)
    assert result.certificate.coef.shape == (3, 1)
    assert result.hyperplane is None
    scores = X @ result.certificate.coef.T + result.certificate.intercept
    assert scores.argmax(axis=1).tolist() == [0, 1, 2]
    assert separability(X, y == 1, exact=True).verdict != "separable"


@settings(max_examples=100, deadline=None)
@given(
    hnp.arrays(np.int64, st.tuples(st.integers(3, 9), st.integers(1, 2)), elements=st.integers(-2, 2)),
    st.randoms(use_true_random=False),
    st.booleans(),
)
def test_small_lattices_agree_with_linear_programs(X, random, exact):
    y = np.array([random.randrange(3) for _ in X])
    y[:3] = 0, 1, 2
    result = separability(X, y, exact=exact)
    assert result.verdict == verdict(softmax_rows(X, y))
    check = result.verify(X, y)
    assert check, str(check)


@pytest.mark.parametrize("exact", [False, True])
def test_weights_sum_to_zero_for_every_class(exact):
    r = np.random.default_rng(3)
    X, y = r.normal(size=(80, 3)), r.integers(0, 4, 80)
    result = separability(X, y, exact=exact)
    assert result.verdict == "overlapping"
    weights = result.weights
    assert weights.shape == (80, 4)
    for c in range(4):
        for column in (*X.T, np.ones(80)):
            total = sum(
                Fraction(float(x)) * (sum(map(Fraction, row)) if own == c else -Fraction(row[c]))
                for x, own, row in zip(column, y, weights.tolist(), strict=True)
            )
            assert total == 0 if exact else abs(total) < 1e-12


def test_iris_is_quasi_separable():
    X, y = load_iris(return_X_y=True)
    result = separability(X, y, exact=True)
    assert result.verdict == "quasi-separable"
    assert result.verify(X, y)
