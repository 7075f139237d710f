"""Rows that are never all in memory: anything with ``blocks()`` yielding NumPy (X, y, weight), one after the other.

A source whose rows are in other processes may have ``each(fn, arrays, args, step)`` as well: (where, fn(x, *arrays of
these rows, *args)) of at most ``step`` rows after the others, checked by `read_rows`. Then functions of a few rows go
to where these are, and what they return comes back, in the order of the rows. What is proved is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, Self

import numpy as np

NOTHING = "There are no rows: blocks() yields nothing."


def in_blocks(X: Any) -> bool:
    """Whether X gives its rows in blocks, and is no array or table, which may have a column of that name."""
    return not (hasattr(X, "__array_interface__") or hasattr(X, "dtypes")) and callable(getattr(X, "blocks", None))


def elsewhere(X: Any) -> Any:
    """Who calls functions where the rows are, if anyone does; None for rows of which only some count."""
    source = X if getattr(X, "kept", None) is None else None
    source = getattr(source, "source", source)
    return source if callable(getattr(source, "each", None)) and in_blocks(source) else None


class RowBlocks:
    """Rows X[a:b] of one block after the other, n in all, of which those in ``kept`` count, if that is not None.

    Slices in the order of the rows cost one reading in all. Rows by their numbers are asked of the source, if it knows
    them, and looked for otherwise. ``look`` is called with the rows of each block until all have been seen once: it
    checks that they are numbers, which would otherwise take a reading of its own.
    """

    def __init__(self, source: Any, n: int, kept: Any = None, look: Callable[[Any], Any] | None = None) -> None:
        self.source, self.kept, self._n, self._look = source, kept, n, look
        if elsewhere(self) is not None:  # it is believed: whoever reads the rows counts them
            self.shape, self.sparse, self.nnz = tuple(source.shape), bool(source.sparse), int(source.nnz)
            self._first = None
            self._restart()
            return
        self._begun = iter(source.blocks())  # the first reading begins here
        self._first = next(self._begun, None)
        if self._first is None:
            raise ValueError(NOTHING)
        x = self._first[0]
        self.sparse = hasattr(x, "tocsr")
        self.shape = (n if kept is None else len(kept), x.shape[1])
        self.nnz = int(self.shape[0] * (x.nnz / x.shape[0] if self.sparse and x.shape[0] else x.shape[1]))  # about
        self._restart()

    @classmethod
    def of(cls, source: Any, y: Any, weight: Any, look: Callable[[Any], Any] | None = None) -> tuple[Self, Any, Any]:
        """The rows, and labels and weights: as given, or in one array each those that the blocks have."""
        if y is None:
            found = [block[1:] for block in source.blocks()]
            if not found:
                raise ValueError(NOTHING)
            labels, weights = zip(*found, strict=True)
            if any(part is None for part in labels):
                raise ValueError("Neither y nor the blocks of X have labels.")
            y = np.concatenate(labels)
            given = [part for part in weights if part is not None]
            if weight is None and given:
                if len(given) < len(weights):
                    raise ValueError("Some blocks of X have weights, and others none: give weights to all, or to none.")
                weight = np.concatenate(given)
        known = getattr(source, "shape", None)
        n = known[0] if known is not None else len(y) if hasattr(y, "__len__") else y.shape[0]
        return cls(source, int(n), look=look), y, weight

    def __len__(self) -> int:
        return int(self.shape[0])

    def only(self, kept: Any) -> RowBlocks:
        """Some of the rows, by their numbers in order."""
        return RowBlocks(self.source, self._n, kept if self.kept is None else self.kept[kept], self._look)

    def parts(self) -> Iterator[Any]:
        """The rows of each block, dense or CSR."""
        start, blocks = 0, self.source.blocks()
        if self._first is not None:
            blocks, self._first = chain([self._first], self._begun), None
        for x, _, _ in blocks:
            if np.ma.is_masked(x):
                raise ValueError("X masks some of its entries.")
            x = x.tocsr() if hasattr(x, "tocsr") else np.asarray(x)
            if x.ndim != 2 or x.shape[1] != self.shape[1]:
                raise ValueError(f"Blocks of X have {self.shape[1]} columns, but one has the shape {x.shape}.")
            if self._look is not None:
                x = self._look(x)
            stop = start + x.shape[0]
            if self.kept is not None:
                low, high = np.searchsorted(self.kept, [start, stop])
                x = x[self.kept[low:high] - start]
            start = stop
            yield x
        if start != self._n:
            raise ValueError(f"There should be {self._n} rows, but the blocks have {start}.")
        self._look = None

    def __getitem__(self, key: Any) -> Any:
        n = self.shape[0]
        if isinstance(key, slice):
            start, stop, step = key.indices(n)
            if step == 1:
                return self._consecutive(start, max(start, stop))
            key = np.arange(start, stop, step)
        at = np.asarray(key)
        if hasattr(self.source, "__getitem__"):
            return self.source[at if self.kept is None else self.kept[at]]
        order = np.argsort(at, kind="stable")
        wanted = at[order]
        found, start = [], 0
        for x in self.parts():
            low, high = np.searchsorted(wanted, [start, start + x.shape[0]])
            found.append(x[wanted[low:high] - start])
            start += x.shape[0]
        back = np.empty(len(at), dtype=np.intp)
        back[order] = np.arange(len(at))
        return _stacked(found)[back]

    def _restart(self) -> None:
        self._iterator, self._start, self._block = self.parts(), 0, None

    def _consecutive(self, start: int, stop: int) -> Any:
        if elsewhere(self) is not None:
            rows = self.source[start:stop]
            return rows if self._look is None else self._look(rows)
        if start < self._start:
            self._restart()
        found: list[Any] = []
        while True:
            if self._block is not None:
                end = self._start + self._block.shape[0]
                if end > start:
                    found.append(self._block[max(0, start - self._start) : stop - self._start])
                if end >= stop:
                    if stop == self.shape[0]:
                        for _ in self._iterator:  # what comes after is looked at, and counted
                            pass
                    return _stacked(found) if found else self._block[:0]
                self._start = end
            self._block = next(self._iterator)


def _stacked(parts: list[Any]) -> Any:
    """Rows of several blocks in one array, or CSR matrix of the kind that they are."""
    if len(parts) == 1 or not hasattr(parts[0], "tocsr"):
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
    counts = np.concatenate([np.diff(x.indptr) for x in parts])
    arrays = (np.concatenate([x.data for x in parts]), np.concatenate([x.indices for x in parts]))
    return type(parts[0])((*arrays, np.append(0, np.cumsum(counts))), shape=(len(counts), parts[0].shape[1]))
