"""Designs of rows in a block file: the same sums in the same order as of the same rows in memory, bit for bit.

Chunks and blocks of sums are fixed by the shape, and blocks of the file hold whole segments of passes; so all that
differs is where rows come from: compiled passes read them in the buffers, what goes through NumPy gets a copy of a few.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.cached import cached_property
from separatrix.design.base import Design
from separatrix.design.block import Block
from separatrix.design.dense import DenseDesign
from separatrix.design.passes import Pass
from separatrix.design.sparse import SparseBlock, SparseDesign
from separatrix.errors import InvalidInputError
from separatrix.loops.passes import pass_dense, pass_file, segment_rows

FEW_ENTRIES = 1 << 22  # that may be in memory all at once: no more than a buffer or two take


class _Streamed(Design):
    """What both kinds of rows share."""

    _X: Any
    in_memory: ClassVar[bool] = False

    @cached_property
    def _extremes(self) -> Floats:
        return np.array(self._X.ends)

    def take(self, rows: Array | slice) -> Any:
        return (SparseDesign if self.sparse else DenseDesign)(self._X[rows], **self.coordinates)

    def csr(self) -> Any:
        return self._whole("Coordinate descent").csr()

    def groups(self) -> tuple[Integers, Integers]:
        return self._whole("A search for equal rows").groups()

    def _whole(self, what: str) -> Design:
        """All rows in memory, if they are few."""
        if self.entries > FEW_ENTRIES:
            raise InvalidInputError(
                f"{what} needs all rows in memory, and these are {self._X.where}. Fit to {self._X.whole} if there is "
                f"memory for it, or to a sample of the rows, such as {self._X.sample}."
            )
        return self.take(slice(None))


class StreamedDense(_Streamed, DenseDesign):
    """Dense rows of a block file."""

    @property
    def read_as(self) -> np.dtype[Any]:
        return self._X.dtype

    @cached_property
    def _direct(self) -> Array | None:
        return None

    def run(self, task: Pass, W: Floats | None, b: Floats | None, start: int, stop: int, origin: int) -> Floats:
        X, d, segment = self._X, self.d, segment_rows(self.d)
        how, sums = self._prepared(task, W, b)
        room = np.empty((2 * segment, d))
        for i, first, last in X.spans(start, stop):
            before, at = sums.copy(), first - origin
            rest = (at, last - origin, d, segment, *how)
            if X.trusts(i, first) and pass_file(*X.spot(i, first, room), *rest) and X.unchanged():
                X.rows_read += last - first
                continue
            sums[:] = before
            for piece in X.pieces(first, last):
                pass_dense(piece.rows, at, *rest)
        return sums

    def _pieces(self, start: int, stop: int) -> Iterator[tuple[int, int, Array]]:
        for piece in self._X.pieces(start, stop):
            yield piece.first, piece.last, piece.rows

    def parts(self, start: int, stop: int) -> Iterator[tuple[int, int, tuple[Array, ...]]]:
        """(first, last, arrays) of rows start to stop as loops row by row read them, until the next are asked for."""
        for first, last, rows in self._pieces(start, stop):
            yield first, last, (rows,)


class StreamedSparse(_Streamed, SparseDesign):
    """CSR rows of a block file."""

    def run(self, task: Pass, W: Floats | None, b: Floats | None, start: int, stop: int, origin: int) -> Floats:
        sums = task.sums(self.d)
        for piece in self._X.pieces(start, stop):
            own, m = task.of(slice(piece.first - origin, piece.last - origin)), piece.last - piece.first
            self._add_pass(sums, own, W, b, piece.indptr, piece.indices, piece.values, 0, 0, m)
        return sums

    def block(self, start: int, stop: int) -> SparseBlock:
        return StreamedSparseBlock(self, slice(start, stop))

    def parts(self, start: int, stop: int) -> Iterator[tuple[int, int, tuple[Array, ...]]]:
        """The same of CSR rows: values, column numbers, row pointers."""
        for piece in self._X.pieces(start, stop):
            yield piece.first, piece.last, (piece.values, piece.indices, piece.indptr)

    def is_canonical(self) -> bool:
        return True  # entries are sorted and added up when they are written

    @cached_property
    def _counts(self) -> Integers:
        return self._X.counts

    def subtractable(self) -> Array:
        return np.asarray(self._counts == self.n)


class StreamedSparseBlock(SparseBlock):
    """Consecutive rows of a `StreamedSparse`."""

    def __init__(self, design: Design, rows: slice) -> None:
        Block.__init__(self, design, rows)
        self._own = design._X[rows]
        self._indices, self._indptr, self._entries = self._own.indices, self._own.indptr, self._own.data

    def read_from(self) -> tuple[Design, slice]:
        return SparseDesign(self._own, **self.design.coordinates), slice(0, self.rows.stop - self.rows.start)
