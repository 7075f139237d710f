"""The soft margin in its dual, by the residuals F_i = y_i - f(x_i), where f(x) = sum_i alpha_i y_i k(x_i, x).

    max over alpha of  D = sum_i alpha_i - 1/2 sum_ij alpha_i alpha_j y_i y_j k(x_i, x_j)
    subject to  0 <= alpha_i <= U_i  and  sum_i alpha_i y_i = 0

With an intercept b, point i lacks s_i = 1 - y_i (f(x_i) + b) = y_i (F_i - b) of its margin. The primal P is
1/2 ‖w‖² + sum_i U_i max(0, s_i), and the gap is a sum over points, P - D = sum_i U_i max(0, s_i) - alpha_i s_i, in
which no term is negative; at the optimum all are 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.targets import Targets

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


def relative_gap(alpha: Floats, F: Floats, y: Floats, U: Floats, intercept: bool) -> tuple[float, float]:
    """The best intercept, or 0 if there is to be none, and (P - D) / P there."""
    b, relative = relative_gaps(alpha[None], F[None], y[None], U[None], intercept)
    return float(b[0]), float(relative[0])


def relative_gaps(alpha: Floats, F: Floats, y: Floats, U: Floats, intercept: bool) -> tuple[Floats, Floats]:
    """The same of many problems, a line of the arrays (B, M) each."""
    b = best_intercepts(F, y, U) if intercept else np.zeros(len(y))
    s = y * (F - b[:, None])
    difference = (np.where(s > 0, U - alpha, -alpha) * s).sum(axis=1)
    value = 0.5 * (alpha * (1.0 + y * F)).sum(axis=1)
    return b, difference / np.maximum(value + difference, TINY)


def best_intercept(F: Floats, y: Floats, U: Floats) -> float:
    """The b that minimises sum_i U_i max(0, y_i (F_i - b)); the midpoint if it is an interval."""
    return float(best_intercepts(F[None], y[None], U[None])[0])


def best_intercepts(F: Floats, y: Floats, U: Floats) -> Floats:
    """The same of many problems, a line of the arrays (B, M) each.

    The sum is convex and piecewise linear in b, with the slope -sum_{y_i = +1} U_i at the left, which grows by U_i at
    each F_i: b is where it changes its sign.
    """
    lines = np.arange(len(F))
    order: Integers = np.argsort(F, axis=1)
    passed = np.cumsum(U[lines[:, None], order], axis=1)
    balance, level = np.where(y > 0, U, 0.0).sum(axis=1), y.shape[1] * EPS * passed[:, -1]
    ends = []
    for reached in (passed >= (balance - level)[:, None], passed > (balance + level)[:, None]):
        at: Array = np.where(reached.any(axis=1), reached.argmax(axis=1), y.shape[1] - 1)
        ends.append(F[lines, order[lines, at]])
    return np.asarray(0.5 * ends[0] + 0.5 * ends[1])


def sums(K: Floats, c: Floats) -> Floats:
    """K c, of a symmetric K: from the rows of the c_i that are not 0, if they are few."""
    used = np.flatnonzero(c)
    return np.asarray(c[used] @ K[used] if 4 * len(used) < len(c) else K @ c)


def best_squared_intercept(F: Floats, y: Floats, U: Floats) -> float:
    """The b that minimises sum_i U_i max(0, y_i (F_i - b))²: where sum_lacking U_i (F_i - b), which falls, is 0.

    It is linear between two F_i, so the last one where it is positive tells which points are lacking at b.
    """
    order = np.argsort(F)
    f, weight, positive = F[order], U[order], y[order] > 0
    rising, falling = np.where(positive, weight, 0.0), np.where(positive, 0.0, weight)
    total = rising.sum() - np.cumsum(rising) + np.cumsum(falling)  # of those lacking just above each point
    pull = float(rising @ f) - np.cumsum(rising * f) + np.cumsum(falling * f) - total * f
    left = int((pull > 0).sum()) - 1
    lower, upper = f[max(left, 0)], f[min(left + 1, len(f) - 1)]
    b = 0.5 * lower + 0.5 * upper  # or, where no point is lacking, between two that would be
    lacking = np.where(y > 0, b < F, b > F)
    for _ in range(2 if lacking.any() else 0):  # the second time for what rounding left
        b += float(U[lacking] @ (F[lacking] - b)) / float(U[lacking].sum())
    return float(b)


def balanced(alpha: Floats, y: Floats, bound: Floats, intercept: bool = True) -> Floats:
    """alpha changed a little so that sum_i alpha_i y_i = 0, if b is free, and 0 <= alpha_i <= bound_i hold.

    The multipliers inside their bounds take up the difference, in proportion to their room; where they cannot, the
    heavier class is scaled down.
    """
    if not intercept:
        return np.minimum(alpha, bound)
    excess = float(y @ alpha)
    room = np.where(y * excess > 0, alpha, bound - alpha)
    room = np.where((alpha > 0) & (alpha < bound) & np.isfinite(room), room, 0.0)
    if 0.0 < abs(excess) <= 0.5 * float(room.sum()):
        alpha = alpha - y * excess * (room / room.sum())
    positive = y > 0
    plus, minus = float(alpha[positive].sum()), float(alpha[~positive].sum())
    if abs(plus - minus) > 4 * EPS * (plus + minus):
        if min(plus, minus) == 0.0:
            return np.zeros_like(alpha)
        heavier = positive if plus > minus else ~positive
        alpha = np.where(heavier, alpha * (min(plus, minus) / max(plus, minus)), alpha)
    return np.minimum(alpha, bound)


def attributes_of(
    targets: Targets, signs: Floats, alpha: Floats, slack: Floats, coef: Floats, kept: Integers, dtype: Any
) -> dict[str, Any]:
    """What linear machines publish of multipliers (tasks, n), slacks (n, tasks) and weights (tasks, d).

    ``kept`` are the positions of the rows among those given.
    """
    used, length = (alpha > 0).any(axis=0), np.linalg.norm(coef, axis=1)
    margins = np.divide(1.0, length, out=np.full_like(length, np.inf), where=length > 0)
    return {
        "support_": kept[used],
        "dual_coef_": (signs.T * alpha)[:, used].astype(dtype),
        "slack_": slack[:, 0] if targets.tasks == 1 else slack,
        "margin_": targets.of_tasks(margins.tolist()),
    }
