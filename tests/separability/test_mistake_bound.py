"""mistake_bound: R, a bracket on the best margin, and R² / gamma²."""

import tracemalloc
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from separability.separability_oracles import homogeneous, parity

from separatrix import mistake_bound


def test_by_hand():
    result = mistake_bound([[1.0], [-1.0]], [1, 0])
    assert result.radius == pytest.approx(np.sqrt(2))
    assert result.margin == pytest.approx((1.0, 1.0))
    assert result.bound == pytest.approx(2.0)
    alone = mistake_bound([[3.0, 4.0], [-3.0, -4.0]], [1, 0], fit_intercept=False)
    assert (alone.radius, *alone.margin, alone.bound) == pytest.approx((5.0, 5.0, 5.0, 1.0))


@pytest.mark.parametrize("seed", range(20))
def test_margin_against_another_solver(seed):
    r = np.random.default_rng(seed)
    n, d = int(r.integers(3, 30)), int(r.integers(1, 5))
    X = r.normal(size=(n, d))
    s = X @ r.normal(size=d)
    y = (s > np.median(s)).astype(int)
    result = mistake_bound(X, y)
    assert result.verify(X, y)
    lower, upper = result.margin
    assert 0 < lower <= upper * (1 + 1e-12)
    assert upper - lower <= 1e-6 * upper
    Z = homogeneous(X, y)
    # max margin: min ‖v‖² subject to Z v >= 1, from the direction found and from afar
    constraint = {"type": "ineq", "fun": lambda v: Z @ v - 1, "jac": lambda v: Z}
    start = np.linalg.lstsq(Z, np.ones(n), rcond=None)[0]
    other = minimize(lambda v: v @ v, start, jac=lambda v: 2 * v, constraints=[constraint], method="SLSQP")
    if other.success and (Z @ other.x).min() > 1 - 1e-6:
        assert 1 / np.linalg.norm(other.x) == pytest.approx(upper, rel=1e-4)


def mistakes(X, y, order):
    Z = homogeneous(X, y)
    w = np.zeros(Z.shape[1])
    count = 0
    clean = False
    while not clean:
        clean = True
        for i in order:
            if Z[i] @ w <= 0:
                w, count, clean = w + Z[i], count + 1, False
    return count


@pytest.mark.parametrize("seed", range(5))
def test_no_order_of_the_points_makes_more_mistakes(seed):
    r = np.random.default_rng(seed)
    X = r.normal(size=(20, 2))
    y = (X @ [1.0, -0.5] > 0.2).astype(int)
    bound = mistake_bound(X, y).bound
    assert max(mistakes(X, y, r.permutation(20)) for _ in range(20)) <= bound


def test_not_separable_is_infinite():
    for X, y in (parity(2), ([[0.0], [1], [1], [2]], [0, 0, 1, 1])):
        result = mistake_bound(X, y)
        assert result.bound == np.inf
        assert result.margin[0] <= 0
        assert result.verify(X, y)


def test_margin_below_rounding_is_still_finite():
    X = np.array([[1.0, 1.0], [1.0 + 2.0**-52, 1.0 + 2.0**-51]])
    result = mistake_bound(X, [0, 1])
    assert 0 < result.margin[0] <= result.margin[1]
    assert np.isfinite(result.bound)
    assert result.verify(X, [0, 1])


def test_a_wrong_radius_or_bound_is_refused():
    X, y = [[1.0], [-1.0]], [1, 0]
    result = mistake_bound(X, y)
    assert not replace(result, radius=1.0).verify(X, y)
    assert not replace(result, bound=1.0).verify(X, y)


def test_two_classes_only():
    with pytest.raises(ValueError, match="two classes"):
        mistake_bound([[0.0], [1], [2]], [0, 1, 2])


def test_any_other_margin_radius_or_bound_is_refused():
    X, y = np.array([[1.0, 0.5], [-1.0, 0.25], [2.0, 1.0]]), [1, 0, 1]
    result = mistake_bound(X, y)
    assert result.verify(X, y)
    lower, upper = result.margin
    wrong = [
        {"margin": (lower * 2, upper)},
        {"margin": (1e6, 2e6), "bound": (result.radius / 1e6) ** 2},
        {"margin": (lower, lower * 0.9)},
        {"margin": (np.nan, np.nan)},
        {"radius": result.radius * 1.001},
        {"radius": np.nan},
        {"bound": result.bound * 0.999},
        {"bound": np.inf},
        {"bound": np.nan},
    ]
    for fields in wrong:
        assert not replace(result, **fields).verify(X, y), fields
    # the certificate changed along with it
    forged = replace(result.certificate, lower=lower * 2, upper=upper * 2)
    bound = (result.radius / (2 * lower)) ** 2
    assert not replace(result, margin=(lower * 2, upper * 2), bound=bound, certificate=forged).verify(X, y)
    # overlapping classes have no bound
    X, y = parity(2)
    assert not replace(mistake_bound(X, y), bound=10.0).verify(X, y)


def test_wide_rows_are_few():
    """In the space that the rows span: orders of the systems are the number of rows, and sparse rows stay sparse."""
    r = np.random.default_rng(0)
    X, y = r.normal(size=(10, 1000)), np.arange(10) % 2
    for intercept in (True, False):
        result = mistake_bound(X, y, fit_intercept=intercept)
        assert result.verify(X, y)
        Z = np.where(y == 1, 1.0, -1.0)[:, None] * np.column_stack([X, np.full(10, float(intercept))])
        alpha = np.linalg.solve(Z @ Z.T, np.ones(10))  # all rows bind here
        assert (alpha > 0).all()
        assert result.margin[1] == pytest.approx(1 / np.sqrt(alpha.sum()), rel=1e-6)
        assert result.margin[1] - result.margin[0] <= 1e-7 * result.margin[1]
    X = sparse.random_array((40, 30_000), density=0.01, rng=r, format="csr")
    tracemalloc.start()
    result = mistake_bound(X, (X @ r.normal(size=30_000) > 0).astype(int))
    assert tracemalloc.get_traced_memory()[1] < 2e8
    tracemalloc.stop()
    assert np.isfinite(result.bound)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_bracket_holds_the_rational_margin(intercept):
    """Two rows: the nearest point of the segment between them, squared, is a fraction."""
    r = np.random.default_rng(1)
    for _ in range(50):
        X = r.integers(-5, 6, size=(2, 3)) / 8 + r.choice([0.0, 1e6])
        Z = [
            [Fraction(s) * Fraction(x) for x in row] + [Fraction(s)] * intercept
            for s, row in zip((-1, 1), X, strict=True)
        ]
        step = [b - a for a, b in zip(*Z, strict=True)]
        length = sum(a * a for a in step)
        t = -sum(a * b for a, b in zip(Z[0], step, strict=True)) / length if length else Fraction(0)
        t = min(max(t, Fraction(0)), Fraction(1))
        square = sum((a + t * b) ** 2 for a, b in zip(Z[0], step, strict=True))
        result = mistake_bound(X, [0, 1], fit_intercept=intercept)
        assert result.verify(X, [0, 1])
        lower, upper = map(Fraction, result.margin)
        assert lower < 0 or lower**2 <= square
        assert upper**2 >= square
        if square > 0:
            radius = max(sum(a * a for a in z) for z in Z)
            assert Fraction(result.bound) >= radius / square
