"""Distances by algebra, and by differences where the algebra loses its digits.

‖a - b‖² = ‖a‖² + ‖b‖² - 2<a, b> is one matrix product, but subtracts numbers that may be far larger than
the result. The functions here give -gamma * distance, the exponent of a kernel exp(-gamma * distance), and
recompute, from a - b itself, the entries in which the lost digits would be seen in the kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from separatrix._typing import Array
from separatrix.cached import cached_property
from separatrix.kernels.blocks import row_blocks
from separatrix.kernels.points import Matrix, Vectors, inner, row_sums, same_storage

#: The error of an exponent, hence the relative error of a kernel value, that is let pass.
_ALLOWED = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-4}


@dataclass(frozen=True, eq=False)
class Centred:
    """Rows x of ``raw``, and x - ``centre``: distances are the same, cancellation is not.

    A sparse matrix is not centred (it would be dense): its centre is None.
    """

    raw: Matrix
    centre: Array | None
    vectors: Vectors
    squares: Array

    @classmethod
    def of(cls, X: Matrix, like: Centred | None = None) -> Centred:
        """``X`` around its own mean, or around the centre of ``like``."""
        if like is not None:
            X, centre = same_storage(X, like.raw), like.centre
        else:
            centre = None if sparse.issparse(X) else _mean(X)
        with np.errstate(over="ignore", invalid="ignore"):
            vectors = Vectors(X if centre is None else X - centre)
        if not np.isfinite(vectors.squares).all():
            raise ValueError(f"squared distances between these points overflow {X.dtype}: scale the columns")
        return cls(X, centre, vectors, vectors.squares)

    @cached_property
    def largest(self) -> float:
        """The largest ‖x - centre‖²."""
        return float(self.squares.max(initial=0.0))

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.vectors.dtype

    @property
    def width(self) -> int:
        return self.vectors.width

    def __len__(self) -> int:
        return len(self.vectors)

    def __getitem__(self, index: Any) -> Centred:
        return Centred(self.raw[index], self.centre, self.vectors[index], self.squares[index])


@dataclass(frozen=True, eq=False)
class Rows(Vectors):
    """Rows x of a matrix with their ‖x‖₁."""

    @cached_property
    def masses(self) -> Array:
        """‖x‖₁ for each row x."""
        with np.errstate(over="ignore"):
            return row_sums(abs(self.values))

    def __getitem__(self, index: Any) -> Rows:
        return Rows(self.values[index])


def euclidean_exponent(gamma: float, P: Centred, Q: Centred) -> Array:
    """-gamma ‖p - q‖² for all pairs, never above 0."""
    p_terms, q_terms = _scaled(gamma, P.squares, Q.squares)
    exponent = inner(Vectors(P.vectors.values * (2.0 * gamma)), Q.vectors)
    exponent -= p_terms[:, None]
    exponent -= q_terms
    _recompute(exponent, p_terms, q_terms, P.raw, Q.raw, lambda gaps: -gamma * Vectors(gaps).squares)
    return np.minimum(exponent, 0.0, out=exponent)


def euclidean_exponent_of_rows(gamma: float, X: Array, Q: Centred) -> Array | None:
    """The same of plain rows; None if it would lose digits or overflow, or a row is not finite."""
    if Q.centre is None:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        P = X - Q.centre
        p_terms = gamma * np.einsum("ij,ij->i", P, P)
    if not p_terms.max() + gamma * Q.largest <= _ALLOWED[Q.dtype] / _noise(Q.dtype, X.shape[1]):  # nor is NaN
        return None
    P *= 2.0 * gamma
    exponent = P @ Q.vectors.transposed
    exponent -= p_terms[:, None]
    exponent -= gamma * Q.squares
    return np.minimum(exponent, 0.0, out=exponent)


def euclidean_square(gamma: float, P: Centred) -> Array | None:
    """exp(-gamma ‖p - q‖²) of all pairs; None of sparse points or float32, or if it would lose digits."""
    if P.centre is None or P.dtype != np.float64:
        return None
    if not 2.0 * gamma * P.largest <= _ALLOWED[P.dtype] / _noise(P.dtype, P.vectors.values.shape[1]):
        return None
    from separatrix.loops.kernel_rows import radial_square  # brings scikit-learn's errors, which kernels do without

    K = P.vectors.values @ P.vectors.transposed
    radial_square(K, len(P), gamma * P.squares, 2.0 * gamma)
    return K


def cityblock_exponent(gamma: float, P: Rows, Q: Rows) -> Array:
    """-gamma ‖p - q‖₁ for all pairs, never above 0."""
    if not sparse.issparse(Q.values):
        from scipy.spatial.distance import cdist  # heavy to import, and needed here only

        with np.errstate(over="ignore"):  # a distance that overflows is infinite: exp(-inf) = 0 is right
            return np.asarray(-gamma * cdist(P.values, Q.values, "cityblock"), dtype=Q.dtype)
    p_terms, q_terms = _scaled(gamma, P.masses, Q.masses)
    exponent = _sparse_cityblock(P, Q)
    exponent *= -gamma
    _recompute(exponent, p_terms, q_terms, P.values, Q.values, lambda gaps: -gamma * row_sums(abs(gaps)))
    return np.minimum(exponent, 0.0, out=exponent)


def _scaled(gamma: float, p_sizes: Array, q_sizes: Array) -> tuple[Array, Array]:
    """Multiply by gamma; sums of a few such terms must not overflow, or they would end in inf - inf."""
    with np.errstate(over="ignore", invalid="ignore"):
        p_terms, q_terms = gamma * p_sizes, gamma * q_sizes
    largest = max(gamma, float(p_terms.max(initial=0.0)), float(q_terms.max(initial=0.0)))
    if not largest <= float(np.finfo(p_sizes.dtype).max) / 4:
        raise ValueError(
            f"gamma={gamma} times these distances overflows {p_sizes.dtype}: scale the columns, or lower gamma"
        )
    return p_terms, q_terms


def _sparse_cityblock(P: Rows, Q: Rows) -> Array:
    """‖p‖₁ + ‖q‖₁ - sum_k (|p_k| + |q_k| - |p_k - q_k|), where k runs over the columns both p and q use."""
    distances = P.masses[:, None] + Q.masses
    for row, (start, stop) in enumerate(zip(P.values.indptr[:-1], P.values.indptr[1:], strict=True)):
        columns = Q.transposed[P.values.indices[start:stop]]
        p = np.repeat(P.values.data[start:stop], np.diff(columns.indptr))
        q = columns.data
        shared = abs(p) + abs(q) - abs(p - q)
        distances[row] -= np.bincount(columns.indices, weights=shared, minlength=len(Q))
    return distances


def _recompute(
    exponent: Array,
    p_terms: Array,
    q_terms: Array,
    p_rows: Matrix,
    q_rows: Matrix,
    exact: Callable[[Matrix], Array],
) -> None:
    """Replace what cancellation spoilt: ``exponent[i, j]`` is a difference of terms p_i + q_j.

    Its error is about noise * (p_i + q_j). Where that is too much, and exp() of the true value may not be
    zero, ``exact`` gives the exponent from the difference of the two rows.
    """
    precision = np.finfo(exponent.dtype)
    noise = _noise(exponent.dtype, p_rows.shape[1])
    limit = _ALLOWED[exponent.dtype] / noise
    if p_terms.max(initial=0.0) + q_terms.max(initial=0.0) <= limit:
        return
    terms = p_terms[:, None] + q_terms
    vanishing = float(np.log(precision.smallest_subnormal)) - noise * terms
    i, j = np.nonzero((terms > limit) & (exponent > vanishing))
    width = p_rows.shape[1] if not sparse.issparse(p_rows) else 1 + p_rows.nnz // max(1, p_rows.shape[0])
    for pairs in row_blocks(len(i), width, exponent.itemsize):
        exponent[i[pairs], j[pairs]] = exact(p_rows[i[pairs]] - q_rows[j[pairs]])


def _noise(dtype: np.dtype[Any], d: int) -> float:
    """The relative error of a sum of d terms; rounding errors grow like sqrt(d)."""
    return float(np.finfo(dtype).eps) * (4.0 + math.sqrt(d))


def _mean(X: Array) -> Array:
    """A point amid the rows of ``X``. Any will do, so its own rounding does no harm."""
    if len(X) == 0:
        return np.zeros(X.shape[1], dtype=X.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(X.mean(axis=0, dtype=np.float64), dtype=X.dtype)
