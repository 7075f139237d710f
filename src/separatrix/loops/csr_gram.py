"""X' diag(h) X of CSR rows."""

from __future__ import annotations

import numpy as np

from separatrix._typing import Array, Floats
from separatrix.loops.binding import native
from separatrix.loops.rows import ROW_COST


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
