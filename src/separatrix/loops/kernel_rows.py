"""exp in place, of kernel values; a whole matrix of them; and products of sparse rows."""

from __future__ import annotations

import numpy as np

from separatrix._typing import Array, Floats
from separatrix.loops.binding import native
from separatrix.loops.rows import ROW_COST


@native("exponentials", "T[] i8")
def exponentials(values: Array, count: int) -> None:
    """values <- exp(values), within two units of the last place."""
    with np.errstate(over="ignore", under="ignore"):
        np.exp(values, out=values)


@native("radial_square", "f8[] i8 f8[] f8")
def radial_square(K: Floats, n: int, terms: Floats, twice: float) -> None:
    """K_ij <- exp(min(twice K_ij - (t_i + t_j), 0)) above the diagonal, 1 on it, and below it what is above."""
    with np.errstate(over="ignore", under="ignore"):
        above = np.triu(np.exp(np.minimum(twice * K - (terms[:, None] + terms), 0.0)), 1)
    K[:] = above + above.T
    K[np.arange(n), np.arange(n)] = 1.0


@native("sparse_product", "I[] I[] T[] I[] I[] T[] T[] i8 i8 i8 i8", returns="i8")
def sparse_product(
    row_ends: Array, row_columns: Array, row_values: Array, ends: Array, positions: Array, values: Array, out: Array,
    width: int, start: int, stop: int, budget: int,
) -> int:  # fmt: skip
    """out[start:stop] += A B', for A given by rows and B' by rows, both sparse; returns the row where it stopped."""
    for r in range(start, stop):
        if budget <= 0:
            return r
        for e in range(row_ends[r], row_ends[r + 1]):
            column = slice(ends[row_columns[e]], ends[row_columns[e] + 1])
            out[r, positions[column]] += row_values[e] * values[column]
            budget -= column.stop - column.start + ROW_COST
    return max(start, stop)
