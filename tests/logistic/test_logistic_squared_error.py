"""loss="squared_error": E = C sum_i c_i (t_i - sigma(w.x_i + b))² + 1/2 ‖w‖², its stationary points and their kinds."""

from dataclasses import replace
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from problems import noisy
from scipy import sparse
from scipy.optimize import brentq, minimize
from scipy.special import expit

from separatrix import (
    ConvergenceWarning,
    InvalidInputError,
    LogisticRegression,
    SeparationWarning,
    Separator,
    Stationarity,
    Status,
)
from separatrix.certificates import Certificate
from separatrix.design import as_design
from separatrix.logistic import euclidean as learner
from separatrix.losses import SigmoidSquared
from separatrix.losses.sigmoid_squared import GaussNewton
from separatrix.penalties import Ridge
from separatrix.problems.risk import Risk
from separatrix.problems.scored import TwoClasses
from separatrix.targets import Targets

SECOND_ORDER = ["auto", "newton", "gauss-newton"]


def squared(C=1.0, **parameters):
    return LogisticRegression(C, loss="squared_error", **parameters)


def criterion(v, X, t, C=1.0, c=1.0):
    """E at v = (w, b), straight from the definition."""
    w, b = v[:-1], v[-1]
    errors = c * (t - expit(X @ w + b)) ** 2
    return errors.sum() if np.isinf(C) else C * errors.sum() + 0.5 * w @ w


def overlapping(n=300, seed=3):
    """Labels drawn from a logistic model with a moderate slope: the unpenalised criterion has a finite minimum."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (rng.random(n) < expit(X @ [1.0, -1.0, 0.5])).astype(int)


def two_valleys():
    """One column, no intercept: a steep light row pulls w below 0, a gentle heavy one pulls it up. Two minima."""
    return np.array([[10.0], [1.0]]), np.array([0, 1]), np.array([0.3, 1.0])


def slope_of_valleys(w, C):
    X, t, c = two_valleys()
    p = expit(X[:, 0] * w)
    return C * (c * -2 * (t - p) * p * (1 - p)) @ X[:, 0] + w


def summit(C):
    return brentq(slope_of_valleys, 0.0, 1.0, args=(C,), xtol=1e-15)


# ---------------------------------------------------------------------- the risk and its derivatives
def test_value_gradient_and_hessian_against_mpmath():
    rng = np.random.default_rng(0)
    X, t, c = rng.normal(size=(5, 1)), np.array([0, 1, 1, 0, 1]), rng.uniform(0.5, 2.0, size=5)
    risk = Risk(
        TwoClasses(SigmoidSquared()), Ridge(np.array([1.0, 0.0])), as_design(X), Targets(np.array([0, 1]), t), c
    )

    def E(w, b):
        sigma = [1 / (1 + mpmath.exp(-(w * x + b))) for x in X[:, 0]]
        return sum(ci * (ti - s) ** 2 for ci, ti, s in zip(c, t, sigma, strict=True)) + w * w / 2

    for V in ([0.0, 0.0], [1.5, -0.5], [-6.0, 3.0]):
        V = np.array(V)
        with mpmath.workdps(40):
            value = E(*map(mpmath.mpf, V))
            first = [mpmath.diff(E, tuple(V), order) for order in ((1, 0), (0, 1))]
            second = [mpmath.diff(E, tuple(V), order) for order in ((2, 0), (1, 1), (0, 2))]
        ours, gradient = risk.value_and_gradient(V[:, None])
        np.testing.assert_allclose(ours, float(value), rtol=1e-13)
        np.testing.assert_allclose(gradient[:, 0], np.array(first, dtype=float), rtol=1e-10, atol=1e-14)
        H = risk.hessian(V[:, None])
        np.testing.assert_allclose(H[np.triu_indices(2)], np.array(second, dtype=float), rtol=1e-10, atol=1e-14)


def test_gauss_newton_is_two_jacobians():
    X, t = noisy(20, 3)
    v = np.array([0.5, -1.0, 2.0, 0.3])
    risk = Risk(TwoClasses(GaussNewton()), Ridge(np.zeros(4)), as_design(X), Targets(np.array([0, 1]), t), np.ones(20))
    Z = np.column_stack([X, np.ones(20)])
    p = expit(Z @ v)
    J = (p * (1 - p))[:, None] * Z
    np.testing.assert_allclose(risk.hessian(v[:, None]), 2 * J.T @ J, rtol=1e-12)


# ---------------------------------------------------------------------- minima
@pytest.mark.parametrize("solver", SECOND_ORDER)
@pytest.mark.parametrize("C", [0.1, 1.0, 30.0, np.inf])
def test_the_minimum_that_scipy_finds_from_the_same_start(solver, C):
    X, t = overlapping()
    model = squared(C, solver=solver, init="zeros").fit(X, t)
    found = minimize(criterion, np.zeros(4), args=(X, t, C), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), found.x, atol=2e-6)
    assert model.status_ is Status.STATIONARY
    assert model.certificate_.kind == "local minimum"
    assert model.certificate_.verify(X, t)
    gradient = model.gradient(X, t)
    assert np.abs(gradient).max() <= 1e-9 * len(X)


def test_newton_and_gauss_newton_agree_to_the_last_digits():
    X, t = overlapping()
    newton, gauss = (squared(solver=solver).fit(X, t) for solver in ("newton", "gauss-newton"))
    np.testing.assert_allclose(newton.coef_, gauss.coef_, rtol=1e-7)
    assert newton.n_iter_ < gauss.n_iter_


def test_newton_steps_are_plain_where_the_hessian_is_definite():
    X, t = overlapping()
    Z = np.column_stack([X, np.ones(len(X))])
    path = squared(np.inf, solver="newton", init="zeros", trace=True).fit(X, t).trace_["weights"]
    for before, after in pairwise(path[:-1]):
        p = expit(Z @ before)
        e, spread = t - p, p * (1 - p)
        H = 2 * Z.T @ ((spread**2 + e * spread * (2 * p - 1))[:, None] * Z)
        np.testing.assert_allclose(after, before + np.linalg.solve(H, 2 * Z.T @ (spread * e)), atol=1e-9)


@pytest.mark.parametrize("solver", SECOND_ORDER)
def test_an_indefinite_start_is_left_downhill(solver):
    # at these weights nearly every row is far on the wrong side, where the criterion curves down
    X, t = overlapping()
    start = np.array([-2.0, 2.0, -1.0, 0.1])
    H = squared(solver="gradient", init=start, max_iter=1, learning_rate=1e-300)
    with pytest.warns(ConvergenceWarning):
        H = H.fit(X, t).hessian(X, t)
    assert np.linalg.eigvalsh(H)[0] < 0
    model = squared(solver=solver, init=start, trace=True).fit(X, t)
    assert (np.diff(model.trace_["objective"]) <= 1e-12).all()
    np.testing.assert_allclose(model.coef_, squared().fit(X, t).coef_, rtol=1e-7)


# ---------------------------------------------------------------------- two minima, and the summit between them
def test_each_valley_from_its_own_side_and_the_lower_one_by_default():
    X, t, c = two_valleys()
    options = {"C": 100.0, "fit_intercept": False}
    left = squared(solver="newton", init=[-0.2], **options).fit(X, t, c)
    right = squared(solver="newton", init=[2.0], **options).fit(X, t, c)
    assert left.coef_[0, 0] < 0 < 1 < right.coef_[0, 0]
    for model in (left, right):
        assert model.certificate_.kind == "local minimum"
        assert model.certificate_.verify(X, t, c)
        assert abs(slope_of_valleys(model.coef_[0, 0], 100.0)) < 1e-11
    heights = [criterion(np.append(m.coef_, 0.0), X, t, 100.0, c) for m in (left, right)]
    best = squared(**options).fit(X, t, c)
    assert criterion(np.append(best.coef_, 0.0), X, t, 100.0, c) <= min(heights) * (1 + 1e-12)


def test_gradient_descent_stays_on_the_summit_and_says_so():
    X, t, c = two_valleys()
    with pytest.warns(ConvergenceWarning, match="saddle"):
        model = squared(100.0, solver="gradient", init=[summit(100.0)], fit_intercept=False).fit(X, t, c)
    certificate = model.certificate_
    assert certificate.kind == "saddle"
    assert "saddle" in certificate.claim
    assert certificate.verify(X, t, c)
    for kind in ("local minimum", "flat"):
        assert not replace(certificate, witness={**certificate.witness, "kind": kind}).verify(X, t, c)


def test_newton_leaves_the_summit():
    X, t, c = two_valleys()
    model = squared(100.0, solver="newton", init=[summit(100.0)], fit_intercept=False).fit(X, t, c)
    assert model.certificate_.kind == "local minimum"


# ---------------------------------------------------------------------- no finite minimum
@pytest.mark.parametrize("solver", [*SECOND_ORDER, "gradient"])
def test_separable_classes_have_no_minimum(solver):
    X, t = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    with pytest.warns(SeparationWarning, match="no finite minimum"):
        model = squared(np.inf, solver=solver, max_iter=100).fit(X, t)
    assert model.status_ is Status.NO_MINIMUM
    assert isinstance(model.certificate_, Separator)
    assert model.certificate_.verify(X, t)
    assert (model.predict(X) == t).all()


@pytest.mark.parametrize("solver", SECOND_ORDER)
def test_the_infimum_of_few_errors_is_at_infinity(solver):
    # only the row far out is on the wrong side: along w the criterion tends to 1, from above
    X = np.array([-3.0, -2.5, -2.0, -1.5, -1.0, 1.0, 1.5, 2.0, 2.5, 3.0, 100.0])[:, None]
    t = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0])
    with pytest.warns(SeparationWarning, match="in sight"):
        model = squared(np.inf, solver=solver, init=[1.0, 0.0]).fit(X, t)
    assert model.status_ is Status.NO_MINIMUM
    assert model.certificate_ is None
    assert criterion(np.append(model.coef_, model.intercept_), X, t, np.inf) <= 1 + 1e-6
    # from least squares, which the far row has turned round, there is a minimum, and a much worse one
    model = squared(np.inf, solver="newton").fit(X, t)
    assert model.certificate_.kind == "local minimum"
    assert criterion(np.append(model.coef_, model.intercept_), X, t, np.inf) > 2


def test_too_few_iterations_are_not_called_infinity():
    X, t = overlapping()
    with pytest.warns(ConvergenceWarning, match="Stopped after 1 iterations"):
        model = squared(np.inf, solver="newton", init=[3.0, -3.0, 1.0, 0.0], max_iter=1).fit(X, t)
    assert model.status_ is Status.UNCERTIFIED
    assert model.certificate_ is None


# ---------------------------------------------------------------------- weights, units, storage
def test_integer_weights_equal_repetition():
    X, t = overlapping(80)
    k = np.random.default_rng(1).integers(0, 4, size=80)
    weighted = squared().fit(X, t, k)
    repeated = squared().fit(np.repeat(X, k, axis=0), np.repeat(t, k))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-9)
    assert weighted.certificate_.verify(X, t, k)
    assert not weighted.certificate_.verify(X, t)


def test_class_weight_multiplies():
    X, t = overlapping(80)
    balanced = squared(class_weight="balanced").fit(X, t)
    counts = np.bincount(t)
    by_hand = squared().fit(X, t, (80 / (2 * counts))[t])
    np.testing.assert_allclose(balanced.coef_, by_hand.coef_, rtol=1e-9)
    assert balanced.certificate_.verify(X, t)


@pytest.mark.parametrize("shift", [1e3, 1e6, 1e9])
def test_a_shift_moves_only_the_intercept(shift):
    X, t = overlapping()
    plain, shifted = squared().fit(X, t), squared().fit(X + shift, t)
    np.testing.assert_allclose(shifted.coef_, plain.coef_, rtol=1e-5 if shift > 1e8 else 1e-7, atol=1e-9)
    assert shifted.certificate_.verify(X + shift, t)


@pytest.mark.parametrize("solver", SECOND_ORDER)
def test_without_a_penalty_units_do_not_matter(solver):
    X, t = overlapping()
    scale = np.array([1e-8, 1.0, 1e8])
    plain, scaled = (squared(np.inf, solver=solver).fit(Z, t) for Z in (X, X * scale))
    np.testing.assert_allclose(scaled.coef_ * scale, plain.coef_, rtol=1e-7)
    assert scaled.certificate_.verify(X * scale, t)


@pytest.mark.parametrize("solver", [*SECOND_ORDER, "gradient"])
def test_sparse_equals_dense(solver):
    X, t = overlapping(120)
    X[np.random.default_rng(0).random(X.shape) < 0.4] = 0.0
    dense, thin = (squared(solver=solver).fit(Z, t) for Z in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(thin.coef_, dense.coef_, rtol=1e-9)
    assert thin.certificate_.verify(sparse.csr_array(X), t)


def test_float32_certifies_the_rounded_weights():
    X, t = overlapping()
    model = squared().fit(X.astype(np.float32), t)
    assert model.coef_.dtype == np.float32
    assert model.certificate_.verify(X.astype(np.float32), t)


def test_collinear_columns_are_flat_and_of_minimum_norm():
    X, t = overlapping()
    plain = squared(np.inf).fit(X, t)
    Z = np.column_stack([X, X[:, 0] + X[:, 1], np.ones(len(X))])
    model = squared(np.inf).fit(Z, t)
    assert model.certificate_.kind == "flat"
    assert model.certificate_.verify(Z, t)
    np.testing.assert_allclose(model.decision_function(Z), plain.decision_function(X), rtol=1e-6)
    # the shortest w with X w = the scores, whose null directions are (1, 1, 0, -1, 0) and the constant
    assert abs(model.coef_[0] @ [1, 1, 0, -1, 0]) < 1e-7
    assert abs(model.coef_[0, -1]) < 1e-9


def test_large_tables_take_another_road_to_the_same_place(monkeypatch):
    X, t = overlapping()
    exact = squared().fit(X, t)
    monkeypatch.setattr(learner, "_moderate", lambda risk: False)
    model = squared(tol=1e-6).fit(X, t)
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=1e-5)
    assert model.certificate_.verify(X, t)


def test_no_intercept():
    X, t = overlapping()
    model = squared(fit_intercept=False).fit(X, t)
    assert model.intercept_[0] == 0
    found = minimize(lambda w: criterion(np.append(w, 0.0), X, t), np.zeros(3), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(model.coef_[0], found.x, atol=1e-6)
    assert model.certificate_.verify(X, t)


# ---------------------------------------------------------------------- several columns and classes
@pytest.mark.parametrize("solver", ["auto", "gradient"])
def test_a_matrix_is_one_predictor_a_column(solver):
    X, t = overlapping()
    Y = np.column_stack([t, X[:, 0] + np.sin(9 * X[:, 1]) > 0.3]).astype(int)
    together = squared(solver=solver, tol=1e-3).fit(X, Y)
    for j in range(2):
        alone = squared(solver=solver, tol=1e-3).fit(X, Y[:, j])
        np.testing.assert_allclose(together.coef_[j], alone.coef_[0], rtol=1e-12)
    assert together.certificate_.verify(X, Y)
    assert not together.certificate_.verify(X, Y[:, ::-1])


def test_more_than_two_classes_are_refused():
    X, t = noisy(60, 3, k=3)
    with pytest.raises(InvalidInputError, match="OneVsRest"):
        squared().fit(X, t)


@pytest.mark.parametrize("solver", ["lbfgs", "nonsense"])
def test_solvers_of_the_other_loss_are_refused(solver):
    X, t = overlapping()
    with pytest.raises(InvalidInputError, match="squared_error"):
        squared(solver=solver).fit(X, t)
    with pytest.raises(InvalidInputError, match="'lbfgs'"):
        LogisticRegression(solver="gauss-newton").fit(X, t)


def test_standard_errors_are_refused_with_the_reason():
    X, t = overlapping()
    with pytest.raises(InvalidInputError, match="loss='log'"):
        squared(np.inf).fit(X, t).conf_int()


# ---------------------------------------------------------------------- the certificate
def test_the_certificate_does_not_hold_elsewhere():
    X, t = overlapping()
    certificate = squared().fit(X, t).certificate_
    assert isinstance(certificate, Stationarity)
    for change in ({"coef": certificate.witness["coef"] + 1e-4}, {"C": 2.0}, {"kind": "saddle"}):
        assert not replace(certificate, witness={**certificate.witness, **change}).verify(X, t)
    for nonsense in ({"kind": "summit"}, {"tol": 2.0}, {"C": -1.0}, {"task": 1}):
        with pytest.raises(ValueError):
            replace(certificate, witness={**certificate.witness, **nonsense}).verify(X, t)
    assert not certificate.verify(X, 1 - t)


def test_weights_on_their_way_to_infinity_do_not_pass_for_stationary():
    X, t = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    model = squared(1.0).fit(X, t)
    witness = {**model.certificate_.witness, "C": np.inf, "coef": np.array([[300.0]]), "tol": 1e-4, "kind": "flat"}
    assert not replace(model.certificate_, witness=witness).verify(X, t)


def test_the_certificate_survives_writing():
    X, t = overlapping()
    certificate = squared(np.inf).fit(X, t).certificate_
    again = Certificate.from_dict(certificate.to_dict())
    assert again.claim == certificate.claim
    assert "1/2 ‖w‖²" not in again.claim
    assert again.verify(X, t)
