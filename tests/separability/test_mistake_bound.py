"""mistake_bound: R, a bracket on the best margin, and R² / gamma²."""

import numpy as np
import pytest
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
    from dataclasses import replace

    X, y = [[1.0], [-1.0]], [1, 0]
    result = mistake_bound(X, y)
    assert not replace(result, radius=1.0).verify(X, y)
    assert not replace(result, bound=1.0).verify(X, y)


def test_two_classes_only():
    with pytest.raises(ValueError, match="two classes"):
        mistake_bound([[0.0], [1], [2]], [0, 1, 2])
