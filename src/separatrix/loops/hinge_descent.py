"""Sweeps of dual coordinate descent for the hinge and its square, of which `solvers.coordinate_descent` has the theory.

slope of alpha_i:  g_i = y_i (w.x_i + b + rho t) - 1 + r_i alpha_i,   w = sum_i alpha_i y_i x_i,  t = sum_i alpha_i y_i
step:              alpha_i <- alpha_i - RELAXED g_i / curvature_i, clipped to [0, U_i]
"""

from __future__ import annotations

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.loops.binding import native
from separatrix.loops.rows import ROW_COST, sparse_add, sparse_dot

MANY = 8192  # rows in play that are read faster forwards; fewer come from the cache in any order
LONG, SHORT = 64, 16  # rows read straight through; fewer with a free intercept, by which each row feels the last
RELAXED = 1.3  # step over the step to the optimum of one alpha: up to 2 each step ascends, 1.2 to 1.6 are about as good
WORD = (1 << 64) - 1

# what the loop keeps between calls: `place` (integers), and `work` (floats)
ACTIVE, DONE, RUN, STEP = range(4)
B, BALANCE, VALUE, GAP, HIGH, LOW, BEFORE = range(7)


def at_start(active: int, b: float, t: float, value: float) -> tuple[Integers, Floats]:
    """`place` and `work` before the first sweep."""
    return np.array([active, 0, 0, 0]), np.array([b, t, value, 0.0, 0.0, 0.0, 0.0])


@native(
    "hinge_sweeps", "I[] I[] T[] i8 f8[] f8[] f8 f8[] i8[] i8[] f8[] f8[] u8[] f8[] i8[] i8 f8 f8 i8 i8", returns="i8"
)
def hinge_sweeps(
    indptr: Array, indices: Array, data: Array, n: int, rows: Floats, alpha: Floats, rho: float, w: Floats,
    order: Integers, turn: Integers, limits: Floats, settled: Floats, seed: Array, work: Floats, place: Integers,
    fewest: int, still: float, target: float, most: int, budget: int,
) -> int:  # fmt: skip
    """Sweeps over the rows in play, order[:place[ACTIVE]]; rows that sit firmly at a bound are set aside.

    Until the gaps of the rows sum to `target` of the objective, or at most `fewest` rows are in play, or `most` sweeps
    are done: then 1 is returned. If the budget ends before, 0 is, and the next call goes on from `place` and `work`.
    A row of `rows` (n, 4) is y_i, U_i, r_i and the curvature. `turn` has room for as many numbers as `order`; `limits`
    are the slopes beyond which a row is set aside; `settled` is b and t before b last moved, and at what rate it did.
    """
    b, t, value, gap, high, low, before = (float(number) for number in work)
    active, done, r, step = (int(number) for number in place)
    x, (top, bottom), finished = int(seed[0]), map(float, limits), False
    while not finished and budget > 0:
        run = 1 if active <= MANY else SHORT if rho > 0.0 else LONG
        runs = (active + run - 1) // run
        if r == step == 0:  # a new sweep: the runs in random order
            done += 1
            turn[:runs] = np.arange(runs)
            for k in range(runs):
                x ^= (x << 13) & WORD  # xorshift
                x ^= x >> 7
                x ^= (x << 17) & WORD
                j = k + x % (runs - k)
                turn[j], turn[k] = turn[k], turn[j]
            gap, high, low, before = 0.0, -np.inf, np.inf, t
        while r < runs and budget > 0:
            first = int(turn[r]) * run
            length = min(run, active - first)
            while step < length and budget > 0:
                k = first + step
                step += 1
                i = int(order[k])
                entries = slice(indptr[i], indptr[i + 1])
                row, columns = data[entries], indices[entries]
                budget -= len(row) + ROW_COST
                old, (y, U, r_i, curvature) = float(alpha[i]), map(float, rows[i])
                g = float(y * ((b + rho * t) + sparse_dot(row, columns, w)) - 1.0 + r_i * old)
                if (old <= 0.0 and g > top) or (0.0 < old >= U and g < bottom):
                    order[k] = n
                    continue
                projected = min(g, 0.0) if old <= 0.0 else max(g, 0.0) if old >= U else g
                high, low = max(high, projected), min(low, projected)
                if g > r_i * old:
                    gap += old * (g - 0.5 * r_i * old)
                else:
                    gap += 0.5 * g * g / r_i if r_i > 0.0 else (old - U) * g
                if projected != 0.0:
                    new = min(max(old - RELAXED * g / curvature, 0.0), U)
                    alpha[i], change = new, new - old
                    value -= change * (g + 0.5 * curvature * change)
                    change *= y
                    t += change
                    sparse_add(change, row, columns, w)
            if step == length:
                r, step = r + 1, 0
        if r < runs:  # out of budget
            break
        r = 0
        left = order[:active][order[:active] < n]
        order[: len(left)] = left
        active = len(left)
        top, bottom = high if high > 0.0 else np.inf, low if low < 0.0 else -np.inf
        if rho > 0.0 and abs(t - before) <= still * abs(t):
            secant = -(b - float(settled[0])) / (t - float(settled[1])) if t != settled[1] else 0.0
            rate = min(max(secant, rho), 4.0 * float(settled[2]))
            settled[:] = b, t, rate
            value -= rate * t * t
            b += rate * t
        finished = gap <= target * (value + gap) or active <= fewest or done >= most
    limits[:], seed[0] = (top, bottom), x
    work[:], place[:] = (b, t, value, gap, high, low, before), (active, done, r, step)
    return int(finished)
