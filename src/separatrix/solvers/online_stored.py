"""Rosenblatt's rule over rows elsewhere: the loop of `solvers.online` on one block after the other.

Of rows in a file, blocks come to the loop. Where other processes hold the rows, the loop goes there, with the weights.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from separatrix._typing import Floats, Integers
from separatrix.errors import InvalidInputError
from separatrix.loops.online import MISTAKES, PASSES, UPDATES, begun, came_back, online_csr, online_dense
from separatrix.loops.rows import BUDGET

Walk: TypeAlias = tuple[Floats, Floats | None, Integers]  # weights, drift and counts


def walk_stored(
    design: Any, step: Floats, offset: Floats | None, tie: float, order: Integers | None, start: int, passes: int,
    state: Any, history: Floats, when: Integers, saved: Floats | None,
) -> tuple[int, Integers]:  # fmt: skip
    """See `solvers.online.Rows.run` and `passes`; where a block ends changes no bit."""
    if order is not None:
        raise InvalidInputError("Rows that are not in memory come in their order: use shuffle=False.", "shuffle")
    loop: Any = online_csr if design.sparse else online_dense
    n, one, room = design.n, float(design.intercept), len(when)
    drift = state.drift if len(state.drift) else None
    counts = begun()
    there = not (design.near or room or start)  # no update has to be reported singly
    while True:
        if there:
            seen = state.seen + int(counts[PASSES]) * n
            walk, used = design.in_turn(_walked, (step, offset), (state.w, drift, counts), design.d, one, tie, seen)
            state.w[:], counts[:] = walk[0], walk[2]
            state.alpha += np.concatenate(used)
            if drift is not None:
                drift[:] = walk[1]
        for first, last, arrays in () if there else design.parts(start, n):
            part, rows = counts.copy(), slice(first, last)
            part[PASSES] = 0
            seen = state.seen + int(counts[PASSES]) * n + first
            own = None if offset is None else offset[rows]
            at = 0
            while at < last - first:
                before = int(part[UPDATES])
                at = loop(
                    *arrays, design.d, one, step[rows], own, tie, None, at, last - first, 1, state.w, state.alpha[rows],
                    drift, seen, history, when, room, part, None, BUDGET,
                )  # fmt: skip
                if part[UPDATES] < 0:
                    raise FloatingPointError(f"the score of row {first + at} is not finite")
                when[before : int(part[UPDATES])] += first  # written as places in the block
                if room and part[UPDATES] == room:
                    counts[UPDATES] = room
                    return first + at, counts
            counts[UPDATES], counts[MISTAKES] = part[UPDATES], part[MISTAKES]
        counts[PASSES] += 1
        again = counts[MISTAKES] > 0 and saved is not None and came_back(state.w, saved, counts)
        if counts[MISTAKES] == 0 or again or counts[PASSES] >= passes:
            return n, counts
        start = 0
        counts[MISTAKES] = 0


def _walked(
    arrays: Any, first: int, step: Floats, offset: Floats | None, walk: Walk, d: int, one: float, tie: float, seen: int
) -> tuple[Walk, Integers]:
    """The same over the rows of a partition, in the process that has them; and which of them were used."""
    w, drift, counts = (None if array is None else array.copy() for array in walk)
    assert counts is not None
    loop: Any = online_csr if len(arrays) == 3 else online_dense
    n, passed, used = len(step), int(counts[PASSES]), np.zeros(len(step), dtype=np.int64)
    nothing = np.empty((0, 0)), np.empty(0, dtype=np.int64)
    counts[PASSES], at = 0, 0
    while at < n:
        at = loop(
            *arrays, d, one, step, offset, tie, None, at, n, 1, w, used, drift, seen + first, *nothing, 0, counts, None,
            BUDGET,
        )  # fmt: skip
        if counts[UPDATES] < 0:
            raise FloatingPointError(f"the score of row {first + at} is not finite")
    counts[PASSES] = passed
    return (w, drift, counts), used.astype(np.int8)  # type: ignore[return-value]
