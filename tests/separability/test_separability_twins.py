"""Wide rows of which some are equal and of both classes: quasi-separable, which floats alone cannot prove."""

import numpy as np
import pytest
from scipy import sparse

from separatrix import LogisticRegression, SeparationWarning, Status, separability
from separatrix.separation import search


def with_twins(n, d, twins, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, d)), rng.integers(0, 2, size=n)
    y[:twins] = np.arange(twins) % 2
    return np.vstack([X, X[:twins]]), np.append(y, 1 - y[:twins])


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("twins", [1, 2, 5])
def test_equal_rows_of_both_classes_are_on_the_boundary(twins, intercept, make, monkeypatch):
    def begun(*args):
        raise AssertionError("a linear program began")

    monkeypatch.setattr(search, "largest_lead", begun)
    X, y = with_twins(160, 400, twins)
    found = separability(make(X), y, fit_intercept=intercept)
    assert found.verdict == "quasi-separable"
    assert found.verify(X, y)
    assert not found.verify(X + np.arange(len(X))[:, None], y)


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_in_any_unit(scale):
    X, y = with_twins(30, 80, 2)
    found = separability(X * scale * 2.0 ** np.arange(-40, 40), y)
    assert found.verdict == "quasi-separable"


def test_their_likelihood_has_no_maximum():
    X, y = with_twins(160, 400, 1)
    with pytest.warns(SeparationWarning, match="quasi-separable"):
        model = LogisticRegression(C=np.inf).fit(X, y)
    assert model.status_ is Status.NO_MAXIMUM
    assert model.certificate_.verify(X, y)
    assert (model.predict(X) == y).sum() == len(y) - 1


def test_rows_that_are_nearly_equal_are_separable():
    X, y = with_twins(30, 80, 1)
    X[-1, 3] = np.nextafter(X[-1, 3], np.inf)
    assert separability(X, y).verdict == "separable"
    assert separability(X, y).verify(X, y)
