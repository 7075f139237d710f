"""A dense design: any order, stride and number type, converted to float64 a block at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, cast

import numpy as np
from scipy import sparse

from separatrix._typing import Array, Floats, Integers
from separatrix.cached import cached_property
from separatrix.design.base import Design
from separatrix.design.block import Block
from separatrix.design.passes import INLINE, Pass, chunk_rows
from separatrix.design.reducing import Parts
from separatrix.loops import threads
from separatrix.loops.moments import class_sums, ends
from separatrix.loops.packing import kind_of, packed
from separatrix.loops.passes import pass_dense, pass_strided, room_rows, segment_rows, work_size

FEW = 8  # columns of a product up to which one reading of the rows outweighs the fused multiplications of BLAS
PIECES = 2  # segments that are copied together: about a megabyte, so that calls cost little of the time
DEVIATIONS = 1 << 16  # entries whose squares are made together: they stay in cache, and are no new memory each time
EXACT = {np.dtype(kind) for kind in ("f2", "i1", "u1", "i2", "u2", "?")}  # float32 holds each of their numbers


class DenseDesign(Design):
    """Rows of a NumPy array, which is neither copied nor changed."""

    _X: Array
    few: ClassVar[float] = FEW

    @property
    def nbytes(self) -> float:
        return 8.0 * self.n * self.d

    @property
    def read_as(self) -> np.dtype[Any]:
        """The type that compiled passes read: float32 if it holds every number of X."""
        dtype = self._X.dtype.newbyteorder("=")
        return np.dtype(np.float32 if dtype == np.float32 or dtype in EXACT else np.float64)

    @cached_property
    def _direct(self) -> Array | None:
        """X as compiled passes read it; a copy if X is small, and None if it is to be copied a part at a time."""
        X = np.asarray(self._X)
        if X.dtype == self.read_as and X.dtype.isnative and X.flags.c_contiguous and X.flags.aligned:
            return X
        if X.size > INLINE:
            return None
        copy = np.empty(X.shape, dtype=self.read_as)
        packed(X, copy)
        return copy

    def run(self, task: Pass, W: Floats | None, b: Floats | None, start: int, stop: int, origin: int) -> Floats:
        d, segment = self.d, segment_rows(self.d)
        how, sums = self._prepared(task, W, b)
        if self._direct is None and (kind := kind_of(self._X.dtype)) is not None:  # a pass copies them into order
            X, some, at = self._X[start:stop], room_rows(d), start - origin
            room, (down, right) = np.empty((some, d), dtype=self.read_as), X.strides
            pass_strided(X.ctypes.data, down, right, kind, room, some, at, stop - origin, d, segment, *how)
            return sums
        for first, last, rows in self._pieces(start, stop):
            at = first - origin
            pass_dense(rows, at, at, last - origin, d, segment, *how)
        return sums

    def _prepared(self, task: Pass, W: Floats | None, b: Floats | None) -> tuple[Any, Floats]:
        """What a pass does, as loops take it, and the sums that it adds to."""
        d, k = self.d, task.k
        W = None if W is None else np.ascontiguousarray(W.T, dtype=np.float64)
        sums, work = task.sums(d), np.empty(work_size(k, task.K, d))
        how = (self.offset, W, b, k, task.K, task.basis, task.what, task.codes, task.weight, task.columns, task.rows)
        return (*how, sums, work), sums

    def _pieces(self, start: int, stop: int) -> Iterator[tuple[int, int, Array]]:
        """(first, last, rows) of consecutive parts, as compiled passes read them; a copy lasts until the next."""
        if (X := self._direct) is not None:
            yield start, stop, X[start:stop]
            return
        step = PIECES * segment_rows(self.d)
        rows = np.empty((min(step, stop - start), self.d), dtype=self.read_as)
        for first in range(start, stop, step):
            last = min(first + step, stop)
            packed(self._X[first:last], rows)
            yield first, last, rows

    def array(self, rows: Array | slice = slice(None)) -> Floats:
        return np.ascontiguousarray(self._X[rows], dtype=np.float64)

    def csr(self) -> Any:
        return sparse.csr_array(self._X)

    def chunk_rows(self, task: Pass) -> int:
        return chunk_rows(self.n, float(self.n) * self.d * task.k, segment_rows(self.d))

    def as_columns(self, sums: Floats, k: int) -> Floats:
        return sums.reshape(k, self.d).T

    def class_sums(self, codes: Integers, weight: Floats, k: int, centres: Floats | None = None) -> Floats:
        d, squared = self.d, int(centres is not None)
        codes, weight = np.ascontiguousarray(codes, dtype=np.int64), np.ascontiguousarray(weight, dtype=np.float64)
        about = self.offset if centres is None else np.ascontiguousarray(centres)
        segment = PIECES * segment_rows(d)
        step = chunk_rows(self.n, float(self.n) * d, segment, max(1.0, self.n / (4.0 * k)))

        def add(start: int) -> Floats:
            sums, work = np.zeros((k, d)), np.empty((k, d))
            for first, last, rows in self._pieces(start, min(start + step, self.n)):
                class_sums(rows, first, first, last, d, segment, squared, about, codes, weight, k, sums, work)
            return sums

        parts = threads.over(range(0, max(self.n, 1), step), add)
        for other in parts[1:]:
            parts[0] += other
        return parts[0]

    def block_rows(self, block_bytes: int) -> int:
        return max(256, block_bytes // (8 * max(self.d, 1)))

    def block(self, start: int, stop: int) -> DenseBlock:
        return DenseBlock(self, slice(start, stop))

    @cached_property
    def _extremes(self) -> Floats:
        """The smallest and the largest entry, or NaN if there is one among them."""
        X = np.asarray(self._X).T if self._X.flags.f_contiguous else np.asarray(self._X)  # in any order
        if X.flags.c_contiguous:
            return ends(X.reshape(-1))
        return np.array([X.min(), X.max()] if X.size else [np.inf, -np.inf], dtype=np.float64)

    def find(
        self, bad: Callable[[Array], Array], columns: Integers, *, outside: bool = False
    ) -> tuple[int, int, float] | None:
        rows, places = self.rows(_hits, args=(bad, columns))
        if not len(rows):
            return None
        first = int(rows.min())
        column = int(columns[places[rows == first].min()])
        return first, column, float(self._X[first, column])

    def groups(self) -> tuple[Integers, Integers]:
        X = self._X
        rows = np.ascontiguousarray(X + X.dtype.type(0)) if X.dtype.kind == "f" else np.ascontiguousarray(X)  # no -0.0
        keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        return group.ravel(), first

    def constant(self, columns: Integers) -> Array:
        (changes,) = self.reduce(_changes, args=(columns, self._X[0, columns]))
        return np.asarray(changes == 0)

    def subtractable(self) -> Array:
        return np.ones(self.d, dtype=bool)


class DenseBlock(Block):
    """Consecutive rows of a `DenseDesign`."""

    @cached_property
    def x(self) -> Floats:  # converted once for the several products of a pass
        raw, offset = self.design._X[self.rows], self.design.offset
        rows = np.empty(raw.shape)  # in C order: products with other orders round otherwise
        if raw.dtype == rows.dtype and raw.dtype.isnative and raw.flags.c_contiguous and offset is None:
            return np.asarray(raw)
        packed(raw, rows)
        return rows if offset is None else np.subtract(rows, offset, out=rows)

    @cached_property
    def _apart(self) -> DenseDesign:
        return DenseDesign(self.x, **{**self.design.coordinates, "offset": None})

    def read_from(self) -> tuple[Design, slice]:
        """The rows themselves, converted once, where passes over the design would each copy them."""
        if cast(DenseDesign, self.design)._direct is not None:
            return self.design, self.rows
        return self._apart, slice(0, self._apart.n)

    def inner(self, h: Floats | None) -> tuple[Floats, Floats]:
        x = self.x
        if h is None:
            return x.T @ x, x.sum(axis=0)
        if (h < 0).any():
            return x.T @ (h[:, None] * x), h @ x
        root = np.sqrt(h)[:, None] * x
        return root.T @ root, h @ x  # the same array twice: BLAS computes one triangle only

    def spread(self, R: Floats, centres: Floats, codes: Integers) -> Floats:
        x, found = self.design._X[self.rows], np.zeros((R.shape[1], self.design.d))
        step = max(1, DEVIATIONS // max(self.design.d, 1))
        for some in (slice(first, first + step) for first in range(0, len(x), step)):
            deviation = x[some] - (centres if len(centres) == 1 else centres[codes[some]])
            found += R[some].T @ np.square(deviation, out=deviation)
        return found


def _hits(block: Block, bad: Callable[[Array], Array], columns: Integers) -> Parts:
    """(row, place among the columns) of the first entry of the block for which ``bad`` is true, if there is one."""
    x = block.design._X[block.rows]
    hits = np.argwhere(bad(x if len(columns) == block.design.d else x[:, columns]))[:1]
    return block.first + hits[:, 0], hits[:, 1]


def _changes(block: Block, columns: Integers, first: Array) -> Parts:
    """How many entries of each column differ from the first."""
    return ((block.design._X[block.rows][:, columns] != first).sum(axis=0),)
