"""The softmax loss: accuracy for any scores, its symmetries, and its conjugate on the simplex."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given
from losses.losses_reference import EPS, assert_accurate, mp, mpf, scores

from separatrix.losses import Logistic, Softmax

softmax = Softmax()


@st.composite
def rows(draw, elements=scores, min_classes=1):
    """A class code and one score for each class."""
    z = draw(st.lists(elements, min_size=min_classes, max_size=5))
    return draw(st.integers(0, len(z) - 1)), np.array(z)


def exact_probabilities(z):
    top = max(mpf(float(a)) for a in z)
    e = [mp.exp(mpf(float(a)) - top) for a in z]
    return [a / mp.fsum(e) for a in e]


def ulps(z):
    """exp(z_j - max z) is as accurate as the difference: ε/2 of it, which is 745 at most."""
    return 16 + min(2 * float(z.max() / 2 - z.min() / 2), 800)


@given(row=rows())
def test_the_value_is_accurate_for_any_scores(row):
    y, z = row
    top = max(mpf(float(a)) for a in z)
    exact = top - mpf(float(z[y])) + mp.log(mp.fsum(mp.exp(mpf(float(a)) - top) for a in z))
    assert_accurate(softmax.value(y, z), exact, ulps=ulps(z))


@given(row=rows())
def test_the_slope_is_accurate_for_any_scores(row):
    y, z = row
    p = exact_probabilities(z)
    for j, got in enumerate(softmax.slope(y, z)):
        assert_accurate(got, p[j] - (j == y), ulps=ulps(z))


@given(row=rows())
def test_the_curvature_is_accurate_for_any_scores(row):
    y, z = row
    p = exact_probabilities(z)
    got = softmax.curvature(y, z)
    for i in range(len(z)):
        for j in range(len(z)):
            assert_accurate(got[i, j], (p[i] if i == j else 0) - p[i] * p[j], ulps=2 * ulps(z))


@given(row=rows(st.floats(-20, 20)))
def test_slope_and_curvature_are_difference_quotients(row):
    y, z = row
    h = 1e-5
    step = h * np.eye(len(z))
    slope = (softmax.value(y, z + step) - softmax.value(y, z - step)) / (2 * h)
    np.testing.assert_allclose(softmax.slope(y, z), slope, rtol=0, atol=1e-8)
    curvature = (softmax.slope(y, z + step) - softmax.slope(y, z - step)) / (2 * h)
    np.testing.assert_allclose(softmax.curvature(y, z), curvature, rtol=0, atol=1e-8)


@given(row=rows(st.integers(-(2**40), 2**40).map(float)), shift=st.integers(-(2**50), 2**50).map(float))
def test_the_same_number_added_to_all_scores_changes_nothing(row, shift):
    y, z = row  # whole numbers, so that adding them is exact
    for quantity in (softmax.value, softmax.slope, softmax.curvature):
        np.testing.assert_array_equal(quantity(y, z + shift), quantity(y, z))


@given(z=st.lists(st.integers(-800, 800).map(float), min_size=2, max_size=2), y=st.integers(0, 1))
def test_two_classes_are_the_logistic_loss_of_the_difference(z, y):
    logistic, sign, difference = Logistic(), 2 * y - 1, z[1] - z[0]
    close = {"rtol": 1e-14, "atol": 1e-322}
    np.testing.assert_allclose(softmax.value(y, z), logistic.value(sign, difference), **close)
    slope = logistic.slope(sign, difference)
    np.testing.assert_allclose(softmax.slope(y, z), [-slope, slope], **close)
    curvature = logistic.curvature(sign, difference)
    np.testing.assert_allclose(softmax.curvature(y, z), [[curvature, -curvature], [-curvature, curvature]], **close)


@given(a=st.floats(0, 1), y=st.integers(0, 1))
def test_two_classes_have_the_logistic_conjugate(a, y):
    s = np.array([a, -a]) if y == 1 else np.array([-a, a])
    np.testing.assert_allclose(softmax.conjugate(y, s), Logistic().conjugate(1, -a), rtol=1e-14, atol=1e-322)


def test_equal_scores():
    for k in (1, 2, 7):
        np.testing.assert_allclose(softmax.value(0, np.full(k, 3.0)), np.log(k), rtol=1e-15, atol=0)
        np.testing.assert_allclose(softmax.slope(0, np.full(k, 3.0)), 1 / k - np.eye(k)[0], rtol=1e-15, atol=1e-16)


def test_scores_further_apart_than_the_largest_float():
    z = np.array([1e308, -1e308, 0.0])
    np.testing.assert_array_equal(softmax.value([0, 1, 2], z), [0, np.inf, 1e308])
    np.testing.assert_array_equal(softmax.slope([0, 1, 2], z), [[0, 0, 0], [1, -1, 0], [1, 0, -1]])
    np.testing.assert_array_equal(softmax.curvature(0, z), np.zeros((3, 3)))


@given(row=rows(st.floats(-30, 30)))
def test_the_smoothness_bounds_every_eigenvalue_and_none_is_negative(row):
    y, z = row
    eigenvalues = np.linalg.eigvalsh(softmax.curvature(y, z))
    assert eigenvalues.max() <= softmax.smoothness + 1e-15
    assert eigenvalues.min() >= -1e-15


@pytest.mark.parametrize("k", [2, 3, 6])
def test_the_smoothness_is_reached_when_two_classes_share_everything(k):
    z = np.full(k, -800.0)
    z[:2] = 0
    assert np.linalg.eigvalsh(softmax.curvature(0, z)).max() == pytest.approx(softmax.smoothness, rel=1e-14)


@given(row=rows(st.floats(-30, 30)), data=st.data())
def test_every_tangent_lies_below(row, data):
    y, z = row
    other = np.array(data.draw(st.lists(st.floats(-30, 30), min_size=len(z), max_size=len(z))))
    tangent = softmax.value(y, z) + softmax.slope(y, z) @ (other - z)
    assert softmax.value(y, other) >= tangent - 1e-13


# The conjugate


@st.composite
def simplex_points(draw, min_classes=1):
    """A class code and s = q - e_y, with q in the simplex, on its faces and corners too."""
    k = draw(st.integers(min_classes, 5))
    weights = draw(st.lists(st.one_of(st.just(0.0), st.floats(1e-3, 1)), min_size=k, max_size=k))
    assume(sum(weights) > 0)
    q = np.array(weights) / sum(weights)
    y = draw(st.integers(0, k - 1))
    s = q.copy()
    s[y] -= 1
    return y, q, s


@given(point=simplex_points())
def test_the_conjugate_is_the_negative_entropy_of_the_point(point):
    y, q, s = point
    exact = mp.fsum(mpf(float(a)) * mp.log(mpf(float(a))) for a in q if a > 0)
    assert abs(mpf(float(softmax.conjugate(y, s))) - exact) <= 1e-14


@given(y=st.integers(0, 2), small=st.floats(5e-324, 1e-3), share=st.floats(0.1, 0.9))
def test_the_conjugate_keeps_its_digits_near_the_vertex_of_the_class(y, small, share):
    parts = [small * share, small * (1 - share)]
    s = np.insert(parts, y, -(parts[0] + parts[1]))
    left = 1 + mpf(float(s[y]))
    exact = mp.fsum(mpf(a) * mp.log(mpf(a)) for a in parts if a > 0) + left * mp.log(left)
    assert_accurate(softmax.conjugate(y, s), exact, ulps=64)


@given(point=simplex_points(), data=st.data())
def test_fenchel_young_inequality_softmax(point, data):
    y, _, s = point
    z = np.array(data.draw(st.lists(st.floats(-300, 300), min_size=len(s), max_size=len(s))))
    assert softmax.value(y, z) + softmax.conjugate(y, s) >= s @ z - 1e-12


@given(row=rows(st.floats(-300, 300)))
def test_fenchel_young_equality_at_the_slope_softmax(row):
    y, z = row
    s = softmax.slope(y, z)
    assert softmax.value(y, z) + softmax.conjugate(y, s) == pytest.approx(s @ z, abs=1e-12)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0, 300.0])
@pytest.mark.parametrize("k", [2, 3, 10, 100, 1000])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rounding_never_takes_a_slope_off_the_domain(k, scale, dtype):
    rng = np.random.default_rng(k)
    z = (scale * rng.standard_normal((200, k))).astype(dtype)
    codes = rng.integers(k, size=200)
    assert np.isfinite(softmax.conjugate(codes, softmax.slope(codes, z))).all()
    # The slope written naively rounds more, and still belongs.
    p = np.exp(z - z.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    assert np.isfinite(softmax.conjugate(codes, p - np.eye(k, dtype=dtype)[codes])).all()


@pytest.mark.parametrize("y", [0, 1, 2])
@given(a=st.floats(0, 1), b=st.floats(0, 1))
def test_the_conjugate_is_the_supremum_over_a_grid_softmax(y, a, b):
    q = np.array([a * b, a * (1 - b), 1 - a])
    s = q - np.eye(3)[y]
    h = 1 / 4
    # The loss does not see a common shift and s sums to 0: the last score may be held at 0.
    first, second = np.meshgrid(np.arange(-24, 24, h), np.arange(-24, 24, h))
    z = np.stack([first, second, np.zeros_like(first)], axis=-1)
    best = (z @ s - softmax.value(y, z)).max()
    conjugate = softmax.conjugate(y, s)
    assert best <= conjugate + 1e-12
    # The nearest grid point is within h/√2 of the maximiser, and misses smoothness/2 times its square, unless
    # a probability below exp(-12) takes the maximiser out of the grid: less than 3 * 12 * exp(-12).
    assert best >= conjugate - softmax.smoothness / 2 * h**2 / 2 - 3 * 12 * np.exp(-12)


def test_the_conjugate_is_infinite_off_the_simplex():
    off = np.array([[-0.5, 0.6, 0.0], [-0.5, 0.4, 0.0], [-0.5, 0.6, -0.1], [-1.1, 1.1, 0.0], [0.1, -0.1, 0.0]])
    np.testing.assert_array_equal(softmax.conjugate(0, off), np.inf)
    # The supremum is out of reach in the direction that the constraint forbids.
    directions = np.array([[1, 1, 1], [-1, -1, -1], [0, 0, -1], [-1, 0, 0], [1, 0, 0]])
    for s, direction in zip(off, directions, strict=True):
        z = direction * 10.0 ** np.arange(2, 8)[:, np.newaxis]
        assert (np.diff(z @ s - softmax.value(0, z)) > 0).all()


def test_the_tolerance_of_the_simplex_is_the_one_stated():
    k = 3
    inside, outside = 3 * k * EPS, 5 * k * EPS
    for excess, finite in ((inside, True), (outside, False), (-inside, True), (-outside, False)):
        assert np.isfinite(softmax.conjugate(0, [-0.5, 0.25 + excess, 0.25])) == finite
    for below, finite in ((inside, True), (outside, False)):
        assert np.isfinite(softmax.conjugate(0, [0.0, 0.0, -below])) == finite
        assert np.isfinite(softmax.conjugate(0, [-1.0 - below, 1.0 + below, 0.0])) == finite
    assert softmax.conjugate(0, [0.0, 0.0, -inside]) == 0


def test_the_vertices_have_no_entropy():
    np.testing.assert_array_equal(softmax.conjugate(0, [[0, 0, 0], [-1, 1, 0], [-1, 0, 1]]), 0)


def test_huge_slopes_are_outside_and_nothing_overflows():
    s = np.full((2, 16), 1e308)
    s[:, 1::2] = -1e308
    np.testing.assert_array_equal(softmax.conjugate([0, 1], s), np.inf)


@pytest.mark.parametrize("codes", [[-1, 1], [0, 3], [0.5, 1.0]])
def test_codes_that_name_no_class_are_refused(codes):
    for quantity in (softmax.value, softmax.slope, softmax.curvature, softmax.conjugate):
        with pytest.raises(ValueError, match="from 0 to 2"):
            quantity(codes, np.zeros((2, 3)))
