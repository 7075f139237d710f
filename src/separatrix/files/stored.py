"""Stored: the rows of a block file, as `fit` takes them in place of a matrix."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.errors import InvalidInputError, StorageError
from separatrix.files.elsewhere import Piece, RowsElsewhere
from separatrix.files.layout import HEADER_BYTES, Contents, read_header, read_tail
from separatrix.files.ring import Ring, read_at

CLOSED = "{} was closed: open the source again."


class Stored(RowsElsewhere):
    """Rows in a file, which no more of than a few blocks are in memory at a time.

    Attributes
    ----------
    rows_read : int
        How many rows were asked for so far, about: for whoever shows progress.
    memory : int or None
        Bytes that a fit may take, if whoever opened the rows said so.
    """

    where = "in a file"

    def __init__(self, descriptor: int, name: str, contents: Contents, memory: int | None = None) -> None:
        self.name = name
        self.memory = memory
        self.shape = (contents.n, contents.d)
        self.sparse = contents.sparse
        self.nnz = contents.entries
        self.dtype = np.dtype(np.float32 if contents.notes["single"] else np.float64)
        self.rows_read = 0
        self.ends: tuple[float, float] = tuple(contents.notes["ends"])
        self.counts: Integers = contents.arrays["counts"]
        self._starts = np.append(0, np.cumsum(contents.index["rows"].astype(np.int64)))
        self._ring = Ring(descriptor, name, contents.index)
        self._closed = weakref.finalize(self, _close, self._ring, descriptor)

    def close(self) -> None:
        """Give the file back; one without a name is gone then."""
        self._closed()

    @property
    def closed(self) -> bool:
        """Whether the file was given back."""
        return not self._closed.alive

    @property
    def block_rows(self) -> Integers:
        """How many rows each block has."""
        return np.diff(self._starts)

    # ------------------------------------------------------------------ as they are in the file
    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """Rows start to stop, a block at a time, in the buffers of this thread."""
        for i, low, high in self.spans(start, stop):
            self.rows_read += high - low
            with self._given_back():
                data = self._ring.block(i)
            yield self._piece(i, data, low, high)

    def spans(self, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
        """(number, first, last) of the blocks that rows start to stop are in, and which of these rows are there."""
        starts, stop = self._starts, min(stop, self.shape[0])
        first = int(np.searchsorted(starts, start, side="right")) - 1
        while start < stop:
            if self.closed:
                raise StorageError(CLOSED.format(self.name))
            last = min(stop, int(starts[first + 1]))
            yield first, start, last
            first, start = first + 1, last

    # ------------------------------------------------------------------ or read by a loop itself
    def trusts(self, i: int, row: int) -> bool:
        """Whether a loop may read block i from a row on, to be asked after that whether the file is `unchanged`."""
        with self._given_back():
            return self._ring.trusts(i, row == self._starts[i])

    def unchanged(self) -> bool:
        """Whether nobody has written to the file since its blocks were found to be right."""
        with self._given_back():
            return self._ring.unchanged()

    @contextmanager
    def _given_back(self) -> Iterator[None]:
        """If the file is closed meanwhile, by another thread, say so in place of how the system puts it."""
        try:
            yield
        except (OSError, RuntimeError) as error:
            if not self.closed:
                raise
            raise StorageError(CLOSED.format(self.name)) from error

    def spot(self, i: int, row: int, room: Floats) -> tuple[int, int, Array]:
        """The descriptor, where in the file a row of the dense block i begins, and the room, as numbers of its type."""
        entry = self._ring.index[i]
        item, inside = int(entry["item"]), row - int(self._starts[i])
        place = int(entry["offset"]) + item * self.shape[1] * inside
        return self._ring.descriptor, place, room.view(np.float32 if item == 4 else np.float64)

    def _piece(self, i: int, data: Array, low: int, high: int) -> Piece:
        entry, begin = self._ring.index[i], int(self._starts[i])
        item, rows, entries = int(entry["item"]), int(entry["rows"]), int(entry["entries"])
        values = data[: item * entries].view(np.float32 if item == 4 else np.float64)
        if not self.sparse:
            return Piece(low, high, values.reshape(rows, self.shape[1])[low - begin : high - begin])
        at = item * entries
        indices = data[at : at + 4 * entries].view(np.int32)
        indptr = data[at + 4 * entries : at + 4 * entries + 4 * (rows + 1)].view(np.int32)
        return Piece(low, high, None, indptr[low - begin : high - begin + 1], indices, values)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise InvalidInputError(
            f"These {self.shape[0]:,} rows are in a file, and are not made one array without being asked: X[:] does "
            "it, if there is memory for all of them; X.blocks() gives (rows, None, None), some at a time."
        )

    astype = __array__  # as kernels convert points

    def __reduce__(self) -> Any:
        raise InvalidInputError(
            "Rows in a file belong to their process and are not sent to others: open the source there, with cache= for "
            "a file that all of them read."
        )

    def __repr__(self) -> str:
        kind = "CSR" if self.sparse else "dense"
        return f"<{self.shape[0]:,} rows of {self.shape[1]:,} columns in a block file, {kind}>"


def _close(ring: Ring, descriptor: int) -> None:
    ring.close()
    os.close(descriptor)


def opened(path: Path) -> tuple[int, Contents]:
    """The descriptor and the contents of a block file that was kept."""
    name = str(path)
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise StorageError(f"{name} cannot be read: {error.strerror or error}.") from error
    try:
        start = np.zeros(HEADER_BYTES, dtype=np.uint8)
        got = read_at(descriptor, start, 0, name)
        counts, (at, length, found) = read_header(start[:got].tobytes(), os.fstat(descriptor).st_size, name)
        tail = np.zeros(length, dtype=np.uint8)
        read_at(descriptor, tail, at, name)
        return descriptor, read_tail(counts, tail, found, name)
    except BaseException:
        os.close(descriptor)
        raise
