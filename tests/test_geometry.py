"""Hyperplane: scores, sides, distances, and what happens at w = 0 and at the ends of the range of float64."""

import itertools
import pickle
from copy import deepcopy
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from separatrix import Hyperplane, InvalidInputError, NoDirectionError, SeparatrixError
from separatrix.geometry import Hyperplanes

# no products that vanish: the bounds below are relative
moderate = st.floats(-1e6, 1e6).map(lambda value: value if abs(value) > 1e-100 else 0.0)


@st.composite
def planes(draw, min_d=1, max_d=5):
    """w of moderate entries, the largest at least 1e-3, b, and a few points."""
    d = draw(st.integers(min_d, max_d))
    w = draw(arrays(float, d, elements=moderate))
    w[draw(st.integers(0, d - 1))] = draw(st.sampled_from([-1.0, 1.0])) * draw(st.floats(1e-3, 1e6))
    b = draw(moderate)
    X = draw(arrays(float, (draw(st.integers(1, 4)), d), elements=moderate))
    return w, b, X


def exact_score(w, b, x):
    return sum((Fraction(float(wj)) * Fraction(float(xj)) for wj, xj in zip(w, x, strict=True)), Fraction(float(b)))


def size(w, b, X):
    """What a score is the sum of: its rounding error is some eps of that."""
    return np.abs(X) @ np.abs(w) + abs(b)


@given(planes())
def test_score_is_the_exact_sum_up_to_rounding(plane):
    w, b, X = plane
    exact = np.array([float(exact_score(w, b, x)) for x in X])
    assert (np.abs(Hyperplane(w, b).score(X) - exact) <= 1e-14 * size(w, b, X)).all()


@given(planes())
def test_signed_distance_is_the_score_over_the_length(plane):
    w, b, X = plane
    length = np.sqrt(float(sum(Fraction(float(wj)) ** 2 for wj in w)))
    exact = np.array([float(exact_score(w, b, x)) / length for x in X])
    assert (np.abs(Hyperplane(w, b).signed_distance(X) - exact) <= 1e-14 * size(w, b, X) / length).all()


@given(planes())
def test_a_distance_has_the_sign_of_the_score(plane):
    w, b, X = plane
    X = np.vstack([X, Hyperplane(w, b).project(X), np.round(X)])  # some of them on the plane, or all but
    h = Hyperplane(w, b)
    assert (np.sign(h.signed_distance(X)) == np.sign(h.score(X))).all()


@given(planes())
def test_a_projection_lies_on_the_plane_and_no_point_of_it_is_nearer(plane):
    w, b, X = plane
    h = Hyperplane(w, b)
    P, distance = h.project(X), h.signed_distance(X)
    scale = 1.0 + np.abs(X).max() + abs(b) / np.linalg.norm(w)
    assert np.abs(h.signed_distance(P)).max() <= 1e-13 * scale
    np.testing.assert_allclose(np.linalg.norm(X - P, axis=1), np.abs(distance), atol=1e-13 * scale)
    # any other point of the plane: add a vector orthogonal to w
    rng = np.random.default_rng(0)
    for _ in range(3):
        v = rng.normal(size=len(w)) * scale
        other = P + v - (v @ h.normal) * h.normal
        assert (np.linalg.norm(X - other, axis=1) >= np.abs(distance) - 1e-12 * scale).all()


@given(planes())
def test_projecting_twice_changes_nothing(plane):
    w, b, X = plane
    h = Hyperplane(w, b)
    once = h.project(X)
    scale = 1.0 + np.abs(X).max() + abs(b) / np.linalg.norm(w)
    np.testing.assert_allclose(h.project(once), once, rtol=0, atol=1e-13 * scale)


def test_hand_computed():
    h = Hyperplane([3, 4], -5)
    X = [[3, 4], [0, 0], [3, -1]]
    assert h.score(X).tolist() == [20.0, -5.0, 0.0]
    assert h.side(X).tolist() == [1, -1, 1]  # a score of 0 is positive
    assert h.signed_distance(X).tolist() == [4.0, -1.0, 0.0]
    assert h.normal.tolist() == [0.6, 0.8]
    assert h.distance_to_origin == 1.0
    np.testing.assert_allclose(h.project(X), [[0.6, 0.8], [0.6, 0.8], [3, -1]], atol=1e-15)
    assert h.margin(X[:2], [1, -1]) == 1.0
    assert h.margin(X[:2], [1, 1]) == -1.0


def test_the_distance_to_the_origin_is_b_over_the_length_and_not_negative():
    assert Hyperplane([0, 5], -10).distance_to_origin == 2.0
    assert Hyperplane([0, 5], 10).distance_to_origin == 2.0
    assert Hyperplane([0, 5]).distance_to_origin == 0.0


@given(planes())
def test_the_distance_to_the_origin_is_that_of_the_origin(plane):
    w, b, _ = plane
    h = Hyperplane(w, b)
    assert h.distance_to_origin == abs(h.signed_distance(np.zeros((1, len(w))))[0])


@given(planes())
def test_the_margin_is_the_smallest_signed_distance_of_a_labelled_point(plane):
    w, b, X = plane
    h = Hyperplane(w, b)
    y = np.where(np.arange(len(X)) % 2, 1, -1)
    assert h.margin(X, y) == min(yi * d for yi, d in zip(y, h.signed_distance(X), strict=True))


@given(planes())
def test_homogeneous_round_trip(plane):
    w, b, X = plane
    h = Hyperplane(w, b)
    v = h.homogeneous()
    assert v.shape == (len(w) + 1,)
    assert Hyperplane.from_homogeneous(v) == h
    np.testing.assert_allclose(
        np.column_stack([X, np.ones(len(X))]) @ v, h.score(X), rtol=0, atol=1e-14 * size(w, b, X).max()
    )


@pytest.mark.parametrize("values", [(0, 1), (-1, 1)])
@pytest.mark.parametrize("d", range(1, 7))
def test_at_least_on_every_corner(d, values):
    corners = np.array(list(itertools.product(values, repeat=d)))
    high = (corners == values[1]).sum(axis=1)
    for m in range(-1, d + 2):
        assert (Hyperplane.at_least(m, d, values).side(corners) == np.where(high >= m, 1, -1)).all()


def test_at_least_has_the_weights_of_the_seeds():
    assert Hyperplane.at_least(2, 3) == Hyperplane([1, 1, 1], -2)
    assert Hyperplane.at_least(2, 3, values=(-1, 1)) == Hyperplane([1, 1, 1], -1)


@given(st.integers(1, 6), st.integers(0, 6), st.tuples(st.floats(-3, 3), st.floats(-3, 3)))
def test_at_least_of_any_two_values_survives_rounding(d, m, values):
    low, high = sorted(values)
    if high - low < 1e-6:
        return
    corners = np.array(list(itertools.product((low, high), repeat=d)))
    expected = np.where((corners == high).sum(axis=1) >= m, 1, -1)
    assert (Hyperplane.at_least(m, d, (low, high)).side(corners) == expected).all()


@pytest.mark.parametrize("d, values", [(0, (0, 1)), (3, (1, 0)), (3, (1, 1))])
def test_at_least_refuses_what_makes_no_sense(d, values):
    with pytest.raises(InvalidInputError, match="at_least"):
        Hyperplane.at_least(1, d, values)


def test_without_direction_there_are_scores_but_no_distances():
    h, X = Hyperplane([0.0, 0.0], -2.0), [[1.0, 2.0]]
    assert h.score(X).tolist() == [-2.0]
    assert h.side(X).tolist() == [-1]
    assert h.homogeneous().tolist() == [0.0, 0.0, -2.0]
    for need in (
        lambda: h.signed_distance(X),
        lambda: h.margin(X, [1]),
        lambda: h.project(X),
        lambda: h.normal,
        lambda: h.distance_to_origin,
    ):
        with pytest.raises(NoDirectionError, match="w = 0"):
            need()
    assert issubclass(NoDirectionError, ValueError)
    assert issubclass(NoDirectionError, SeparatrixError)


@pytest.mark.parametrize("scale", [1e-300, 5e-324, 1e-160, 1e160, 1e300])
def test_the_length_of_w_neither_vanishes_nor_overflows(scale):
    w = np.array([3.0, 4.0]) * scale
    if scale == 5e-324:
        w = np.array([3.0, 4.0]) * 5e-324  # the smallest numbers there are, exactly
    h = Hyperplane(w, 0.0)
    np.testing.assert_allclose(h.normal, [0.6, 0.8], rtol=1e-15)
    np.testing.assert_allclose(h.signed_distance([[3.0, 4.0], [-4.0, 3.0]]), [5.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(h.project([[3.0, 4.0]]), [[0.0, 0.0]], atol=1e-15)
    b = -5.0 * scale
    if np.isfinite(b):
        assert Hyperplane(w, b).distance_to_origin == pytest.approx(1.0, rel=1e-15)


def test_the_plane_is_the_same_whatever_its_scale():
    X = np.random.default_rng(0).normal(size=(5, 3))
    w, b = np.array([1.0, -2.0, 0.5]), 0.25
    expected = Hyperplane(w, b).signed_distance(X)
    for exponent in (-900, -300, 300, 900):
        scaled = Hyperplane(np.ldexp(w, exponent), np.ldexp(b, exponent))
        assert (scaled.signed_distance(X) == expected).all()  # powers of 2 round nowhere


@pytest.mark.parametrize(
    "container",
    [
        sparse.csr_array,
        sparse.csc_array,
        sparse.coo_array,
        sparse.csr_matrix,
        sparse.csc_matrix,
        np.asfortranarray,
        list,
    ],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_any_container_of_points(container, dtype):
    X = np.array([[1, 0, 2], [0, 0, 0], [-3, 4, 0]], dtype=dtype)
    h = Hyperplane([1.0, -2.0, 2.0], 3.0)
    rows = container(X)
    assert h.score(rows).tolist() == [8.0, 3.0, -8.0]
    assert h.side(rows).tolist() == [1, 1, -1]
    np.testing.assert_allclose(h.signed_distance(rows), [8 / 3, 1.0, -8 / 3], rtol=1e-15)
    assert h.margin(rows, [1, 1, -1]) == pytest.approx(1.0)
    projected = h.project(rows)
    assert type(projected) is np.ndarray
    np.testing.assert_allclose(projected, h.project(X))


def test_a_single_point_is_a_row():
    assert Hyperplane([1.0, 2.0], 0.5).score([1.0, 1.0]).tolist() == [3.5]


@pytest.mark.parametrize("w", [[], 1.0, [[1.0, 2.0]], [np.nan, 1.0], [np.inf, 1.0]])
def test_refuses_a_normal_that_is_none(w):
    with pytest.raises(InvalidInputError, match="w"):
        Hyperplane(w)


@pytest.mark.parametrize("b", [np.nan, np.inf])
def test_refuses_an_offset_that_is_not_finite(b):
    with pytest.raises(InvalidInputError, match="b"):
        Hyperplane([1.0], b)


@pytest.mark.parametrize("v", [[], [1.0], [[1.0, 2.0]], 3.0])
def test_refuses_homogeneous_vectors_without_a_normal(v):
    with pytest.raises(InvalidInputError, match="v"):
        Hyperplane.from_homogeneous(v)


@pytest.mark.parametrize("y", [[0, 1], [1], [[1], [-1]], [1, 2], [1, -1, 1], []])
def test_the_margin_needs_a_sign_for_each_row(y):
    with pytest.raises(InvalidInputError, match="y"):
        Hyperplane([1.0]).margin([[1.0], [-3.0]], y)


def test_is_immutable():
    w = np.array([1.0, 2.0])
    h = Hyperplane(w, 3.0)
    w[0] = 99.0
    assert h.w[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        h.w[0] = 5.0
    for name in ("w", "b", "other"):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(h, name, 1.0)
    with pytest.raises(AttributeError, match="immutable"):
        del h.b
    h.homogeneous()[0] = 7.0
    h.normal[0] = 7.0
    assert h == Hyperplane([1.0, 2.0], 3.0)


def test_equality_and_hash():
    h = Hyperplane([1, 2], 3)
    assert h == Hyperplane([1.0, 2.0], 3.0)
    assert hash(h) == hash(Hyperplane([1.0, 2.0], 3.0))
    assert h != Hyperplane([1.0, 2.0], 4.0)
    assert h != Hyperplane([1.0, 2.5], 3.0)
    assert h != Hyperplane([1.0], 3.0)
    assert h != "Hyperplane"
    plus, minus = Hyperplane([0.0, 1.0], 0.0), Hyperplane([-0.0, 1.0], -0.0)
    assert plus == minus
    assert hash(plus) == hash(minus)


@pytest.mark.parametrize("copy", [lambda h: pickle.loads(pickle.dumps(h)), deepcopy])
def test_copies_are_equal_and_as_immutable(copy):
    h = Hyperplane([1.0, -2.0], 0.5)
    again = copy(h)
    assert again == h
    with pytest.raises(ValueError, match="read-only"):
        again.w[0] = 5.0


def test_repr_says_what_it_is():
    assert repr(Hyperplane([4.0, 0.0], -8.0)) == "Hyperplane(w=[4., 0.], b=-8.0)"


def test_several_hyperplanes_score_in_columns():
    coef, intercept = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]), np.array([0.0, 1.0, -1.0])
    X = np.array([[1.0, 2.0], [3.0, 4.0]])
    expected = np.column_stack([Hyperplane(w, b).score(X) for w, b in zip(coef, intercept, strict=True)])
    np.testing.assert_allclose(Hyperplanes(coef, intercept).scores(X), expected)
    np.testing.assert_allclose(Hyperplanes(coef, intercept).scores(sparse.csr_array(X)), expected)
