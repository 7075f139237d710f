"""Dual coordinate descent for the hinge loss on sparse rows, with a free intercept.

    max over alpha of  sum_i alpha_i - 1/2 ‖sum_i alpha_i y_i x_i‖²
    subject to  0 <= alpha_i <= C_i  and  sum_i alpha_i y_i = 0

One alpha_i at a time, keeping w = sum_i alpha_i y_i x_i: its exact minimum is alpha_i - (y_i (w.x_i + b) - 1) / ‖x_i‖²,
clipped to the bounds (Hsieh et al., 2008). The balance t = sum_i alpha_i y_i is a constraint on all of them, so it goes
into the objective as b t + rho t²/2, and b moves in proportion to t each time the alphas have settled, by a secant
step: the method of multipliers. At its end t = 0 and b is the intercept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix._typing import Array, Floats
from separatrix.compiled import compiled

LIGHT = 0.1  # rho over the mean ‖x_i‖²: heavier, it couples all rows and slows them; b settles as fast either way


@dataclass
class Ascent:
    """Where the ascent stands.

    Parameters
    ----------
    alpha : array of shape (n,)
    w : array of shape (d,)
        sum_i alpha_i y_i x_i.
    b : float
        The multiplier of the balance.
    epochs : int
        Passes over the rows in play so far.
    spread : float
        Difference of the largest and the smallest projected gradient.
    """

    alpha: Floats
    w: Floats
    b: float
    epochs: int
    spread: float


def coordinate_descent(X: Any, y: Floats, bound: Floats, intercept: bool, alpha: Floats, b: float) -> Iterator[Ascent]:
    """From alpha and b, yield where the ascent stands each time all rows agree to a tolerance.

    The tolerance is a quarter of the spread reached each time.
    """
    n, d = X.shape
    squares = np.zeros(n)
    filled = np.flatnonzero(np.diff(X.indptr))
    squares[filled] = np.add.reduceat(np.square(X.data, dtype=np.float64), X.indptr[filled]) if len(filled) else 0.0
    rho = LIGHT * float(squares.mean()) if intercept else 0.0
    curvature = squares + rho
    curvature[curvature <= 0] = 1.0
    small = np.uint32 if X.nnz < 2**32 else np.uint64  # unsigned: no test for negative indices
    rows = (X.indptr.astype(small), X.indices.astype(np.uint32), X.data.astype(np.float64, copy=False))
    alpha = alpha.copy()
    w = np.asarray(X.T @ (y * alpha), dtype=np.float64) if alpha.any() else np.zeros(d)
    work = np.array([b if intercept else 0.0, float(y @ alpha)])  # b and t
    order = np.arange(n, dtype=np.uint32)
    seed = np.array([88172645463325252], dtype=np.uint64)
    limits = np.array([np.inf, -np.inf])
    active, epochs, tolerance = n, 0, 0.1
    last = (float(work[0]), float(work[1]))  # b and t when the alphas last settled
    loop = compiled(epoch, 10.0 * X.nnz)
    while True:
        active, high, low = loop(*rows, y, bound, curvature, rho, alpha, w, work, order, active, limits, seed)
        epochs += 1
        if high - low > tolerance:
            limits[:] = (high if high > 0 else np.inf), (low if low < 0 else -np.inf)
            continue
        if active < n:  # the rows set aside have the last word
            active, limits[:] = n, (np.inf, -np.inf)
            continue
        yield Ascent(alpha, w, float(work[0]), epochs, high - low)
        if intercept:
            b, t = float(work[0]), float(y @ alpha)
            rate = max(rho, -(b - last[0]) / (t - last[1])) if t != last[1] else rho
            last = (b, t)
            work[:] = b + rate * t, t
        tolerance = min(tolerance, max(high - low, 1e-14)) * 0.25
        limits[:] = (np.inf, -np.inf)


def epoch(
    indptr: Array,
    indices: Array,
    data: Array,
    y: Floats,
    bound: Floats,
    curvature: Floats,
    rho: float,
    alpha: Floats,
    w: Floats,
    work: Floats,
    order: Array,
    active: int,
    limits: Floats,
    seed: Array,
) -> tuple[int, float, float]:
    """One pass over the rows in play, in random order; rows that sit firmly at a bound are set aside."""
    b, t = work[0], work[1]
    high, low = -np.inf, np.inf
    x = seed[0]
    for k in range(active):  # Fisher-Yates, by xorshift
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
        j = k + np.int64(x % np.uint64(active - k))
        order[k], order[j] = order[j], order[k]
    seed[0] = x
    k = 0
    while k < active:
        i = order[k]
        start, stop = indptr[i], indptr[i + np.uint32(1)]
        score = b + rho * t
        for q in range(start, stop):
            score += w[indices[q]] * data[q]
        gradient = y[i] * score - 1.0
        old = alpha[i]
        projected = gradient
        if old <= 0.0:
            if gradient > limits[0]:
                active -= 1
                order[k], order[active] = order[active], order[k]
                continue
            projected = min(gradient, 0.0)
        elif old >= bound[i]:
            if gradient < limits[1]:
                active -= 1
                order[k], order[active] = order[active], order[k]
                continue
            projected = max(gradient, 0.0)
        high = max(high, projected)
        low = min(low, projected)
        if abs(projected) > 1e-14:
            new = min(max(old - gradient / curvature[i], 0.0), bound[i])
            alpha[i] = new
            change = (new - old) * y[i]
            t += change
            for q in range(start, stop):
                w[indices[q]] += change * data[q]
        k += 1
    work[1] = t
    return active, high, low
