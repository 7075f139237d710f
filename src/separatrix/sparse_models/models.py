"""Quadratic models of a loss in the weights of some columns, and their minimum with an elastic net added.

With H as a matrix, sweeps of coordinate descent cost next to nothing; of many columns, these themselves are used.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache

import numpy as np
from scipy import linalg, sparse

from separatrix._typing import Floats, Integers
from separatrix.loops.csr_rows import add_pairs
from separatrix.loops.elastic_descent import column_moments, column_sweeps, gram_sweeps, softmax_sweeps
from separatrix.loops.rows import BUDGET
from separatrix.penalties import ElasticNet

SWEEPS = 10  # of coordinate descent over the support, at most, before it is solved for directly,
SWEPT, OFTEN = 1_000_000, 700  # or as many as take so many products, the time of a direct solution, and these at most
ROUNDS = 20  # of sweeps over all weights, then the support, then a direct solution, in one model
CROSSINGS = 30  # of signs in a direct solution
LARGEST = 800  # weights that are solved for directly
JITTER = 1e-13  # of the diagonal that is added to it before it is factored
FLAT = 1e-13  # of the uncentred sum of squares that a constant column's curvature is by rounding
INEXACT = 1e-5  # of what the first sweep gained is what the last one may,
ROUGH = 1e-2  # or this, where sweeps cost as much as another model


class Model(ABC):
    """G.(w - w0) + 1/2 (w - w0)'H(w - w0), with the intercepts at their best for each w."""

    @abstractmethod
    def solve(self, slope: Floats, w: Floats, penalty: ElasticNet, goal: float) -> Floats:
        """Weights (K, m) close to its minimum: the last sweep gained at most ``goal``, or there were enough."""

    @abstractmethod
    def levels(self, change: Floats) -> Floats:
        """What the intercepts (K, 1) change by if the weights do."""


class Descent(ABC):
    """Coordinate descent on a model, in place: its weights w (m,), and what follows them."""

    w: Floats
    gained: float
    inexact = ROUGH
    entries = 0  # that a sweep reads

    def sweep(self, order: Integers, most: int, goal: float) -> int:
        """Sweeps over some weights until one gains at most the goal; how many. A long one is cut, for Ctrl-C."""
        pieces = 1 + self.entries // BUDGET
        if pieces == 1:
            return self.loop(order, most, goal)
        gained = 0.0
        for piece in np.array_split(order, min(pieces, len(order))):
            self.loop(piece, 1, np.inf)
            gained += self.gained
        self.gained = gained
        return 1

    @abstractmethod
    def loop(self, order: Integers, most: int, goal: float) -> int:
        """The same in one call, which leaves in ``gained`` what the last sweep gained."""

    def patience(self, weights: int) -> int:
        """How many sweeps over so many weights are tried before these are solved for directly."""
        return SWEEPS

    def direct(self, support: Integers, penalty: ElasticNet) -> None:
        """Move to the minimum on the support, if that can be had; sweeps alone will do."""
        return

    def run(self, penalty: ElasticNet, goal: float, always: Integers) -> None:
        """Sweeps over all weights and over the support (with those ``always`` in it), and direct solutions."""
        for number in range(ROUNDS):
            self.sweep(scattered(len(self.w), number), 1, goal)
            if number == 0:
                goal = min(goal, self.inexact * self.gained)
            if not self.gained > goal:
                return
            used = self.w != 0
            used[always] = True
            support = np.flatnonzero(used)
            most = self.patience(len(support))
            done, each = 0, most if len(self.w) <= LARGEST else 1  # in one call, where a call costs more than a sweep
            while done < most and self.gained > goal:
                done += self.sweep(support[scattered(len(support), number + done)], min(each, most - done), goal)
            if self.gained > goal:
                self.direct(np.flatnonzero(self.w), penalty)


def scattered(m: int, number: int) -> Integers:
    """0 to m - 1 in an order in which neighbours are not alike, another for each number; the same in every fit."""
    return _kept(m, number) if m <= LARGEST else np.random.default_rng(number).permutation(m)


@lru_cache(maxsize=1024)
def _kept(m: int, number: int) -> Integers:
    return np.random.default_rng(number).permutation(m)


def crossed(H: Floats, v: Floats, w: Floats, penalty: ElasticNet) -> Floats | None:
    """The minimum of a model on its support: H and v there, w the weights now, all of which are not 0.

    Each step goes to the minimum for the signs as they are, or to where the first of them would change, which becomes
    0 and stays so. Along a direction that nothing bends the way is long, and a sign does change.
    """
    w, v, alive = w.copy(), v.copy(), np.arange(len(w))
    for _ in range(CROSSINGS):
        now = w[alive]
        A = H[np.ix_(alive, alive)]
        A[np.diag_indices_from(A)] = (1.0 + JITTER) * np.diag(A) + penalty.ridge
        try:
            factor = linalg.cho_factor(A, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:
            return None
        step = -linalg.cho_solve(factor, v[alive] + penalty.r * np.sign(now) + penalty.ridge * now)
        with np.errstate(all="ignore"):
            crossing = np.where(now * (now + step) < 0, -now / step, np.inf)
        t = min(1.0, float(crossing.min(initial=np.inf)))
        stays = crossing > t
        change = np.where(stays, t * step, -now)
        if not np.isfinite(change).all():
            return None
        w[alive] = np.where(stays, now + change, 0.0)
        if t == 1.0:
            return w
        v += H[:, alive] @ change
        alive = alive[stays]
        if not len(alive):
            return w
    return w


def row_gram(X: sparse.csr_array, h: Floats) -> Floats:
    """X'diag(h)X, by rows with few entries."""
    (n, m), row = X.shape, 0
    half = np.zeros((m, m))
    while row < n:
        row = add_pairs(X.indptr, X.indices, X.data, h, m, half, row, n, BUDGET)
    return np.asarray(half + half.T)


class GramModel(Model):
    """H of all K m weights as a matrix, and of the intercepts with them (K m, K) and among themselves (K, K)."""

    def __init__(self, H: Floats, cross: Floats | None, own: Floats | None) -> None:
        self._turn: Floats | None = None
        if cross is not None and own is not None:
            flat = FLAT * np.diag(H)
            inverse = 1.0 / own if len(own) == 1 else np.linalg.pinv(own, rcond=1e-12, hermitian=True)
            self._turn = cross @ inverse
            H = H - self._turn @ cross.T
            diagonal = np.diag(H)
            np.fill_diagonal(H, np.where(diagonal > flat, diagonal, 0.0))
        self.H = np.ascontiguousarray(H)

    def levels(self, change: Floats) -> Floats:
        if self._turn is None:
            return np.zeros((len(change), 1))
        return -(change.ravel() @ self._turn)[:, None]

    def solve(self, slope: Floats, w: Floats, penalty: ElasticNet, goal: float) -> Floats:
        descent = GramDescent(self.H, slope.ravel(), w.ravel(), penalty)
        descent.run(penalty, goal, np.empty(0, dtype=np.int64))
        return descent.w.reshape(w.shape)


class GramDescent(Descent):
    """v = slope + H (w - w0) follows w."""

    inexact = INEXACT

    def __init__(self, H: Floats, slope: Floats, start: Floats, penalty: ElasticNet) -> None:
        self._H, self._v, self.w = H, slope.copy(), start.copy()
        self._slope, self._start, self._penalty, self._gain = slope, start, penalty, np.zeros(1)

    def loop(self, order: Integers, most: int, goal: float) -> int:
        penalty = self._penalty
        done = gram_sweeps(
            self._H, len(self.w), order, len(order), penalty.r, penalty.ridge, self._v, self.w, goal, most, self._gain,
            BUDGET,
        )  # fmt: skip
        self.gained = float(self._gain[0])
        return done

    def patience(self, weights: int) -> int:
        return max(SWEEPS, min(SWEPT // max(1, weights * len(self.w)), OFTEN))

    def direct(self, support: Integers, penalty: ElasticNet) -> None:
        if not 0 < len(support) <= LARGEST:
            return
        found = crossed(self._H[np.ix_(support, support)], self._v[support], self.w[support], penalty)
        if found is not None:
            self.w[support] = found
            self._v = self._slope + self._H @ (self.w - self._start)


class ColumnModel(Model):
    """H of two classes by the columns themselves."""

    def __init__(self, X: sparse.csc_array, h: Floats, free: bool) -> None:
        m = X.shape[1]
        self.X, self.h = X, h
        self.first, second = np.zeros(m), np.zeros(m)
        column_moments(X.indptr, X.indices, X.data, 0, m, h, self.first, second)
        self.total = float(h.sum()) if free else np.inf
        curvature = second - self.first**2 / self.total
        self.curvature = np.where(curvature > FLAT * second, curvature, 0.0)

    def levels(self, change: Floats) -> Floats:
        return -(change @ self.first)[:, None] / self.total

    def solve(self, slope: Floats, w: Floats, penalty: ElasticNet, goal: float) -> Floats:
        descent = ColumnDescent(self, np.ascontiguousarray(slope[0]), w[0], penalty)
        descent.run(penalty, goal, np.empty(0, dtype=np.int64))
        return descent.w[None]


class ColumnDescent(Descent):
    """z = h X (w - w0) follows w."""

    def __init__(self, model: ColumnModel, slope: Floats, start: Floats, penalty: ElasticNet) -> None:
        self._model, self._slope, self.w, self._penalty = model, slope, start.copy(), penalty
        self._z, self._gain, self.entries = np.zeros(len(model.h)), np.zeros(2), model.X.nnz

    def loop(self, order: Integers, most: int, goal: float) -> int:
        model, X, penalty = self._model, self._model.X, self._penalty
        done = column_sweeps(
            X.indptr, X.indices, X.data, order, len(order), model.h, model.first, model.curvature, model.total,
            penalty.r, penalty.ridge, self._slope, self._z, self.w, goal, most, self._gain, BUDGET,
        )  # fmt: skip
        self.gained = float(self._gain[0])
        return done

    def direct(self, support: Integers, penalty: ElasticNet) -> None:
        if not 0 < len(support) <= LARGEST:
            return
        model, X = self._model, self._model.X[:, support]
        first, turned = model.first[support], X.T
        H = row_gram(X.tocsr(), model.h) - np.outer(first, first / model.total)
        v = self._slope[support] + (turned @ self._z - first * (self._gain[1] / model.total))
        found = crossed(H, v, self.w[support], penalty)
        if found is None:
            return
        change = found - self.w[support]
        self.w[support] = found
        self._z += model.h * (X @ change)
        self._gain[1] += float(first @ change)


class ClassesModel(Model):
    """H of softmax by the columns themselves; with an intercept a column of ones is the last, and free."""

    def __init__(self, X: sparse.csc_array, P: Floats, u: Floats, free: bool) -> None:
        self.free, self.m = free, X.shape[1]
        if free:
            ones = sparse.csc_array(np.ones((X.shape[0], 1)))
            X = sparse.csc_array(sparse.hstack([X, ones], format="csc"))
        self.X, self.u, self.P = X, u, np.ascontiguousarray(P.T)
        first, second = np.empty(X.shape[1]), np.empty((len(P), X.shape[1]))
        for h, row in zip(u * P * (1.0 - P), second, strict=True):
            column_moments(X.indptr, X.indices, X.data, 0, X.shape[1], h, first, row)
        self.curvature = np.ascontiguousarray(second.T)
        self._levels = np.zeros((len(P), 1))

    def levels(self, change: Floats) -> Floats:
        return self._levels

    def solve(self, slope: Floats, w: Floats, penalty: ElasticNet, goal: float) -> Floats:
        descent = ClassesDescent(self, slope, w, penalty)
        always = np.arange(self.m, len(self.curvature), dtype=np.int64)
        descent.run(penalty, goal, always)
        if self.free:
            self._levels = descent.W[self.m][:, None].copy()
        return np.ascontiguousarray(descent.W[: self.m].T)


class ClassesDescent(Descent):
    """t = X (W - W0), and its mean over the classes, follow the weights W (m, K); w says which columns are in use."""

    def __init__(self, model: ClassesModel, slope: Floats, start: Floats, penalty: ElasticNet) -> None:
        K, n, columns = len(start), len(model.u), len(model.curvature)
        self._model, self._penalty, self._gain, self.entries = model, penalty, np.zeros(1), K * model.X.nnz
        self.W, self._slope = np.zeros((columns, K)), np.zeros((columns, K))
        self.W[: model.m], self._slope[: model.m] = start.T, slope.T  # the slopes of the intercepts are 0
        self._t, self._s = np.zeros((n, K)), np.zeros(n)

    @property
    def w(self) -> Floats:  # type: ignore[override]
        return np.abs(self.W).max(axis=1)

    def loop(self, order: Integers, most: int, goal: float) -> int:
        model, X, penalty = self._model, self._model.X, self._penalty
        done = softmax_sweeps(
            X.indptr, X.indices, X.data, order, len(order), self.W.shape[1], model.m, model.u, model.P,
            model.curvature, penalty.r, penalty.ridge, self._slope, self._t, self._s, self.W, goal, most, self._gain,
            BUDGET,
        )  # fmt: skip
        self.gained = float(self._gain[0])
        return done
