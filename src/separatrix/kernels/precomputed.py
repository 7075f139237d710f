"""A kernel given as its matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from separatrix._typing import Array, Integers
from separatrix.kernels.base import Kernel
from separatrix.kernels.blocks import row_blocks
from separatrix.kernels.points import Matrix, as_matrix


@dataclass(frozen=True, eq=False)
class PrecomputedColumns:
    """Training points of a precomputed kernel by position only: enough to predict, without the matrix.

    Parameters
    ----------
    index : array of int
        The positions of these points among the training points.
    n : int
        The number of training points.
    """

    index: Integers
    n: int


@dataclass(frozen=True, eq=False)
class Entries:
    """Points as positions in a kernel matrix: point i is row ``rows[i]``, and column ``columns[i]``.

    None stands for all, in order. New points have no column; points known by position alone have no matrix.
    """

    matrix: Matrix | None
    rows: Integers | None
    columns: Integers | None
    n: int
    dtype: np.dtype[Any]
    width: int = 1

    def __len__(self) -> int:
        if self.rows is not None:
            return len(self.rows)
        return self.n if self.matrix is None else int(self.matrix.shape[0])

    def __getitem__(self, index: Any) -> Entries:
        rows = np.arange(len(self)) if self.rows is None else self.rows
        columns = np.arange(self.n) if self.columns is None else self.columns
        return Entries(self.matrix, rows[index], columns[index], self.n, self.dtype)


@dataclass(frozen=True)
class Precomputed(Kernel, name="precomputed"):
    """k(a, b) = X[a, b]: the points are the rows of the kernel matrix itself.

    For n training points X is their (n, n) matrix, symmetric up to rounding; for m new points it is the
    (m, n) matrix of their kernel values with the training points.
    """

    def check(self, X: Any) -> Any:
        return X if isinstance(X, PrecomputedColumns) else as_matrix(X, "the kernel matrix")

    def represent(self, X: Any, like: Entries | None = None) -> Entries:
        if isinstance(X, PrecomputedColumns):
            index = np.asarray(X.index, dtype=np.intp)
            if index.ndim != 1 or ((index < 0) | (index >= X.n)).any():
                raise ValueError(f"the columns of {X.n} training points are numbered 0 to {X.n - 1}, got {index}")
            return Entries(None, index, index, X.n, np.dtype(np.float64))
        rows, columns = X.shape
        if like is not None:
            if columns != like.n:
                raise ValueError(
                    f"kernel='precomputed' was trained on {like.n} points: new points are the rows "
                    f"of a matrix with {like.n} columns, got {columns}"
                )
            return Entries(X, None, None, like.n, X.dtype)
        if rows != columns:
            raise ValueError(
                f"kernel='precomputed' takes the square matrix of the training points with each other, "
                f"got shape ({rows}, {columns})"
            )
        _require_symmetric(X)
        return Entries(X, None, None, rows, X.dtype)

    def gram(self, P: Entries, Q: Entries) -> Array:
        if P.matrix is None:
            raise ValueError("these training points are known by position only: their kernel matrix was not kept")
        if P.rows is not None and Q.columns is not None:
            block = P.matrix[np.ix_(P.rows, Q.columns)]
        elif P.rows is not None:
            block = P.matrix[P.rows]
        else:
            # A copy, not a view: the matrix is the user's.
            block = P.matrix.copy() if Q.columns is None else P.matrix[:, Q.columns]
        return np.asarray(block.toarray() if sparse.issparse(block) else block)

    def gram_diagonal(self, P: Entries) -> Array:
        if P.matrix is None:
            raise ValueError("these training points are known by position only: their kernel matrix was not kept")
        diagonal = P.matrix.diagonal()
        return np.array(diagonal if P.rows is None else diagonal[P.rows])


def _require_symmetric(K: Matrix) -> None:
    """Up to half the digits: what rounding may leave of a matrix computed in any sensible way."""
    largest, asymmetry = 0.0, 0.0
    for block in row_blocks(K.shape[0], K.shape[1], K.dtype.itemsize):
        largest = max(largest, float(abs(K[block]).max()))
        asymmetry = max(asymmetry, float(abs(K[block] - K[:, block].T).max()))
    if asymmetry > np.sqrt(np.finfo(K.dtype).eps) * largest:
        raise ValueError(
            f"a kernel matrix is symmetric, this one is not: the largest |K[i, j] - K[j, i]| is "
            f"{asymmetry:g}, the largest |K[i, j]| {largest:g}"
        )
