"""Rows of the kernel matrix of the training points, made as they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from separatrix._typing import Array, Integers
from separatrix.cached import cached_property
from separatrix.kernels.base import Kernel
from separatrix.kernels.blocks import block_rows, count, row_blocks

STRIP = 1 << 16  # values of some rows: they are in cache while the function is applied
LEAST = 16  # rows, that a product of them is worth having


class KernelRows:
    """K[i, j] = k(x_i, x_j) for training points x_1 ... x_n: any rows or block of it, never all of it.

    What depends on the points alone (norms, counts of substrings, ...) is computed once, at the start. On the
    diagonal every matrix agrees with `diagonal` to the last digit.

    Parameters
    ----------
    kernel : Kernel
    X : points
        What ``kernel`` takes: a matrix, a list of strings or graphs, the kernel matrix itself if it is
        precomputed (or `PrecomputedColumns`, to predict only).
    dtype : dtype, optional
        The type of the values returned; float32 for float32 input and float64 else, if not given.
    checked : bool, default=False
        Whether X is known to be what the kernel takes: then it is brought into form when it is first asked for.
    """

    def __init__(self, kernel: Kernel, X: Any, dtype: DTypeLike | None = None, *, checked: bool = False) -> None:
        self.kernel = kernel
        self._given, self._dtype = X, dtype
        self._part: tuple[KernelRows, Integers] | None = None
        if not checked:
            _ = self._points

    @property
    def n(self) -> int:
        """The number of training points."""
        return len(self._points) if self._part is None else len(self._part[1])

    @property
    def points(self) -> Any:
        """The training points in the form the kernel works on."""
        return self._points

    def only(self, index: Any) -> KernelRows:
        """The kernel matrix of some of the points, in the frame of reference of all."""
        some = copy(self)
        for name in ("_points", "_diagonal"):
            some.__dict__.pop(name, None)
        some._part = self, self._positions(index)
        return some

    @cached_property
    def _points(self) -> Any:
        if self._part is None:
            return self.kernel.represent(self.kernel.check(self._given))
        whole, index = self._part  # which are looked up when they are needed: some matrices are made otherwise
        return whole._points[index]

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """Of the values returned."""
        return np.dtype(self._points.dtype if self._dtype is None else self._dtype)

    def rows(self, index: Any) -> Array:
        """K[index, :], of shape (len(index), n)."""
        rows = self._positions(index)
        K = self._gram(rows, self._points)
        K[np.arange(len(rows)), rows] = self._diagonal[rows]
        return K

    def block(self, index_a: Any, index_b: Any) -> Array:
        """K[index_a, index_b], of shape (len(index_a), len(index_b))."""
        rows, columns = self._positions(index_a), self._positions(index_b)
        K = self._gram(rows, self._points[columns])
        i, j = np.nonzero(rows[:, None] == columns)
        K[i, j] = self._diagonal[rows[i]]
        return K

    def square(self) -> Array:
        """K in float64, symmetric to the last digit: what is below the diagonal is what is above it."""
        n, K = self.n, self.kernel.square(self._points)
        if K is not None:
            return K.astype(np.float64, copy=False)
        K, step = np.empty((n, n)), max(LEAST, STRIP // max(n, 1))
        for first in range(0, n, step):
            last = min(first + step, n)
            K[first:last, first:] = self.corner(first, last)
            square = K[first:last, first:last]
            square[:] = 0.5 * square + 0.5 * square.T
            K[last:, first:last] = K[first:last, last:].T
        return K

    def corner(self, first: int, last: int) -> Array:
        """K[first:last, first:]."""
        rest = self._points[first:] if first else self._points
        K = self.kernel.gram(rest if last == self.n else self._points[first:last], rest)
        np.fill_diagonal(K, self._diagonal[first:last])
        return K.astype(self.dtype, copy=False)

    def beside(self, others: KernelRows) -> Array:
        """K[i, j] of these points and others, disjoint from them, of the same matrix (see `only`)."""
        return self.kernel.gram(self._points, others._points).astype(self.dtype, copy=False)

    def diagonal(self) -> Array:
        """k(x_i, x_i) for each training point."""
        return self._diagonal.copy()

    def against(self, points: Any, index: Any = None) -> Iterator[tuple[slice, Array]]:
        """Kernel values of new points with the training points ``index`` (all of them if None), in blocks.

        Yields
        ------
        block : slice
            Which of the new points.
        K : array of shape (points in the block, points in index)
        """
        old = self._points if index is None else self._points[self._positions(index)]
        K = self._of_few(points, old)
        if K is not None:
            return iter([(slice(0, len(K)), K)])
        new = self.kernel.check(points)
        return ((block, self._of_block(new[block], old)) for block in self._blocks(new, old))

    def sums(self, points: Any, V: Array) -> Array:
        """K V, of the kernel values K of new points with all training points.

        In blocks that our threads share, unless the kernel is a function of the user's: the same bits on any number.
        """
        from separatrix.loops import threads  # brings scikit-learn's errors, which kernels do without

        old = self._points
        if type(points) is np.ndarray:  # BLAS adds up otherwise where the numbers of a row do not lie together
            points = np.ascontiguousarray(points)
        small = type(points) is np.ndarray and points.size * len(old) <= threads.SMALL_PRODUCT
        with nullcontext() if small else threads.single_threaded_blas():
            K = self._of_few(points, old)
            if K is not None:
                return K @ V
            new = self.kernel.check(points)
            with nullcontext() if self.kernel.name else threads.alone():
                parts = threads.over(self._blocks(new, old), lambda block: self._of_block(new[block], old) @ V)
        return np.vstack(parts) if parts else np.empty((0, V.shape[1]))

    def _of_few(self, points: Any, old: Any) -> Array | None:
        """The kernel values of rows that are plain, and few enough for one block; None of others."""
        if not (type(points) is np.ndarray and points.ndim == 2 and points.dtype == old.dtype == self.dtype):
            return None
        n, d = points.shape
        few = d == old.width and 0 < n <= block_rows(max(len(old), d), points.itemsize)
        return self.kernel.gram_of_rows(points, old) if few else None

    def _blocks(self, new: Any, old: Any) -> Iterator[slice]:
        return row_blocks(count(new), max(len(old), old.width), max(self.dtype.itemsize, old.dtype.itemsize))

    def _of_block(self, new: Any, old: Any) -> Array:
        return self.kernel.gram(self.kernel.represent(new, like=old), old).astype(self.dtype, copy=False)

    def _gram(self, rows: Integers, old: Any) -> Array:
        # In one piece: the caller has chosen its size, and a matrix product is fastest undivided.
        return self.kernel.gram(self._points[rows], old).astype(self.dtype, copy=False)

    @cached_property
    def _diagonal(self) -> Array:
        if self._part is not None:
            whole, index = self._part
            return whole._diagonal[index]
        return self.kernel.gram_diagonal(self._points).astype(self.dtype, copy=False)

    def _positions(self, index: Any) -> Integers:
        """Positions from an array of them, a slice or a mask."""
        return np.atleast_1d(np.arange(self.n)[index])
