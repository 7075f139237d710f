"""Rosenblatt's rule, one point after the other: score each point; where it is a mistake, w <- w + step_i (x_i, one).

The points are order[start:end] (None: start, ..., end - 1), and a score is w.(x_i, one) + offset_i. A score of 0 is a
mistake where step_i < tie. alpha_i counts the updates of a point; drift, if it is asked for, is the sum over the updates
of (points seen before it) times the change. With room > 0, the weights after each update and its place go to `history`
(room, d + 1) and `when` (room,), from updates[0] on, and the loop returns when they are full.

Each loop returns where it stopped: at the end, when `history` is full, after about `budget` entries, or at a point whose
score is not finite, and then updates[0] is -1; otherwise updates[0] has grown by the number of updates.
"""

from __future__ import annotations

from math import isfinite

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.loops.binding import native
from separatrix.loops.rows import ROW_COST, dense_dot, sparse_add, sparse_dot


@native("online_dense", "T[] i8 f8 f8[] f8[] f8 i8[] i8 i8 f8[] i8[] f8[] i8 f8[] i8[] i8 i8[] i8", returns="i8")
def online_dense(
    x: Array, d: int, one: float, step: Floats, offset: Floats | None, tie: float, order: Integers | None, start: int,
    end: int, w: Floats, alpha: Integers, drift: Floats | None, seen: int, history: Floats | None,
    when: Integers | None, room: int, updates: Integers, budget: int,
) -> int:  # fmt: skip
    """Points of the dense rows x (n, d)."""
    for t in range(start, end):
        if budget <= 0:
            return t
        i = t if order is None else int(order[t])
        with np.errstate(all="ignore"):
            score = one * w[d] + dense_dot(x[i], w[:d])
            if offset is not None:
                score += offset[i]
            if not isfinite(score):
                updates[0] = -1
                return t
            budget -= d + ROW_COST
            if not mistake(score, step[i], tie):
                continue
            change = step[i] * np.append(x[i], one)
            w += change
            alpha[i] += 1
            if drift is not None:
                drift += (seen + t) * change
        if _noted(t, w, history, when, room, updates):
            return t + 1
    return max(start, end)


@native("online_csr", "T[] I[] I[] i8 f8 f8[] f8[] f8 i8[] i8 i8 f8[] i8[] f8[] i8 f8[] i8[] i8 i8[] i8", returns="i8")
def online_csr(
    data: Array, indices: Array, indptr: Array, d: int, one: float, step: Floats, offset: Floats | None, tie: float,
    order: Integers | None, start: int, end: int, w: Floats, alpha: Integers, drift: Floats | None, seen: int,
    history: Floats | None, when: Integers | None, room: int, updates: Integers, budget: int,
) -> int:  # fmt: skip
    """Points of the CSR rows (data, indices, indptr)."""
    for t in range(start, end):
        if budget <= 0:
            return t
        i = t if order is None else int(order[t])
        entries = slice(indptr[i], indptr[i + 1])
        row, columns = data[entries], indices[entries]
        with np.errstate(all="ignore"):
            score = one * w[d] + sparse_dot(row, columns, w)
            if offset is not None:
                score += offset[i]
            if not isfinite(score):
                updates[0] = -1
                return t
            budget -= len(row) + ROW_COST
            if not mistake(score, step[i], tie):
                continue
            sparse_add(step[i], row, columns, w)
            w[d] += step[i] * one
            alpha[i] += 1
            if drift is not None:
                np.add.at(drift, columns, (seen + t) * (step[i] * row.astype(np.float64)))
                drift[d] += (seen + t) * (step[i] * one)
        if _noted(t, w, history, when, room, updates):
            return t + 1
    return max(start, end)


def mistake(score: float, step: float, tie: float) -> bool:
    """Whether a point with this signed step is on the wrong side; on the boundary, steps below `tie` are."""
    return bool((score < 0.0) == (step > 0.0) if score != 0.0 else step < tie)


def _noted(t: int, w: Floats, history: Floats | None, when: Integers | None, room: int, updates: Integers) -> bool:
    """Count an update, and write it down if there is room; whether the room is full now."""
    if room and history is not None and when is not None:
        history[updates[0]], when[updates[0]] = w, t
    updates[0] += 1
    return bool(room and updates[0] == room)
