"""Stochastic gradient descent for two classes: w <- keep w + step_i (t_i - p) (x_i, one), p = sigma(w.(x_i, one)).

For the squared error the change is times 2 p (1 - p). A hinge has the change y step_i where y w.(x_i, one) < 1, with
y = 2 t_i - 1, and its square 2 (1 - y w.(x_i, one)) times that. The last weight is the intercept, which nothing
shrinks. The points are order[start:end]; `history` (len(order), d + 1), if given, gets the weights after each. Each
loop returns where it stopped: at the end, after about `budget` entries, or, as -1 - t, at a point t whose score is not
finite.
"""

from __future__ import annotations

from math import isfinite

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.loops.binding import native
from separatrix.loops.exponential import exponential
from separatrix.loops.rows import ROW_COST, dense_dot, sparse_add, sparse_dot

LOG, SQUARED_ERROR, HINGE, SQUARED_HINGE = range(4)  # losses
SMALLEST = 1e-100  # a common factor of the weights below this is multiplied in


@native("sgd_dense", "T[] i8 f8 i8[] i8 i8 f8[] f8[] f8 i8 f8[] f8[] i8", returns="i8")
def sgd_dense(
    x: Array, d: int, one: float, order: Integers, start: int, end: int, target: Floats, step: Floats, keep: float,
    loss: int, w: Floats, history: Floats | None, budget: int,
) -> int:  # fmt: skip
    """Points of the dense rows x (n, d)."""
    for t in range(start, end):
        if budget <= 0:
            return t
        i = order[t]
        with np.errstate(all="ignore"):
            score = one * w[d] + dense_dot(x[i], w[:d])
            if not isfinite(score):
                return -1 - t
            change = _change(score, target[i], step[i], loss)
            w[:d] = keep * w[:d] + change * x[i].astype(np.float64)
            w[d] += change * one
        budget -= d + ROW_COST
        if history is not None:
            history[t] = w
    return max(start, end)


@native("sgd_csr", "T[] I[] I[] i8 f8 i8[] i8 i8 f8[] f8[] f8 i8 f8[] f8[] f8[] i8", returns="i8")
def sgd_csr(
    data: Array, indices: Array, indptr: Array, d: int, one: float, order: Integers, start: int, end: int,
    target: Floats, step: Floats, keep: float, loss: int, w: Floats, common: Floats, history: Floats | None,
    budget: int,
) -> int:  # fmt: skip
    """Points of the CSR rows; the weights, but for the intercept, are common[0] times w."""
    for t in range(start, end):
        if budget <= 0:
            return t
        i = order[t]
        entries = slice(indptr[i], indptr[i + 1])
        row, columns = data[entries], indices[entries]
        with np.errstate(all="ignore"):
            score = common[0] * sparse_dot(row, columns, w) + one * w[d]
            if not isfinite(score):
                return -1 - t
            change = _change(score, target[i], step[i], loss)
            common[0] *= keep
            budget -= len(row) + ROW_COST
            if common[0] < SMALLEST:
                w[:d] *= common[0]
                common[0] = 1.0
            sparse_add(change / common[0], row, columns, w)
            w[d] += change * one
            if history is not None:
                history[t] = np.append(common[0] * w[:d], w[d])
    return max(start, end)


def _change(score: float, target: float, step: float, loss: int) -> float:
    if loss >= HINGE:
        y = 2.0 * target - 1.0
        short_of = 1.0 - y * score
        if not short_of > 0.0:
            return 0.0
        return step * y if loss == HINGE else step * y * (2.0 * short_of)
    small = exponential(-abs(score))
    p = 1.0 / (1.0 + small) if score >= 0.0 else small / (1.0 + small)
    change = step * (target - p)
    return change * (2.0 * small / ((1.0 + small) * (1.0 + small))) if loss == SQUARED_ERROR else change
