"""Columns of a design about its anchor: scores, slopes, and models of losses in the weights of some of them."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy import sparse

from separatrix._typing import Floats, Integers
from separatrix.cached import cached_property
from separatrix.design import Block, DenseDesign, Design
from separatrix.design.reducing import Parts
from separatrix.errors import InvalidInputError
from separatrix.loops.elastic_descent import column_moments
from separatrix.solvers.newton import FACTORED_ORDER
from separatrix.sparse_models.models import FLAT, ClassesModel, ColumnModel, GramModel, Model, row_gram
from separatrix.sparse_models.smooth import Smooth

NARROW = 400  # columns whose Gram matrix costs less than the sweeps that it saves
JOINT = 1500  # weights of all classes whose Hessian is held as a matrix
MOST = 0.5  # of the entries in a working set: beyond, it has all columns
DEAR = 20_000_000  # rows times weights² of a Gram matrix that takes longer than a step


class Part(ABC):
    """Some columns. A `dear` model takes longer to make than a step with it."""

    dear = False

    @abstractmethod
    def scores(self, w: Floats) -> Floats:
        """w X' (K, n), for w (K, m)."""

    @abstractmethod
    def slopes(self, R: Floats) -> Floats:
        """R X (K, m), for R (K, n)."""

    @abstractmethod
    def model(self, smooth: Smooth, bends: Floats) -> Model:
        """Of a loss whose rows are bent so."""


class Products:
    """Products with all columns of a design."""

    design: Design

    def slopes(self, R: Floats) -> Floats:
        """R X (K, d), for slopes R (K, n)."""
        return np.ascontiguousarray(self.design.tdot(np.ascontiguousarray(R.T))[: self.design.d].T)

    def scores(self, w: Floats) -> Floats:
        """w X' (K, n), for w (K, d)."""
        V = np.zeros((self.design.p, len(w)))
        V[: self.design.d] = w.T
        return np.ascontiguousarray(self.design.dot(V).T)


class Columns(Products):
    """All columns of a design about its anchor."""

    def __init__(self, design: Design) -> None:
        self.design = design.anchored()
        self.n, self.d, self.free = design.n, design.d, design.intercept
        self._lengths: Floats | None = None

    def lengths(self, u: Floats) -> Floats:
        """(sum_i u_i (x_ij - mean_j)²)^(1/2), the mean weighted by u; 0 for a constant column.

        Of the first u: other values of C have the same lengths, times a number that is the same for all columns.
        """
        if self._lengths is not None:
            return self._lengths
        if self.design.sparse and self.design.in_memory:
            X, first, second = self._csc, np.empty(self.d), np.empty(self.d)
            column_moments(X.indptr, X.indices, X.data, 0, self.d, u, first, second)
        else:
            first, second = self.design.reduce(_squares, u)
        square = second - first**2 / float(u.sum()) if self.free else second
        self._lengths = np.asarray(np.sqrt(np.where(square > FLAT * second, square, 0.0)))
        return self._lengths

    def at_once(self, K: int) -> int:
        """How many columns to work with at a time, at most: of rows in a file as many as have a Gram matrix."""
        return self.d if self.design.in_memory else min(self.d, FACTORED_ORDER // K)

    def widened(self, columns: Integers) -> Integers:
        """These columns, or all where these have most of the entries, of which a copy would save too little."""
        if not (self.design.sparse and self.design.in_memory) or len(columns) <= NARROW:
            return columns
        X = self._csc
        return columns if np.diff(X.indptr)[columns].sum() <= MOST * X.nnz else np.arange(self.d)

    def take(self, columns: Integers, K: int = 1) -> Part:
        """These columns, as they are best worked with for K classes."""
        m = len(columns)
        small = m <= NARROW and K * m <= JOINT
        if small and m == self.d and self.n > self.d:
            return WholePart(self.design, K)
        if not self.design.in_memory:
            return PassedPart(self, columns, K)
        if self.design.sparse:
            return SparsePart(self._csc if m == self.d else self._csc[:, columns], self.free)
        (x,) = self.design.rows(_some_columns, args=(columns,))
        return WholePart(DenseDesign(x, self.free), K) if small else SparsePart(sparse.csc_array(x), self.free)

    def csc(self) -> sparse.csc_array:
        """All columns, dense ones as well."""
        if self.design.sparse:
            return self._csc
        return sparse.csc_array(self.design.rows(_some_columns, args=(np.arange(self.d),))[0])

    @cached_property
    def _csc(self) -> sparse.csc_array:
        X = sparse.csc_array(self.design.csr().astype(np.float64, copy=False))
        if self.design.offset is not None:
            X.data -= np.repeat(self.design.offset, np.diff(X.indptr))
        return X


def _squares(block: Block, u: Floats) -> Parts:
    x = block.x
    return x.T @ u, (x * x).T @ u if sparse.issparse(x) else np.einsum("ij,ij,i->j", x, x, u)


def _some_columns(block: Block, columns: Integers) -> Parts:
    return (block.x[:, columns],)


class WholePart(Products, Part):
    """All columns of a design with few of them, so that their Gram matrix is cheap."""

    def __init__(self, design: Design, K: int) -> None:
        self.design, self.free, self.dear = design, design.intercept, K * K * design.n * design.d**2 > DEAR

    def gram(self, h: Floats) -> tuple[Floats, Floats]:
        """X'diag(h)X (m, m) and X'h (m,), h >= 0."""
        d = self.design.d
        H = self.design.gram(h)
        return H[:d, :d], H[d, :d] if self.free else np.zeros(d)

    def model(self, smooth: Smooth, bends: Floats) -> Model:
        if smooth.K == 1:
            H, first = self.gram(bends[0])
            return GramModel(H, first[:, None], bends.sum(axis=1)[:, None]) if self.free else GramModel(H, None, None)
        K, P = smooth.K, bends
        grams = {
            (a, b): self.gram(smooth.u * P[a] * (1.0 - P[a] if a == b else P[b]))
            for a in range(K)
            for b in range(a + 1)
        }
        m = len(grams[0, 0][1])
        H, cross = np.empty((K, m, K, m)), np.empty((K, m, K))
        for (a, b), (inner, first) in grams.items():
            sign = 1.0 if a == b else -1.0
            H[a, :, b] = H[b, :, a] = sign * inner
            cross[a, :, b] = cross[b, :, a] = sign * first
        H = H.reshape(K * m, K * m)
        if not self.free:
            return GramModel(H, None, None)
        own = np.diag(P @ smooth.u) - (P * smooth.u) @ P.T
        return GramModel(H, cross.reshape(K * m, K), own)


class PassedPart(WholePart):
    """Some columns of rows in a file: whatever is asked of them takes a pass."""

    def __init__(self, columns: Columns, chosen: Integers, K: int) -> None:
        super().__init__(columns.design, K)
        self._chosen, self.dear = chosen, True
        if len(chosen) > columns.at_once(K):
            raise InvalidInputError(
                f"A sparse model of rows not in memory works with {FACTORED_ORDER:,} weights at a time, and this one "
                "needs more: lower C or use l1_ratio=0 (of LinearSVC penalty='l2'), or fit to a sample of the rows.",
                "C",
            )

    def scores(self, w: Floats) -> Floats:
        every = np.zeros((len(w), self.design.d))
        every[:, self._chosen] = w
        return super().scores(every)

    def slopes(self, R: Floats) -> Floats:
        return np.ascontiguousarray(super().slopes(R)[:, self._chosen])

    def gram(self, h: Floats) -> tuple[Floats, Floats]:
        H, first = self.design.reduce(_some_gram, h, args=(self._chosen,))
        return np.asarray(H), np.asarray(first)


def _some_gram(block: Block, h: Floats, columns: Integers) -> Parts:
    x = block.x[:, columns]
    if sparse.issparse(x):
        return row_gram(x, h), x.T @ h
    root = np.sqrt(h)[:, None] * x
    return root.T @ root, x.T @ h


class SparsePart(Part):
    """Columns as CSC has them."""

    def __init__(self, X: sparse.csc_array, free: bool) -> None:
        self.X, self.free = X, free

    def scores(self, w: Floats) -> Floats:
        return np.asarray(self.X @ w[0])[None] if len(w) == 1 else np.ascontiguousarray((self.X @ w.T).T)

    def slopes(self, R: Floats) -> Floats:
        return np.ascontiguousarray((self.X.T @ R.T).T)

    def model(self, smooth: Smooth, bends: Floats) -> Model:
        if smooth.K == 1:
            return ColumnModel(self.X, bends[0], self.free)
        return ClassesModel(self.X, bends, smooth.u, self.free)
