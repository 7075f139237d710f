"""Rows that are not in memory: a file or other processes have them, and give some of them at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from separatrix._typing import Array, Integers


class Piece(NamedTuple):
    """Consecutive rows first to last, as they are in a buffer: gone when the thread asks for others.

    ``rows`` is dense (m, d), or None, and then ``indptr`` (m + 1), ``indices`` and ``values`` are CSR; the entries of
    the first row begin at indptr[0].
    """

    first: int
    last: int
    rows: Array | None
    indptr: Array | None = None
    indices: Array | None = None
    values: Array | None = None


class RowsElsewhere(ABC):
    """Rows that come in pieces, in place of a matrix.

    ``X[rows]``, of a slice or of row numbers, are those rows in memory, as an array or a CSR matrix.
    """

    ndim = 2
    where: ClassVar[str]  # the rows are, for messages
    sample: ClassVar[str] = "X[::10]"  # how a user gets some of them into memory
    whole: ClassVar[str] = "X[:]"  # and all of them
    shape: tuple[int, int]
    sparse: bool
    dtype: np.dtype[Any]  # of models, as of the matrix that the rows were; some pieces may be stored shorter
    nnz: int  # entries stored
    ends: tuple[float, float]  # the smallest and the largest entry
    counts: Integers  # entries stored in each column
    _starts: Integers  # the first row of each block, and the end of the last

    @abstractmethod
    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """Rows start to stop, a block at a time."""

    def place(self, row: int) -> str:
        """What to call a row in a message."""
        return f"row {row}"

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            if len(key) != 2:
                raise IndexError(f"rows and columns are two indices; got {len(key)}")
            rows, columns = key
            if columns is Ellipsis:  # as scikit-learn asks for rows
                return self[rows]
            return self[rows][..., columns] if not self.sparse else self[rows][:, columns]
        n = self.shape[0]
        if isinstance(key, slice):
            start, stop, step = key.indices(n)
            if step == 1:
                return self._consecutive(start, max(start, stop))
            key = np.arange(start, stop, step)
        at = np.asarray(key)
        if at.ndim == 0 and at.dtype.kind in "iu":
            i = int(at) + n * (int(at) < 0)
            if not 0 <= i < n:
                raise IndexError(f"row {int(at)} of {n}")
            return self._consecutive(i, i + 1)[0]
        at = at.astype(np.int64) if at.shape == (0,) else at
        if at.ndim != 1 or at.dtype.kind not in "iub" or (at.dtype == np.bool_ and len(at) != n):
            raise IndexError(f"rows are a slice, a list of numbers or {n} truth values; got {key!r:.60}")
        at = np.flatnonzero(at) if at.dtype == np.bool_ else np.where(at < 0, at + n, at).astype(np.int64)
        return self._scattered(at)

    def _consecutive(self, start: int, stop: int) -> Any:
        d, parts = self.shape[1], list[Any]()
        out = None if self.sparse else np.empty((stop - start, d), dtype=self.dtype)
        for piece in self.pieces(start, stop):
            if out is None:
                parts.append(self._matrix(piece))
            else:
                out[piece.first - start : piece.last - start] = piece.rows
        return self._stacked(parts) if out is None else out

    def _scattered(self, at: Integers) -> Any:
        """Rows of any numbers in any order: blocks in the order of the file, each once."""
        n, d = self.shape
        if len(at) and not (at.min() >= 0 and at.max() < n):
            raise IndexError(f"row {int(at.max() if at.max() >= n else at.min())} of {n}")
        order = np.argsort(at, kind="stable")
        wanted, parts = at[order], list[Any]()
        out = None if self.sparse else np.empty((len(at), d), dtype=self.dtype)
        cuts = np.searchsorted(wanted, self._starts)
        for i in np.flatnonzero(np.diff(cuts)):
            low, high = int(cuts[i]), int(cuts[i + 1])
            (piece,) = self.pieces(int(self._starts[i]), int(self._starts[i + 1]))
            inside = wanted[low:high] - int(self._starts[i])
            if out is not None and piece.rows is not None:
                out[order[low:high]] = piece.rows[inside]
            else:
                parts.append(self._matrix(piece)[inside])
        if out is not None:
            return out
        back = np.empty(len(at), dtype=np.int64)
        back[order] = np.arange(len(at))
        return self._stacked(parts)[back]

    def _matrix(self, piece: Piece) -> Any:
        """The rows of a piece as a CSR matrix of their own."""
        assert piece.indptr is not None
        assert piece.indices is not None
        assert piece.values is not None
        span = slice(int(piece.indptr[0]), int(piece.indptr[-1]))
        arrays = piece.values[span].astype(self.dtype), piece.indices[span].copy(), piece.indptr - piece.indptr[0]
        return sparse.csr_matrix(arrays, shape=(piece.last - piece.first, self.shape[1]))

    def _stacked(self, parts: list[Any]) -> Any:
        if not parts:
            return sparse.csr_matrix((0, self.shape[1]), dtype=self.dtype)
        return parts[0] if len(parts) == 1 else sparse.csr_matrix(sparse.vstack(parts, format="csr"))

    def blocks(self) -> Iterator[tuple[Any, None, None]]:
        """(rows, None, None) of each block, in memory: labels and weights are not known here."""
        for first, last in zip(self._starts[:-1].tolist(), self._starts[1:].tolist(), strict=True):
            yield self._consecutive(first, last), None, None

    def __matmul__(self, V: Array) -> Array:
        return np.concatenate([np.asarray(x @ V) for x, _, _ in self.blocks()])
