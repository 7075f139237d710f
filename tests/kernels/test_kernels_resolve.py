"""From a ``kernel`` parameter to a kernel, and gamma from its name."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.svm import SVC

from separatrix.kernels import (
    FromFunction,
    Laplacian,
    Linear,
    Poly,
    Precomputed,
    Rbf,
    Sigmoid,
    Spectrum,
    resolve,
    resolve_gamma,
)


@pytest.fixture
def X() -> np.ndarray:
    rng = np.random.default_rng(5)
    return rng.standard_normal((20, 4)) * (rng.random((20, 4)) < 0.5) + [0, 0, 3, 0]


def named(kernel, X=None, gamma=0.5, degree=2, coef0=1.5):
    return resolve(kernel, gamma=gamma, degree=degree, coef0=coef0, X=X)


def test_names():
    assert named("linear") == Linear()
    assert named("poly") == Poly(degree=2, gamma=0.5, coef0=1.5)
    assert named("rbf") == Rbf(gamma=0.5)
    assert named("laplacian") == Laplacian(gamma=0.5)
    assert named("sigmoid") == Sigmoid(gamma=0.5, coef0=1.5)
    assert named("precomputed") == Precomputed()


def test_objects_and_functions():
    spectrum = Spectrum(3)
    assert named(spectrum, X=["abc"], gamma="scale") is spectrum
    assert named(np.dot) == FromFunction(np.dot)


@pytest.mark.parametrize(
    "kernel, fault",
    [
        ("rbff", r"unknown kernel 'rbff', did you mean 'rbf'\? Known: 'linear', 'poly', 'rbf'"),
        ("RBF", "did you mean 'rbf'"),
        ("xyzzy", r"unknown kernel 'xyzzy'\. Known"),
        ("spectrum", r"kernel=Spectrum\(k\)"),
        ("Weisfeiler-Lehman", r"kernel=WeisfeilerLehman\(h\)"),
        (Spectrum, r"class Spectrum: pass an object"),
        (3, "a name, a kernel object or a function"),
        (None, "a name, a kernel object or a function"),
    ],
)
def test_what_is_no_kernel(kernel, fault):
    with pytest.raises(ValueError, match=fault):
        named(kernel)


@pytest.mark.parametrize("gamma", [0, -1.0, np.nan, np.inf, "big", None, True, [1.0]], ids=repr)
@pytest.mark.parametrize("kernel", ["poly", "rbf", "laplacian", "sigmoid"])
def test_bad_gamma(kernel, gamma, X):
    with pytest.raises(ValueError, match="gamma must be"):
        named(kernel, X, gamma=gamma)


@pytest.mark.parametrize("degree", [-1, 2.5, "3", None, np.nan], ids=repr)
def test_bad_degree(degree):
    with pytest.raises(ValueError, match="degree must be a whole number"):
        named("poly", degree=degree)


def test_bad_coef0():
    for kernel in ("poly", "sigmoid"):
        with pytest.raises(ValueError, match="coef0 must be a finite number"):
            named(kernel, coef0=np.inf)


def test_settings_a_kernel_does_not_have_are_not_looked_at():
    assert named("linear", gamma="nonsense", degree=-1) == Linear()
    assert named("rbf", degree=-1, coef0=np.nan) == Rbf(0.5)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array, sparse.coo_matrix])
def test_gamma_agrees_with_scikit_learn(storage, X):
    y = np.arange(len(X)) % 2
    reference = SVC(gamma="scale").fit(X, y)._gamma
    assert resolve_gamma("scale", storage(X)) == pytest.approx(reference, rel=1e-13)
    assert named("rbf", storage(X), gamma="scale").gamma == pytest.approx(reference, rel=1e-13)
    assert resolve_gamma("auto", storage(X)) == 1 / 4
    assert resolve_gamma(np.float32(0.25), None) == 0.25


@given(
    arrays(np.float64, (6, 3), elements=st.floats(-10, 10).map(lambda value: round(value, 3))),
    arrays(np.int64, 6, elements=st.integers(0, 4)),
)
def test_a_weight_is_a_number_of_repeats(X, weight):
    repeated = np.repeat(X, weight, axis=0)
    for storage in (np.asarray, sparse.csr_array):
        if weight.sum() == 0:
            with pytest.raises(ValueError, match="positive total weight"):
                resolve_gamma("scale", storage(X), weight)
        elif np.ptp(repeated) > 0:
            expected = 1 / (3 * repeated.var())
            assert resolve_gamma("scale", storage(X), weight) == pytest.approx(expected, rel=1e-9)
            assert resolve_gamma("scale", storage(repeated)) == pytest.approx(expected, rel=1e-9)
    if weight.sum():
        direct = resolve("rbf", gamma="scale", degree=3, coef0=0, X=X, sample_weight=weight)
        assert direct.gamma == resolve_gamma("scale", X, weight)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_scale_survives_a_shift(storage):
    X = np.random.default_rng(0).integers(-50, 50, (200, 3)).astype(float)  # exact after the shift, too
    weight = np.arange(200) % 3
    for w in (None, weight):
        expected = resolve_gamma("scale", X, w)
        assert resolve_gamma("scale", storage(X + 1e9), w) == pytest.approx(expected, rel=1e-12)
    # The mean, 1e16 + 1, is no float64: the variance, 1, must not suffer.
    assert resolve_gamma("scale", storage(np.array([[1e16], [1e16 + 2]]))) == 1.0
    single = (X + 1e5).astype(np.float32)
    assert resolve_gamma("scale", storage(single)) == pytest.approx(1 / (3 * X.var()), rel=1e-9)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("value", [0.0, 3.0, 0.1, 1e9])
def test_scale_of_a_constant_is_one(storage, value):
    assert resolve_gamma("scale", storage(np.full((7, 3), value))) == 1.0
    assert resolve_gamma("scale", storage(np.full((7, 3), value)), np.full(7, 0.3)) == 1.0


def test_scale_that_is_no_number():
    for X in (np.array([[1e200], [-1e200]]), np.array([[1e-160], [0.0]])):
        with pytest.raises(ValueError, match="scale the columns"):
            resolve_gamma("scale", X)
    with pytest.raises(ValueError, match="at least one column"):
        resolve_gamma("auto", np.empty((3, 0)))
    with pytest.raises(ValueError, match=r"shape \(3,\), got \(2,\)"):
        resolve_gamma("scale", np.eye(3), np.ones(2))


def test_scale_in_blocks(X, monkeypatch):
    expected = resolve_gamma("scale", X)
    monkeypatch.setattr("separatrix.kernels.blocks.BLOCK_BYTES", 100)
    assert resolve_gamma("scale", X) == pytest.approx(expected, rel=1e-14)
