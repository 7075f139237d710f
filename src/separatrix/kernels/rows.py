"""Rows of the kernel matrix of the training points, made as they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from separatrix._typing import Array, Integers
from separatrix.kernels.base import Kernel
from separatrix.kernels.blocks import block_rows, count, row_blocks


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
    """

    def __init__(self, kernel: Kernel, X: Any, dtype: DTypeLike | None = None) -> None:
        self.kernel = kernel
        self._points = kernel.represent(kernel.check(X))
        self._part: tuple[KernelRows, Integers] | None = None
        self.dtype = np.dtype(self._points.dtype if dtype is None else dtype)

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
        assert self._part is not None
        whole, index = self._part  # which are looked up when they are needed: some matrices are made otherwise
        return whole._points[index]

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
        if type(points) is np.ndarray and points.ndim == 2 and points.dtype == old.dtype == self.dtype:
            n, d = points.shape
            if d == old.width and 0 < n <= block_rows(max(len(old), d), points.itemsize):
                K = self.kernel.gram_of_rows(points, old)
                if K is not None:
                    return iter([(slice(0, n), K)])
        return self._against(self.kernel.check(points), old)

    def _against(self, new: Any, old: Any) -> Iterator[tuple[slice, Array]]:
        itemsize = max(self.dtype.itemsize, old.dtype.itemsize)
        for block in row_blocks(count(new), max(len(old), old.width), itemsize):
            K = self.kernel.gram(self.kernel.represent(new[block], like=old), old)
            yield block, K.astype(self.dtype, copy=False)

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
