"""Sparse models of rows in a file: those in memory, bit for bit, or the same optimum where columns are too many."""

import numpy as np
import pytest
from files.blocks import stored
from files.tables import TABLES, fitted, plain
from scipy import sparse

from separatrix import InvalidInputError, LinearSVC, LogisticRegression

L1 = [
    LogisticRegression(l1_ratio=1.0, C=0.01, tol=1e-6),
    LogisticRegression(l1_ratio=0.5, C=0.01, tol=1e-6),
    LinearSVC(penalty="l1", loss="squared_hinge", C=0.01, tol=1e-6),
]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("model", L1, ids=str)
def test_of_few_columns_bit_for_bit(model, table):
    X, y = TABLES[table]
    with stored(X) as rows:
        found = fitted(model, rows, y)
        assert plain(found) == plain(fitted(model, X, y))
        assert found.certificate_.verify(rows, y)


def wide(kind):
    rng = np.random.default_rng(0)
    if kind == "csr":
        X = sparse.random(20_000, 3000, density=0.01, format="csr", random_state=0)
        return X, (30 * (X[:, :8].sum(axis=1).A1 - 0.04) + rng.logistic(size=20_000) > 0).astype(int)
    X = rng.normal(size=(6000, 700))
    scores = X[:, :3] + rng.gumbel(size=(6000, 3))
    return X, scores.argmax(axis=1) if kind == "three" else (scores[:, 0] > scores[:, 1]).astype(int)


@pytest.mark.parametrize("kind", ["dense", "three", "csr"])
@pytest.mark.parametrize("model", L1[:2], ids=str)
def test_of_many_columns_some_at_a_time(model, kind):
    """Each of the two proves a lower bound on the minimum that they share, and is within tol of it."""
    X, y = wide(kind)
    model = model.set_params(C=0.1 if kind == "csr" else 0.01)
    expected = fitted(model, X, y)
    with stored(X) as rows:
        found = fitted(model, rows, y)
        assert found.certificate_.verify(rows, y)
        assert found.certificate_.relative_gap <= 1e-6
        assert found.certificate_.primal >= expected.certificate_.dual
        assert expected.certificate_.primal >= found.certificate_.dual
        assert 0 < found.n_nonzero_ < X.shape[1]


def test_what_passes_cannot_do_is_said():
    rng = np.random.default_rng(0)
    X = sparse.random(8000, 2500, density=0.01, format="csr", random_state=0)
    y = (X @ rng.normal(size=2500) > 0).astype(int)
    with stored(X) as rows:
        with pytest.raises(InvalidInputError, match=r"works with 2,000 weights at a time, .* lower C") as caught:
            LogisticRegression(l1_ratio=1.0, C=1e4).fit(rows, y)
        assert caught.value.parameter == "C"
        with pytest.raises(InvalidInputError, match=r"linear program of all rows .* use loss='squared_hinge'"):
            LinearSVC(penalty="l1", loss="hinge").fit(rows, y)
