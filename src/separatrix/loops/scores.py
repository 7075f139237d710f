"""s_i = x_i.w for rows x_i of a matrix in C order."""

from __future__ import annotations

from separatrix._typing import Array, Floats
from separatrix.loops.binding import native


@native("row_scores", "T[] i8 i8 f8[] f8[]")
def row_scores(X: Array, n: int, d: int, w: Floats, s: Floats) -> None:
    """s_i = sum_j X_ij w_j, written to s."""
    s[:n] = X.reshape(n, d).astype(float) @ w
