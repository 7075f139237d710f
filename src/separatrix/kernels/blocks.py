"""How many rows at a time: kernel matrices are made in blocks that stay small."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

#: A block of kernel values, or of whatever it takes to make one, stays below this many bytes
#: (one row at least): large enough for BLAS to be at full speed, small enough never to matter.
BLOCK_BYTES = 8 * 2**20


def count(points: Any) -> int:
    """The number of points in a matrix (dense or sparse) or a list."""
    shape = getattr(points, "shape", None)
    return int(shape[0]) if shape is not None else len(points)


def block_rows(width: int, itemsize: int = 8) -> int:
    """How many rows of ``width`` numbers are within BLOCK_BYTES; one at least."""
    return max(1, BLOCK_BYTES // (max(1, width) * itemsize))


def row_blocks(count: int, width: int, itemsize: int = 8) -> Iterator[slice]:
    """Slices that cover ``range(count)``: rows of ``width`` numbers, within BLOCK_BYTES or one at a time."""
    step = block_rows(width, itemsize)
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))
