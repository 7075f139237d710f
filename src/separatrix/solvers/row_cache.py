"""Rows of the kernel matrix in a block of memory of fixed size, the least recently used making room."""

from __future__ import annotations

import numpy as np

from separatrix._typing import Array, Integers
from separatrix.loops.working_set import compact_rows
from separatrix.solvers.kernel_columns import KernelColumns

FEWEST = 16  # rows, however little memory was allowed


class RowCache:
    """float32 rows over the active columns; `table` is (room, active), of which a row's slot is one line.

    Parameters
    ----------
    columns : KernelColumns
        Over all points.
    size : float
        Bytes; but never less than a few rows.
    """

    def __init__(self, columns: KernelColumns, size: float) -> None:
        self._all = columns
        self._entries = max(int(size) // 4, FEWEST * columns.width)
        self._entries = min(self._entries, columns.width**2)
        self._memory = np.empty(self._entries, dtype=np.float32)
        self._active: Integers = np.zeros(0, dtype=np.intp)
        self._clock = 0
        self._empty(columns.width)

    @property
    def room(self) -> int:
        """How many rows fit."""
        return len(self.table)

    def use(self, active: Integers) -> None:
        """Keep columns of these points only: a subset of those before, or anything else, and then no row is kept."""
        everyone = len(active) == self._all.width
        if everyone and len(self._active) == len(active):
            return
        kept = np.searchsorted(self._active, active)
        inside = len(active) < len(self._active) and np.array_equal(
            self._active[np.minimum(kept, len(self._active) - 1)], active
        )
        self._columns = self._all if everyone else self._all.restricted(active)
        old_table, old_owner, old_stamp = self.table, self._owner, self._stamp
        self._active = active
        self._empty(len(active))
        if not inside:
            return
        width = old_table.shape[1]
        place = np.full(width, -1, dtype=np.intp)
        place[kept] = np.arange(len(kept))
        owners = np.where(old_owner >= 0, place[old_owner], -1)
        slots = np.flatnonzero(owners >= 0)
        new, owners = np.arange(len(slots)), owners[slots]
        compact_rows(self._memory, width, slots, len(slots), kept, len(kept))
        self._owner[new], self._slot[owners], self._stamp[new] = owners, new, old_stamp[slots]

    def _empty(self, width: int) -> None:
        room = max(1, min(self._entries // max(1, width), width))
        self.table: Array = self._memory[: room * width].reshape(room, width)
        self._slot = np.full(width, -1, dtype=np.intp)  # of each active point
        self._owner = np.full(room, -1, dtype=np.intp)  # of each slot
        self._stamp = np.zeros(room, dtype=np.int64)

    def slots(self, chosen: Integers) -> Integers:
        """Where the rows of these active points are, computed now if they are not there."""
        self._clock += 1
        found = self._slot[chosen]
        self._stamp[found[found >= 0]] = self._clock
        missing = chosen[found < 0]
        if len(missing):
            oldest = np.argpartition(self._stamp, len(missing) - 1)[: len(missing)]
            oldest.sort()
            evicted = self._owner[oldest]
            self._slot[evicted[evicted >= 0]] = -1
            self._columns.fill(self._active[missing], self.table, oldest)
            self._owner[oldest], self._slot[missing], self._stamp[oldest] = missing, oldest, self._clock
        return self._slot[chosen]
