"""RidgeClassifier: against scikit-learn's, and against the normal equations solved in rational numbers."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import noisy, with_condition
from scipy import sparse
from sklearn.linear_model import RidgeClassifier as Reference

from separatrix import ConvergenceWarning, InvalidInputError, LeastSquaresClassifier, RidgeClassifier, Status
from separatrix.formulas import ridge


def exact(X, signs, weight, alpha, free=True):
    """w and b of the normal equations, by Gauss's elimination in fractions."""
    rows = [[Fraction(float(v)) for v in row] + [Fraction(1)] * free for row in X]
    c = [Fraction(float(v)) for v in weight]
    p, d = len(rows[0]), X.shape[1]
    A = [[sum(k * z[i] * z[j] for k, z in zip(c, rows, strict=True)) for j in range(p)] for i in range(p)]
    for j in range(d):
        A[j][j] += Fraction(alpha)
    v = [sum(k * z[i] * int(s) for k, z, s in zip(c, rows, signs, strict=True)) for i in range(p)]
    for i in range(p):
        pivot = next(r for r in range(i, p) if A[r][i])
        A[i], A[pivot], v[i], v[pivot] = A[pivot], A[i], v[pivot], v[i]
        for r in range(i + 1, p):
            factor = A[r][i] / A[i][i]
            A[r] = [one - factor * other for one, other in zip(A[r], A[i], strict=True)]
            v[r] -= factor * v[i]
    found = [Fraction(0)] * p
    for i in reversed(range(p)):
        found[i] = (v[i] - sum(A[i][j] * found[j] for j in range(i + 1, p))) / A[i][i]
    return np.array(found[:d], dtype=float), float(found[d]) if free else 0.0


SHAPES = {"tall": (30, 4), "square": (6, 6), "wide": (6, 15)}


@pytest.mark.parametrize("alpha", [1e-6, 1.0, 1e4])
@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("make", [np.ascontiguousarray, sparse.csr_array])
def test_the_weights_are_those_of_exact_arithmetic(shape, free, alpha, make):
    X, y = noisy(*SHAPES[shape], seed=3)
    weight = np.random.default_rng(1).uniform(0.1, 3.0, size=len(y))
    model = RidgeClassifier(alpha, fit_intercept=free).fit(make(X), y, weight)
    w, b = exact(X, 2 * y - 1, weight, alpha, free)
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-9, atol=1e-11 * np.abs(w).max())
    np.testing.assert_allclose(model.intercept_[0], b, rtol=1e-9, atol=1e-12)
    assert model.certificate_.verify(make(X), y, weight)
    assert model.status_ is Status.FORMULA


@pytest.mark.parametrize("shape", SHAPES)
def test_lsmr_ends_at_the_same_weights(shape, monkeypatch):
    X, y = noisy(*SHAPES[shape], seed=3)
    X = X * np.geomspace(1.0, 1e4, X.shape[1])
    w, _ = exact(X, 2 * y - 1, np.ones(len(y)), 0.5)
    monkeypatch.setattr(ridge, "_wide", lambda problem: (None, 0))  # as if the factorisation had failed
    monkeypatch.setattr(ridge, "_tall", lambda problem, length: (None, 0))
    model = RidgeClassifier(0.5).fit(X, y)
    assert model.n_iter_ > 1
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-6, atol=1e-9 * np.abs(w).max())
    assert model.certificate_.verify(X, y)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("balanced", [None, "balanced"])
@pytest.mark.parametrize("size", [(120, 4), (20, 60)])
def test_weights_and_predictions_are_scikit_learns(k, free, balanced, size):
    X, y = noisy(*size, k)
    weight = np.random.default_rng(1).integers(1, 4, size=len(y)).astype(float)
    names = {"alpha": 2.5, "fit_intercept": free}
    model = RidgeClassifier(**names, class_weight=balanced).fit(X, y, weight)
    # theirs takes the classes' factors from the rows without their weights
    factors = weight.sum() / (k * np.bincount(y, weight))
    theirs = Reference(**names, solver="svd").fit(X, y, weight * (factors[y] if balanced else 1.0))
    np.testing.assert_allclose(model.coef_, theirs.coef_.reshape(model.coef_.shape), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(model.intercept_, theirs.intercept_ if free else 0.0, rtol=1e-8, atol=1e-12)
    assert (model.predict(X) == theirs.predict(X)).all()
    assert model.certificate_.verify(X, y, weight)


def test_a_matrix_of_labels_is_a_regression_each():
    X, _ = noisy(60, 3)
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] + X[:, 2] > 0.3]).astype(int)
    model, theirs = RidgeClassifier().fit(X, Y), Reference(solver="svd").fit(X, Y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-9)
    assert (model.predict(X) == theirs.predict(X)).all()
    assert model.certificate_.verify(X, Y)


def test_without_a_ridge_it_is_least_squares():
    X, y = noisy(50, 4, 3)
    X[:, 3] = X[:, 0]
    model, plain = RidgeClassifier(0).fit(X, y), LeastSquaresClassifier().fit(X, y)
    assert np.array_equal(model.coef_, plain.coef_)
    assert model.status_ is Status.MINIMUM_NORM
    # and a small one shares equal columns equally, as the minimum norm does
    near = RidgeClassifier(1e-7).fit(X, y)
    np.testing.assert_allclose(near.coef_, plain.coef_, rtol=1e-5, atol=1e-8)
    assert near.certificate_.verify(X, y)


@pytest.mark.parametrize("shift", [1e6, -1e9])
@pytest.mark.parametrize("size", [(60, 3), (8, 20)])
def test_a_shift_changes_the_intercept_only(shift, size):
    X, y = noisy(*size)
    X = np.round(X * 64) / 64  # so that the shift is exact
    near, far = RidgeClassifier().fit(X, y), RidgeClassifier().fit(X + shift, y)
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-8, atol=1e-12)


def test_constant_columns_have_no_weight():
    X, y = noisy(40, 3)
    for value in (0.1, 1e9, 0.0):
        wide = np.column_stack([X, np.full(40, value)])
        model = RidgeClassifier().fit(wide, y)
        assert model.coef_[0, 3] == 0.0
        np.testing.assert_allclose(model.coef_[:, :3], RidgeClassifier().fit(X, y).coef_, rtol=1e-12)
        certificate = model.certificate_
        assert certificate.verify(wide, y)
        wrong = certificate.witness["coef"].copy()
        wrong[0, 3] = 1e-6
        b = certificate.witness["intercept"] - 1e-6 * value  # the same scores, but a longer w
        forged = replace(certificate, witness={**certificate.witness, "coef": wrong, "intercept": b})
        assert not forged.verify(wide, y)


def test_another_alpha_is_refused():
    X, y = noisy(40, 3)
    certificate = RidgeClassifier(1.0).fit(X, y).certificate_
    assert "+ 1 ‖w‖²" in certificate.claim
    for other in (1.0 + 1e-5, 0.999, 1e-3, 1e3):
        assert not replace(certificate, witness={**certificate.witness, "alpha": other}).verify(X, y)
    with pytest.raises(ValueError, match="alpha"):
        replace(certificate, witness={**certificate.witness, "alpha": -1.0}).verify(X, y)


@pytest.mark.parametrize("condition", [1e4, 1e8])
@pytest.mark.parametrize("size", [(80, 6), (6, 20)])
def test_badly_conditioned_rows_are_certified_or_warned_of(condition, size):
    X, y = with_condition(*size, condition)
    for alpha in (1e-12, 1e-3):
        model = RidgeClassifier(alpha).fit(X, y)
        w, _ = exact(X, 2 * y - 1, np.ones(len(y)), alpha)
        assert model.certificate_.verify(X, y)
        np.testing.assert_allclose(model.coef_[0], w, rtol=1e-4, atol=1e-5 * np.abs(w).max())


def test_too_few_iterations_are_warned_of(monkeypatch):
    X, y = noisy(50, 8)
    monkeypatch.setattr(ridge, "_tall", lambda problem, length: (None, 0))
    with pytest.warns(ConvergenceWarning, match="after 1 iterations"):
        model = RidgeClassifier(1e-3, max_iter=1).fit(X, y)
    assert model.certificate_ is None
    assert model.status_ is Status.UNCERTIFIED


@pytest.mark.parametrize("wrong", [{"alpha": -1.0}, {"alpha": np.inf}, {"solver": "none"}, {"max_iter": 0}])
def test_parameters_that_mean_nothing_are_refused(wrong):
    X, y = noisy(20, 2)
    with pytest.raises(InvalidInputError, match=next(iter(wrong))):
        RidgeClassifier(**wrong).fit(X, y)


@given(
    st.integers(0, 1000),
    st.integers(3, 12),
    st.integers(1, 8),
    st.floats(-6, 6),
    st.booleans(),
    st.sampled_from([2, 3]),
)
@settings(max_examples=60, deadline=None)
def test_a_step_aside_costs_more(seed, n, d, log_alpha, free, k):
    """The objective at the weights is below that of any weights nearby: it is strictly convex."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, size=(n, d)) * 0.5, np.arange(n) % k
    alpha = 10.0**log_alpha
    model = RidgeClassifier(alpha, fit_intercept=free).fit(X, y)
    task = 1 if k == 2 else 0
    signs = np.where(y == task, 1.0, -1.0)

    def objective(w, b):
        return np.sum((signs - X @ w - b) ** 2) + alpha * np.sum(w**2)

    w, b = model.coef_[0], model.intercept_[0]
    best = objective(w, b)
    for _ in range(5):
        dw, db = rng.normal(size=d), rng.normal() * free
        assert objective(w + 1e-3 * dw, b + 1e-3 * db) > best
    assert model.certificate_.verify(X, y)
