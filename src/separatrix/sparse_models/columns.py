"""Columns of a design, and quadratic models of a loss in their weights.

Few columns of long dense rows: their Gram matrix, where sweeps of coordinate descent cost next to nothing. Others: the
columns themselves, as a CSC matrix has them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np
from scipy import linalg, sparse

from separatrix._typing import Array, Floats, Integers
from separatrix.design import Design
from separatrix.loops import threads
from separatrix.loops.elastic_descent import column_moments, column_sweeps, gram_sweeps
from separatrix.loops.rows import BUDGET
from separatrix.penalties import ElasticNet

NARROW = 400  # columns whose Gram matrix costs less than the sweeps that it saves
ROWS = 2048  # of a chunk of a product: fixed, so that threads change no bit
SWEEPS = 100  # of coordinate descent, at most, before the support is solved for directly
ROUNDS = 4  # of sweeps and direct solutions in one model
ACTIVE = 10  # sweeps over the support between two over all columns
FLAT = 1e-13  # of the uncentred sum of squares that a constant column's curvature is by rounding


class Columns:
    """Some or all columns of a design, about its anchor."""

    def __init__(self, design: Design) -> None:
        self.design = design.anchored()
        self.n, self.d, self.free = design.n, design.d, design.intercept

    def slopes(self, R: Floats) -> Floats:
        """X'R (d,) of all columns, for slopes R (n,)."""
        return np.ascontiguousarray(self.design.tdot(R[:, None])[: self.d, 0])

    def scores(self, w: Floats) -> Floats:
        """X w (n,), without an intercept."""
        V = np.zeros((self.design.p, 1))
        V[: self.d, 0] = w
        return np.ascontiguousarray(self.design.dot(V)[:, 0])

    @cached_property
    def _csc(self) -> sparse.csc_array:
        X = sparse.csc_array(self.design.csr().astype(np.float64))
        if self.design.offset is not None:
            X.data -= np.repeat(self.design.offset, np.diff(X.indptr))
        return X

    def lengths(self, u: Floats) -> Floats:
        """(sum_i u_i (x_ij - mean_j)²)^(1/2), the mean weighted by u; 0 for a constant column."""
        total = float(u.sum())
        first, second = self.design.reduce(_squares, u)
        square = second - first**2 / total if self.free else second
        return np.asarray(np.sqrt(np.where(square > FLAT * second, square, 0.0)))

    def take(self, columns: Integers) -> Part:
        """These columns, as they are best worked with."""
        if len(columns) == self.d <= NARROW and self.n > self.d:
            return WholePart(self)
        if not self.design.sparse and len(columns) <= NARROW:
            x = self.design.lend(_dense_columns, columns, self.design.offset)
            return DensePart(x, self.free)
        if self.design.sparse:
            X = self._csc if len(columns) == self.d else self._csc[:, columns]
        else:
            X = sparse.csc_array(self.design.lend(_dense_columns, columns, self.design.offset))
        return SparsePart(X, self.free)


def _squares(block: object, u: Floats) -> tuple[Floats, Floats]:
    x = block.x  # type: ignore[attr-defined]
    squared = x * x if isinstance(x, np.ndarray) else x.multiply(x)
    return np.asarray(x.T @ u), np.asarray(squared.T @ u)


def _dense_columns(X: Array, columns: Integers, offset: Floats | None) -> Floats:
    x = np.ascontiguousarray(X[:, columns], dtype=np.float64)
    return x if offset is None else x - offset[columns]


class Model(ABC):
    """A quadratic model about weights w0, less what the best intercept takes."""

    @abstractmethod
    def solve(self, slope: Floats, w: Floats, penalty: ElasticNet, goal: float) -> Floats:
        """Weights close to its minimum: the last sweep gained at most ``goal``, or there were enough."""

    @abstractmethod
    def level(self, change: Floats) -> float:
        """What the intercept changes by if the weights do."""


class Part(ABC):
    """Some columns."""

    @abstractmethod
    def scores(self, w: Floats) -> Floats:
        """X w (n,)."""

    @abstractmethod
    def slopes(self, R: Floats) -> Floats:
        """X'R (m,)."""

    @abstractmethod
    def model(self, h: Floats) -> Model:
        """Of a loss with these curvatures of the rows."""


class GramModel(Model):
    """H = X'diag(h)X, less the intercept's part, as a matrix."""

    def __init__(self, H: Floats, first: Floats | None, total: float) -> None:
        self._first, self._total = first, total
        flat = FLAT * np.diag(H)
        if first is not None and total > 0:
            H = H - np.outer(first, first / total)
            diagonal = np.diag(H)
            np.fill_diagonal(H, np.where(diagonal > flat, diagonal, 0.0))
        self.H = np.ascontiguousarray(H)

    def level(self, change: Floats) -> float:
        return 0.0 if self._first is None or not self._total > 0 else -float(self._first @ change) / self._total

    def solve(self, slope: Floats, w: Floats, penalty: ElasticNet, goal: float) -> Floats:
        m, w0, w, v = len(w), w, w.copy(), slope.copy()
        order, gain = np.arange(m, dtype=np.int64), np.zeros(1)
        for _ in range(ROUNDS):
            done = 0
            while done < SWEEPS:
                done += gram_sweeps(
                    self.H, m, order, m, penalty.r, penalty.ridge, v, w, goal, SWEEPS - done, gain, BUDGET
                )
                if not gain[0] > goal:
                    return w
            if not self._direct(slope, w0, w, v, penalty):
                return w
        return w

    def _direct(self, slope: Floats, w0: Floats, w: Floats, v: Floats, penalty: ElasticNet) -> bool:
        """Move w, in place, towards the minimum on its support with its signs, as far as no sign changes."""
        support = np.flatnonzero(w)
        if not len(support):
            return False
        A = self.H[np.ix_(support, support)]
        A[np.diag_indices_from(A)] += penalty.ridge
        target = -(v[support] + penalty.r * np.sign(w[support]) + penalty.ridge * w[support])
        try:
            step = linalg.solve(A, target, assume_a="pos", check_finite=False)
        except (linalg.LinAlgError, linalg.LinAlgWarning):
            return False
        if not np.isfinite(step).all():
            return False
        with np.errstate(all="ignore"):
            crossing = np.where(w[support] * (w[support] + step) < 0, -w[support] / step, np.inf)
        first = float(crossing.min(initial=np.inf))
        t = min(1.0, first)
        w[support] += t * step
        if t < 1.0:
            w[support[crossing <= t]] = 0.0
        v[:] = slope + self.H @ (w - w0)
        return True


class ColumnModel(Model):
    """H by the columns themselves."""

    def __init__(self, X: sparse.csc_array, h: Floats, free: bool) -> None:
        m = X.shape[1]
        self._arrays, self._h, self._m = (X.indptr, X.indices, X.data), h, m
        self._first, second = np.zeros(m), np.zeros(m)
        column_moments(*self._arrays, 0, m, h, self._first, second)
        self._total = float(h.sum()) if free else np.inf
        if not self._total > 0:
            self._total = np.inf
        curvature = second - self._first**2 / self._total
        self._curvature = np.where(curvature > FLAT * second, curvature, 0.0)

    def level(self, change: Floats) -> float:
        return -float(self._first @ change) / self._total

    def solve(self, slope: Floats, w: Floats, penalty: ElasticNet, goal: float) -> Floats:
        w, z, gain = w.copy(), np.zeros(len(self._h)), np.zeros(2)

        def sweep(order: Integers, most: int) -> int:
            return column_sweeps(
                *self._arrays, order, len(order), self._h, self._first, self._curvature, self._total, penalty.r,
                penalty.ridge, slope, z, w, goal, most, gain, BUDGET,
            )  # fmt: skip

        everything, done = np.arange(self._m, dtype=np.int64), 0
        while done < SWEEPS:
            done += sweep(everything, 1)
            if not gain[0] > goal:
                break
            active, some = np.flatnonzero(w).astype(np.int64), 0
            while some < ACTIVE:
                some += sweep(active, ACTIVE - some)
                if not gain[0] > goal:
                    break
            done += some
        return w


class DensePart(Part):
    """Columns of a dense design, in C order."""

    def __init__(self, x: Floats, free: bool) -> None:
        self.x, self.free = x, free

    def scores(self, w: Floats) -> Floats:
        return np.asarray(self.x @ w)

    def slopes(self, R: Floats) -> Floats:
        return np.asarray(R @ self.x)

    def model(self, h: Floats) -> Model:
        def chunk(start: int) -> Floats:
            rows = slice(start, start + ROWS)
            root = np.sqrt(h[rows])[:, None] * self.x[rows]
            return np.asarray(root.T @ root)

        parts = threads.over(range(0, len(h), ROWS), chunk)
        H = parts[0]
        for part in parts[1:]:
            H += part
        return GramModel(H, h @ self.x if self.free else None, float(h.sum()))


class SparsePart(Part):
    """Columns as CSC has them."""

    def __init__(self, X: sparse.csc_array, free: bool) -> None:
        self.X, self.free = X, free

    def scores(self, w: Floats) -> Floats:
        return np.asarray(self.X @ w)

    def slopes(self, R: Floats) -> Floats:
        return np.asarray(self.X.T @ R)

    def model(self, h: Floats) -> Model:
        return ColumnModel(self.X, h, self.free)


class WholePart(Part):
    """All columns of a design with few of them."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns

    def scores(self, w: Floats) -> Floats:
        return self._columns.scores(w)

    def slopes(self, R: Floats) -> Floats:
        return self._columns.slopes(R)

    def model(self, h: Floats) -> Model:
        design, d = self._columns.design, self._columns.d
        H = design.gram(h)
        return GramModel(H[:d, :d], H[d, :d] if design.intercept else None, float(h.sum()))
