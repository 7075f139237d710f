"""A sweep of dual coordinate descent for logistic regression, of which `solvers.logistic_descent` has the theory.

    for each i of order:  u + m_i + ‖x_i‖² (c_i sigma(u) - alpha_i) = 0  for u, and alpha_i <- c_i sigma(u)

with the margin m_i = y_i (w.x_i + b + rho t), and rho added to the squares; w and t = sum_i alpha_i y_i follow alpha.
"""

from __future__ import annotations

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.loops.binding import native
from separatrix.loops.exponential import exponential
from separatrix.loops.rows import ROW_COST, sparse_add, sparse_dot

INEXACT = 0.1  # of the left side above that Newton's steps may leave
EPS = float(np.finfo(np.float64).eps)


@native("logistic_sweep", "I[] I[] T[] f8[] i8[] i8 i8 f8 f8 f8[] f8[] f8[] i8", returns="i8")
def logistic_sweep(
    indptr: Array, indices: Array, data: Array, rows: Floats, order: Integers, start: int, end: int, rho: float,
    b: float, state: Floats, w: Floats, sums: Floats, budget: int,
) -> int:  # fmt: skip
    """Rows order[start:end], in place; returns where it stopped, at the end or after about `budget` entries.

    A row of `rows` (n, 3) is y_i, c_i and ‖x_i‖², one of `state` (n, 2) is u_i and alpha_i. To sums[0] it adds
    1/2 (u_i + m_i)² c_i sigma'(u_i), about their gaps; sums[1] is t.
    """
    gap, t = (float(number) for number in sums)
    stop = max(start, end)
    for k in range(start, end):
        if budget <= 0:
            stop = k
            break
        i = int(order[k])
        entries = slice(indptr[i], indptr[i + 1])
        row, columns = data[entries], indices[entries]
        budget -= len(row) + ROW_COST
        (sign, most, square), (v, old) = map(float, rows[i]), map(float, state[i])
        margin, square = sign * ((b + rho * t) + sparse_dot(row, columns, w)), rho + square
        if old > 0.0:
            new = old
            curvature = new * (1.0 - new / most)
            excess = v + margin
            gap += 0.5 * excess * excess * curvature
        else:  # at first, or where alpha_i is too small for a float
            v = -margin
            share = 1.0 / (1.0 + exponential(-v))
            new = most * share
            curvature = new * (1.0 - share)
            excess = square * new
            gap += new
        goal = INEXACT * abs(excess) + EPS * (abs(v) + abs(margin))
        low, high = -margin - square * (most - old), -margin + square * old
        while abs(excess) > goal:
            low, high = (low, v) if excess > 0.0 else (v, high)
            v -= excess / (1.0 + square * curvature)
            if not low < v < high:
                v = 0.5 * (low + high)
                if not low < v < high:  # rounding
                    break
            share = 1.0 / (1.0 + exponential(-v))
            new = most * share
            curvature = new * (1.0 - share)
            excess = v + margin + square * (new - old)
        state[i] = v, new
        change = (new - old) * sign
        t += change
        sparse_add(change, row, columns, w)
    sums[:] = gap, t
    return stop
