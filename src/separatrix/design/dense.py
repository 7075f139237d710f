"""A dense design: any order, stride and number type, converted to float64 a block at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import cast

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.design.base import Block, Design, Parts


class DenseDesign(Design):
    """Rows of a NumPy array, which is neither copied nor changed."""

    X: Array

    @property
    def nbytes(self) -> float:
        return 8.0 * self.n * self.d

    def block_rows(self, block_bytes: int) -> int:
        return max(256, block_bytes // (8 * max(self.d, 1)))

    def block(self, start: int, stop: int) -> DenseBlock:
        return DenseBlock(self, slice(start, stop))

    def out_of_range(self, limit: float) -> tuple[int, int, float] | None:
        if self.X.dtype.kind != "f":
            return None  # whole numbers and booleans are finite
        extremes: list[Array] = []

        def sweep(block: Block) -> Parts:  # NaN passes through min and max
            rows = self.X[block.rows]
            extremes.append(np.abs([rows.min(), rows.max()], dtype=np.float64))
            return ()

        self.reduce(sweep)
        if (np.array(extremes) <= limit).all():
            return None
        bound = np.float64(limit)  # a plain float would become float32 next to float32, and infinite
        return self.find(lambda x: ~(np.abs(x) <= bound), np.arange(self.d))

    def find(
        self, bad: Callable[[Array], Array], columns: Integers, *, outside: bool = False
    ) -> tuple[int, int, float] | None:
        every = len(columns) == self.d
        found: list[tuple[int, int]] = []

        def sweep(block: Block) -> Parts:
            x = self.X[block.rows]
            hits = bad(x if every else x[:, columns])
            if hits.any():
                row, j = np.argwhere(hits)[0]
                found.append((block.rows.start + int(row), int(columns[j])))
            return ()

        self.reduce(sweep)
        if not found:
            return None
        row, column = min(found)
        return row, column, float(self.X[row, column])

    def constant(self, columns: Integers) -> Array:
        first = self.X[0, columns]
        (changes,) = self.reduce(lambda block: ((self.X[block.rows][:, columns] != first).sum(axis=0),))
        return np.asarray(changes == 0)

    def subtractable(self) -> Array:
        return np.ones(self.d, dtype=bool)


class DenseBlock(Block):
    """Consecutive rows of a `DenseDesign`."""

    @cached_property
    def x(self) -> Floats:  # converted once for the several products of a pass
        raw, offset = self.design.X[self.rows], self.design.offset
        return np.asarray(raw, dtype=np.float64) if offset is None else cast(Floats, raw - offset)

    def inner(self, h: Floats | None) -> tuple[Floats, Floats]:
        x = self.x
        if h is None:
            return x.T @ x, x.sum(axis=0)
        if (h < 0).any():
            return x.T @ (h[:, None] * x), h @ x
        root = np.sqrt(h)[:, None] * x
        return root.T @ root, h @ x  # the same array twice: BLAS computes one triangle only

    def spread(self, R: Floats, centres: Floats, codes: Integers) -> Floats:
        deviation = self.design.X[self.rows] - (centres if len(centres) == 1 else centres[codes])
        return np.asarray(R.T @ np.square(deviation, out=deviation))
