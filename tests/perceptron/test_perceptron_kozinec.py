"""Kozinec: the bracket of the margin against a quadratic program, the plain step, and data without a margin."""

import warnings

import mpmath
import numpy as np
import pytest
from perceptron.perceptron_reference import best_margin, homogeneous, separable
from scipy import sparse
from scipy.optimize import minimize_scalar

from separatrix import ConvergenceWarning, Kozinec
from separatrix.certificates import All, MarginBracket
from separatrix.outcome import Status


@pytest.mark.parametrize("epsilon", [0.3, 1e-3, 1e-8])
def test_the_bracket_holds_the_best_margin(epsilon):
    rng = np.random.default_rng(0)
    for _ in range(40):
        X, y = separable(rng, gap=0.02)
        margin, _ = best_margin(X, y)
        model = Kozinec(epsilon).fit(X, y)
        certificate = model.certificate_
        assert model.status_ is Status.BRACKETED
        assert certificate.verify(X, y)
        assert 0 < certificate.lower <= margin * (1 + 1e-6)
        assert certificate.upper >= margin * (1 - 1e-9)
        assert certificate.upper - certificate.lower <= epsilon * certificate.upper
        assert model.n_iter_ < 200


@pytest.mark.parametrize("rule", ["wolfe", "plain"])
def test_without_epsilon_it_stops_at_any_separating_weights(rule):
    rng = np.random.default_rng(1)
    for _ in range(40):
        X, y = separable(rng)
        model = Kozinec(rule=rule).fit(X, y)
        assert model.status_ is Status.SEPARATED
        assert model.certificate_.lower > 0
        assert model.certificate_.verify(X, y)
        assert (y * model.decision_function(X) > 0).all()


def test_a_plain_step_is_the_exact_minimum_on_its_segment():
    X, y = separable(np.random.default_rng(2), n=15, d=3, gap=0.02)
    trace = Kozinec(1e-2, rule="plain", trace=True, max_iter=100_000).fit(X, y).trace_
    Z, weights, points = homogeneous(X, y), trace["weights"], trace["point"]
    assert len(weights) > 10
    for w, after, i in list(zip(weights[:-1], weights[1:], points[:-1], strict=True))[:200]:
        assert i == np.argmin(Z @ w)
        best = minimize_scalar(
            lambda k, w=w, i=i: np.linalg.norm((1 - k) * w + k * Z[i]), bounds=(0, 1), method="bounded",
            options={"xatol": 1e-12},
        )  # fmt: skip
        assert np.linalg.norm(after) <= best.fun * (1 + 1e-9)
        direction = Z[i] - w
        assert np.linalg.matrix_rank(np.array([direction, after - w]), tol=1e-9) <= 1
    assert (np.diff(trace["objective"]) <= 1e-12).all()


def test_the_faster_rule_is_faster():
    X, y = separable(np.random.default_rng(3), n=40, d=4, gap=0.02)
    fast = Kozinec(1e-3).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        slow = Kozinec(1e-3, rule="plain", max_iter=2000).fit(X, y)
    assert fast.n_iter_ < 100
    assert slow.status_ is Status.UNCERTIFIED
    assert slow.certificate_.verify(X, y)
    assert slow.certificate_.lower <= fast.certificate_.upper
    assert slow.certificate_.upper >= fast.certificate_.lower


@pytest.mark.parametrize("rule", ["wolfe", "plain"])
@pytest.mark.parametrize("epsilon", [None, 0.01])
def test_data_without_a_margin_end(rule, epsilon):
    X, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
    with pytest.warns(ConvergenceWarning, match="margin"):
        model = Kozinec(epsilon, rule=rule, max_iter=500).fit(X, y)
    assert model.status_ in (Status.NO_MARGIN, Status.UNCERTIFIED)
    assert model.certificate_.lower < 0
    assert model.certificate_.upper < 0.05
    assert model.certificate_.verify(X, y)


def test_identical_rows_with_opposite_labels_have_no_margin():
    X, y = [[1.0, 2.0], [1.0, 2.0], [3.0, 0.0]], [0, 1, 1]
    with pytest.warns(ConvergenceWarning, match="origin"):
        model = Kozinec().fit(X, y)
    assert model.status_ is Status.NO_MARGIN
    assert model.certificate_.upper < 1e-12


def test_sparse_float32_and_no_intercept():
    X, y = separable(np.random.default_rng(4), n=30, d=4)
    dense, rare = Kozinec(1e-6).fit(X, y), Kozinec(1e-6).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(rare.coef_, dense.coef_, rtol=1e-9)
    single = Kozinec().fit(X.astype(np.float32), y)
    assert single.coef_.dtype == np.float32
    assert single.certificate_.verify(X.astype(np.float32), y)
    away = X + 5 * y[:, None]
    through = Kozinec(1e-6, fit_intercept=False).fit(away, y)
    assert through.intercept_ == 0
    assert through.certificate_.direction.shape == (4,)
    assert through.certificate_.verify(away, y)


def test_several_classes_and_altered_certificates():
    X = np.array([[0.0, 5], [0, 6], [5, -3], [6, -3], [-5, -3], [-6, -4]])
    y = np.repeat([0, 1, 2], 2)
    model = Kozinec(1e-6).fit(X, y)
    assert isinstance(model.certificate_, All)
    assert model.certificate_.verify(X, y)
    part = model.certificate_.parts[0]
    assert isinstance(part, MarginBracket)
    plain = part.to_dict()
    for change in ({"lower": part.lower * 1.01}, {"upper": part.upper * 0.99}):
        assert not MarginBracket.from_dict(plain | change).verify(X, y)


def test_points_are_exchanged_when_there_are_many(monkeypatch):
    monkeypatch.setattr("separatrix.perceptron.kozinec.CORRAL", 3)
    rng = np.random.default_rng(5)
    for _ in range(20):
        X, y = separable(rng, n=30, d=5, gap=0.1)
        margin, _ = best_margin(X, y)
        model = Kozinec(1e-3).fit(X, y)
        certificate = model.certificate_
        assert certificate.verify(X, y)
        assert certificate.lower <= margin * (1 + 1e-6)
        assert certificate.upper >= margin * (1 - 1e-9)
        assert certificate.upper - certificate.lower <= 1e-3 * certificate.upper


# ---------------------------------------------------------------------- step by step
def kozinec_plainly(X, y, epsilon, most, intercept):
    """The plain rule with 60 digits: w, the worst point and the bracket, until it separates or is within epsilon."""
    with mpmath.workdps(60):
        Z = [[int(label) * mpmath.mpf(float(v)) for v in (*x, 1.0)[: len(x) + intercept]]
             for x, label in zip(X, y, strict=True)]  # fmt: skip
        w = min(Z, key=lambda z: mpmath.fdot(z, z))
        steps, best, shortest = [], -mpmath.inf, mpmath.inf
        for _ in range(most + 1):
            products, length = [mpmath.fdot(z, w) for z in Z], mpmath.norm(w)
            i = min(range(len(Z)), key=lambda i: products[i])
            if length < 1e-20:  # the origin is in the hull
                steps.append((np.array(w, dtype=float), i, False, 0.0, 0.0))
                break
            clear = sorted(products)[1] - products[i] > 1e-9 if len(Z) > 1 else True
            steps.append((np.array(w, dtype=float), i, clear, float(length), float(products[i] / length)))
            best, shortest = max(best, products[i] / length), min(shortest, length)
            if best > 0 and (epsilon is None or shortest - best <= epsilon * shortest):
                break
            change = [b - a for a, b in zip(w, Z[i], strict=True)]
            k = min(mpmath.mpf(1), -mpmath.fdot(w, change) / mpmath.fdot(change, change))
            w = [a + k * c for a, c in zip(w, change, strict=True)]
        return steps


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("epsilon", [None, 0.5, 0.1])
def test_every_step_of_the_plain_rule(epsilon, intercept):
    rng = np.random.default_rng(7)
    compared = 0
    for _ in range(25):
        X, y = separable(rng, n=9, d=2, gap=0.05, whole=bool(rng.integers(2)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = Kozinec(epsilon, rule="plain", max_iter=60, fit_intercept=intercept, trace=True).fit(X, y)
        steps = kozinec_plainly(X, y, epsilon, 60, intercept)
        trace = model.trace_
        for k, (w, point, clear, length, margin) in enumerate(steps):
            scale = np.linalg.norm(np.column_stack([X, np.ones(9)]), axis=1).max()
            np.testing.assert_allclose(trace["weights"][k], w, atol=1e-9 * scale)
            assert trace["objective"][k] == pytest.approx(length, abs=1e-9 * scale)
            if length > 1e-6 * scale:
                assert trace["margin"][k] == pytest.approx(margin, abs=1e-7 * scale)
            if not clear:  # two points are equally bad, but for rounding: either may be taken
                break
            assert trace["point"][k] == point
            compared += 1
        else:
            if length > 1e-6 * scale:
                assert len(trace["step"]) == len(steps)
                assert model.n_iter_ == len(steps) - 1
        assert model.certificate_ is None or model.certificate_.verify(X, y)
    assert compared > 40


def test_the_bracket_is_rounded_outward():
    rng = np.random.default_rng(8)
    for _ in range(30):
        X, y = separable(rng, gap=1e-3)
        X = X * 10.0 ** rng.integers(-3, 4, size=X.shape[1])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            certificate = Kozinec(1e-6).fit(X, y).certificate_
        with mpmath.workdps(60):
            Z = [[int(label) * mpmath.mpf(float(v)) for v in (*x, 1.0)] for x, label in zip(X, y, strict=True)]
            v = [mpmath.mpf(float(entry)) for entry in certificate.direction]
            assert certificate.lower <= min(mpmath.fdot(z, v) for z in Z) / mpmath.norm(v)
            alpha = [mpmath.mpf(float(entry)) for entry in certificate.alpha]
            total = mpmath.fsum(alpha)
            chosen = [Z[i] for i in certificate.points]
            hull = [mpmath.fdot(alpha, column) / total for column in zip(*chosen, strict=True)]
            assert certificate.upper >= mpmath.norm(hull)


@pytest.mark.parametrize("rule", ["wolfe", "plain"])
def test_a_point_at_the_origin_is_no_margin(rule):
    X, y = [[0.0, 0.0], [1.0, 1.0], [2.0, 1.0]], [0, 1, 1]
    with pytest.warns(ConvergenceWarning, match="reaches the origin"):
        model = Kozinec(rule=rule, fit_intercept=False).fit(X, y)
    assert model.status_ is Status.NO_MARGIN
    assert model.certificate_.verify(X, y)
    assert not model.coef_.any()
