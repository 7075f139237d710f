"""loss="squared_error" where the sigmoid saturates, in extreme units, and far from rest: each claim in 60 digits."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from problems import noisy
from scipy import sparse
from scipy.special import expit
from sklearn import datasets
from stationarity_oracle import squared_error_gradient

from separatrix import ConvergenceWarning, InvalidInputError, LogisticRegression, SeparationWarning, Status
from separatrix.logistic.stationary import RelativeGradient
from separatrix.solvers.trust_region import constrained_step

SECOND_ORDER = ["auto", "newton", "gauss-newton"]


def squared(C=1.0, **parameters):
    return LogisticRegression(C, loss="squared_error", **parameters)


def quietly(model, X, t, weight=None):
    """Fitted, with the warnings it gave."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, t, weight)
    assert all(issubclass(w.category, (ConvergenceWarning, SeparationWarning)) for w in caught)
    return model, caught


def assert_claim(model, X, t, weight=None, free=True):
    """A claim is verified and true; no claim comes with a warning."""
    if model.status_ is not Status.STATIONARY:
        return False
    certificate = model.certificate_
    assert certificate.verify(X, t, weight)
    true = squared_error_gradient(X, t, model.coef_[0], model.intercept_[0], model.C, weight, free)
    assert true <= certificate.witness["tol"] * 1.1
    return True


# ---------------------------------------------------------------------- plateaus are not stationary
@pytest.mark.parametrize("table", ["iris", "wine", "breast_cancer"])
@pytest.mark.parametrize("solver", ["gradient", "sgd"])
def test_long_steps_on_tables_as_they_are(table, solver):
    X, y = getattr(datasets, f"load_{table}")(return_X_y=True)
    X, t = X[y > y.max() - 2], (y[y > y.max() - 2] == y.max()).astype(int)
    for rate in (0.001, 0.1, 1.0):
        model, caught = quietly(squared(np.inf, solver=solver, learning_rate=rate, max_iter=60), X, t)
        assert_claim(model, X, t)
        assert caught or model.status_ is Status.STATIONARY


@pytest.mark.parametrize("b", [-60.0, -300.0, -800.0, 800.0, -1e5])
@pytest.mark.parametrize("solver", SECOND_ORDER)
def test_a_saturated_start_recovers(solver, b):
    X, t = noisy(40, 2, seed=3)
    start = np.array([0.0, 0.0, b])
    model = squared(np.inf, solver=solver, init=start).fit(X, t)
    best = squared(np.inf, solver="newton").fit(X, t)
    assert model.certificate_.kind == "local minimum"
    np.testing.assert_allclose(model.coef_, best.coef_, rtol=1e-6)
    assert assert_claim(model, X, t)


@pytest.mark.parametrize("solver", ["newton", "gauss-newton"])
@pytest.mark.parametrize("seed", range(6))
def test_no_solver_ends_above_its_start(solver, seed):
    rng = np.random.default_rng(seed)
    X, t = noisy(15, 2, seed=seed)
    start = rng.normal(size=3) * 10.0 ** rng.integers(0, 4)
    for C in (1.0, np.inf):

        def E(v, C=C):
            errors = ((t - expit(X @ v[:2] + v[2])) ** 2).sum()
            return errors if np.isinf(C) else C * errors + 0.5 * v[:2] @ v[:2]

        model, _ = quietly(squared(C, solver=solver, init=start), X, t)
        assert E(np.append(model.coef_, model.intercept_)) <= E(start) * (1 + 1e-12)


def test_slopes_that_vanish_in_float64_are_seen():
    X, t = noisy(20, 2)
    certificate = squared(np.inf).fit(X, t).certificate_
    for b in (-500.0, -1e4, -1e6, 1e6):
        witness = {**certificate.witness, "coef": np.zeros((1, 2)), "intercept": np.array([b]), "tol": 0.01}
        true = squared_error_gradient(X, t, [0.0, 0.0], b, digits=60)
        assert true > 0.5
        for kind in ("flat", "saddle", "local minimum", "unexamined"):
            forged = type(certificate)("squared_error", [0, 1], None, certificate.unit, {**witness, "kind": kind})
            assert not forged.verify(X, t)


def test_the_measure_of_the_fit_is_the_oracles():
    X, t = noisy(12, 2)
    c = np.random.default_rng(0).uniform(0.1, 5.0, size=12)
    from separatrix.design import as_design
    from separatrix.losses import SigmoidSquared
    from separatrix.penalties import Ridge
    from separatrix.problems.risk import Risk
    from separatrix.problems.scored import TwoClasses
    from separatrix.targets import Targets

    design = as_design(X).centred(c)
    for C, ridge in ((np.inf, 0.0), (1.0, 1.0)):
        risk = Risk(
            TwoClasses(SigmoidSquared()), Ridge(np.array([ridge, ridge, 0.0])), design, Targets(np.array([0, 1]), t), c
        )
        for w, b in (([0.3, -2.0], 0.5), ([0.0, 0.0], -900.0), ([500.0, 20.0], 3.0), ([0.0, 0.0], 5000.0)):
            ours = RelativeGradient(risk).measure(np.array([w]), np.array([b]))[1]
            assert ours == pytest.approx(squared_error_gradient(X, t, w, b, C, c), rel=1e-9, abs=1e-15)


# ---------------------------------------------------------------------- extreme units and weights
def hostile(rng):
    """A small table that saturates, underflows, cancels, repeats or is constant in a column; labels and weights."""
    n, d = int(rng.integers(4, 12)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, d)) if rng.random() < 0.6 else rng.integers(-3, 4, size=(n, d)).astype(float)
    t = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
    t[:2] = 0, 1
    change = rng.integers(0, 7)
    if change == 0:
        X = X * 10.0 ** rng.integers(-140, 140)
    elif change == 1:
        X = X * 10.0 ** rng.integers(-10, 10, size=d)
    elif change == 2:
        X = X + 10.0 ** rng.integers(0, 13)
    elif change == 3:
        X = np.column_stack([X, X[:, :1]])
    elif change == 4:
        X = np.column_stack([X, np.full(n, rng.choice([0.0, 0.1, 1e9]))])
    elif change == 5:
        X = X * 50
    weight = [None, 10.0 ** rng.uniform(-12, 12, size=n), rng.uniform(0.1, 3.0, size=n)][rng.integers(0, 3)]
    return X, t, weight


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10**6), st.sampled_from([*SECOND_ORDER, "gradient", "sgd"]), st.booleans(), st.booleans())
def test_every_claim_on_hostile_tables(seed, solver, free, given_start):
    rng = np.random.default_rng(seed)
    X, t, weight = hostile(rng)
    C = float(rng.choice([np.inf, 1.0, 1e-3, 1e3, 1e-20, 1e10, 1e-100]))
    options = {"max_iter": 40} if solver in ("gradient", "sgd") else {}
    if given_start:
        options["init"] = rng.normal(size=X.shape[1] + free) * 10.0 ** rng.integers(0, 4)
    try:
        model, caught = quietly(squared(C, solver=solver, fit_intercept=free, **options), X, t, weight)
    except InvalidInputError:  # units that no square holds, or a step that diverges
        return
    assert np.isfinite(model.coef_).all()
    assert assert_claim(model, X, t, weight, free) or caught


@pytest.mark.parametrize("C, change", [(1e-20, lambda X: X * 1e-8), (1e-100, lambda X: X + 1e6)])
@pytest.mark.parametrize("solver", SECOND_ORDER)
def test_a_penalty_that_outweighs_all_rows_ends(solver, C, change):
    X, t = noisy(60, 3)
    X = change(X)
    model = squared(C, solver=solver).fit(X, t)
    assert assert_claim(model, X, t)
    # to first order w = C sum_i c_i 2 e p (1 - p) (x_i - mean) at the best constant probability
    p = t.mean()
    w = C * 2 * p * (1 - p) * (t - p) @ (X - X.mean(axis=0))
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-6)


# ---------------------------------------------------------------------- wide tables
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, lambda X: X + 1e4])
def test_far_more_columns_than_rows(make):
    rng = np.random.default_rng(0)
    X, t = make(rng.normal(size=(8, 400))), np.arange(8) % 2
    model = squared(solver="newton", init="zeros").fit(X, t)
    assert model.certificate_.verify(X, t)
    dense = X.toarray() if sparse.issparse(X) else X
    # w is a combination of the rows about their mean, and solves w = C sum_i 2 e p (1 - p) x_i
    p = expit(dense @ model.coef_[0] + model.intercept_[0])
    np.testing.assert_allclose(model.coef_[0], (2 * (t - p) * p * (1 - p)) @ (dense - dense.mean(axis=0)), rtol=1e-6)


# ---------------------------------------------------------------------- the steps
def test_gauss_newton_is_levenberg_and_marquardts():
    """Each recorded step is -(2J'J + mu B)⁻¹ g for some mu >= 0, B the Gram matrix of the coordinates."""
    X, t = noisy(80, 2, seed=5)
    Z = np.column_stack([X, np.ones(80)])
    path = squared(np.inf, solver="gauss-newton", init="zeros", trace=True).fit(X, t).trace_["weights"]
    plain = 0
    for before, after in pairwise(path[:-1]):
        p = expit(Z @ before)
        J, e = (p * (1 - p))[:, None] * Z, t - p
        H, g, step = 2 * J.T @ J, -2 * J.T @ e, after - before
        if np.abs(step).max() < 1e-5:  # the difference of two rows of the trace has lost its digits
            break
        B = Z.T @ Z
        mu = -(step @ (H @ step + g)) / (step @ B @ step)
        assert mu > -1e-9 * np.abs(H).max()
        np.testing.assert_allclose((H + max(mu, 0) * B) @ step, -g, atol=1e-8 * np.abs(g).max())
        plain += mu < 1e-9
    assert plain >= 3


@given(st.integers(0, 10**6))
def test_no_point_of_the_ball_is_lower(seed):
    rng = np.random.default_rng(seed)
    n, unit, radius = int(rng.integers(1, 6)), 10.0 ** rng.integers(-140, 90), 10.0 ** rng.integers(-6, 6)
    values = np.sort(rng.normal(size=n)) * 10.0 ** rng.integers(-8, 8)
    gamma = rng.normal(size=n) * 10.0 ** rng.integers(-12, 8, size=n)
    gamma[0] *= rng.integers(0, 2)
    u = constrained_step(values * unit, gamma * unit, radius)
    assert np.linalg.norm(u) <= radius * (1 + 1e-12)

    def model(u):
        return gamma @ u + 0.5 * (values * u) @ u

    for _ in range(20):
        other = u + rng.normal(size=n) * np.linalg.norm(u) * 10.0 ** rng.integers(-6, 1)
        other *= min(1.0, radius / max(np.linalg.norm(other), 1e-300))
        assert model(other) >= model(u) - 1e-9 * abs(model(u)) - 1e-300
