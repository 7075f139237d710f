"""How value, slope and curvature hang together: differences, kinks, convexity, smoothness."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given
from losses.losses_reference import (
    BINARY,
    CONVEX,
    CURVATURE,
    KINK,
    SLOPE,
    SMOOTH,
    VALUE,
    by_name,
    mp,
    mpf,
    scores,
    signs,
)

from separatrix.losses import Hinge, PerceptronLoss, SigmoidSquared, SquaredHinge, ZeroOne

moderate = st.floats(-40, 40)


def near_the_kink(loss, y, z, h):
    return loss.name in KINK and abs(y * z - KINK[loss.name]) <= 2 * h


@pytest.mark.parametrize("loss", BINARY, ids=by_name)
@given(y=signs, z=moderate)
def test_the_slope_is_the_difference_quotient_of_the_value(loss, y, z):
    h = 1e-5
    assume(not near_the_kink(loss, y, z, h))
    quotient = (loss.value(y, z + h) - loss.value(y, z - h)) / ((z + h) - (z - h))
    assert abs(loss.slope(y, z) - quotient) <= 1e-9 + 1e-10 * loss.value(y, z)


@pytest.mark.parametrize("loss", BINARY, ids=by_name)
@given(y=signs, z=moderate)
def test_the_curvature_is_the_difference_quotient_of_the_slope(loss, y, z):
    h = 1e-5
    assume(not near_the_kink(loss, y, z, h))
    quotient = (loss.slope(y, z + h) - loss.slope(y, z - h)) / ((z + h) - (z - h))
    assert abs(loss.curvature(y, z) - quotient) <= 1e-9 + 1e-10 * abs(loss.slope(y, z))


@pytest.mark.parametrize("loss", BINARY, ids=by_name)
@given(y=signs, z=st.floats(-300, 300))
def test_the_difference_quotients_agree_in_the_tails_too(loss, y, z):
    # In 400 digits a step of 1e-40 leaves a relative error of about 1e-80, however small the slope is.
    h = mpf(10) ** -40
    assume(not near_the_kink(loss, y, z, 1e-12))
    value, slope = VALUE[loss.name], SLOPE[loss.name]
    for got, function in ((loss.slope(y, z), value), (loss.curvature(y, z), slope)):
        quotient = (function(y, z + h) - function(y, z - h)) / (2 * h)
        assert abs(mpf(float(got)) - quotient) <= mpf(1e-14) * (abs(quotient) + abs(slope(y, z))) + mpf(1e-70)


@pytest.mark.parametrize("y", [-1, 1])
def test_the_subgradient_at_each_kink_is_the_one_announced(y):
    assert PerceptronLoss().slope(y, 0.0) == -y
    assert PerceptronLoss().slope(y, -0.0) == -y
    assert PerceptronLoss().slope(y, 5e-324 * y) == 0
    assert Hinge().slope(y, float(y)) == 0
    assert Hinge().slope(y, y * np.nextafter(1, 0)) == -y
    assert SquaredHinge().slope(y, float(y)) == 0
    assert SquaredHinge().curvature(y, float(y)) == 0
    assert SquaredHinge().curvature(y, y * np.nextafter(1, 0)) == 2


@pytest.mark.parametrize("loss", CONVEX, ids=by_name)
@given(y=signs, z=scores, other=scores)
def test_every_tangent_lies_below_a_convex_loss(loss, y, z, other):
    value, slope = float(loss.value(y, z)), float(loss.slope(y, z))
    assume(np.isfinite([value, slope]).all())
    tangent = mpf(value) + mpf(slope) * (mpf(other) - mpf(z))
    room = (abs(value) + abs(mpf(slope) * mpf(other)) + abs(mpf(slope) * mpf(z))) * mpf(1e-15) + mpf(1e-320)
    room += abs(mpf(other) - mpf(z)) * mpf(1e-323)  # a slope below the smallest float
    assert VALUE[loss.name](y, other) >= tangent - room


@pytest.mark.parametrize("loss", CONVEX, ids=by_name)
@given(y=signs, a=scores, b=scores)
def test_the_slope_of_a_convex_loss_never_falls(loss, y, a, b):
    low, high = loss.slope(y, min(a, b)), loss.slope(y, max(a, b))
    assert low <= high or np.isclose(low, high, rtol=1e-15, atol=0)


def test_what_is_convex_says_so():
    assert all(loss.convex for loss in CONVEX)
    assert not ZeroOne().convex
    assert not SigmoidSquared().convex


@pytest.mark.parametrize("y", [-1, 1])
def test_what_is_not_convex_is_not(y):
    for loss, left, right in ((ZeroOne(), -3.0, 1.0), (SigmoidSquared(), -7.0, -1.0)):
        a, b = y * left, y * right
        assert loss.value(y, (a + b) / 2) > (loss.value(y, a) + loss.value(y, b)) / 2
    assert SigmoidSquared().curvature(y, -1.0 * y) < 0


@pytest.mark.parametrize("loss", SMOOTH, ids=by_name)
def test_the_smoothness_bounds_the_curvature_and_is_reached(loss):
    z = np.linspace(-50, 50, 1_000_001)
    for y in (-1, 1):
        curvature = np.abs(loss.curvature(y, z))
        assert curvature.max() <= loss.smoothness * (1 + 1e-15)
        assert curvature.max() >= loss.smoothness * (1 - 1e-8)


@pytest.mark.parametrize("loss", SMOOTH, ids=by_name)
@given(y=signs, a=moderate, b=moderate)
def test_the_slope_is_lipschitz_with_the_smoothness(loss, y, a, b):
    rise = abs(loss.slope(y, a) - loss.slope(y, b))
    assert rise <= loss.smoothness * abs(a - b) + 1e-15 * (abs(loss.slope(y, a)) + abs(loss.slope(y, b)))


@pytest.mark.parametrize("loss", [PerceptronLoss(), Hinge()], ids=by_name)
def test_a_slope_that_jumps_has_no_smoothness(loss):
    z, h = KINK[loss.name], 1e-9
    assert loss.slope(+1, z + h) - loss.slope(+1, z - h) == 1
    assert loss.smoothness == np.inf
    assert ZeroOne().smoothness == np.inf


def test_the_smoothness_of_the_squared_error_is_the_exact_supremum():
    # Where the third derivative vanishes, found from the definition and not from the docstring's algebra.
    with mp.workdps(40):
        h = mpf(10) ** -15

        def third(z):
            return (CURVATURE["squared_error"](1, z + h) - CURVATURE["squared_error"](1, z - h)) / (2 * h)

        top = mp.findroot(third, (0.3, 0.7), solver="anderson", tol=1e-20)
        greatest = CURVATURE["squared_error"](1, top)
    assert abs(mpf(SigmoidSquared().smoothness) - greatest) <= 1e-16


@pytest.mark.parametrize("y", [-1, 1])
def test_the_squared_error_pulls_hardest_where_the_true_class_has_probability_one_third(y):
    # q (the other class) is 2/3 when y z = -log 2: there, the slope is 2 (1/3) (2/3)² = 8/27 and turns.
    steepest = -y * np.log(2.0)
    assert abs(SigmoidSquared().slope(y, steepest)) == pytest.approx(8 / 27, rel=1e-14)
    assert abs(SigmoidSquared().curvature(y, steepest)) <= 1e-16
    z = np.linspace(-20, 20, 40_001)
    assert np.abs(SigmoidSquared().slope(y, z)).max() <= 8 / 27 + 1e-15
