"""The soft margin in its dual, by the residuals F_i = y_i - f(x_i), where f(x) = sum_i alpha_i y_i k(x_i, x).

    max over alpha of  D = sum_i alpha_i - 1/2 sum_ij alpha_i alpha_j y_i y_j k(x_i, x_j)
    subject to  0 <= alpha_i <= U_i  and  sum_i alpha_i y_i = 0

With an intercept b, point i lacks s_i = 1 - y_i (f(x_i) + b) = y_i (F_i - b) of its margin. The primal P is
1/2 ‖w‖² + sum_i U_i max(0, s_i), and the gap is a sum over points, P - D = sum_i U_i max(0, s_i) - alpha_i s_i, in
which no term is negative; at the optimum all are 0.
"""

from __future__ import annotations

import numpy as np

from separatrix._typing import Array, Floats

EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)
STRETCHED = (1.0, 1.0 + 1e-14, 1.0 + 1e-12, 1.0 + 1e-10)  # factors of f that lift margins over 1 in spite of rounding


def may_rise(alpha: Floats, y: Floats, U: Floats) -> Array:
    """Where alpha_i y_i can become larger."""
    return np.where(y > 0, alpha < U, alpha > 0)


def may_fall(alpha: Floats, y: Floats, U: Floats) -> Array:
    """Where alpha_i y_i can become smaller."""
    return np.where(y > 0, alpha > 0, alpha < U)


def dual(alpha: Floats, F: Floats, y: Floats) -> float:
    """D = 1/2 sum_i alpha_i (1 + y_i F_i)."""
    return 0.5 * float(alpha @ (1.0 + y * F))


def gap(alpha: Floats, F: Floats, y: Floats, U: Floats, b: float) -> float:
    """P - D for this intercept."""
    s = y * (F - b)
    return float((np.where(s > 0, U - alpha, -alpha) * s).sum())


def relative_gap(alpha: Floats, F: Floats, y: Floats, U: Floats, b: float | None = None) -> float:
    """(P - D) / P at this intercept, or at the best."""
    difference = gap(alpha, F, y, U, best_intercept(F, y, U) if b is None else b)
    return difference / max(dual(alpha, F, y) + difference, TINY)


def sums(K: Floats, c: Floats) -> Floats:
    """K c, of a symmetric K: from the rows of the c_i that are not 0, if they are few."""
    used = np.flatnonzero(c)
    return np.asarray(c[used] @ K[used] if 4 * len(used) < len(c) else K @ c)


def best_intercept(F: Floats, y: Floats, U: Floats) -> float:
    """The b that minimises sum_i U_i max(0, y_i (F_i - b)); the midpoint if it is an interval.

    The sum is convex and piecewise linear in b, with the slope -sum_{y_i = +1} U_i at the left, which grows by U_i at
    each F_i: b is where it changes its sign.
    """
    order = np.argsort(F)
    passed, balance = np.cumsum(U[order]), float(U[y > 0].sum())
    level = len(F) * EPS * float(passed[-1])
    first = min(int(np.searchsorted(passed, balance - level)), len(F) - 1)
    last = min(int(np.searchsorted(passed, balance + level, side="right")), len(F) - 1)
    return float(0.5 * F[order[first]] + 0.5 * F[order[last]])


def best_squared_intercept(F: Floats, y: Floats, U: Floats) -> float:
    """The b that minimises sum_i U_i max(0, y_i (F_i - b))², by Newton's method: the sum is quadratic in pieces."""
    b = best_intercept(F, y, U)
    for _ in range(50):
        weight = np.where(y * (F - b) > 0, U, 0.0)
        total = float(weight.sum())
        step = float(weight @ (F - b)) / total if total > 0 else 0.0
        b += step
        if abs(step) <= 4 * EPS * abs(b):
            break
    return b


def rebalanced(alpha: Floats, y: Floats, U: Floats) -> Floats:
    """alpha with sum_i alpha_i y_i = 0: what rounding has left of the sum goes to the point with most room for it."""
    alpha = alpha.copy()
    for _ in range(3):
        excess = float(y @ alpha)
        room = np.where(y * excess > 0, alpha, U - alpha) * ((alpha > 0) & (alpha < U))
        i = int(np.argmax(room))
        if excess == 0.0 or not abs(excess) < 0.5 * room[i]:
            break
        alpha[i] -= y[i] * excess
    return alpha
