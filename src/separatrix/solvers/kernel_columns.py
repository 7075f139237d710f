"""K(rows, columns) in blocks, float32 or float64, by both cores.

A kernel of vectors is a function of a matrix product: exp(-gamma ‖a - b‖²) = exp((2 gamma a, -gamma ‖a‖², 1).(b, 1,
-gamma ‖b‖²)), so that a block of the kernel matrix is one product and one function applied in place. Sparse rows are
multiplied by a loop over the columns they use. Where this would cost digits, and for every other kernel,
`KernelRows` computes the block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from separatrix._typing import Array, Floats, Integers
from separatrix.cached import cached_property
from separatrix.kernels import KernelRows, Linear, Poly, Rbf, Sigmoid
from separatrix.loops import threads
from separatrix.loops.kernel_rows import exponentials, sparse_product
from separatrix.loops.rows import BUDGET, csr_arrays

ROWS = 32  # rows in a block: enough for BLAS, few enough for the block to be in cache when the function is applied
ALLOWED = {np.dtype(np.float64): 1e-11, np.dtype(np.float32): 1e-4}  # error of an exponent that is let pass
BLOCK_BYTES = 1 << 21  # of kernel values that are summed and forgotten
WORTH_THREADS = 1 << 16  # kernel values below which threads cost more than they save
OFTEN = 0.15  # share of the rows that use a column, above which a dense product is faster than a sparse one
MODEST = 1e12  # numbers and their reciprocals of which a few can be multiplied in float32


@dataclass(frozen=True, eq=False)
class KernelColumns:
    """k(x_i, x_j) / scale for rows i of all n points and fixed columns j."""

    kernel_rows: KernelRows  # all points
    scale: float  # what kernel values are divided by
    dtype: np.dtype[Any]  # of the values
    columns: Integers | None = None  # which points are columns; None for all
    product: Product | None = None

    @classmethod
    def of(cls, rows: KernelRows, scale: float, dtype: Any) -> KernelColumns:
        """All columns, by the fastest means that are accurate."""
        return cls(rows, scale, np.dtype(dtype), None, _product(rows, scale, np.dtype(dtype)))

    @property
    def width(self) -> int:
        """The number of columns."""
        return self.kernel_rows.n if self.columns is None else len(self.columns)

    def restricted(self, columns: Integers) -> KernelColumns:
        """The same rows, other columns, which are numbered among all points."""
        product = None if self.product is None else self.product.restricted(columns)
        return KernelColumns(self.kernel_rows, self.scale, self.dtype, columns, product)

    def block(self, rows: Integers, out: Array) -> None:
        """Compute a few rows into ``out``."""
        if self.product is not None:
            self.product(rows, out)
            return
        K = self.kernel_rows.rows(rows) if self.columns is None else self.kernel_rows.block(rows, self.columns)
        np.divide(K, self.scale, out=out, casting="same_kind")

    def fill(self, rows: Integers, table: Array, slots: Integers) -> None:
        """Write the rows to lines ``slots`` of the table."""

        def some(first: int) -> None:
            chosen, lines = rows[first : first + ROWS], slots[first : first + ROWS]
            if lines[-1] - lines[0] == len(lines) - 1:  # in a piece, as slots are in order
                self.block(chosen, table[lines[0] : lines[-1] + 1])
            else:
                block = np.empty((len(chosen), self.width), dtype=table.dtype)
                self.block(chosen, block)
                table[lines] = block

        self._each(some, range(0, len(rows), ROWS), len(rows))

    def dot(self, rows: Integers, coef: Floats) -> Floats:
        """sum_j K(i, j) coef_j for the rows i, without keeping K."""
        result = np.zeros(len(rows))
        step = max(1, BLOCK_BYTES // (self.dtype.itemsize * max(1, self.width)))

        def some(first: int) -> None:
            chosen = rows[first : first + step]
            K = np.empty((len(chosen), self.width), dtype=self.dtype)
            self.block(chosen, K)
            result[first : first + step] = K @ coef

        if self.width:
            self._each(some, range(0, len(rows), step), len(rows))
        return result

    def _each(self, work: Callable[[int], None], starts: range, rows: int) -> None:
        """Use our threads if there is enough work, and the kernel is ours: a user's function may not expect them."""
        with threads.single_threaded_blas():
            if self.product is None or rows * self.width < WORTH_THREADS:
                for first in starts:
                    work(first)
            else:
                threads.over(starts, work)


@dataclass(frozen=True, eq=False)
class Factors:
    """Rows of a matrix as a dense part, of the columns that many rows use, and a sparse rest, if there is one."""

    dense: Array
    rest: Any

    def __getitem__(self, index: Integers) -> Factors:
        return Factors(self.dense[index], None if self.rest is None else self.rest[index])

    @cached_property
    def rest_transposed(self) -> tuple[Array, Array, Array]:
        """The rest by columns."""
        return csr_arrays(self.rest.T.tocsr())


@dataclass(frozen=True, eq=False)
class Product:
    """apply(left right'), of all points as rows and those of `right` as columns."""

    left: Factors
    right: Factors
    everyone: Factors
    apply: Callable[[Array], None]

    def restricted(self, columns: Integers) -> Product:
        """The same with these points as columns."""
        return Product(self.left, self.everyone[columns], self.everyone, self.apply)

    def __call__(self, rows: Integers, out: Array) -> None:
        np.matmul(self.left.dense[rows], self.right.dense.T, out=out)
        if self.left.rest is not None:
            self._add_rest(rows, out)
        self.apply(out)

    def _add_rest(self, rows: Integers, out: Array) -> None:
        """out += what the sparse parts give."""
        values, columns, ends = csr_arrays(self.left.rest[rows])
        other_values, positions, other_ends = self.right.rest_transposed
        ends, columns = ends.astype(positions.dtype, copy=False), columns.astype(positions.dtype, copy=False)
        row = 0
        while row < len(out):
            row = sparse_product(
                ends, columns, values, other_ends, positions, other_values, out, out.shape[1], row, len(out), BUDGET
            )


def _product(rows: KernelRows, scale: float, dtype: np.dtype[Any]) -> Product | None:
    """K / scale as a function of a matrix product; None where that would lose digits, or is not so."""
    kernel, points = rows.kernel, rows.points
    if isinstance(kernel, Rbf) and scale == 1.0:
        X, sizes = points.vectors.values, kernel.gamma * points.squares.astype(np.float64)
        noise = float(np.finfo(dtype).eps) * (4.0 + np.sqrt(X.shape[1]))
        if 2.0 * float(sizes.max(initial=0.0)) * noise > ALLOWED[dtype]:
            return None
        dense, rest = _split(X)
        ones = np.ones(len(sizes))
        left = np.column_stack([dense * (2.0 * kernel.gamma), -sizes, ones]).astype(dtype)
        right = Factors(np.column_stack([dense, ones, -sizes]).astype(dtype), _as(rest, dtype))
        return Product(Factors(left, _as(rest, dtype, 2.0 * kernel.gamma)), right, right, _exp)
    if isinstance(kernel, (Linear, Poly, Sigmoid)):
        sizes = (float(points.squares.max(initial=0.0)), scale, getattr(kernel, "gamma", 1.0))
        if dtype == np.float32 and not all(1 / MODEST < size < MODEST for size in sizes):
            return None
        dense, rest = _split(points.values)
        both = Factors(np.ascontiguousarray(dense, dtype=dtype), _as(rest, dtype))
        return Product(both, both, both, _Scaled(kernel, scale))
    return None


def _split(X: Any) -> tuple[Array, Any]:
    """The columns that many rows use, dense; and the others, sparse, if X is."""
    if not sparse.issparse(X):
        return X, None
    used = np.bincount(X.indices, minlength=X.shape[1])
    often = used > OFTEN * X.shape[0]
    by_column = X.tocsc()
    return by_column[:, np.flatnonzero(often)].toarray(), by_column[:, np.flatnonzero(~often)].tocsr()


def _as(rest: Any, dtype: np.dtype[Any], factor: float = 1.0) -> Any:
    return None if rest is None else (rest * factor).astype(dtype)


def _exp(values: Array) -> None:
    exponentials(values, values.size)


@dataclass(frozen=True)
class _Scaled:
    """f(product) / scale, in place."""

    kernel: Any
    scale: float

    def __call__(self, values: Array) -> None:
        np.divide(self.kernel.apply(values), values.dtype.type(self.scale), out=values)
