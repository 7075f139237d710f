"""CSR rows: X' diag(h) X, their squares, and some of them next to each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.loops.binding import native
from separatrix.loops.rows import ROW_COST, csr_arrays, in_turn


@native("add_pairs", "I[] I[] T[] f8[] i8 f8[] i8 i8 i8", returns="i8")
def add_pairs(
    indptr: Array, indices: Array, data: Array, h: Floats, d: int, half: Floats, start: int, stop: int, budget: int
) -> int:
    """Add to half what, with its transpose, is X' diag(h) X: each pair of entries of a row once, squares halved.

    Rows start to stop; returns the row where it stopped, after about `budget` pairs.
    """
    for i in range(start, stop):
        if budget <= 0:
            return i
        first, last = int(indptr[i]), int(indptr[i + 1])
        for q in range(first, last):
            value = h[i] * float(data[q])
            np.add.at(half[indices[q]], indices[first:q], value * data[first:q].astype(np.float64))
            half[indices[q], indices[q]] += 0.5 * value * float(data[q])
        budget -= (last - first) ** 2 // 2 + ROW_COST
    return max(start, stop)


@native("row_squares", "I[] T[] i8 f8[]")
def row_squares(indptr: Array, data: Array, n: int, squares: Floats) -> None:
    """The sum of the squares of each row: those of entries at even places, plus those at odd ones."""
    for i in range(n):
        parts = [in_turn(np.square(data[indptr[i] + first : indptr[i + 1] : 2], dtype=np.float64)) for first in (0, 1)]
        squares[i] = parts[0] + parts[1]


@native("take_rows", "I[] I[] T[] i8[] i8 I[] I[] T[]")
def take_rows(
    indptr: Array, indices: Array, data: Array, rows: Integers, m: int, ends: Array, columns: Array, values: Array
) -> None:
    """The m rows next to each other; ``ends`` (m + 1) is where each begins there, and the last ends."""
    for k, i in enumerate(rows[:m]):
        here, there = slice(ends[k], ends[k + 1]), slice(indptr[i], indptr[i + 1])
        columns[here], values[here] = indices[there], data[there]


def csr_squares(X: Any) -> Floats:
    """‖x_i‖² of the rows of a CSR matrix."""
    data, _, indptr = csr_arrays(X)
    squares = np.empty(X.shape[0])
    row_squares(indptr, data, len(squares), squares)
    return squares


def csr_rows(X: Any, rows: Integers) -> tuple[Array, Array, Array]:
    """(indptr, indices, data) of some rows of a CSR matrix, in this order."""
    data, indices, indptr = csr_arrays(X)
    rows = np.ascontiguousarray(rows, dtype=np.int64)
    ends = np.zeros(len(rows) + 1, dtype=indptr.dtype)
    np.cumsum(indptr[rows + 1] - indptr[rows], out=ends[1:])
    columns, values = np.empty(ends[-1], dtype=indices.dtype), np.empty(ends[-1], dtype=data.dtype)
    take_rows(indptr, indices, data, rows, len(rows), ends, columns, values)
    return ends, columns, values
