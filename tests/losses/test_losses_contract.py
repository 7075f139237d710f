"""What all losses share: names, shapes, precisions, immutability, and errors for what does not exist."""

from __future__ import annotations

import dataclasses
import doctest
import importlib
import pickle
import pkgutil

import numpy as np
import pytest
from losses.losses_reference import BINARY, CONVEX, by_name

from separatrix import losses
from separatrix.losses import Loss, SigmoidSquared, Softmax, UndefinedError, ZeroOne

ALL = [*BINARY, ZeroOne(), Softmax()]
QUANTITIES = ["value", "slope", "curvature", "conjugate"]


def exists(loss, quantity):
    if loss.name == "zero_one":
        return quantity == "value"
    return quantity != "conjugate" or loss.convex


EXISTING = [(loss, quantity) for loss in [*BINARY, ZeroOne()] for quantity in QUANTITIES if exists(loss, quantity)]


def name_of(parameter):
    return parameter if isinstance(parameter, str) else parameter.name


def test_names_are_those_that_estimators_use():
    assert {type(loss).__name__: loss.name for loss in ALL} == {
        "ZeroOne": "zero_one",
        "PerceptronLoss": "perceptron",
        "Hinge": "hinge",
        "SquaredHinge": "squared_hinge",
        "Logistic": "log",
        "Squared": "squared",
        "SigmoidSquared": "squared_error",
        "Softmax": "softmax",
    }


def test_everything_exported_exists_and_every_loss_is_exported():
    assert sorted(losses.__all__) == losses.__all__
    exported = {getattr(losses, name) for name in losses.__all__}
    assert {type(loss) for loss in ALL} <= exported


@pytest.mark.parametrize("loss", ALL, ids=by_name)
def test_a_loss_is_an_immutable_object_without_state(loss):
    assert isinstance(loss, Loss)
    for attribute in ("name", "smoothness", "anything"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(loss, attribute, 1)
    assert loss == type(loss)()
    assert hash(loss) == hash(type(loss)())
    assert pickle.loads(pickle.dumps(loss)) == loss
    assert repr(loss) == f"{type(loss).__name__}()"


@pytest.mark.parametrize("loss, quantity", EXISTING, ids=name_of)
def test_arguments_broadcast(loss, quantity):
    function = getattr(loss, quantity)
    y = np.array([-1, 1])
    z = np.array([[-0.5], [-0.25], [0.75]])
    table = function(y, z)
    assert table.shape == (3, 2)
    assert function(y[:0], z).shape == (3, 0)
    for i in range(3):
        for j in range(2):
            assert table[i, j] == function(int(y[j]), float(z[i, 0]))
    np.testing.assert_array_equal(function([[-1, 1]] * 3, z.repeat(2, axis=1).tolist()), table)
    assert np.ndim(function(1, 0.5)) == 0
    assert isinstance(function(1, 0.5), np.float64)


@pytest.mark.parametrize("loss, quantity", EXISTING, ids=name_of)
def test_scores_decide_the_precision(loss, quantity):
    function = getattr(loss, quantity)
    rng = np.random.default_rng(0)
    z = rng.uniform(-0.999, 0.999, 500).astype(np.float32)
    if quantity != "conjugate":
        z *= 80
    y = rng.choice([-1, 1], 500)
    if quantity == "conjugate":
        z = (-y * np.abs(z)).astype(np.float32)
    double = function(y, z.astype(np.float64))
    assert double.dtype == np.float64
    for labels in (y, y.astype(np.int8), y.astype(np.float64), y.astype(np.float32)):
        single = function(labels, z)
        assert single.dtype == np.float32
        # A curvature that crosses 0 is as accurate as its terms; any other figure, relative to itself.
        crosses_zero = loss.name == "squared_error" and quantity == "curvature"
        np.testing.assert_allclose(single, double, rtol=2e-6, atol=1e-7 if crosses_zero else 1e-44)
    assert function(1, np.float32(-0.5)).dtype == np.float32
    assert function(1, -1).dtype == np.float64
    assert function(1, np.array([-1, 0], dtype=np.int8)).dtype == np.float64


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_scores_decide_the_precision_of_softmax(quantity):
    function = getattr(Softmax(), quantity)
    rng = np.random.default_rng(0)
    z = (5 * rng.standard_normal((100, 4))).astype(np.float32)
    codes = rng.integers(4, size=100)
    if quantity == "conjugate":
        z = Softmax().slope(codes, z)
    single, double = function(codes, z), function(codes, z.astype(np.float64))
    assert single.dtype == np.float32
    assert double.dtype == np.float64
    if quantity != "conjugate":  # in float64, a point rounded to float32 is off the simplex
        np.testing.assert_allclose(single, double, rtol=1e-5, atol=1e-7)
    shape = {"value": (100,), "conjugate": (100,), "slope": (100, 4), "curvature": (100, 4, 4)}[quantity]
    assert single.shape == shape
    np.testing.assert_array_equal(single[7], function(codes[7], z[7]))


@pytest.mark.parametrize("quantity", ["value", "slope", "curvature"])
def test_softmax_broadcasts_codes_against_rows(quantity):
    function = getattr(Softmax(), quantity)
    z = np.array([[0.0, 1.0, -2.0], [3.0, 0.5, 0.5]])
    table = function([[0], [1], [2]], z)
    for y in range(3):
        for i in range(2):
            np.testing.assert_array_equal(table[y, i], function(y, z[i]))


@pytest.mark.parametrize("loss, quantity", EXISTING, ids=name_of)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nothing_is_nan_and_nothing_raises_a_floating_point_flag(loss, quantity, dtype):
    info = np.finfo(dtype)
    sizes = [
        0,
        info.smallest_subnormal,
        info.tiny,
        info.eps,
        0.5,
        1,
        2,
        88,
        104,
        710,
        746,
        1e4,
        1e37,
        info.max,
    ]
    z = np.array([sign * size for size in sizes for sign in (1, -1)], dtype=dtype)
    with np.errstate(all="raise"):
        result = getattr(loss, quantity)(np.array([[-1], [1]]), z)
    assert not np.isnan(result).any()


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nothing_is_nan_in_softmax_either(quantity, dtype):
    info = np.finfo(dtype)
    sizes = np.array([0, info.smallest_subnormal, info.tiny, 1, 104, 746, info.max / 2, info.max], dtype=dtype)
    z = np.stack(np.meshgrid(np.concatenate([sizes, -sizes]), sizes, -sizes), axis=-1)
    with np.errstate(all="raise"):
        result = getattr(Softmax(), quantity)(np.arange(3).reshape(3, 1, 1, 1), z)
    assert not np.isnan(result).any()


@pytest.mark.parametrize("loss, quantity", EXISTING, ids=name_of)
def test_arguments_are_left_as_they_are(loss, quantity):
    y, z = np.array([-1.0, 1.0]), np.array([0.5, -0.5])
    y.flags.writeable = z.flags.writeable = False
    result = getattr(loss, quantity)(y, z)
    assert not np.shares_memory(result, z)
    assert not np.shares_memory(result, y)


def test_a_zero_has_no_sign():
    for loss in CONVEX:
        for y in (-1, 1):
            zeros = [loss.conjugate(y, 0.0), loss.slope(y, 1e3 * y), loss.value(y, 1e3 * y)]
            assert not np.signbit([zero for zero in zeros if zero == 0]).any()


@pytest.mark.parametrize("loss", [ZeroOne(), SigmoidSquared()], ids=by_name)
def test_a_loss_that_is_not_convex_has_no_conjugate(loss):
    with pytest.raises(UndefinedError, match="not convex"):
        loss.conjugate(1, -0.5)


@pytest.mark.parametrize("quantity", ["slope", "curvature"])
def test_the_zero_one_loss_has_no_derivatives(quantity):
    with pytest.raises(UndefinedError, match=f"no {quantity}"):
        getattr(ZeroOne(), quantity)([1, -1], [0.5, 2.0])


def test_undefined_is_a_type_error():
    assert issubclass(UndefinedError, TypeError)


@pytest.mark.parametrize("module", ["", *(f".{info.name}" for info in pkgutil.iter_modules(losses.__path__))])
def test_the_examples_in_the_docstrings_hold(module):
    assert doctest.testmod(importlib.import_module(f"separatrix.losses{module}")).failed == 0
