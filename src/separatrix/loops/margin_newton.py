"""Newton's method on the hinge, smoothed about multipliers, or on its square, for few dense rows.

    min over v of  1/2 v'R v + sum_i c_i max(0, 1 - m_i),   m_i = y_i z_i.v

`solvers.method_of_multipliers` has the theory: about multipliers a_i the slope is -alpha_i, with
alpha_i = a_i + c_i (1 - m_i) / h clipped to [0, cap_i], and only rows strictly inside their bounds bend. With a = 0,
h = 1/2 and cap = inf that is the squared hinge itself, and neither a nor h changes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from separatrix._typing import Floats, Integers
from separatrix.loops.binding import native
from separatrix.loops.rows import ROW_COST, dense_dot, in_turn

FLAT = 0.3  # slope along a step, relative to the first, that is near enough to its end
TRIES = 12  # to find the length of a step
SMALLEST, LARGEST = 0.1, 0.9  # of the bracket of that length, cut off at each try
REFINED = 2  # times that multipliers are moved to make v stationary: the second for what rounding left
LEAST = 1e-15  # of a diagonal entry, below which a pivot is rounding
TINY = float(np.finfo(np.float64).tiny)

# what goes on between calls: `at` (floats) and `place` (integers)
WIDTH, BEST = range(2)
STEPS, BEST_AT = range(2)


def room(n: int, p: int) -> tuple[Floats, Integers]:
    """`work` and `chosen`, scratch of the loop."""
    return np.empty(5 * n + p + 4 * p * p), np.empty(n, dtype=np.int64)


@native(
    "margin_newton",
    "f8[] i8 i8 f8[] f8[] f8[] f8[] i8 f8 f8 i8 i8 f8[] f8[] f8[] f8[] f8[] i8[] f8[] i8[] i8",
    returns="i8",
)
def margin_newton(
    Z: Floats, n: int, p: int, y: Floats, c: Floats, cap: Floats, ridge: Floats, squared: int, narrower: float,
    goal: float, patience: int, most: int, v: Floats, a: Floats, m: Floats, alpha: Floats, at: Floats, place: Integers,
    work: Floats, chosen: Integers, budget: int,
) -> int:  # fmt: skip
    """Steps until the gap, relative to the objective, is within `goal`; or `most`; or `patience` in vain.

    v, a, m and alpha are moved in place; at = (h, the smallest gap), place = (steps, the step of that gap). Returns 1
    when done and 0 when the budget ended first.
    """
    free, least = ~(ridge > 0), min(c, default=np.inf)
    while True:
        h, lack = float(at[WIDTH]), 1.0 - m
        rate, slack = c / h, 0.0
        alpha[:] = _clipped(a + rate * lack, cap)
        over = np.where(lack < 0.0, 0.0, lack)
        if squared:
            loss = dense_dot(c, over * over)
        else:
            loss = dense_dot(c, over)
            slack = loss - dense_dot(alpha, lack)
        used = np.flatnonzero(alpha != 0.0)
        g = np.zeros(p)
        _by_fours(g, (y * alpha)[used, None] * Z[used])
        inside = used[alpha[used] < cap[used]]
        loose = max(float(in_turn(c[inside])), least) / h
        g -= ridge * v
        left = 0.5 * float(in_turn(g * (g / np.where(free, loose, ridge))))
        value = 0.5 * float(in_turn(v * (ridge * v))) + loss
        gap = (slack + left) / max(value, TINY)
        if gap < at[BEST]:
            at[BEST], place[BEST_AT] = gap, place[STEPS]
        if not gap > goal or place[STEPS] >= most or place[STEPS] - place[BEST_AT] > patience:
            if not squared and len(inside) <= 2 * p:
                _stationary(Z, y, cap, ridge * v, alpha, inside)
            return 1
        if budget <= 0:
            return 0
        budget -= (len(used) + n + len(inside) * (p + 1) // 2) * p + p**3 // 6 + ROW_COST * n
        place[STEPS] += 1
        if left <= slack:
            a[:], at[WIDTH] = alpha, narrower * h
            continue
        H = np.zeros((p, p))
        z = Z[inside]
        _by_fours(H, (rate[inside, None] * z)[:, :, None] * z[:, None, :])
        diagonal = np.arange(p)
        H[diagonal, diagonal] += np.where(free, np.where(H.diagonal() > 0, 0.0, loose), ridge)
        _solved(H, g)
        dm = y * np.array([dense_dot(z, g) for z in Z] or np.zeros(0))
        linear, square = float(in_turn(g * (ridge * v))), float(in_turn(g * (ridge * g)))

        def slope(t: float) -> float:
            moved = a + rate * (lack - t * dm)  # noqa: B023
            return (linear + t * square) - dense_dot(_clipped(moved, cap), dm)  # noqa: B023

        t = step_length(linear - dense_dot(alpha, dm), slope)
        v += t * g
        m += t * dm


def _clipped(alpha: Floats, cap: Floats) -> Floats:
    alpha = np.where(alpha < 0.0, 0.0, alpha)
    return np.where(cap < alpha, cap, alpha)


def _by_fours(total: Floats, terms: Floats) -> None:
    """total += the terms, four at a time."""
    whole = len(terms) // 4 * 4
    for r in range(0, whole, 4):
        total += (terms[r] + terms[r + 1]) + (terms[r + 2] + terms[r + 3])
    for term in terms[whole:]:
        total += term


def _solved(H: Floats, x: Floats) -> None:
    """H x = g by Cholesky's factors, in place; directions that rounding has left without curvature get no step."""
    p = len(x)
    for j in range(p):
        for k in range(j):
            H[j, k] = (H[j, k] - dense_dot(H[j, :k], H[k, :k])) * H[k, k]
        pivot = H[j, j] - dense_dot(H[j, :j], H[j, :j])
        H[j, j] = 1.0 / np.sqrt(pivot) if pivot > LEAST * H[j, j] else 0.0
    for j in range(p):
        x[j] = (x[j] - dense_dot(H[j, :j], x[:j])) * H[j, j]
    for j in reversed(range(p)):
        x[j] *= H[j, j]
        x[:j] -= H[j, :j] * x[j]


def _stationary(Z: Floats, y: Floats, cap: Floats, pull: Floats, alpha: Floats, freed: Integers) -> None:
    """The free alpha moved least so that sum_i alpha_i y_i z_i = R v: v is known to more digits than (1 - m_i) / h is.

    Of rows that depend on others some stay.
    """
    z = Z[freed]
    for _ in range(REFINED):
        g = -pull
        for i in np.flatnonzero(alpha != 0.0):
            g += y[i] * alpha[i] * Z[i]
        K = np.array([[dense_dot(first, second) for second in z] for first in z]).reshape(len(z), len(z))
        x = np.array([dense_dot(row, g) for row in z])
        _solved(K, x)
        alpha[freed] = _clipped(alpha[freed] - y[freed] * x, cap[freed])


def step_length(first: float, slope: Callable[[float], float]) -> float:
    """Where the slope along a step, which grows from its first value, is near 0; at most 1."""
    low, low_slope, high, high_slope, t = 0.0, first, 1.0, 0.0, 1.0
    for _ in range(TRIES):
        now = slope(t)
        if abs(now) <= FLAT * abs(first) or (t == 1.0 and now < 0):
            break
        if now > 0:
            high, high_slope = t, now
        else:
            low, low_slope = t, now
        cut = float(np.float64(low_slope) / (low_slope - high_slope))
        t = low + (high - low) * min(max(cut, SMALLEST), LARGEST)
    return t
