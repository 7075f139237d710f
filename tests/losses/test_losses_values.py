"""Value, slope and curvature of the binary losses against arithmetic of 400 digits, for any finite score."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from losses.losses_reference import (
    BINARY,
    CURVATURE,
    SLOPE,
    VALUE,
    assert_accurate,
    by_name,
    mpf,
    scores,
    sigma,
    signs,
)

from separatrix.losses import Logistic, ZeroOne


@pytest.mark.parametrize("loss", BINARY, ids=by_name)
@given(y=signs, z=scores)
def test_the_value_is_accurate_for_any_score(loss, y, z):
    assert_accurate(loss.value(y, z), VALUE[loss.name](y, z))


@pytest.mark.parametrize("loss", BINARY, ids=by_name)
@given(y=signs, z=scores)
def test_the_slope_is_accurate_for_any_score(loss, y, z):
    assert_accurate(loss.slope(y, z), SLOPE[loss.name](y, z), ulps=12)


@pytest.mark.parametrize("loss", BINARY, ids=by_name)
@given(y=signs, z=scores)
def test_the_curvature_is_accurate_for_any_score(loss, y, z):
    scale = None
    if loss.name == "squared_error":
        # 2 p q² (2p - q) crosses 0 at q = 2/3: there, it can only be as accurate as p and q are.
        p, q = sigma(y * z), sigma(-y * z)
        scale = 2 * p * q**2 * (2 * p + q)
    assert_accurate(loss.curvature(y, z), CURVATURE[loss.name](y, z), ulps=16, scale=scale)


@pytest.mark.parametrize("loss", BINARY, ids=by_name)
@pytest.mark.parametrize("quantity", ["value", "slope", "curvature"])
def test_arrays_hold_what_scalars_give(loss, quantity):
    z = np.concatenate([np.linspace(-800, 800, 1601), [1e308, -1e308, 5e-324, -5e-324]])
    y = np.where(np.arange(len(z)) % 3 == 0, -1, 1)
    at_once = getattr(loss, quantity)(y, z)
    # Vectorised exponentials may round otherwise than scalar ones, by a unit or two.
    one_by_one = [getattr(loss, quantity)(*pair) for pair in zip(y, z, strict=True)]
    np.testing.assert_allclose(at_once, one_by_one, rtol=1e-14, atol=5e-323)


@pytest.mark.parametrize("y", [-1, 1])
def test_the_logistic_tails_keep_their_digits(y):
    # log(1 + e) = e - e²/2 + ..., and e = exp(-50) is 1.9e-22: to float64 the loss, minus y times the slope
    # and the curvature are all e itself.
    e = np.exp(-50.0)
    for tail in (
        Logistic().value(y, 50.0 * y),
        -y * Logistic().slope(y, 50.0 * y),
        Logistic().curvature(y, 50.0),
    ):
        np.testing.assert_allclose(tail, e, rtol=1e-15)
    assert Logistic().slope(y, -800.0 * y) == -y
    assert Logistic().value(y, -800.0 * y) == 800
    # exp(-720) is below the smallest normal float, and not 0.
    assert_accurate(Logistic().slope(y, 720.0 * y), -y * sigma(-720))
    assert Logistic().slope(y, 720.0 * y) != 0


@given(y=signs, z=scores)
def test_zero_one_counts_a_score_of_zero_as_positive(y, z):
    predicted = 1 if z >= 0 else -1
    assert ZeroOne().value(y, z) == (0 if predicted == y else 1)


def test_zero_one_at_zero():
    assert ZeroOne().value(+1, 0.0) == 0
    assert ZeroOne().value(-1, 0.0) == 1
    assert ZeroOne().value(-1, -0.0) == 1
    assert ZeroOne().value(-1, -5e-324) == 0
    assert ZeroOne().value(+1, -5e-324) == 1


@pytest.mark.parametrize("loss", [*BINARY, ZeroOne()], ids=by_name)
@given(z=st.floats(-1e6, 1e6))
def test_a_loss_is_the_same_for_both_classes_mirrored(loss, z):
    if loss.name == "zero_one" and z == 0:
        return  # the only point where a convention has to choose a class
    assert loss.value(-1, -z) == loss.value(+1, z)
    if loss.name != "zero_one":
        assert loss.slope(-1, -z) == -loss.slope(+1, z)
        assert loss.curvature(-1, -z) == loss.curvature(+1, z)


@pytest.mark.parametrize("loss", [loss for loss in BINARY if loss.name in ("hinge", "squared_hinge", "squared")])
@given(y=signs, z=scores)
def test_these_losses_lie_above_the_zero_one_loss(loss, y, z):
    assert loss.value(y, z) >= ZeroOne().value(y, z)


@given(y=signs, z=scores)
def test_so_does_the_logistic_loss_in_bits(y, z):
    assert mpf(float(Logistic().value(y, z))) >= mpf(np.log(2)) * float(ZeroOne().value(y, z)) * (1 - 1e-15)
