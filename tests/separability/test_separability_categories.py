"""Tables of categories: one column that never points the wrong way, and few rows that balance, decide them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

import separatrix
from separatrix import separability
from separatrix.design import as_design
from separatrix.separation import search
from separatrix.separation.touching import one_column


def leads(X, codes, coef, intercept):
    """z_ic.V for all rivals c of each row i, class 0 having V = 0."""
    scores = np.column_stack([np.zeros(len(X)), X @ coef.T + intercept])
    own = scores[np.arange(len(X)), codes][:, None]
    return (own - scores)[np.arange(scores.shape[1]) != codes[:, None]]


@given(
    hnp.arrays(float, (9, 3), elements=st.integers(-1, 2)),
    st.sampled_from([(0, 1) * 4 + (1,), (0, 1, 2) * 3, (0, 1, 2, 3, 1, 2, 3, 3, 0)]),
    st.booleans(),
)
def test_one_column_is_found_when_there_is_one(X, codes, intercept):
    codes = np.array(codes)
    k = codes.max() + 1
    found = one_column(as_design(X, intercept), codes, k)
    if found is not None:
        assert intercept or not found[1].any()
        assert np.count_nonzero(np.abs(found[0]).max(axis=0)) == 1
        assert (leads(X, codes, *found) >= 0).all()
        assert (leads(X, codes, *found) > 0).any()
        return
    for c in range(k):
        for x in (*X.T, *-X.T):
            inside, outside = x[codes == c], x[codes != c]
            level = inside.min() >= outside.max() if intercept else inside.min() >= 0 >= outside.max()
            assert not level or x.min() == x.max() or (not intercept and not x.any())


def table(k, rows=400, seed=0):
    """Three categorical columns, one-hot; labels at random, but some classes never have the last category."""
    random = np.random.default_rng(seed)
    values = np.column_stack([random.integers(0, levels, rows) for levels in (3, 4, 6)])
    y = random.integers(0, k, rows)
    y[values[:, 2] == 5] = k - 1
    return np.hstack([np.eye(levels)[column] for column, levels in zip(values.T, (3, 4, 6), strict=True)]), y


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_large_tables_of_categories_are_decided_exactly(monkeypatch, k, storage, fit_intercept):
    X, y = table(k)
    exact = separability(storage(X), y, exact=True, fit_intercept=fit_intercept)
    monkeypatch.setattr(search, "SMALL_ORDER", 0)  # as if exact arithmetic on all rows were out of reach
    monkeypatch.setattr(search, "prove", lambda *_: pytest.fail("not needed"))
    result = separability(storage(X), y, fit_intercept=fit_intercept)
    assert result.verdict == exact.verdict == "quasi-separable"
    assert result.exact
    assert result.verify(X, y)
    other = y.copy()
    other[np.flatnonzero(X[:, -1])] = 0  # now the last category has another class
    assert not result.verify(X, other)


def test_numbers_beside_categories():
    X, y = table(2)
    random = np.random.default_rng(1)
    X = np.column_stack([random.normal(size=(len(X), 4)) + 0.3 * y[:, None], 1e6 * random.random(len(X)), X])
    result = separability(X, y)
    assert result.verdict == "quasi-separable"
    assert result.verify(X, y)
    assert result.weights.astype(bool).sum() <= X.shape[1] + 2


def test_overlapping_categories_are_not_called_quasi_separable():
    X, y = table(2)
    y[np.flatnonzero(X[:, -1])[:5]] = 0
    assert separability(X, y).verdict == "overlapping"


def test_the_exception_of_a_category_must_not_separate():
    X = np.eye(3)[[0, 0, 1, 1, 2]]
    result = separability(X, [0, 0, 1, 1, 1])
    assert result.verdict == "separable"
    assert isinstance(result.certificate, separatrix.certificates.Separator)
