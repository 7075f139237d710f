"""The conjugates: Fenchel and Young's inequality, the supremum itself, and the ends of the domains."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given
from losses.losses_reference import CONVEX, assert_accurate, by_name, mp, mpf, scores, signs

from separatrix.losses import Hinge, Logistic, PerceptronLoss, Squared, SquaredHinge

# The margins m = y s where the conjugate is finite.
DOMAIN = {
    "perceptron": (-1.0, 0.0),
    "hinge": (-1.0, 0.0),
    "log": (-1.0, 0.0),
    "squared_hinge": (-np.inf, 0.0),
    "squared": (-np.inf, np.inf),
}

unit = st.one_of(
    st.floats(0, 1),
    st.floats(0, 1e-300),
    st.floats(0, 1e-8).map(lambda a: 1 - a),
    st.sampled_from([0.0, 1.0, 0.5, 5e-324, 1e-310, 1e-20, np.nextafter(1, 0), np.nextafter(0.5, 1)]),
)


def slopes_of(loss):
    """A strategy for m = y s in the domain of the conjugate."""
    low, high = DOMAIN[loss.name]
    if low == -1:
        return unit.map(lambda a: -a)
    return scores.filter(lambda m: low <= m <= high)


def gap(loss, y, z, s):
    """loss(y, z) + conjugate(y, s) - s z without rounding of the sum, and the size of its terms."""
    value, conjugate = float(loss.value(y, z)), float(loss.conjugate(y, s))
    assume(np.isfinite([value, conjugate]).all())
    terms = [mpf(value), mpf(conjugate), -mpf(float(s)) * mpf(z)]
    # Each term is known to a few units in its last place; a slope that underflows is off by up to 5e-324.
    room = mpf(4e-15) * sum(abs(term) for term in terms) + mpf(5e-323) * (1 + abs(mpf(z)))
    return sum(terms), room


@pytest.mark.parametrize("loss", CONVEX, ids=by_name)
@given(data=st.data(), y=signs, z=scores)
def test_fenchel_young_inequality(loss, data, y, z):
    s = y * data.draw(slopes_of(loss))
    surplus, room = gap(loss, y, z, s)
    assert surplus >= -room


@pytest.mark.parametrize("loss", CONVEX, ids=by_name)
@given(y=signs, z=scores)
def test_fenchel_young_equality_at_the_slope(loss, y, z):
    s = loss.slope(y, z)
    assume(np.isfinite(s))
    surplus, room = gap(loss, y, z, s)
    assert abs(surplus) <= room


@pytest.mark.parametrize("loss", CONVEX, ids=by_name)
@given(data=st.data(), y=signs)
def test_the_conjugate_is_the_supremum_over_a_grid(loss, data, y):
    low, high = (max(end, -40.0) if end < 0 else min(end, 40.0) for end in DOMAIN[loss.name])
    s = y * data.draw(st.floats(low, high))
    h = 1 / 64
    z = np.arange(-60 * 64, 60 * 64 + 1) * h  # it holds the kinks, 0 and ±1, exactly
    best = (s * z - loss.value(y, z)).max()
    conjugate = loss.conjugate(y, s)
    assert best <= conjugate + 1e-13 * (1 + abs(conjugate))
    # The nearest grid point is within h/2 of the maximiser: the grid misses at most smoothness * (h/2)² / 2.
    # A piecewise linear loss attains the supremum at its kink, which is on the grid. For the logistic loss
    # the maximiser leaves the grid only when s is within exp(-60) of an end: the grid misses nothing there.
    missed = 0.0 if np.isinf(loss.smoothness) else loss.smoothness * (h / 2) ** 2 / 2
    assert best >= conjugate - missed - 1e-13 * (1 + abs(conjugate))


@pytest.mark.parametrize("loss", [loss for loss in CONVEX if loss.name != "squared"], ids=by_name)
@pytest.mark.parametrize("y", [-1, 1])
def test_the_conjugate_is_infinite_outside_its_domain(loss, y):
    low, high = DOMAIN[loss.name]
    outside = [5e-324, 1e-20, 0.1, 1.0, 1e308]
    if low == -1:
        outside += [np.nextafter(-1, -2), -1.1, -2.0, -1e308]
    for m in outside:
        assert loss.conjugate(y, y * m) == np.inf
    for m in (0.1, -1.1) if low == -1 else (0.1,):
        # The supremum is out of reach: it grows with z for ever.
        z = y * np.sign(m) * 10.0 ** np.arange(2, 9)
        reached = y * m * z - loss.value(y, z)
        assert (np.diff(reached) > 0).all()
        assert reached[-1] > 1e6
    for m in {max(low, -1e100), high}:
        assert np.isfinite(loss.conjugate(y, y * m))


@given(y=signs, a=unit)
def test_the_logistic_conjugate_keeps_its_digits_at_both_ends(y, a):
    exact = mpf(0)
    for probability in (mpf(a), 1 - mpf(a)):
        if probability > 0:
            exact += probability * mp.log(probability)
    assert_accurate(Logistic().conjugate(y, -y * a), exact)


@pytest.mark.parametrize("loss", [Squared(), SquaredHinge()], ids=by_name)
@given(y=signs, m=st.one_of(scores, st.floats(-4.001, -3.999), st.just(-4.0)).map(lambda m: -abs(m)))
def test_the_quadratic_conjugates_keep_their_digits_where_they_cross_zero(loss, y, m):
    assert_accurate(loss.conjugate(y, y * m), mpf(m) + mpf(m) ** 2 / 4)


@given(y=signs, m=scores)
def test_the_squared_conjugate_is_finite_for_both_signs(y, m):
    assert_accurate(Squared().conjugate(y, y * m), mpf(m) + mpf(m) ** 2 / 4)


@given(y=signs, a=unit)
def test_the_piecewise_linear_conjugates(y, a):
    # sup of -a u - max(0, 1 - u) is at u = 1, and sup of -a u - max(0, -u) at u = 0.
    assert Hinge().conjugate(y, -y * a) == -a
    assert PerceptronLoss().conjugate(y, -y * a) == 0


@pytest.mark.parametrize("loss", CONVEX, ids=by_name)
@given(data=st.data(), y=signs)
def test_the_conjugate_of_the_conjugate_is_the_loss(loss, data, y):
    # For a closed convex loss, loss(y, z) = sup over s of s z - conjugate(y, s): the maximiser is the slope.
    z = data.draw(st.floats(-20, 20))
    low, high = (max(end, -100.0) if end < 0 else min(end, 100.0) for end in DOMAIN[loss.name])
    s = y * np.linspace(low, high, 20_001)
    supremum = (s * z - loss.conjugate(y, s)).max()
    assert supremum <= loss.value(y, z) + 1e-12
    # The quadratic conjugates have curvature 1/2 on a grid of step 0.01 at most: they miss at most
    # (1/2) (0.005)² / 2 < 1e-5. The logistic one has slopes that grow at the ends like log: within a step of
    # 5e-5 it misses at most that times |log(5e-5)| + |z| + 1.
    assert supremum >= loss.value(y, z) - (5e-5 * 32 if loss.name == "log" else 1e-5)
