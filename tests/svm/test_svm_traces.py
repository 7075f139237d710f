"""Support vector machines by single moves, each recorded: against the same rule written plainly."""

import numpy as np
import pytest
from problems import noisy
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from separatrix import (
    SVC,
    ConvergenceWarning,
    HardMarginSVC,
    InvalidInputError,
    LinearSVC,
    NotSeparableError,
    Status,
)


def plain(K, y, U, steps, intercept=True):
    """Sequential minimal optimisation, a pair (or without an intercept a point) at a time: alpha, and who moved."""
    n = len(y)
    alpha, walk = np.zeros(n), [(np.zeros(n), -1, -1)]
    for _ in range(steps):
        F = y - K @ (alpha * y)
        if not intercept:
            move = np.clip(alpha + y * F / K.diagonal(), 0, U) - alpha
            gain = move * (y * F - 0.5 * K.diagonal() * move)
            i = int(np.argmax(gain))
            alpha = alpha.copy()
            alpha[i] += move[i]
            walk.append((alpha, i, -1))
            continue
        rise, fall = np.where(y > 0, alpha < U, alpha > 0), np.where(y > 0, alpha > 0, alpha < U)
        i = int(np.argmax(np.where(rise, F, -np.inf)))
        lead = np.where(fall, np.maximum(F[i] - F, 0.0), 0.0)
        curvature = np.maximum(K[i, i] + K.diagonal() - 2 * K[i], 1e-12)
        j = int(np.argmax(lead**2 / curvature))
        room = min(U[i] - alpha[i] if y[i] > 0 else alpha[i], alpha[j] if y[j] > 0 else U[j] - alpha[j])
        t = min(room, lead[j] / curvature[j])
        alpha = alpha.copy()
        alpha[i] += y[i] * t
        alpha[j] -= y[j] * t
        walk.append((alpha, i, j))
    return walk


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("intercept", [True, False])
def test_linear_moves_are_the_rule(make, intercept):
    X, codes = noisy(40, 3)
    y, C = 2.0 * codes - 1, 0.7
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=40)
    model = LinearSVC(C, fit_intercept=intercept, trace=True).fit(make(X), codes, weight)
    trace, n = model.trace_, 25
    assert trace.n_steps > n
    Z = X - X.mean(axis=0) if intercept else X
    for t, (alpha, i, j) in enumerate(plain(Z @ Z.T, y, C * weight, n, intercept)):
        assert (trace["point"][t], trace["other"][t]) == (i, j), t
        np.testing.assert_allclose(trace["weights"][t][:3], (alpha * y) @ X, rtol=1e-7, atol=1e-9)
        w, b = trace["weights"][t][:3], trace["weights"][t][3]
        scores = X @ w + b
        primal = 0.5 * w @ w + C * weight @ np.maximum(0, 1 - y * scores)
        np.testing.assert_allclose(trace["objective"][t], primal, rtol=1e-9)
        np.testing.assert_allclose(trace["gap"][t], primal - alpha.sum() + 0.5 * w @ w, rtol=1e-6, atol=1e-9)
        assert trace["mistakes"][t] == ((scores >= 0) != (y > 0)).sum()
    assert (np.diff(trace["objective"] - trace["gap"]) >= -1e-9).all()  # the dual rises
    np.testing.assert_array_equal(trace["step"], np.arange(trace.n_steps))


@pytest.mark.parametrize("intercept", [True, False])
def test_kernel_moves_are_the_rule(intercept):
    X, codes = noisy(40, 2)
    y, C, gamma = 2.0 * codes - 1, 5.0, 0.5
    model = SVC(C, gamma=gamma, fit_intercept=intercept, trace=True).fit(X, codes)
    trace, n = model.trace_, 20
    K = rbf_kernel(X, gamma=gamma)
    for t, (alpha, i, j) in enumerate(plain(K, y, np.full(40, C), n, intercept)):
        assert (trace["point"][t], trace["other"][t]) == (i, j), t
        np.testing.assert_allclose(trace["dual_coef"][t], alpha * y, rtol=1e-7, atol=1e-9)
    assert list(trace) == ["step", "point", "other", "objective", "gap", "mistakes", "dual_coef", "intercept"]
    reference = SVC(C, gamma=gamma, fit_intercept=intercept).fit(X, codes)
    np.testing.assert_allclose(trace["objective"][-1], reference.certificate_.primal, rtol=1e-4)
    assert model.status_ is Status.CERTIFIED
    assert model.certificate_.verify(X, codes)


@pytest.mark.parametrize("intercept", [True, False])
def test_squared_hinge_moves_are_the_rule_of_a_longer_diagonal(intercept):
    X, codes = noisy(40, 3)
    y, C = 2.0 * codes - 1, 0.7 * np.random.default_rng(0).uniform(0.5, 2.0, size=40)
    model = LinearSVC(0.7, loss="squared_hinge", fit_intercept=intercept, trace=True).fit(X, codes, C / 0.7)
    trace, n = model.trace_, 25
    assert trace.n_steps > n
    Z = X - X.mean(axis=0) if intercept else X
    walk = plain(Z @ Z.T + np.diag(0.5 / C), y, np.full(40, np.inf), n, intercept)
    for t, (alpha, i, j) in enumerate(walk):
        assert (trace["point"][t], trace["other"][t]) == (i, j), t
        w, b = trace["weights"][t][:3], trace["weights"][t][3]
        np.testing.assert_allclose(w, (alpha * y) @ X, rtol=1e-7, atol=1e-9)
        slack = np.maximum(0, 1 - y * (X @ w + b))
        primal = 0.5 * w @ w + C @ slack**2
        np.testing.assert_allclose(trace["objective"][t], primal, rtol=1e-9)
        dual = alpha.sum() - 0.5 * w @ w - 0.25 * (alpha**2 / C).sum()
        np.testing.assert_allclose(trace["gap"][t], primal - dual, rtol=1e-6, atol=1e-9)
        if intercept:  # the best b: sum_i C_i y_i xi_i = 0
            assert abs(C * y @ slack) < 1e-9 * (C @ slack)
        assert trace["mistakes"][t] == ((X @ w + b >= 0) != (y > 0)).sum()
    assert model.status_ is Status.CERTIFIED
    assert model.certificate_.verify(X, codes, C / 0.7)


def separable(n, d=2, k=2):
    """Classes around corners that are far apart."""
    rng = np.random.default_rng(n + d + k)
    y = np.arange(n) % k
    return rng.normal(size=(n, d)) + 6.0 * np.array([[0, 0], [1, 1], [1, -1]])[y], y


@pytest.mark.parametrize("estimator", [HardMarginSVC(), LinearSVC(np.inf), SVC(np.inf, kernel="linear")])
@pytest.mark.parametrize("intercept", [True, False])
def test_hard_margin_moves_are_the_rule_without_bounds(estimator, intercept):
    X, codes = separable(30)
    X = X if intercept else X - [3.0, 3.0]
    y = 2.0 * codes - 1
    model = estimator.set_params(fit_intercept=intercept, trace=True).fit(X, codes)
    trace = model.trace_
    Z = X - X.mean(axis=0) if intercept else X
    n = min(trace.n_steps - 1, 12)
    for t, (alpha, i, j) in enumerate(plain(Z @ Z.T, y, np.full(30, np.inf), n, intercept)):
        assert (trace["point"][t], trace["other"][t]) == (i, j), t
        w, b = trace["weights"][t][:2], trace["weights"][t][2]
        np.testing.assert_allclose(w, (alpha * y) @ X, rtol=1e-7, atol=1e-9)
        if t:
            margins = y * (X @ w + b)
            np.testing.assert_allclose(trace["margin"][t], margins.min() / np.linalg.norm(w), rtol=1e-8)
            np.testing.assert_allclose(trace["bound"][t], np.linalg.norm(w) / alpha.sum(), rtol=1e-8)
            if intercept:  # the nearest of either class are as far
                np.testing.assert_allclose(margins[y > 0].min(), margins[y < 0].min(), rtol=1e-8)
    best = HardMarginSVC(fit_intercept=intercept, tol=1e-9).fit(X, codes).margin_
    assert (trace["margin"] <= best * (1 + 1e-9)).all()
    assert (trace["bound"] >= best * (1 - 1e-9)).all()
    assert trace["margin"][-1] >= (1 - 1e-4) * trace["bound"][-1]
    assert list(trace) == ["step", "point", "other", "margin", "bound", "mistakes", "weights"]
    assert model.status_.certified
    assert model.certificate_.verify(X, codes)


@pytest.mark.parametrize("kernel, gamma", [("rbf", 5.0), ("poly", 1.0)])
@pytest.mark.parametrize("intercept", [True, False])
def test_hard_margin_in_feature_space_by_moves(kernel, gamma, intercept):
    X, codes = noisy(30, 2)
    y = 2.0 * codes - 1
    settings = {"kernel": kernel, "gamma": gamma, "coef0": 1.0, "degree": 8, "fit_intercept": intercept}
    best = HardMarginSVC(**settings).fit(X, codes).certificate_
    for model in (HardMarginSVC(tol=0.1, trace=True, **settings), SVC(np.inf, tol=0.1, trace=True, **settings)):
        trace = model.fit(X, codes).trace_
        K = rbf_kernel(X, gamma=gamma) if kernel == "rbf" else (X @ X.T + 1.0) ** 8
        n = min(trace.n_steps - 1, 12)
        for t, (alpha, i, j) in enumerate(plain(K, y, np.full(30, np.inf), n, intercept)):
            assert (trace["point"][t], trace["other"][t]) == (i, j), t
            np.testing.assert_allclose(trace["dual_coef"][t], alpha * y, rtol=1e-6, atol=1e-9)
            if t:
                norm = np.sqrt(alpha * y @ K @ (alpha * y))
                margin = (y * (K @ (alpha * y) + trace["intercept"][t])).min() / norm
                np.testing.assert_allclose(trace["margin"][t], margin, rtol=1e-6, atol=1e-9)
                np.testing.assert_allclose(trace["bound"][t], norm / alpha.sum(), rtol=1e-6)
        assert (trace["bound"] >= best.lower * (1 - 1e-9)).all()
        assert (trace["margin"] <= best.upper * (1 + 1e-9)).all()
        assert model.status_.certified
        assert model.certificate_.verify(X, codes)


def test_hard_margins_without_an_end_or_a_beginning():
    X, y = noisy(40, 2)
    for model in (HardMarginSVC(trace=True), LinearSVC(np.inf, trace=True), SVC(np.inf, "linear", trace=True)):
        with pytest.raises(NotSeparableError):
            model.fit(X, y)
        assert not hasattr(model, "trace_")
    far = separable(30, k=3)
    model = HardMarginSVC(trace=True).fit(*far)
    assert sorted(set(model.trace_["task"].tolist())) == [0, 1, 2]
    assert model.certificate_.verify(*far)
    for short in (
        LinearSVC(np.inf, max_iter=1, trace=True),
        SVC(np.inf, "linear", max_iter=1, trace=True),
        SVC(np.inf, "rbf", gamma=0.1, max_iter=1, trace=True),
    ):
        with pytest.warns(ConvergenceWarning, match="raise"):
            short.fit(*far)
        assert short.status_ is Status.UNCERTIFIED


@pytest.mark.parametrize("estimator", [LinearSVC(), LinearSVC(loss="squared_hinge"), SVC(), SVC(kernel="linear")])
@pytest.mark.parametrize("k", [2, 3])
def test_a_traced_fit_is_the_same_machine_within_tol(estimator, k):
    X, y = noisy(60, 3, k)
    estimator = type(estimator)(**{**estimator.get_params(), "tol": 1e-8, "max_iter": 100_000})
    plain_fit = estimator.fit(X, y)
    scores = plain_fit.decision_function(X)
    traced = type(estimator)(**{**estimator.get_params(), "trace": True}).fit(X, y)
    assert traced.status_ is Status.CERTIFIED
    assert traced.certificate_.verify(X, y)
    np.testing.assert_allclose(traced.decision_function(X), scores, atol=2e-3 * np.abs(scores).max())
    assert ("task" in traced.trace_) == (k == 3)
    if k == 3:
        assert sorted(set(traced.trace_["task"].tolist())) == [0, 1, 2]
        assert (traced.trace_["step"] == 0).sum() == 3


def test_points_are_counted_among_those_given():
    X, y = noisy(40, 2)
    weight = np.ones(40)
    weight[[0, 5, 39]] = 0.0
    for model in (LinearSVC(trace=True), SVC(trace=True)):
        trace = model.fit(X, y, weight).trace_
        assert not np.isin(trace["point"], [0, 5, 39]).any()
        if "dual_coef" in trace:
            assert trace["dual_coef"].shape[1] == 40
            used = np.flatnonzero(trace["dual_coef"][-1])
            assert set(model.support_) <= set(used)


def test_few_moves_are_warned_of_and_settings_without_a_rule_refused():
    X, y = noisy(40, 2)
    with pytest.warns(ConvergenceWarning, match="after 3 iterations"):
        model = LinearSVC(trace=True, max_iter=3).fit(X, y)
    assert model.trace_.n_steps == 4
    with pytest.raises(InvalidInputError, match="trace"):
        LinearSVC(penalty="l1", trace=True).fit(X, y)
    many = np.random.default_rng(0).normal(size=(2500, 2))
    with pytest.raises(InvalidInputError, match="too many"):
        LinearSVC(trace=True).fit(many, np.arange(2500) % 2)
