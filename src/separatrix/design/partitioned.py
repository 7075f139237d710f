"""Designs of rows in partitions that others hold: each sum is that of every partition, added in their order.

What is asked of single rows is inherited from designs of rows in a file; passes and block functions go to where the
rows are, and only what is added up, or is one number for each row, comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.design import parts
from separatrix.design.base import Design
from separatrix.design.partitions import Partitions
from separatrix.design.passes import Pass
from separatrix.design.reducing import BLOCK_BYTES, BlockFn, Parts, together
from separatrix.design.streamed import StreamedDense, StreamedSparse
from separatrix.loops.passes import GATHER, PRODUCT, SOFTMAX_PRODUCT

READ = (GATHER, PRODUCT, SOFTMAX_PRODUCT)  # passes that read numbers of rows; the others write them


class _Partitioned(Design):
    """What both kinds of rows share."""

    _X: Partitions
    near: ClassVar[bool] = False

    @property
    def _coordinates(self) -> dict[str, Any]:
        """Of the coordinates, what partitions are sent: they know their first row, and messages are made here."""
        return {name: getattr(self, name) for name in ("intercept", "offset", "rest", "scale")}

    def sweep(self, task: Pass, V: Floats | None) -> tuple[Floats, Floats]:
        writes = task.rows is not None and task.what not in READ
        width = task.rows.shape[1] if task.rows is not None and writes else 0
        given = task.codes, task.weight, None if writes else task.rows
        plain = task._replace(codes=None, weight=None, rows=None)
        found = self._X.call(parts.swept, given, self._coordinates, plain, width, V)
        values, G, *written = together(found, ("sum", "sum", "rows")[: 2 + writes])
        if task.rows is not None and writes:
            task.rows[...] = written[0]
        return values, G

    def reduce(
        self,
        block_fn: BlockFn,
        *rows: Array,
        args: Parts = (),
        rules: str | Sequence[str] = "sum",
        block_bytes: int = BLOCK_BYTES,
    ) -> Parts:
        found = self._X.call(parts.reduced, rows, self._coordinates, block_fn, args, rules, block_bytes)
        return together(found, rules)

    def class_sums(self, codes: Integers, weight: Floats, k: int, centres: Floats | None = None) -> Floats:
        found = self._X.call(parts.class_sums, (codes, weight), self._coordinates, k, centres)
        (total,) = together([(sums,) for sums in found], "sum")
        return np.asarray(total)

    def in_turn(
        self, fn: Callable[..., Any], rows: Sequence[Array | None], state: Any, *args: Any
    ) -> tuple[Any, list[Any]]:
        """state, found = fn(arrays, first row, *rows of these, state, *args), of one partition after the other.

        The arrays are what loops row by row read: see `StreamedDense.parts`. The state goes to where rows are.
        """
        return self._X.in_turn(parts.visited, rows, state, fn, self._X.dtype, *args)

    @property
    def partings(self) -> tuple[int, int]:
        return self._X.count, self._X.longest

    def place(self, row: int, column: int) -> str:
        return f"{self._X.place(row)}, {self.column(column)}"


class PartitionedDense(_Partitioned, StreamedDense):
    """Dense rows."""

    _X: Any

    @property
    def largest(self) -> Floats | None:
        ends = self._X.column_ends if self.offset is None else self._X.column_ends - self.offset
        return np.abs(ends).max(axis=0)


class PartitionedSparse(_Partitioned, StreamedSparse):
    """CSR rows."""

    _X: Any
