"""Rows of a dense or CSR matrix as points, and their inner products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from separatrix._typing import Array
from separatrix.cached import cached_property
from separatrix.certificates._held import malformed

#: A dense matrix, or a `scipy.sparse.csr_array` without duplicate entries.
Matrix: TypeAlias = Any


def as_matrix(X: Any, what: str = "X") -> Matrix:
    """``X`` as a C-ordered float array or a canonical CSR array of float32 or float64, all finite.

    The input is never changed; it is shared where it has the right form already.
    """
    if sparse.issparse(X):
        if (flaw := malformed(X)) is not None:
            raise ValueError(f"{what} {flaw}")
        matrix = sparse.csr_array(X)
        if not matrix.has_canonical_format:  # duplicates would break |x|: sum them, in a copy
            matrix = matrix.copy()
            matrix.sum_duplicates()
    else:
        matrix = np.asarray(X)
    if matrix.ndim != 2:
        raise ValueError(f"{what} must be a matrix, one point per row; got {matrix.ndim} dimension(s)")
    if matrix.dtype != np.float32 and matrix.dtype != np.float64:
        matrix = _as_float64(matrix, what)
    if not sparse.issparse(matrix):
        matrix = np.ascontiguousarray(matrix)
    _require_finite(matrix, what)
    return matrix


def _as_float64(matrix: Matrix, what: str) -> Matrix:
    if matrix.dtype.kind in "biufO":
        try:
            return matrix.astype(np.float64)
        except (TypeError, ValueError):
            pass
    raise TypeError(
        f"{what} must hold real numbers, got dtype {matrix.dtype}; "
        "strings and graphs need a kernel made for them: Spectrum(k), WeisfeilerLehman(h)"
    )


def _require_finite(matrix: Matrix, what: str) -> None:
    finite = np.isfinite(matrix.data if sparse.issparse(matrix) else matrix)
    if finite.all():
        return
    if sparse.issparse(matrix):
        entries = matrix.tocoo()
        at = int(np.argmin(finite))
        row, column, value = entries.row[at], entries.col[at], entries.data[at]
    else:
        row, column = np.unravel_index(np.argmin(finite), matrix.shape)
        value = matrix[row, column]
    raise ValueError(f"{what}[{row}, {column}] is {value}: every value must be finite")


def same_storage(X: Matrix, like: Matrix) -> Matrix:
    """``X`` dense or sparse, float32 or float64, as ``like`` is; ValueError unless the columns agree."""
    if X.shape[1] != like.shape[1]:
        raise ValueError(f"the points have {X.shape[1]} columns, those they are compared with {like.shape[1]}")
    if sparse.issparse(X) and not sparse.issparse(like):
        X = X.toarray()
    elif sparse.issparse(like) and not sparse.issparse(X):
        X = sparse.csr_array(X)
    with np.errstate(over="ignore"):  # float64 beyond float32: the kernel sees the inf and says so
        return X.astype(like.dtype, copy=False)


@dataclass(frozen=True, eq=False)
class Vectors:
    """Rows of ``values``, with what repeated inner products reuse."""

    values: Matrix

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.values.dtype)

    @property
    def width(self) -> int:
        if sparse.issparse(self.values):
            return 1 + int(self.values.nnz) // max(1, len(self))
        return int(self.values.shape[1])

    @cached_property
    def transposed(self) -> Matrix:
        """``values.T``; CSR stays CSR, so that the product with it converts nothing."""
        return self.values.T.tocsr() if sparse.issparse(self.values) else self.values.T

    @cached_property
    def squares(self) -> Array:
        """<x, x> for each row x."""
        with np.errstate(over="ignore"):
            if sparse.issparse(self.values):
                return row_sums(self.values * self.values)
            return np.asarray(np.einsum("ij,ij->i", self.values, self.values))

    def __len__(self) -> int:
        return int(self.values.shape[0])

    def __getitem__(self, index: Any) -> Vectors:
        return Vectors(self.values[index])


def row_sums(matrix: Matrix) -> Array:
    """The sum of each row, as a vector."""
    return np.asarray(matrix.sum(axis=1)).reshape(-1)


def inner(P: Vectors, Q: Vectors) -> Array:
    """<p, q> for all pairs; overflow gives inf or nan and no warning: the kernel looks at its own result."""
    with np.errstate(over="ignore", invalid="ignore"):
        product = P.values @ Q.transposed
    return np.asarray(product.toarray() if sparse.issparse(product) else product)
