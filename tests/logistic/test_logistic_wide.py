"""Maximum likelihood of wide rows: whether there is a maximum is asked first, and no basis is made in vain."""

import numpy as np
import pytest
from scipy import sparse

from separatrix import LogisticRegression, SeparationWarning, Separator, Status
from separatrix.certificates import _row_basis
from separatrix.certificates._data import Data
from separatrix.certificates._row_basis import DOUBTS, row_basis
from separatrix.logistic import maximum_likelihood


def wide(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.integers(0, 2, size=n)


def refused(*args, **kwargs):
    raise AssertionError("this was to be saved")


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("intercept", [True, False])
def test_separable_wide_rows_need_no_basis(make, intercept, monkeypatch):
    monkeypatch.setattr(maximum_likelihood, "row_basis", refused)
    X, y = wide(40, 90)
    with pytest.warns(SeparationWarning, match="separable"):
        model = LogisticRegression(C=np.inf, fit_intercept=intercept).fit(make(X), y)
    assert model.status_ is Status.NO_MAXIMUM
    assert isinstance(model.certificate_, Separator)
    assert model.certificate_.verify(X, y)
    assert (model.predict(X) == y).all()


def test_where_there_is_no_maximum_no_gap_is_bounded(monkeypatch):
    monkeypatch.setattr(maximum_likelihood, "decrement", refused)
    X, _ = wide(90, 40)
    with pytest.warns(SeparationWarning, match="separable"):
        model = LogisticRegression(C=np.inf).fit(X, (X[:, 0] > 0).astype(int))
    assert model.status_ is Status.NO_MAXIMUM
    assert model.log_likelihood_ == pytest.approx(np.log(model.predict_proba(X).max(axis=1)).sum(), rel=1e-9)


def test_wide_rows_of_low_rank_that_overlap_have_a_maximum():
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, size=(80, 3)).astype(float) @ rng.integers(-2, 3, size=(3, 90))
    model = LogisticRegression(C=np.inf).fit(X, rng.integers(0, 2, size=80))
    assert model.status_ is Status.CERTIFIED
    assert model.rank_ == 4


def test_after_some_doubts_no_combination_is_looked_for(monkeypatch):
    asked = []
    solve = np.linalg.lstsq
    monkeypatch.setattr(_row_basis.np.linalg, "lstsq", lambda *a, **options: asked.append(1) or solve(*a, **options))
    X, y = wide(30, 100)
    basis = row_basis(Data(X, y, np.ones(30)), True)
    assert len(asked) == len(basis.unproved) == DOUBTS
    assert len(basis.live) == 100
