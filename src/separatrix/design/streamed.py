"""Designs of rows in a block file: the same sums in the same order as of the same rows in memory, bit for bit.

Chunks and blocks of sums are fixed by the shape, and blocks of the file hold whole segments of passes; so all that
differs is where rows come from: compiled passes read them in the buffers, what goes through NumPy gets a copy of a few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.design.base import Design
from separatrix.design.block import Block
from separatrix.design.dense import DenseBlock, DenseDesign
from separatrix.design.passes import Pass
from separatrix.design.reducing import Parts
from separatrix.design.sparse import SparseBlock, SparseDesign
from separatrix.errors import InvalidInputError
from separatrix.files import Stored
from separatrix.loops.passes import SCORES, pass_csr, pass_dense, pass_file, segment_rows, work_size

FEW_ENTRIES = 1 << 22  # that may be in memory all at once: no more than a buffer or two take


def streamed(X: Stored, intercept: bool = True, names: Sequence[str] | None = None) -> Design:
    """The design of rows in a file."""
    return (StreamedSparse if X.sparse else StreamedDense)(X, intercept, names)


def _coordinates(design: Design) -> dict[str, Any]:
    """What a design of some of the rows has in common with that of all."""
    return {field.name: getattr(design, field.name) for field in fields(design) if field.name != "_X"}


def _whole(design: Design, what: str) -> Design:
    """All rows in memory, if they are few."""
    if design.entries > FEW_ENTRIES:
        X = design._X
        raise InvalidInputError(
            f"{what} needs all rows in memory, and these are {X.where}. Fit to {X.whole} if there is memory for it, or "
            f"to a sample of the rows, such as {X.sample}."
        )
    return design.take(slice(None))


class StreamedDense(DenseDesign):
    """Dense rows of a block file."""

    _X: Any
    in_memory: ClassVar[bool] = False

    @property
    def read_as(self) -> np.dtype[Any]:
        return self._X.dtype

    @cached_property
    def _direct(self) -> Array | None:
        return None

    @property
    def _packed_kind(self) -> int | None:
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

    @cached_property
    def _extremes(self) -> Floats:
        return np.array(self._X.ends)

    def block(self, start: int, stop: int) -> DenseBlock:
        return StreamedDenseBlock(self, slice(start, stop))

    def parts(self, start: int, stop: int) -> Iterator[tuple[int, int, tuple[Array, ...]]]:
        """(first, last, arrays) of rows start to stop as loops row by row read them, until the next are asked for."""
        for first, last, rows in self._pieces(start, stop):
            yield first, last, (rows,)

    def take(self, rows: Array | slice) -> Any:
        return DenseDesign(self._X[rows], **_coordinates(self))

    def csr(self) -> Any:
        return _whole(self, "Coordinate descent").csr()

    def groups(self) -> tuple[Integers, Integers]:
        return _whole(self, "A search for equal rows").groups()


class StreamedDenseBlock(DenseBlock):
    """Consecutive rows of a `StreamedDense`, read when they are first asked for."""

    @cached_property
    def _apart(self) -> DenseDesign:
        return DenseDesign(self.x, **{**_coordinates(self.design), "offset": None})


class StreamedSparse(SparseDesign):
    """CSR rows of a block file."""

    in_memory: ClassVar[bool] = False

    def run(self, task: Pass, W: Floats | None, b: Floats | None, start: int, stop: int, origin: int) -> Floats:
        d, k = self.d, task.k
        sums = np.zeros(3 * k + (0 if task.what == SCORES else k * d))
        W = None if W is None else np.ascontiguousarray(W, dtype=np.float64)
        work = np.empty(work_size(k, task.K, 0))
        for piece in self._X.pieces(start, stop):
            at, m = slice(piece.first - origin, piece.last - origin), piece.last - piece.first
            arrays: list[Any] = [None if a is None else a[at] for a in (task.codes, task.weight, task.rows)]
            codes, weight, rows = arrays
            how = (self.offset, W, b, k, task.K, task.basis, task.what, codes, weight, task.columns)
            pass_csr(piece.indptr, piece.indices, piece.values, 0, 0, m, d, *how, rows, sums, work)
        return sums

    def block(self, start: int, stop: int) -> SparseBlock:
        return StreamedSparseBlock(self, slice(start, stop))

    def parts(self, start: int, stop: int) -> Iterator[tuple[int, int, tuple[Array, ...]]]:
        """The same of CSR rows: values, column numbers, row pointers."""
        for piece in self._X.pieces(start, stop):
            yield piece.first, piece.last, (piece.values, piece.indices, piece.indptr)

    def take(self, rows: Array | slice) -> Any:
        return SparseDesign(self._X[rows], **_coordinates(self))

    def is_canonical(self) -> bool:
        return True  # entries are sorted and added up when they are written

    def csr(self) -> Any:
        return _whole(self, "Coordinate descent").csr()

    def groups(self) -> tuple[Integers, Integers]:
        return _whole(self, "A search for equal rows").groups()

    @cached_property
    def _extremes(self) -> Array:
        return np.array(self._X.ends)

    def find(
        self, bad: Callable[[Array], Array], columns: Integers, *, outside: bool = False
    ) -> tuple[int, int, float] | None:
        if outside and not bad(self._extremes).any():
            found = None
        else:
            rows, places, values = self.rows(_hits, args=(bad, columns))
            found = (int(rows[0]), int(places[0]), float(values[0])) if len(rows) else None
        if found is None and bad(np.zeros(1)).any():  # the entries that are not stored
            for column in columns[self._X.counts[columns] < self.n]:
                (absent,) = self.rows(_absent, args=(int(column),))
                return int(absent[0]), int(column), 0.0
        return found

    def constant(self, columns: Integers) -> Array:
        first = self._X[0:1].toarray()[0]
        (changes,) = self.reduce(_changes, args=(first,))
        return np.asarray((changes == 0) & ((first == 0) | (self._X.counts == self.n)))[columns]

    def subtractable(self) -> Array:
        return np.asarray(self._X.counts == self.n)


class StreamedSparseBlock(SparseBlock):
    """Consecutive rows of a `StreamedSparse`."""

    def __init__(self, design: Design, rows: slice) -> None:
        Block.__init__(self, design, rows)
        self._own = design._X[rows]
        self._indices, self._indptr, self._entries = self._own.indices, self._own.indptr, self._own.data

    def read_from(self) -> tuple[Design, slice]:
        return SparseDesign(self._own, **_coordinates(self.design)), slice(0, self.rows.stop - self.rows.start)


def _hits(block: SparseBlock, bad: Callable[[Array], Array], columns: Integers) -> Parts:
    """(row, column, value) of the first stored entry in these columns for which ``bad`` is true, if there is one."""
    X = block.as_stored
    hits = bad(X.data)
    if len(columns) < block.design.d:
        hits &= np.isin(X.indices, columns)
    at = np.flatnonzero(hits)[:1]
    return block.first + np.searchsorted(X.indptr, at, side="right") - 1, X.indices[at], X.data[at]


def _absent(block: SparseBlock, column: int) -> Parts:
    """The rows that have no entry in a column."""
    X = block.as_stored
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[X.indices == column]
    return (block.first + np.setdiff1d(np.arange(X.shape[0]), rows),)


def _changes(block: SparseBlock, first: Floats) -> Parts:
    """How many stored entries of each column differ from the first row's."""
    X = block.as_stored
    return (np.bincount(X.indices[X.data != first[X.indices]], minlength=len(first)),)
