"""The plain rules "gradient" and "sgd", where they start, and what a trace records of them and of the others."""

from itertools import pairwise

import numpy as np
import pytest
from problems import noisy
from scipy import sparse
from scipy.special import expit, softmax

from separatrix import ConvergenceWarning, InvalidInputError, LogisticRegression, SeparationWarning, Status
from separatrix.design import as_design
from separatrix.solvers import gradient as descent

COLUMNS = ["step", "point", "objective", "gap", "mistakes", "weights"]
STEEPEST = {"log": 0.25, "squared_error": (39 + 55 * np.sqrt(33)) / 2304}


def homogeneous(X):
    return np.column_stack([X, np.ones(len(X))])


def objective(v, X, t, C=1.0, loss="log"):
    y, w = 2 * t - 1, v[:-1]
    scores = homogeneous(X) @ v
    each = np.logaddexp(0.0, -y * scores) if loss == "log" else expit(-y * scores) ** 2
    return each.sum() if np.isinf(C) else C * each.sum() + 0.5 * w @ w


def pulls(v, Z, t, loss):
    p = expit(Z @ v)
    return (t - p) if loss == "log" else 2 * (t - p) * p * (1 - p)


# ---------------------------------------------------------------------- the bound on the curvature
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
def test_the_largest_eigenvalue_is_bounded_from_above(store, monkeypatch):
    rng = np.random.default_rng(0)
    X, c = rng.normal(size=(50, 6)) + 0.5, rng.uniform(0.1, 2.0, size=50)
    Z = homogeneous(X)
    G = Z.T @ (c[:, None] * Z)
    true = np.linalg.eigvalsh(G)[-1]
    assert descent.largest_eigenvalue(as_design(store(X)), c) == pytest.approx(true, rel=1e-9)
    monkeypatch.setattr(descent, "FACTORED_ORDER", 0)
    bound = descent.largest_eigenvalue(as_design(store(X)), c)
    assert true <= bound <= np.trace(G)
    counts = descent.largest_eigenvalue(as_design(store(np.abs(X))), c)  # tight where nothing is negative
    Z = np.abs(Z)
    assert counts == pytest.approx(np.linalg.eigvalsh(Z.T @ (c[:, None] * Z))[-1], rel=1e-3)


# ---------------------------------------------------------------------- gradient descent
@pytest.mark.parametrize("loss", ["log", "squared_error"])
@pytest.mark.parametrize("C", [0.5, 20.0])
def test_gradient_steps_are_the_rule_and_go_down(loss, C):
    X, t = noisy(60, 3)
    model = LogisticRegression(C, loss, "gradient", trace=True, max_iter=5000).fit(X, t)
    Z, trace = homogeneous(X), model.trace_
    rate = 1 / (C * STEEPEST[loss] * np.linalg.eigvalsh(Z.T @ Z)[-1] + 1)
    weights = trace["weights"]
    assert not weights[0].any()
    for before, after in pairwise(weights[:6]):
        step = C * Z.T @ pulls(before, Z, t, loss) - np.append(before[:-1], 0.0)
        np.testing.assert_allclose(after, before + rate * step, rtol=1e-10, atol=1e-14)
    assert (np.diff(trace["objective"]) < 0).all()
    recomputed = [objective(v, X, t, C, loss) for v in weights]
    np.testing.assert_allclose(trace["objective"], recomputed, rtol=1e-12)
    np.testing.assert_array_equal(trace["mistakes"], [((Z @ v >= 0) != t).sum() for v in weights])
    np.testing.assert_array_equal(trace["step"], np.arange(int(np.max(model.n_iter_)) + 1))
    assert (trace["point"] == -1).all()
    np.testing.assert_array_equal(weights[-1], np.append(model.coef_, model.intercept_))
    assert model.certificate_.verify(X, t)


def test_the_gap_in_the_trace_bounds_what_is_left():
    X, t = noisy(60, 3)
    trace = LogisticRegression(solver="gradient", trace=True).fit(X, t).trace_
    least = LogisticRegression().fit(X, t).certificate_.primal
    assert list(trace) == COLUMNS
    assert (trace["gap"] >= trace["objective"] - least - 1e-12).all()
    assert trace["gap"][-1] <= 1e-4 * trace["objective"][-1]


def test_squared_error_traces_the_relative_gradient():
    X, t = noisy(60, 3)
    trace = LogisticRegression(loss="squared_error", solver="gradient", trace=True).fit(X, t).trace_
    assert "gap" not in trace
    assert ((trace["gradient"] >= 0) & (trace["gradient"] <= 1)).all()
    assert trace["gradient"][-1] <= 1e-4


@pytest.mark.parametrize("solver", ["gradient", "sgd"])
def test_maximum_likelihood_by_the_plain_rules(solver):
    X, t = noisy(80, 2)
    exact = LogisticRegression(np.inf).fit(X, t)
    model = LogisticRegression(np.inf, solver=solver, random_state=0, max_iter=5000).fit(X, t)
    assert model.status_ is Status.CERTIFIED
    assert model.certificate_.bound == "decrement"
    assert model.certificate_.verify(X, t)
    assert model.log_likelihood_ == pytest.approx(exact.log_likelihood_, rel=1e-4)
    np.testing.assert_allclose(model.standard_errors_, exact.standard_errors_, rtol=0.05)


@pytest.mark.parametrize("solver", ["gradient", "sgd"])
def test_separable_classes_are_recognised(solver):
    X, t = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    with pytest.warns(SeparationWarning):
        model = LogisticRegression(np.inf, solver=solver, random_state=0, max_iter=200).fit(X, t)
    assert model.status_ is Status.NO_MAXIMUM
    assert model.certificate_.verify(X, t)


@pytest.mark.parametrize("identifiability", ["symmetric", "reference"])
def test_softmax_steps_are_the_rule(identifiability):
    X, y = noisy(60, 3, k=3)
    options = {"solver": "gradient", "identifiability": identifiability, "trace": True, "learning_rate": 0.01}
    model = LogisticRegression(max_iter=5000, **options).fit(X, y)
    Z, path = homogeneous(X), model.trace_["weights"]
    assert path.shape[1:] == (3, 4)
    Y = np.eye(3)[y]
    for before, after in pairwise(path[:6]):
        step = (Y - softmax(Z @ before.T, axis=1)).T @ Z
        step[:, :-1] -= before[:, :-1]
        if identifiability == "reference":
            step[-1] = 0.0
        np.testing.assert_allclose(after, before + 0.01 * step, rtol=1e-9, atol=1e-13)
    assert model.certificate_.relative_gap <= 1e-4
    assert model.certificate_.verify(X, y)


# ---------------------------------------------------------------------- one point at a time
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("loss", ["log", "squared_error"])
def test_stochastic_steps_are_the_rule(loss, store):
    X, t = noisy(15, 3)
    X[np.random.default_rng(0).random(X.shape) < 0.3] = 0.0
    options = {"solver": "sgd", "learning_rate": 0.2, "random_state": 0, "trace": True, "max_iter": 3}
    with pytest.warns(ConvergenceWarning, match="learning_rate"):
        model = LogisticRegression(2.0, loss, **options).fit(store(X), t)
    Z, trace, n = homogeneous(X), model.trace_, len(X)
    points, path = trace["point"][1:], trace["weights"]
    for m in range(3):
        assert sorted(points[m * n : (m + 1) * n]) == list(range(n))  # each pass takes every point once
    for s, i in enumerate(points):
        rate = 0.2 * 10 / (10 + s // n)
        step = 2.0 * pulls(path[s], Z[i : i + 1], t[i], loss) * Z[i] - np.append(path[s, :-1], 0.0) / n
        np.testing.assert_allclose(path[s + 1], path[s] + rate * step, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(trace["objective"], [objective(v, X, t, 2.0, loss) for v in path], rtol=1e-12)
    measured = trace["gap" if loss == "log" else "gradient"]
    assert np.isfinite(measured[::n]).all()
    assert np.isnan(np.delete(measured, np.s_[::n])).all()


@pytest.mark.parametrize("k", [2, 3])
def test_stochastic_descent_approaches_the_optimum(k):
    X, y = noisy(120, 3, k=k)
    exact = LogisticRegression().fit(X, y)
    few, many = (LogisticRegression(solver="sgd", random_state=0, max_iter=m, tol=1e-12) for m in (3, 300))
    for model in (few, many):
        with pytest.warns(ConvergenceWarning, match="relative gap"):
            model.fit(X, y)
    assert many.certificate_.gap < 0.1 * few.certificate_.gap
    np.testing.assert_allclose(many.coef_, exact.coef_, atol=0.02)
    certified = LogisticRegression(solver="sgd", random_state=0, tol=1e-2).fit(X, y)
    assert certified.status_ is Status.CERTIFIED
    assert certified.certificate_.verify(X, y)


def test_stochastic_descent_repeats_itself():
    X, t = noisy(60, 3)
    first, again, other = (
        LogisticRegression(solver="sgd", random_state=seed, tol=1e-2).fit(X, t) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first.coef_, again.coef_)
    assert (first.coef_ != other.coef_).any()


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("loss", ["log", "squared_error"])
def test_sparse_rows_take_the_same_steps(loss, k):
    if k == 3 and loss == "squared_error":
        pytest.skip("the squared error is for two classes")
    X, y = noisy(60, 4, k=k)
    X[np.random.default_rng(0).random(X.shape) < 0.5] = 0.0
    models = [LogisticRegression(0.5, loss, "sgd", random_state=0, max_iter=20, tol=1e-12) for _ in range(2)]
    for model, Z in zip(models, (X, sparse.csr_array(X)), strict=True):
        with pytest.warns(ConvergenceWarning):
            model.fit(Z, y)
    np.testing.assert_allclose(models[0].coef_, models[1].coef_, rtol=1e-9)


# ---------------------------------------------------------------------- steps that are too long
@pytest.mark.parametrize("loss", ["log", "squared_error"])
@pytest.mark.parametrize("solver", ["gradient", "sgd"])
@pytest.mark.parametrize("rate", [1e3, 1e300])
def test_too_long_a_step_is_named(loss, solver, rate):
    X, t = noisy(60, 3)
    with pytest.raises(InvalidInputError, match="learning_rate"):
        LogisticRegression(1.0, loss, solver, learning_rate=rate, random_state=0).fit(X, t)


def test_a_step_that_does_not_settle_is_named():
    X, t = noisy(60, 3)
    with pytest.warns(ConvergenceWarning, match=r"learning_rate=1, which is above the safe step"):
        model = LogisticRegression(solver="gradient", learning_rate=1.0, max_iter=50).fit(X, t)
    assert np.isfinite(model.coef_).all()
    assert model.status_ is Status.UNCERTIFIED


def test_the_step_is_for_the_plain_rules_only():
    X, t = noisy(20, 2)
    with pytest.raises(InvalidInputError, match="find their own steps"):
        LogisticRegression(learning_rate=0.1).fit(X, t)
    with pytest.raises(InvalidInputError, match="learning_rate"):
        LogisticRegression(solver="gradient", learning_rate=-1.0).fit(X, t)


def test_data_is_taken_as_it_is():
    # the rule is slow on columns far from 0, and that is what it shows; the default solver does not mind
    X, t = noisy(60, 2)
    with pytest.warns(ConvergenceWarning, match="mean 0"):
        LogisticRegression(solver="gradient", max_iter=100).fit(X + 100.0, t)


# ---------------------------------------------------------------------- where they start
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", ["log", "squared_error"])
def test_newton_starts_at_least_squares_on_0_and_1(loss, intercept):
    X, t = noisy(60, 3)
    c = np.random.default_rng(0).uniform(0.5, 2.0, size=60)
    model = LogisticRegression(1.0, loss, "newton", trace=True, fit_intercept=intercept).fit(X, t, c)
    Z = homogeneous(X) if intercept else X
    root = np.sqrt(c)
    expected = np.linalg.lstsq(root[:, None] * Z, root * t, rcond=None)[0]
    start = model.trace_["weights"][0]
    np.testing.assert_allclose(start[: Z.shape[1]], expected, rtol=1e-9, atol=1e-12)
    assert start.shape == (4,)


def test_softmax_newton_starts_at_least_squares():
    X, y = noisy(60, 3, k=3)
    expected = np.linalg.lstsq(homogeneous(X), np.eye(3)[y], rcond=None)[0].T
    symmetric = LogisticRegression(solver="newton", trace=True).fit(X, y).trace_["weights"][0]
    np.testing.assert_allclose(symmetric, expected - expected.mean(axis=0), atol=1e-12)
    model = LogisticRegression(solver="newton", identifiability="reference", trace=True).fit(X, y)
    np.testing.assert_allclose(model.trace_["weights"][0], expected - expected[-1], atol=1e-12)


@pytest.mark.parametrize("solver", ["auto", "newton", "lbfgs", "gradient", "sgd"])
@pytest.mark.parametrize("C", [1.0, np.inf])
def test_any_start_is_the_first_step_of_the_trace(solver, C):
    X, t = noisy(60, 2)
    options = {"solver": solver, "trace": True, "random_state": 0, "tol": 1e-2}
    for init, expected in (("zeros", [0, 0, 0]), ([0.5, -0.25, 0.125], [0.5, -0.25, 0.125])):
        model = LogisticRegression(C, init=init, **options).fit(X, t)
        trace = model.trace_
        assert list(trace) == COLUMNS
        np.testing.assert_allclose(trace["weights"][0], expected, atol=1e-14)
        np.testing.assert_allclose(trace["weights"][-1], np.append(model.coef_, model.intercept_), rtol=1e-12)
        np.testing.assert_allclose(trace["objective"], [objective(v, X, t, C) for v in trace["weights"]], rtol=1e-10)
        if solver != "sgd":
            assert (np.diff(trace["objective"]) <= 1e-10).all()


@pytest.mark.parametrize("init", ["ones", [1.0, 2.0], [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]], [1.0, np.nan, 0.0]])
def test_a_start_that_does_not_fit_is_refused(init):
    X, t = noisy(20, 2)
    with pytest.raises(InvalidInputError, match="init"):
        LogisticRegression(init=init).fit(X, t)


def test_warm_start_comes_before_init():
    X, t = noisy(60, 3)
    model = LogisticRegression(solver="gradient", warm_start=True, trace=True).fit(X, t)
    last = np.append(model.coef_, model.intercept_)
    np.testing.assert_array_equal(model.fit(X, t).trace_["weights"][0], last)


def test_a_matrix_has_its_traces_one_after_the_other():
    X, t = noisy(60, 3)
    Y = np.column_stack([t, 1 - t])
    trace = LogisticRegression(solver="gradient", trace=True).fit(X, Y).trace_
    assert list(trace) == ["task", *COLUMNS]
    np.testing.assert_allclose(trace["weights"][trace["task"] == 0], -trace["weights"][trace["task"] == 1], atol=1e-12)


def test_no_trace_unless_asked_for():
    X, t = noisy(20, 2)
    assert not hasattr(LogisticRegression(solver="gradient", tol=1e-2).fit(X, t), "trace_")
