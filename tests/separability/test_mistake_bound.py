"""mistake_bound: R, a bracket on the best margin, and R² / gamma²."""

import tracemalloc
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from separability.separability_oracles import homogeneous, parity
from soundness.tables import adversarial

from separatrix import InvalidInputError, mistake_bound


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


# ---------------------------------------------------------------------- from other weights, with other steps
def walk(Z, w0, eta, order):
    """Rosenblatt's rule as the notes have it, until a pass is clean: the number of mistakes."""
    w, count, clean = np.array(w0, dtype=float), 0, False
    while not clean:
        clean = True
        for i in order:
            if Z[i] @ w <= 0:
                w, count, clean = w + eta * Z[i], count + 1, False
    return count


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 12),
    d=st.integers(1, 3),
    length=st.sampled_from([0.0, 0.5, 20.0]),
    eta=st.sampled_from([0.1, 1.0, 7.0]),
    intercept=st.booleans(),
)
def test_no_start_and_no_step_make_more_mistakes(seed, n, d, length, eta, intercept):
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, size=(n, d)).astype(float)
    direction = rng.normal(size=d + 1)
    y = (X @ direction[:d] + intercept * direction[d] > 0).astype(int)
    y[0] = 1 - y[1]
    Z = homogeneous(X, y) if intercept else (2 * y - 1)[:, None] * X
    w0 = rng.normal(size=Z.shape[1])
    w0 *= length / np.linalg.norm(w0)
    result = mistake_bound(X, y, fit_intercept=intercept, w0=w0, eta=eta)
    assert result.verify(X, y)
    gamma = result.margin[0]
    if not np.isfinite(result.bound):
        assert gamma <= 0
        return
    expected = result.radius**2 / gamma**2 + 2 * length / (eta * gamma)
    assert result.bound == pytest.approx(expected, rel=1e-12)
    if result.bound < 1e4:
        for order in (range(n), range(n - 1, -1, -1), rng.permutation(n)):
            assert walk(Z, w0, eta, order) <= result.bound


def test_a_start_against_the_points_needs_nearly_that_many():
    # w0 = -a points the wrong way: (x, y) = (±1, ±1) adds 1 a step, so that a/eta + 1 steps are needed, of 1 + 2 a/eta
    X, y = np.array([[1.0], [-1.0]]), [1, 0]
    result = mistake_bound(X, y, fit_intercept=False, w0=[-10.0], eta=0.5)
    assert result.bound == pytest.approx(41.0)
    assert walk(np.array([[1.0], [1.0]]), [-10.0], 0.5, range(2)) == 21


def test_a_bound_for_other_weights_is_refused():
    X, y = np.array([[1.0, 2.0], [-1.0, 0.5]]), [1, 0]
    result = mistake_bound(X, y, w0=[1.0, 2.0, 3.0], eta=2.0)
    assert result.verify(X, y)
    assert "steps of 2" in repr(result)
    for wrong in ({"w0": None}, {"w0": [1.0, 2.0, 4.0]}, {"eta": 1.0}, {"bound": result.bound * 0.999}):
        assert not replace(result, **wrong).verify(X, y)
    assert mistake_bound(X, y, w0=np.zeros(3)).bound == pytest.approx(mistake_bound(X, y).bound)


@pytest.mark.parametrize(
    "wrong", [{"w0": 5.0}, {"w0": [3.0, 4.0, 0.0]}, {"w0": "34"}, {"eta": 0.0}, {"eta": np.nan}], ids=str
)
def test_a_bound_for_no_weights_at_all_is_refused_in_words(wrong):
    result = mistake_bound([[1.0], [-1.0]], [1, 0], w0=[3.0, 4.0], eta=0.5)
    with pytest.raises(ValueError, match="must be"):
        replace(result, **wrong).verify([[1.0], [-1.0]], [1, 0])


def test_a_long_start_is_as_exact_as_a_short_one():
    d = 50_000
    X, w0 = sparse.csr_array(([1.0, -1.0], ([0, 1], [0, 0])), shape=(2, d)), np.arange(d) / 7
    result = mistake_bound(X, [1, 0], fit_intercept=False, w0=w0, eta=0.1)
    assert result.verify(X, [1, 0])
    square = sum(Fraction(w) ** 2 for w in w0)
    rest = Fraction(result.bound) - Fraction(result.radius) ** 2 / Fraction(result.margin[0]) ** 2
    assert 0 <= (rest * Fraction(0.1) * Fraction(result.margin[0]) / 2) ** 2 / square - 1 <= Fraction(1, 10**13)


def test_a_bound_that_overflows_is_no_overlap():
    X, y = np.array([[1.0], [-1.0]]), [1, 0]
    result = mistake_bound(X, y, w0=[3.0, 4.0], eta=1e-320)
    assert result.bound == np.inf
    assert result.verify(X, y)
    assert "overlap" not in repr(result)


@pytest.mark.parametrize(
    "wrong",
    [
        {"w0": [1.0, 2.0]},
        {"w0": [1, 2, np.inf]},
        {"w0": "zeros"},
        {"w0": [[1], [2, 3]]},
        {"w0": [1j, 2, 3]},
        {"eta": 0.0},
        {"eta": np.nan},
    ],
)
def test_starts_and_steps_that_are_none_are_refused(wrong):
    with pytest.raises(InvalidInputError, match=next(iter(wrong))):
        mistake_bound(np.array([[1.0, 2.0], [-1.0, 0.5]]), [1, 0], **wrong)


@pytest.mark.parametrize("seed", [31000269, 31000796])
def test_rows_whose_squares_underflow_have_a_bound_without_an_overflow(seed):
    """Beside (x, 1), entries of 1e-160 need weights beyond the squares of floats; a warning is an error here."""
    table = adversarial(seed)
    found = mistake_bound(table.X, table.y)
    lower, upper = found.margin
    assert 0 < lower <= upper
    assert found.verify(table.X, table.y)
