"""BlockWriter: rows come in batches of any length, and go to the file in blocks, each as small as its numbers allow."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from separatrix._typing import Array
from separatrix.errors import DataError
from separatrix.files.layout import HEADER_BYTES, INDEX, TARGET_BYTES, Contents, block_rows, filled, header_of, tail_of
from separatrix.files.place import Draft
from separatrix.loops.checksum import checksum
from separatrix.loops.moments import extremes
from separatrix.loops.passes import BLOCK

FEW_ROWS = 8  # of which numbers are looked at before all are
DENSE_SHARE = 0.5  # of the bytes of dense rows, below which CSR ones are worth their slower products


class BlockWriter:
    """Rows of d columns on their way to a block file, of which there is an empty draft.

    ``sparse`` says whether to store CSR; None for what is smaller by half, as the first block shows.
    """

    def __init__(self, draft: Draft, d: int, sparse: bool | None = None) -> None:
        self.draft, self.d, self.sparse = draft, d, sparse
        self.n = 0
        self._index: list[tuple[int, ...]] = []
        self._waiting: list[Any] = []  # batches that make no block yet
        self._held = 0  # rows of these
        self._entries = 0  # entries of these, if CSR
        self._low, self._high, self._found = np.inf, -np.inf, np.empty(2)
        self._single = True  # whether all rows came as float32
        self._counts = np.zeros(d, dtype=np.int64)
        draft.append(np.zeros(HEADER_BYTES, dtype=np.uint8))

    def add(self, X: Any) -> None:
        """Further rows: an array, or a CSR matrix, of finite numbers that float64 holds."""
        if not X.shape[0]:
            return
        self._single &= X.dtype == np.float32
        self.n += X.shape[0]
        if self.sparse is None:
            self.sparse = True if sparse.issparse(X) else None
        if self.sparse:
            X = sparse.csr_matrix(X, copy=True)  # a source may use its arrays again for the next batch
            self._entries += X.nnz
        elif sparse.issparse(X):
            X = X.toarray()
        elif self.sparse is not None and not self._held:
            step = block_rows(self.d)  # whole blocks are written from where they are
            whole = len(X) // step * step
            for first in range(0, whole, step):
                self._write_dense(X[first : first + step])
            X = np.array(X[whole:])
        else:
            X = np.array(X)
        self._waiting.append(X)
        self._held += X.shape[0]
        self._flush(last=False)

    def _flush(self, last: bool) -> None:
        """Write what makes whole blocks, and at the end the rest."""
        step = block_rows(self.d)
        if self.sparse is None and (self._held >= step or last):
            self._decide(np.concatenate([np.asarray(X[:step]) for X in self._waiting])[:step])
        if self.sparse is None:
            return
        if self.sparse:
            self._flush_sparse(last)
            return
        if self._held < step and not last:
            return
        rows = self._waiting[0] if len(self._waiting) == 1 else np.concatenate(self._waiting)
        whole = len(rows) if last else len(rows) // step * step
        for first in range(0, whole, step):
            self._write_dense(rows[first : min(first + step, whole)])
        self._waiting, self._held = [rows[whole:].copy()], len(rows) - whole

    def _decide(self, rows: Array) -> None:
        """Dense or CSR, by the first block: whether most of it is 0."""
        item = _shortened(rows).itemsize
        share = (np.count_nonzero(rows) * (item + 4) + 4 * len(rows)) / max(1, rows.size * item)
        self.sparse = bool(share < DENSE_SHARE)
        if self.sparse:
            self._waiting = [sparse.csr_matrix(X) for X in self._waiting]
            self._entries = sum(X.nnz for X in self._waiting)

    def _write_dense(self, rows: Array) -> None:
        self._counts += len(rows)
        self._write(len(rows), _shortened(rows))

    def _flush_sparse(self, last: bool) -> None:
        if not last and 12 * self._entries + 8 * self._held < 2 * TARGET_BYTES:
            return  # stacked not for every batch
        X = self._waiting[0] if len(self._waiting) == 1 else sparse.csr_matrix(sparse.vstack(self._waiting))
        start = 0
        while start < X.shape[0]:
            stop = int(np.searchsorted(X.indptr, X.indptr[start] + TARGET_BYTES // 12, side="right")) - 1
            # whole blocks of passes, so that they are summed as a matrix would be
            rows = max(BLOCK, min(stop - start, TARGET_BYTES // 8) // BLOCK * BLOCK)
            stop = min(start + rows, X.shape[0])
            if stop == X.shape[0] and not last:
                break
            self._write_sparse(X[start:stop])
            start = stop
        rest = X[start:]
        self._waiting, self._held, self._entries = [rest], rest.shape[0], rest.nnz

    def _write_sparse(self, X: Any) -> None:
        X.sum_duplicates()
        columns = X.indices.astype(np.int32)
        self._counts += np.bincount(columns, minlength=self.d)
        self._write(X.shape[0], _shortened(X.data), columns, X.indptr.astype(np.int32))

    def _write(self, rows: int, numbers: Array, *others: Array) -> None:
        """A block; its extremes are kept, by which a fit knows that nothing is out of range."""
        extremes(numbers.reshape(-1), numbers.size, self._found)
        self._low = min(self._low, float(self._found[0]))
        self._high = max(self._high, float(self._found[1]))
        data = filled(numbers, *others)
        at = self.draft.append(data)
        self._index.append((at, len(data), rows, numbers.size, numbers.itemsize, checksum(data)))

    def finish(self, arrays: dict[str, Array], notes: dict[str, Any]) -> Contents:
        """Write the rest, the tail and the header: the file is whole."""
        self._flush(last=True)
        if not self.n:
            raise DataError("There are no rows to store.")
        index = np.array(self._index, dtype=INDEX)
        ends = [self._low, self._high] if np.isfinite([self._low, self._high]).all() else [0.0, 0.0]  # of no entry
        notes = {**notes, "ends": ends, "single": bool(self._single)}
        contents = Contents(self.n, self.d, bool(self.sparse), index, {**arrays, "counts": self._counts}, notes)
        tail = tail_of(contents)
        at = self.draft.append(tail)
        self.draft.write(header_of(contents, at, tail), 0)
        return contents


def _shortened(numbers: Array) -> Array:
    """The numbers in C order, as float32 if that holds each of them, else as float64."""
    few = numbers[:FEW_ROWS]  # which tell, as a rule
    with np.errstate(over="ignore", invalid="ignore"):
        if numbers.dtype == np.float32 or np.array_equal(few.astype(np.float32), few):
            single = np.ascontiguousarray(numbers, dtype=np.float32)
            if numbers.dtype == np.float32 or np.array_equal(single, numbers):
                return single
    return np.ascontiguousarray(numbers, dtype=np.float64)
