"""The optimum of sparse models against an interior-point method, over hundreds of random problems."""

import numpy as np
import pytest
from scipy import sparse
from sparse_models.sparse_oracle import objective, optimum

from separatrix import LogisticRegression

CLOSE = 1e-6  # of the objective is what the interior-point method gets within


def table(rng, classes=2):
    """Rows with columns in any units, some repeated, constant, collinear or mostly 0; codes; weights or None."""
    n, d = int(rng.integers(classes * 3, 40)), int(rng.integers(1, 12))
    if rng.random() < 0.25:
        n, d = int(rng.integers(classes * 2, 12)), int(rng.integers(12, 40))  # more columns than rows
    X = rng.normal(size=(n, d))
    scores = X[:, :3].sum(axis=1) + rng.normal(size=n)
    X = X * (rng.random((n, d)) < 0.4) if rng.random() < 0.3 else X
    if d > 2 and rng.random() < 0.3:
        X[:, -1] = X[:, 0]
    if d > 3 and rng.random() < 0.3:
        X[:, -2] = X[:, 0] + X[:, 1]
    if rng.random() < 0.2:
        X[:, rng.integers(d)] = rng.choice([0.0, 1.0, -3.5])
    if rng.random() < 0.3:
        X *= 10.0 ** rng.uniform(-6, 6, d)
    if rng.random() < 0.2:
        X += 100.0 * np.abs(X).max(axis=0) * rng.random(d)
    y = np.digitize(scores, np.quantile(scores, np.linspace(0, 1, classes + 1)[1:-1]))
    weight = rng.choice([0.5, 1.0, 2.0, 7.25], n) if rng.random() < 0.4 else None
    return X, y, weight


def penalty(rng, X, y, weight):
    """C between none and all columns selected, and the share of the L1 penalty."""
    c = np.ones(len(y)) if weight is None else weight
    T = (y[:, None] == np.arange(y.max() + 1)).astype(float)
    share = c @ T / c.sum()
    strongest = np.abs((c[:, None] * (T - share)).T @ (X - X.mean(axis=0))).max()
    r = float(rng.choice([1.0, 1.0, 0.9, 0.5, 0.1, 1e-3]))
    return float(r / (strongest or 1.0) * 10.0 ** rng.uniform(-0.3, 3.0)), r


def within(model, X, y, C, r, weight, fit_intercept, loss="log"):
    """Neither is our objective above the oracle's by more than `CLOSE`, nor our bound above the oracle's objective."""
    best, coef, _ = optimum(X, y, C, r, weight, fit_intercept, loss)
    reached = objective(X, y, model.coef_, model.intercept_, C, r, weight, loss)
    claim = model.certificate_
    assert reached <= best * (1 + CLOSE)
    assert claim.dual <= best
    assert abs(claim.primal - reached) <= 1e-9 * reached
    return coef


@pytest.mark.parametrize("seed", range(220))
def test_two_classes(seed):
    rng = np.random.default_rng(seed)
    X, y, weight = table(rng)
    C, r = penalty(rng, X, y, weight)
    fit_intercept = bool(rng.random() < 0.75)
    given = sparse.csr_array(X) if rng.random() < 0.5 else X
    model = LogisticRegression(C=C, l1_ratio=r, fit_intercept=fit_intercept).fit(given, y, weight)
    coef = within(model, X, y, C, r, weight, fit_intercept)
    claim = model.certificate_
    assert claim.verify(given, y, weight)
    assert claim.relative_gap <= 1e-6  # small tables go far below tol
    assert not (model.coef_[claim.zeros]).any()
    spread = X.std(axis=0) if fit_intercept else np.sqrt((X**2).mean(axis=0))
    assert (np.abs(coef) * spread)[claim.zeros].max(initial=0.0) <= 1e-3  # a conic solver has no exact zeros
    assert model.n_nonzero_ == np.count_nonzero(model.coef_)


@pytest.mark.parametrize("seed", range(60))
def test_softmax(seed):
    rng = np.random.default_rng(1000 + seed)
    X, y, weight = table(rng, int(rng.integers(3, 5)))
    C, r = penalty(rng, X, y, weight)
    fit_intercept = bool(rng.random() < 0.75)
    given = sparse.csr_array(X) if rng.random() < 0.5 else X
    model = LogisticRegression(C=C, l1_ratio=r, fit_intercept=fit_intercept).fit(given, y, weight)
    coef = within(model, X, y, C, r, weight, fit_intercept)
    claim = model.certificate_
    assert claim.verify(given, y, weight)
    assert claim.relative_gap <= 1e-4
    spread = X.std(axis=0) if fit_intercept else np.sqrt((X**2).mean(axis=0))
    assert (np.abs(coef) * spread)[claim.zeros].max(initial=0.0) <= 1e-3
