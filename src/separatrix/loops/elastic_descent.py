"""Coordinate descent on a quadratic model of a loss, plus r ‖w‖₁ + ridge/2 ‖w‖²: what proximal Newton steps need.

    model(w) = v.(w - w0) + 1/2 (w - w0)'H(w - w0) + r ‖w‖₁ + ridge/2 ‖w‖²

One weight at a time goes to its minimum, which is 0 where |H_jj w_j - v_j| <= r, v being the slope of the first two
terms now. `gram_sweeps` has H as a matrix, where a weight that moves costs a row of it; `column_sweeps` has the columns
of the data, H = X'diag(h)X less what a free intercept takes, where each weight costs its column, moved or not.
"""

from __future__ import annotations

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.loops.binding import native
from separatrix.loops.rows import ROW_COST, sparse_add, sparse_dot


def minimum(w: float, v: float, curvature: float, r: float, ridge: float) -> float:
    """Of v (x - w) + 1/2 curvature (x - w)² + r |x| + ridge/2 x² over x; 0 where nothing bends it."""
    bend = curvature + ridge
    pull = curvature * w - v
    if not bend > 0.0:
        return 0.0
    return (pull - r) / bend if pull > r else ((pull + r) / bend if pull < -r else 0.0)


@native("gram_sweeps", "f8[] i8 i8[] i8 f8 f8 f8[] f8[] f8 i8 f8[] i8", returns="i8")
def gram_sweeps(
    H: Floats, m: int, order: Integers, count: int, r: float, ridge: float, v: Floats, w: Floats, goal: float,
    most: int, gain: Floats, budget: int,
) -> int:  # fmt: skip
    """Sweeps over order[:count], in place, until one gains at most `goal`, or there were `most`, or about `budget`
    entries were read; returns how many. gain[0] is what the last one gained, at least: the sum of 1/2 H_jj change².
    """
    H = H.reshape(m, m)
    done = 0
    while done < most and budget > 0:
        gained = 0.0
        for j in map(int, order[:count]):
            budget -= ROW_COST
            old, curvature = float(w[j]), float(H[j, j])
            new = minimum(old, float(v[j]), curvature, r, ridge)
            change = new - old
            if change != 0.0:
                w[j] = new
                gained += 0.5 * (curvature + ridge) * change * change
                v += change * H[j]
                budget -= m
        done += 1
        gain[0] = gained
        if not gained > goal:
            break
    return done


@native("column_moments", "I[] I[] f8[] i8 i8 f8[] f8[] f8[]")
def column_moments(
    indptr: Array, indices: Array, data: Floats, start: int, stop: int, h: Floats, first: Floats, second: Floats
) -> None:
    """first_j = sum_i h_i x_ij and second_j = sum_i h_i x_ij² of the columns start to stop."""
    for j in range(start, stop):
        entries = slice(indptr[j], indptr[j + 1])
        x, rows = data[entries], indices[entries]
        first[j] = sparse_dot(x, rows, h)
        second[j] = sparse_dot(x * x, rows, h)


@native("column_sweeps", "I[] I[] f8[] i8[] i8 f8[] f8[] f8[] f8 f8 f8 f8[] f8[] f8[] f8 i8 f8[] i8", returns="i8")
def column_sweeps(
    indptr: Array, indices: Array, data: Floats, order: Integers, count: int, h: Floats, first: Floats,
    curvature: Floats, total: float, r: float, ridge: float, slope: Floats, z: Floats, w: Floats, goal: float,
    most: int, gain: Floats, budget: int,
) -> int:  # fmt: skip
    """As `gram_sweeps`, for columns of the data. ``slope`` is v at w0, and stays; z_i = h_i (X (w - w0))_i follows.

    ``first`` is X'h and ``total`` the sum of h, or infinity without an intercept; gain[1] is the sum of z.
    """
    done = 0
    while done < most and budget > 0:
        gained = 0.0
        for j in map(int, order[:count]):
            entries = slice(indptr[j], indptr[j + 1])
            x, rows = data[entries], indices[entries]
            budget -= len(x) + ROW_COST
            old, bend, pull = float(w[j]), float(curvature[j]), float(first[j])
            v = float(slope[j]) + (sparse_dot(x, rows, z) - pull * (float(gain[1]) / total))
            change = minimum(old, v, bend, r, ridge) - old
            if change != 0.0:
                w[j] = old + change
                gained += 0.5 * (bend + ridge) * change * change
                gain[1] += change * pull
                sparse_add(change, h[rows] * x, rows, z)
        done += 1
        gain[0] = gained
        if not gained > goal:
            break
    return done


@native(
    "softmax_sweeps", "I[] I[] f8[] i8[] i8 i8 i8 f8[] f8[] f8[] f8 f8 f8[] f8[] f8[] f8[] f8 i8 f8[] i8", returns="i8"
)
def softmax_sweeps(
    indptr: Array, indices: Array, data: Floats, order: Integers, count: int, K: int, penalised: int, u: Floats,
    P: Floats, curvature: Floats, r: float, ridge: float, slope: Floats, t: Floats, s: Floats, w: Floats, goal: float,
    most: int, gain: Floats, budget: int,
) -> int:  # fmt: skip
    """As `column_sweeps`, for the weights (m, K) of K classes: H = sum_i u_i (diag(P_i) - P_i P_i') ⊗ x_i x_i'.

    t (n, K) are the changes of the scores so far, and s_i = P_i.t_i. Columns from `penalised` on have no penalty.
    """
    done = 0
    while done < most and budget > 0:
        gained = 0.0
        for j in map(int, order[:count]):
            entries = slice(indptr[j], indptr[j + 1])
            x, rows = data[entries], indices[entries]
            budget -= K * len(x) + ROW_COST
            share, stiff = (r, ridge) if j < penalised else (0.0, 0.0)
            for k in range(K):
                bends = u[rows] * P[rows, k] * (t[rows, k] - s[rows])
                old, bend = float(w[j, k]), float(curvature[j, k])
                v = float(slope[j, k]) + sparse_dot(x, np.arange(len(x)), bends)
                change = minimum(old, v, bend, share, stiff) - old
                if change != 0.0:
                    w[j, k] = old + change
                    gained += 0.5 * (bend + stiff) * change * change
                    for i, step in zip(rows, change * x, strict=True):
                        t[i, k] += step
                        s[i] += step * P[i, k]
        done += 1
        gain[0] = gained
        if not gained > goal:
            break
    return done
