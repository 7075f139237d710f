"""Tall dense tables: what preconditions L-BFGS, who decides it, and what happens if that was wrong."""

import numpy as np
import pytest

from separatrix import LogisticRegression, Status
from separatrix.design import Design, as_design
from separatrix.logistic.penalised import Settings, make_risk
from separatrix.problems.risk import Risk
from separatrix.solvers.precondition import diagonal
from separatrix.targets import Targets


@pytest.fixture
def hessians(monkeypatch):
    """How many rows each Hessian was formed of."""
    formed = []
    gram, hessian = Design.gram, Risk.hessian
    monkeypatch.setattr(Design, "gram", lambda self, h=None: formed.append(self.n) or gram(self, h))
    monkeypatch.setattr(Risk, "hessian", lambda self, V: formed.append(self.design.n) or hessian(self, V))
    return formed


def labels(X, seed=1):
    rng = np.random.default_rng(seed)
    n, d = X.shape
    return (X - X.mean(axis=0)) @ rng.normal(size=d) / np.sqrt(d) + rng.logistic(size=n) > 0


def independent(n, d):
    """Normal columns with means of their own."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)) + rng.normal(size=d)


def correlated(n, d):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)) + rng.normal(size=(n, 5)) @ rng.normal(size=(5, d))


def near_copies(n, d):
    """Each column twice: the diagonal gets near the optimum soon, and then nowhere."""
    X = independent(n, d // 2)
    return np.hstack([X, X + 0.03 * np.random.default_rng(1).normal(size=X.shape)])


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_diagonal_is_the_inverse_hessian_of_columns_that_do_not_meet(intercept, classes):
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(np.hstack([np.ones((60, 1)), rng.normal(size=(60, 4))]))[0][:, 1:]  # orthogonal, and to 1
    X = Q * [0.1, 1.0, 10.0, 100.0] + (np.array([3.0, -2.0, 0.0, 50.0]) if intercept else 0.0)
    targets = Targets(np.arange(classes), np.arange(60) % classes)
    risk = make_risk(as_design(X, intercept), targets, np.ones(60), Settings(2.0, "auto", 1e-4, 100, False))
    V = np.zeros((risk.design.p, risk.k))  # where all rows bend alike
    G = rng.normal(size=V.shape)
    expected = np.linalg.solve(risk.hessian(V), G.ravel(order="F")).reshape(V.shape, order="F")
    np.testing.assert_allclose(diagonal(risk, V)(G), expected, rtol=1e-9)


def test_columns_that_no_row_sees_are_left_alone():
    X = np.zeros((10, 2))
    risk = make_risk(
        as_design(X, False),
        Targets(np.arange(2), np.arange(10) % 2),
        np.ones(10),
        Settings(np.inf, "auto", 1e-4, 100, False),
    )
    assert np.isfinite(diagonal(risk, np.zeros((2, 1)))(np.ones((2, 1)))).all()


def test_independent_columns_need_no_hessian(hessians):
    X = independent(6_000, 200)
    y = labels(X)
    model = LogisticRegression().fit(X, y)
    assert model.status_ is Status.CERTIFIED
    assert model.certificate_.verify(X, y)
    assert hessians == []


@pytest.mark.parametrize("make", [correlated, near_copies])
def test_other_columns_get_hessians_of_a_sample(make, hessians):
    X = make(6_000, 200)
    y = labels(X)
    model = LogisticRegression(tol=1e-8).fit(X, y)
    assert model.status_ is Status.CERTIFIED
    assert model.certificate_.verify(X, y)
    assert hessians
    assert max(hessians) <= 3_000
    assert model.n_iter_ < 40


def test_no_hessian_of_all_rows_where_a_sample_does(hessians):
    X = correlated(12_000, 30)
    assert LogisticRegression().fit(X, labels(X)).status_ is Status.CERTIFIED
    assert max(hessians) < 6_000


def test_newton_goes_on_where_rows_are_too_unequal_for_a_sample(hessians):
    X = correlated(12_000, 30)
    y, weight = labels(X), np.exp(4 * np.random.default_rng(2).normal(size=12_000))
    model = LogisticRegression().fit(X, y, sample_weight=weight)
    assert model.status_ is Status.CERTIFIED
    assert max(hessians) == 12_000
    assert model.n_iter_ < 40
