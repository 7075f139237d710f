"""Dual coordinate descent on wide sparse rows: the optimum of oracles and of the other solvers, at any C and weight."""

import numpy as np
import pytest
from logistic.logistic_oracle import objective, optimum
from scipy import sparse

from separatrix import ConvergenceWarning, LogisticRegression, Status
from separatrix.design import as_design
from separatrix.logistic import penalised as logistic
from separatrix.logistic.choose import Shape, method
from separatrix.logistic.penalised import Settings, make_risk
from separatrix.solvers.driver import run
from separatrix.solvers.logistic_descent import logistic_descent
from separatrix.solvers.newton import newton
from separatrix.targets import Targets


def rows(n=150, d=400, density=0.05, seed=0):
    """Sparse rows, the first of them empty and the next two equal, with noisy labels, two thirds of them 1."""
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, d), density=density, rng=rng, data_sampler=rng.standard_normal).toarray()
    X[0], X[2] = 0.0, X[1]
    score = X @ rng.standard_normal(d) + 0.5 * rng.standard_normal(n)
    return sparse.csr_array(X), (score > np.quantile(score, 1 / 3)).astype(int)


def risk_of(X, y, C, intercept, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    return make_risk(
        as_design(X, intercept), Targets(np.array([0, 1]), y), weight, Settings(C, "auto", 1e-4, 100, False)
    )


def never(risk, V):
    raise AssertionError("the descent was slow")


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("C", [0.01, 0.1, 1.0])
def test_the_descent_alone_finds_the_optimum(C, intercept, weighted):
    X, y = rows(60, 40)
    weight = np.random.default_rng(1).uniform(0.1, 3.0, size=60) if weighted else np.ones(60)
    risk = risk_of(X, y, C, intercept, weight)
    target = 1e-5 if intercept else 1e-11  # the last digits of the intercept are left to the other solver
    within = logistic._within(risk, lambda: target)
    state, _ = run(logistic_descent(risk, within, never), lambda s: within(s.gradient, s.value), 60)
    best, coef, b = optimum(X.toarray(), y, C, weight, fit_intercept=intercept)
    value, gradient = risk.value_and_gradient(state.V)
    assert 0.5 * np.vdot(gradient, gradient) <= 2 * target * value  # as the solver expected
    assert abs(value - best) <= target * best
    if not intercept:  # otherwise alphas that are not yet balanced make it no bound
        assert -10 * target * best <= state.value - best <= 1e-13 * best  # the dual that it goes by
    far = np.sqrt(2 * target * float(best))  # ‖w - w*‖ at most, since F is strongly convex in w
    assert np.linalg.norm(state.V[:40, 0] - coef[0].astype(float)) <= far
    if intercept:
        assert abs(state.V[40, 0] - b[0]) <= 10 * far


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("C", [10.0, 1e4])
def test_another_solver_goes_on_where_sweeps_are_slow(C, intercept):
    X, y = rows(300, 20, 0.3)
    risk = risk_of(X, y, C, intercept)
    within = logistic._within(risk, lambda: 1e-10)
    starts = []

    def otherwise(risk, V):
        starts.append(risk.value_and_gradient(V)[0])
        return newton(risk, V)

    state, _ = run(logistic_descent(risk, within, otherwise), lambda s: within(s.gradient, s.value), 100)
    best, *_ = optimum(X.toarray(), y, C, fit_intercept=intercept)
    assert len(starts) == 1
    assert starts[0] <= risk.value_and_gradient(np.zeros_like(state.V))[0]  # sweeps never make it worse
    assert abs(state.value - best) <= 1e-9 * best


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_all_solvers_agree(C, intercept):
    X, y = rows()
    model = LogisticRegression(C, tol=1e-10, fit_intercept=intercept).fit(X, y)
    for solver in ("newton", "lbfgs"):
        other = LogisticRegression(C, tol=1e-10, fit_intercept=intercept, solver=solver).fit(X, y)
        assert abs(model.certificate_.primal - other.certificate_.primal) <= 1e-9 * other.certificate_.primal
        np.testing.assert_allclose(model.coef_, other.coef_, rtol=0, atol=1e-4 * np.abs(other.coef_).max())
    assert model.status_ is Status.CERTIFIED
    assert model.certificate_.gap >= 0
    assert model.certificate_.verify(X, y)
    reached = objective(X.toarray(), y, model.coef_, model.intercept_, C)
    assert 0 <= model.certificate_.primal - reached <= 0.05 * 1e-10 * float(reached)  # rounded up, by little


@pytest.mark.parametrize("settings", [{}, {"class_weight": {0: 2.0, 1: 0.5}}, {"class_weight": "balanced"}])
def test_weight_is_repetition(settings):
    X, y = rows()
    times = np.random.default_rng(1).integers(0, 4, size=150)
    weighted = LogisticRegression(tol=1e-11, **settings).fit(X, y, sample_weight=times)
    repeated = LogisticRegression(tol=1e-11, **settings).fit(X[np.repeat(np.arange(150), times)], y.repeat(times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=0, atol=1e-5 * np.abs(repeated.coef_).max())
    assert abs(weighted.certificate_.primal - repeated.certificate_.primal) <= 1e-11 * repeated.certificate_.primal
    assert weighted.certificate_.verify(X, y, times)
    assert not weighted.certificate_.verify(X, y)


@pytest.mark.parametrize("kind", [np.float32, np.int8, bool])
def test_any_number_type(kind):
    X, y = rows()
    X = sparse.csr_array((X.toarray() > 0.5).astype(kind))
    model = LogisticRegression(tol=1e-6).fit(X, y)
    assert model.coef_.dtype == (np.float32 if kind is np.float32 else np.float64)
    assert model.certificate_.verify(X, y)
    same = LogisticRegression(tol=1e-6).fit(X.astype(np.float64), y)
    np.testing.assert_allclose(model.coef_, same.coef_, rtol=0, atol=1e-6)


def test_the_same_fit_twice_is_the_same():
    X, y = rows()
    first, second = (LogisticRegression(tol=1e-3).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(first.coef_, second.coef_)


@pytest.mark.parametrize("size", [1e-100, 1e-8, 1e4])
def test_rows_of_any_length(size):
    X, y = rows()
    X.data[: X.indptr[10]] *= size
    model = LogisticRegression(fit_intercept=False).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-4
    assert model.certificate_.verify(X, y)


@pytest.mark.parametrize("size", [1e60, 1e149])
def test_sweeps_that_overflow_change_nothing(size):
    X, y = rows()
    X.data[: X.indptr[10]] *= size
    risk = risk_of(X, y, 1e10, False)
    starts = []

    def otherwise(risk, V):
        starts.append(V)
        return iter(())

    run(logistic_descent(risk, lambda gradient, value: False, otherwise), lambda s: False, 100)
    assert np.isfinite(risk.value_and_gradient(starts[0])[0])


def test_too_few_sweeps_are_said():
    X, y = rows()
    with pytest.warns(ConvergenceWarning, match="after 2 iterations"):
        model = LogisticRegression(max_iter=2, tol=1e-8).fit(X, y)
    assert model.certificate_.relative_gap > 1e-8
    assert model.certificate_.verify(X, y)


def test_a_trace_has_every_sweep():
    X, y = rows()
    model = LogisticRegression(trace=True).fit(X, y)
    assert model.trace_.n_steps == model.n_iter_ + 1
    gap = np.asarray(model.trace_["gap"])
    assert gap[-1] <= 1e-4 * model.certificate_.primal
    assert (gap >= 0).all()


def test_more_rows_than_columns_are_left_to_passes_over_all():
    few, many = (risk_of(*rows(n, 3100, 20 / 3100), 1.0, True) for n in (1000, 3200))
    assert method(Shape.of(few), "auto", from_zero=True) == "descent"
    assert method(Shape.of(many), "auto", from_zero=True) == "diagonal"
