"""Passes over the rows of a design in compiled code, which reads each row from memory once.

A pass folds the conditioning into the weights before, and into the sums after: scores are (x - offset).W + b with
W = scale * V[:d] and b = V[d] - rest.W, so that only an offset is subtracted from entries. Chunks of rows are fixed by
the shape of the data and their sums added in order: threads never change a bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from separatrix._typing import Floats, Integers
from separatrix.loops import threads
from separatrix.loops.passes import GATHER, SCORES

if TYPE_CHECKING:
    from separatrix.design.base import Design

CHUNKS = 32  # of a large table: enough for as many threads, few enough that starting them takes no time
INLINE = 1 << 18  # multiplications of a pass that take no longer than waking other threads up
SHARE = 1 << 16  # multiplications of a chunk, at least: some 50 microseconds, twice what it takes to call for it
CALL = 1 << 24  # multiplications of a call, at most: some 20 milliseconds, after which Ctrl-C is heard


class Pass(NamedTuple):
    """What a pass does with the scores of each row; see `loops.passes`.

    Parameters
    ----------
    what : int
    k : int
        Columns of scores.
    codes : int64 array of shape (n,) or None
    weight : array of shape (n,) or (n, k), or None
    rows : array of shape (n, ·) or None
        What is read or written for each row.
    basis : array of shape (K, k) or None
        From scores to those of K classes.
    K : int
        Number of classes of softmax, else 0.
    """

    what: int
    k: int
    codes: Integers | None = None
    weight: Floats | None = None
    rows: Floats | None = None
    basis: Floats | None = None
    K: int = 0

    @property
    def columns(self) -> int:
        """Columns of the weights."""
        return 1 if self.weight is None or self.weight.ndim == 1 else self.weight.shape[1]

    def of(self, part: slice) -> Pass:
        """The same pass over some of the rows alone."""
        codes = None if self.codes is None else self.codes[part]
        weight = None if self.weight is None else self.weight[part]
        return self._replace(codes=codes, weight=weight, rows=None if self.rows is None else self.rows[part])

    def sums(self, d: int) -> Floats:
        """Room for what is added up over rows of d columns."""
        return np.zeros(3 * self.k + (0 if self.what == SCORES else self.k * d))


def swept(design: Design, task: Pass, V: Floats | None, part: slice | None = None) -> tuple[Floats, Floats]:
    """The sums of the losses (k,) and the gradient (p, k) of a task at V (p, k), over all rows or over a part of them.

    The arrays of the task are those of the same rows.
    """
    if part is None:
        return design.sweep(task, V)
    W, b = _folded(design, V)
    return _found(design, task, design.run(task, W, b, part.start, part.stop, part.start))


def chunked(design: Design, task: Pass, V: Floats | None) -> tuple[Floats, Floats]:
    """The same over all rows, by threads that take chunk after chunk."""
    W, b = _folded(design, V)
    n, step = design.n, design.chunk_rows(task)
    if step >= n:
        return _found(design, task, design.run(task, W, b, 0, n, 0))
    parts = threads.over(range(0, n, step), lambda at: design.run(task, W, b, at, min(at + step, n), 0))
    total = parts[0]
    for other in parts[1:]:
        total += other
    return _found(design, task, total)


def _found(design: Design, task: Pass, total: Floats) -> tuple[Floats, Floats]:
    """Losses and gradient, of the sums of a pass."""
    k = task.k
    values = total[:k] + total[k : 2 * k]
    return values, _unfolded(design, total[2 * k : 3 * k], total[3 * k :]) if task.what != SCORES else values


def scores(design: Design, V: Floats, part: slice | None = None) -> Floats:
    """Z V of all rows, or of a part of them, (m, k)."""
    k = V.shape[1]
    found = np.empty((design.n if part is None else part.stop - part.start, k))
    swept(design, Pass(SCORES, k, rows=found), V, part)
    return found


def gathered(design: Design, R: Floats, part: slice | None = None) -> Floats:
    """Z' R, (p, k), for R of all rows, or of a part of them."""
    R = np.ascontiguousarray(R, dtype=np.float64)
    return swept(design, Pass(GATHER, R.shape[1], rows=R), None, part)[1]


def chunk_rows(n: int, entries: float, unit: int, most: float = CHUNKS) -> int:
    """Rows of a chunk, a multiple of ``unit``, where n rows take as many multiplications as there are entries."""
    if entries <= INLINE:
        return max(n, 1)
    count = max(min(most, CHUNKS, entries / SHARE), entries / CALL)
    return max(1, int(-(-n // (unit * count)))) * unit


def _folded(design: Design, V: Floats | None) -> tuple[Floats | None, Floats | None]:
    """W (d, k) and b (k,), of V (p, k); nothing of nothing."""
    if V is None:
        return None, None
    d = design.d
    W = V[:d] if design.scale is None else design.scale[:, None] * V[:d]
    if design.rest is None:
        return W, np.ascontiguousarray(V[d]) if design.intercept else np.zeros(V.shape[1])
    return W, V[d] - design.rest @ W if design.intercept else -(design.rest @ W)


def _unfolded(design: Design, slopes: Floats, sums: Floats) -> Floats:
    """The gradient (p, k), of the sums of slopes (k,) and of slopes times rows, as the storage has them."""
    d, k = design.d, len(slopes)
    out = np.empty((design.p, k))
    inner = out[:d]
    inner[...] = design.as_columns(sums, k)
    if design.rest is not None:
        inner -= design.rest[:, None] * slopes
    if design.scale is not None:
        inner *= design.scale[:, None]
    if design.intercept:
        out[d] = slopes
    return out
