"""SVC where others do not return, or return something else."""

import time

import numpy as np
import pytest
from problems import noisy, xor

from separatrix import SVC, HardMarginSVC, NotSeparableError, Status
from separatrix.certificates import KernelInseparable, KernelMarginBracket, MarginBracket
from separatrix.errors import ConvergenceWarning, SeparatrixError


@pytest.fixture(autouse=True)
def _in_seconds():
    start = time.perf_counter()
    yield
    assert time.perf_counter() - start < 60


@pytest.mark.parametrize("exponent", range(-8, 13, 2))
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_any_C(exponent, kernel):
    if kernel == "poly" and exponent == 12:
        pytest.skip("sums of multipliers of 1e12 have 4 digits after the point: w itself is not known to 1e-4")
    X, y = noisy(60, 3)
    model = SVC(C=10.0**exponent, kernel=kernel).fit(X, y)
    assert model.status_ is Status.CERTIFIED
    assert model.certificate_.verify(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("exponent", [-100, -50, -10, 10, 50, 100])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "laplacian", "sigmoid"])
def test_any_scale(exponent, kernel):
    X, y = noisy(40, 3)
    X = X * 10.0**exponent
    try:
        model = SVC(kernel=kernel).fit(X, y)
    except SeparatrixError:
        return
    if kernel == "sigmoid":
        assert model.certificate_ is None or model.certificate_.verify(X, y)
        return
    assert model.certificate_.verify(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    if kernel in ("rbf", "laplacian"):
        assert model.status_ is Status.CERTIFIED


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("C", [1e-8, 1.0, 1e6, 1e12])
def test_degenerate_points(kernel, C):
    problems = {
        "opposite labels": (np.repeat(np.arange(5.0)[:, None], 2, axis=0), np.tile([0, 1], 5)),
        "one point a class": (np.array([[0.0], [1.0]]), np.array([0, 1])),
        "all equal": (np.ones((6, 2)), np.array([0, 1, 0, 1, 1, 1])),
        "all zero": (np.zeros((5, 2)), np.array([0, 1, 0, 1, 1])),
        "one against many": (np.r_[np.zeros((20, 1)), [[1.0]]], np.r_[np.zeros(20), 1].astype(int)),
    }
    for name, (X, y) in problems.items():
        model = SVC(C=C, kernel=kernel, gamma=1.0).fit(X, y)
        # of multipliers of 1e12, sums of kernel values have too few digits for the margins to be known
        assert model.status_ is Status.CERTIFIED or (C == 1e12 and kernel != "linear"), name
        assert model.certificate_.verify(X, y), name


def test_a_hard_margin_on_xor_is_refused_with_a_proof():
    problem = xor()
    for model in (SVC(kernel="linear", C=np.inf), HardMarginSVC()):
        with pytest.raises(NotSeparableError) as caught:
            model.fit(problem.X, problem.y)
        assert caught.value.certificate.verify(problem.X, problem.y)
        assert not caught.value.certificate.verify(problem.X, [0, 1, 1, 1])
    model = HardMarginSVC(kernel="rbf", gamma=1.0).fit(problem.X, problem.y)
    assert model.status_ is Status.BRACKETED
    assert model.certificate_.verify(problem.X, problem.y)
    # by symmetry alpha is the same for all four points
    np.testing.assert_allclose(model.margin_, 0.5 * (1 - np.exp(-1.0)), rtol=1e-9)


def test_points_that_no_kernel_separates():
    X, y = np.array([[0.0], [1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    for kernel in ("rbf", "poly", "laplacian"):
        with pytest.raises(NotSeparableError) as caught:
            SVC(C=np.inf, kernel=kernel).fit(X, y)
        proof = caught.value.certificate
        assert isinstance(proof, KernelInseparable)
        assert proof.verify(X, y)
        assert KernelInseparable.from_dict(proof.to_dict()).verify(X, y)
        assert not proof.verify(X + np.array([[0.0], [0.0], [0.5], [0.0]]), y)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
def test_the_maximum_margin_is_the_limit_of_the_soft_one(kernel):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + 0.3 * X[:, 1] > 0.1).astype(int)
    X[y == 1, 0] += 0.5
    hard = HardMarginSVC(kernel=kernel).fit(X, y)
    soft = SVC(kernel=kernel, C=1e9).fit(X, y)
    np.testing.assert_allclose(hard.margin_, soft.margin_, rtol=1e-6)
    np.testing.assert_allclose(hard.decision_function(X), soft.decision_function(X), rtol=1e-4, atol=1e-4)
    certificate = hard.certificate_
    assert isinstance(certificate, MarginBracket if kernel == "linear" else KernelMarginBracket)
    assert certificate.lower <= certificate.upper * (1 + 1e-12)
    assert certificate.upper - certificate.lower <= 1e-4 * certificate.upper
    assert certificate.verify(X, y)
    plain = certificate.to_dict()
    plain["lower"] *= 1.001
    assert not type(certificate).from_dict(plain).verify(X, y)
    plain = certificate.to_dict()
    plain["upper"] *= 0.999
    assert not type(certificate).from_dict(plain).verify(X, y)


def test_a_hard_margin_of_several_classes():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 2)) + 8 * np.column_stack([y == 1, y == 2])
    for kernel in ("linear", "rbf"):
        model = HardMarginSVC(kernel=kernel).fit(X, y)
        assert model.score(X, y) == 1.0
        assert model.margin_.shape == (3,)
        assert model.certificate_.verify(X, y)
        X[0] = X[1]
        with pytest.raises(NotSeparableError) as caught:
            HardMarginSVC(kernel=kernel).fit(X, y)
        assert caught.value.certificate.verify(X, y)
        X[0] -= 8 * np.array([1.0, 0.0])


def test_steps_that_run_out_are_stated():
    X, y = noisy(2500, 3)
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        model = SVC(C=1e5, max_iter=100).fit(X, y)
    assert model.status_ is Status.UNCERTIFIED
    assert model.certificate_.relative_gap > 1e-4
    assert model.certificate_.verify(X, y)
