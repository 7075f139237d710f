"""Rosenblatt's rule, one point after the other: score each point; where it is a mistake, w <- w + step_i (x_i, one).

The points of a pass are order[:end] (None: 0, ..., end - 1), the first pass beginning at `start`; passes follow until
one has no mistake, or `passes` are done. A score is w.(x_i, one) + offset_i; one of 0 is a mistake where step_i < tie.
alpha_i counts the updates of a point; drift, if it is asked for, is the sum over the updates of (points seen before it)
times the change. With room > 0, the weights after each update and its place go to `history` (room, d + 1) and `when`
(room,), from counts[UPDATES] on, and the loop returns when they are full. With `saved` (d + 1,), the weights before the
first pass, the loop also ends with a pass after which the weights are what they were some passes ago: see `came_back`.

Each loop returns where it stopped: at `end` when the last pass is done; earlier when `history` is full, after about
`budget` entries, or at a point whose score is not finite, and then counts[UPDATES] is -1. The next call goes on from
`counts`: the updates, the passes completed, the mistakes of the pass that is not (or was the last), and what
`came_back` needs: at first `begun()`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.loops.binding import native
from separatrix.loops.rows import ROW_COST, dense_dot, sparse_dot

UPDATES, PASSES, MISTAKES, POWER, LENGTH, SINCE, CYCLE = range(7)  # of `counts`


@native(
    "online_dense", "T[] i8 f8 f8[] f8[] f8 i8[] i8 i8 i8 f8[] i8[] f8[] i8 f8[] i8[] i8 i8[] f8[] i8", returns="i8"
)
def online_dense(x: Array, d: int, *how: Any) -> int:
    """Points of the dense rows x (n, d); `_online` names the other arguments."""
    columns = np.arange(d)
    return _online(lambda i: (x[i], columns), lambda row, columns, w: dense_dot(row, w[:d]), d, *how)


@native(
    "online_csr",
    "T[] I[] I[] i8 f8 f8[] f8[] f8 i8[] i8 i8 i8 f8[] i8[] f8[] i8 f8[] i8[] i8 i8[] f8[] i8",
    returns="i8",
)
def online_csr(data: Array, indices: Array, indptr: Array, d: int, *how: Any) -> int:
    """Points of the CSR rows (data, indices, indptr)."""

    def point(i: int) -> tuple[Array, Array]:
        entries = slice(indptr[i], indptr[i + 1])
        return data[entries], indices[entries]

    return _online(point, sparse_dot, d, *how)


def _online(
    point: Callable[[int], tuple[Array, Array]], dot: Callable[[Array, Array, Floats], float], d: int, one: float,
    step: Floats, offset: Floats | None, tie: float, order: Integers | None, start: int, end: int, passes: int,
    w: Floats, alpha: Integers, drift: Floats | None, seen: int, history: Floats | None, when: Integers | None,
    room: int, counts: Integers, saved: Floats | None, budget: int,
) -> int:  # fmt: skip
    """The rule on points, which are given as entries and their columns."""
    t = start
    while True:
        while t < end and budget > 0:
            i = t if order is None else int(order[t])
            row, columns = point(i)
            with np.errstate(all="ignore"):
                score = float(one * w[d] + dot(row, columns, w))
                if offset is not None:
                    score += float(offset[i])
            if not isfinite(score):
                counts[UPDATES] = -1
                return t
            budget -= len(row) + ROW_COST
            t += 1
            if not mistake(score, step[i], tie):
                continue
            with np.errstate(all="ignore"):
                change = step[i] * row.astype(np.float64)
                np.add.at(w, columns, change)
                w[d] += step[i] * one
                if drift is not None:
                    before = float(seen + counts[PASSES] * end + t - 1)
                    np.add.at(drift, columns, before * change)
                    drift[d] += before * (step[i] * one)
            alpha[i] += 1
            counts[UPDATES] += 1
            counts[MISTAKES] += 1
            if room and history is not None and when is not None:
                history[counts[UPDATES] - 1], when[counts[UPDATES] - 1] = w, t - 1
                if counts[UPDATES] == room:
                    return t
        if t < end:  # out of budget
            return t
        counts[PASSES] += 1
        again = counts[MISTAKES] > 0 and saved is not None and came_back(w, saved, counts)
        if counts[MISTAKES] == 0 or again or counts[PASSES] >= passes:
            return t
        t = counts[MISTAKES] = 0


def begun() -> Integers:
    """The counts of a walk that has not begun."""
    counts = np.zeros(CYCLE + 1, dtype=np.int64)
    counts[POWER] = 1
    return counts


def came_back(w: Floats, saved: Floats, counts: Integers) -> bool:
    """After a pass: whether the weights are those that were saved some passes ago; then the walk repeats for ever.

    Brent (1980): they are saved after 1, 3, 7, ... passes, so that a cycle of any length is met before the third time.
    counts[POWER] passes after saving they are saved anew, counts[LENGTH] passes ago they were, after counts[SINCE]
    updates; counts[CYCLE] is the length of the cycle, 0 before one is found.
    """
    counts[LENGTH] += 1
    if np.array_equal(w, saved):
        counts[CYCLE] = counts[LENGTH]
        return True
    if counts[LENGTH] == counts[POWER]:
        saved[:] = w
        counts[POWER], counts[LENGTH], counts[SINCE] = 2 * counts[POWER], 0, counts[UPDATES]
    return False


def mistake(score: float, step: float, tie: float) -> bool:
    """Whether a point with this signed step is on the wrong side; on the boundary, steps below `tie` are."""
    return bool((score < 0.0) == (step > 0.0) if score != 0.0 else step < tie)
