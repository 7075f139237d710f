"""A sparse design: CSR rows. Centring is algebra on sums; no dense matrix is ever made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from separatrix._typing import Array, Floats, Integers
from separatrix.cached import cached_property
from separatrix.design.base import Design
from separatrix.design.block import Block
from separatrix.design.passes import Pass, chunk_rows
from separatrix.design.reducing import Parts
from separatrix.loops.csr_rows import add_pairs
from separatrix.loops.moments import ends
from separatrix.loops.passes import BLOCK, SCORES, pass_csr, work_size
from separatrix.loops.rows import BUDGET, csr_index, floats


class SparseDesign(Design):
    """Rows of a CSR matrix, which is neither copied nor changed; its blocks need one with no duplicate entries."""

    sparse: ClassVar[bool] = True

    @property
    def entries(self) -> int:
        return int(self._X.nnz)

    @property
    def nbytes(self) -> float:
        return 12.0 * float(self._X.nnz)  # a value and an index

    def block_rows(self, block_bytes: int) -> int:
        # X'R touches all d rows of its result: a block is worth that when it has some times d entries
        # (and small products wait for the GIL more than they gain from the cache, so let it be large)
        entries = max(block_bytes / 6, 4 * self.d, min(32 * self.d, self._X.nnz / 16))
        return max(256, int(entries * self.n / max(self._X.nnz, 1)))

    def block(self, start: int, stop: int) -> SparseBlock:
        return SparseBlock(self, slice(start, stop))

    @cached_property
    def _index(self) -> tuple[Array, Array]:
        return csr_index(self._X)

    def run(self, task: Pass, W: Floats | None, b: Floats | None, start: int, stop: int, origin: int) -> Floats:
        (columns, pointers), sums = self._index, task.sums(self.d)
        base = int(pointers[start])
        values = floats(self._X.data[base : int(pointers[stop])])
        self._add_pass(sums, task, W, b, pointers[origin:], columns, values, base, start - origin, stop - origin)
        return sums

    def _add_pass(self, sums: Floats, task: Pass, W: Floats | None, b: Floats | None, *rows: Any) -> None:
        """Add what a pass finds of rows, given as `pass_csr` takes them."""
        W = None if W is None else np.ascontiguousarray(W, dtype=np.float64)
        how = (self.offset, W, b, task.k, task.K, task.basis, task.what, task.codes, task.weight, task.columns)
        pass_csr(*rows, self.d, *how, task.rows, sums, np.empty(work_size(task.k, task.K, 0)))

    def array(self, rows: Array | slice = slice(None)) -> Floats:
        return np.asarray(self._X[rows].toarray(), dtype=np.float64)

    def csr(self) -> Any:
        return self._X

    def chunk_rows(self, task: Pass) -> int:
        # each chunk has sums of its own over all d columns: its rows should have some times d entries
        most = np.inf if task.what == SCORES else max(1.0, self._X.nnz / (8.0 * max(self.d, 1)))
        return chunk_rows(self.n, float(self._X.nnz) * task.k, BLOCK, 2.0 ** int(np.log2(min(most, 1e9))))

    def as_columns(self, sums: Floats, k: int) -> Floats:
        return sums.reshape(self.d, k)

    def is_canonical(self) -> bool:
        """Whether the entries of each row are sorted by column, without duplicates; X remembers it."""
        if not hasattr(self._X, "_has_canonical_format"):  # where SciPy, which asks in one thread, keeps the answer
            (improper,) = self.reduce(_improper)
            self._X.has_canonical_format = improper == 0
        return bool(self._X.has_canonical_format)

    def summed(self) -> Self:
        if self.is_canonical():
            return self
        X = self._X.copy()
        X.sum_duplicates()
        return replace(self, _X=X)

    @cached_property
    def _extremes(self) -> Floats:
        """The smallest and the largest stored entry, or NaN if there is one among them; 0 if there are none."""
        return ends(self._X.data)

    @cached_property
    def _counts(self) -> Integers:
        """How many entries of each column are stored."""
        return np.bincount(self._X.indices, minlength=self.d)

    def find(
        self, bad: Callable[[Array], Array], columns: Integers, *, outside: bool = False
    ) -> tuple[int, int, float] | None:
        if not outside or bad(self._extremes).any():
            rows, places, values = self.rows(_hits, args=(bad, columns))
            if len(rows):
                return int(rows[0]), int(places[0]), float(values[0])
        if bad(np.zeros(1)).any():  # the entries that are not stored
            for column in columns[self._counts[columns] < self.n]:
                (absent,) = self.rows(_absent, args=(int(column),))
                return int(absent[0]), int(column), 0.0
        return None

    def groups(self) -> tuple[Integers, Integers]:
        X = self._X.copy()
        X.eliminate_zeros()
        X.sort_indices()
        seen: dict[tuple[bytes, bytes], int] = {}
        group = np.empty(self.n, dtype=np.intp)
        first: list[int] = []
        for i in range(self.n):
            span = slice(X.indptr[i], X.indptr[i + 1])
            group[i] = seen.setdefault((X.indices[span].tobytes(), X.data[span].tobytes()), len(seen))
            if len(seen) > len(first):
                first.append(i)
        return group, np.array(first, dtype=np.intp)

    def constant(self, columns: Integers) -> Array:
        first = self._X[0:1].toarray()[0]
        (changes,) = self.reduce(_changes, args=(first,))
        return np.asarray((changes == 0) & ((first == 0) | (self._counts == self.n)))[columns]

    def subtractable(self) -> Array:
        # a column with implicit zeros spreads from 0 to its values: it cannot be far from the origin
        indices, indptr = self._X.indices, self._X.indptr
        everywhere = indices[: indptr[1]]
        for i in range(0, self.n, 1 + self.n // 30):  # a column that is in all rows is in some, and few columns are
            everywhere = np.intersect1d(everywhere, indices[indptr[i] : indptr[i + 1]])
            if not len(everywhere):
                return np.zeros(self.d, dtype=bool)
        return np.asarray(self._counts == self.n)


def _improper(block: SparseBlock) -> Parts:
    return (int(not block.is_canonical()),)


class SparseBlock(Block):
    """Consecutive rows of a `SparseDesign`."""

    def __init__(self, design: Design, rows: slice) -> None:
        super().__init__(design, rows)
        X = design._X
        first, last = X.indptr[rows.start], X.indptr[rows.stop]
        self._indices = X.indices[first:last]
        self._indptr = (X.indptr[rows.start : rows.stop + 1] - first).astype(self._indices.dtype, copy=False)
        self._entries = X.data[first:last]

    @cached_property
    def _stored(self) -> Floats:
        return np.asarray(self._entries, dtype=np.float64)

    def is_canonical(self) -> bool:
        """Whether the entries of each row are sorted by column, without duplicates."""
        return bool(self._pattern(self._entries).has_canonical_format)

    @property
    def as_stored(self) -> Any:
        """These rows as a CSR matrix, their numbers as the user gave them."""
        return self._pattern(self._entries)

    def _pattern(self, data: Array) -> Any:
        return self._filled(sparse.csr_array((self.rows.stop - self.rows.start, self.design.d)), data)

    def _transposed(self, data: Floats) -> Any:
        return self._filled(sparse.csc_array((self.design.d, self.rows.stop - self.rows.start)), data)

    def _filled(self, empty: Any, data: Array) -> Any:
        """The matrix with these entries: given them at once, SciPy would copy what is part of a larger array."""
        empty.indptr, empty.indices, empty.data = self._indptr, self._indices, data
        return empty

    @cached_property
    def x(self) -> Any:  # made once for the several products of a pass
        offset = self.design.offset
        return self._pattern(self._stored if offset is None else self._stored - offset[self._indices])

    @cached_property
    def xt(self) -> Any:
        return self._transposed(self.x.data)

    def inner(self, h: Floats | None) -> tuple[Floats, Floats]:
        n, d, row = self.rows.stop - self.rows.start, self.design.d, 0
        h = np.ones(n) if h is None else np.ascontiguousarray(h, dtype=np.float64)
        half = np.zeros((d, d))
        while row < n:
            row = add_pairs(self._indptr, self._indices, self.x.data, h, d, half, row, n, BUDGET)
        return half + half.T, np.asarray(self.xt @ h)

    def spread(self, R: Floats, centres: Floats, codes: Integers) -> Floats:
        # stored entries by their deviation; of class c the weight not stored in column j is at 0
        entry_codes = np.repeat(codes, np.diff(self._indptr))
        deviation = self._stored - centres[entry_codes, self._indices]
        stored = (self._transposed(deviation**2) @ R).T
        total = R.sum(axis=0)[:, None]
        absent = total - (self._transposed(np.ones_like(deviation)) @ R).T
        absent[absent <= 4 * np.finfo(float).eps * len(codes) * total] = 0.0  # a full column, but for rounding
        return np.asarray(stored + absent * centres**2)


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
