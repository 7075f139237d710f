"""Sparse models: objective and a lower bound on its minimum, recomputed from the rows, each with what rounding can do.

    F(W, b) = C sum_i c_i loss_i + r ‖W‖₁ + (1 - r)/2 ‖W‖²,    r = l1_ratio

For slopes A (n, K) in the domain of the losses' conjugates that sum to 0 over the rows (b being free) and have the
moments M = A'x, min F >= value(A) - g*(M), where g*(M) = sum (|M_kj| - r)₊² / (2 (1 - r)), and for r = 1 it is 0 as
long as no |M_kj| is above 1. Any A may be multiplied by s <= 1: the rule here takes the better one of s = 1 and the
largest s for which s |M_kj| <= r + (1 - r) |W_kj|, which is where the optimum has it.

The same A proves weights 0. The dual is strongly concave, so that the best slopes are in a ball about A whose radius
follows from the gap; where |M_kj| stays below r in all of the ball, every optimum has W_kj = 0 (Ndiaye et al., 2017).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import fsum
from typing import Any

import numpy as np

from separatrix.certificates._data import ALLOWED, EPS, Data
from separatrix.certificates._logistic import (
    SUMMED,
    Bounds,
    _entropy,
    _feasible,
    levels,
    losses,
    mixture,
    residuals,
    roundings,
    tall_product,
)
from separatrix.certificates._row_basis import ENTRIES, TINY, pieces
from separatrix.certificates._witness import worst_of
from separatrix.certificates.base import Check

BELOW = 1.0 - 2.0**-30  # of l1_ratio is what a moment may reach, all errors counted, if its weight is to be proved 0
BALL = {"log": 0.5, "squared_hinge": 4.0}  # sum_i (A_ik - A*_ik)² / (C c_i) is at most this times the gap


@dataclass(frozen=True)
class Found:
    """Both sides, and how large the moments (K, d) of the best slopes can be; infinite where nothing is known."""

    bounds: Bounds
    reach: Any


def check_elastic_net(data: Data, certificate: Any) -> list[Check]:
    """Primal and bound as stated, the gap within what is claimed, rounding a small part of it; and the zeros."""
    found = both_sides(data, certificate)
    sides, scale = found.bounds, max(abs(certificate.primal), TINY)
    allowed = ALLOWED * certificate.tol * scale
    zeros = np.asarray(certificate.zeros)
    return [
        Check("primal as stated, off by", abs(sides.primal - certificate.primal), allowed, sides.primal_error),
        Check("stated lower bound above the bound, by", certificate.dual - sides.dual, 0.0, sides.dual_error),
        Check("stated lower bound above the primal, by", certificate.dual - certificate.primal),
        Check("relative gap", (certificate.primal - certificate.dual) / scale, certificate.tol),
        Check("rounding in these checks", sides.error, allowed),
        worst_of("largest |x_j.a| of a weight proved 0, over l1_ratio", found.reach[zeros] / certificate.l1_ratio,
                 BELOW, 0.0),
    ]  # fmt: skip


def both_sides(data: Data, certificate: Any) -> Found:
    """F at the weights, and what the dual point of the certificate proves."""
    return Problem(data, certificate).found()


class Frame:
    """Rows about a centre: their weighted mean if they are dense and b is free, which costs nothing and keeps digits.

    The entries of sparse rows stay as they are: a column that is mostly 0 is not far from 0.
    """

    def __init__(self, data: Data, free: bool) -> None:
        self.data, self.d = data, data.X.shape[1]
        self.sparse = hasattr(data.X, "indptr")
        self.total = float(data.weight.sum())
        self.centre = np.zeros(self.d)
        self.longest = int(np.diff(data.X.indptr).max(initial=0)) if self.sparse else self.d
        if free and not self.sparse:
            self.centre = sum((c @ x for x, _, c in data.blocks()), np.zeros(self.d)) / self.total

    def parts(self, width: int) -> Iterator[tuple[slice, Any]]:
        """Where some rows are, and the rows about the centre: an array, or a CSR matrix of float64."""
        first = 0
        if not self.sparse:
            for x, _, _ in pieces(self.data, width):
                yield slice(first, first + len(x)), x - self.centre
                first += len(x)
            return
        X = self.data.X
        step = max(1, int(ENTRIES * X.shape[0] / max(X.nnz, 1)))
        for first in range(0, X.shape[0], step):
            rows = slice(first, min(first + step, X.shape[0]))
            yield rows, X[rows].astype(np.float64)

    def scores(self, W: Any, b: Any) -> tuple[Any, Any]:
        """W x_i + b (n, K) and bounds on their errors (n,), inf where they overflow."""
        n, K = len(self.data.weight), len(W)
        level = b if self.sparse else levels(self.centre, W, b)
        used = np.flatnonzero(W.any(axis=0))
        few = not self.sparse and len(used) < self.d  # sparse rows are slow to cut
        w = W[:, used] if few else W
        S, errors, size = np.empty((n, K)), np.empty(n), np.abs(w).T
        for rows, z in self.parts(K):
            z = z[:, used] if few else z
            S[rows] = z @ w.T + level
            terms = 0.5 * EPS * (self._filled(z, np.abs) @ size + np.abs(level)) + TINY
            errors[rows] = (min(self.longest, w.shape[1]) + 6) * terms.max(axis=1)
        sure = np.isfinite(S).all(axis=1) & np.isfinite(errors)
        return np.where(sure[:, None], S, 0.0), np.where(sure, errors, np.inf)

    def moments(self, A: Any) -> Moments:
        """Of slopes A (n, K), in one pass over the rows."""
        K, weight = A.shape[1], self.data.weight
        both, sizes, second = np.zeros((self.d, K + 1)), np.zeros((self.d, K + 1)), np.zeros(self.d)
        longest = count = 0
        for rows, z in self.parts(K):
            a, c = np.column_stack([A[rows], weight[rows]]), weight[rows]
            both += z.T @ a if self.sparse else tall_product(a, z).T
            sizes += self._filled(z, np.abs).T @ np.abs(a)
            second += self._filled(z, np.square).T @ c
            longest, count = max(longest, len(a)), count + 1
        depth = longest if self.sparse else roundings(longest)
        rounding, summing = (depth + count + K + 16) * EPS, (longest + count + 16) * EPS
        return Moments(both[:, :K].T, sizes[:, :K].T, sizes[:, K], both[:, K], second, rounding, summing)

    def _filled(self, z: Any, change: Any) -> Any:
        """The same rows with each entry changed, 0 into 0."""
        if not self.sparse:
            return change(z)
        other = z.copy()
        other.data = change(z.data)
        return other


@dataclass(frozen=True)
class Moments:
    """A'z (K, d) and |A|'|z|; and sums over the rows of c_i |z_ij|, c_i z_ij and c_i z_ij² (d,).

    ``rounding`` and ``summing`` bound the errors of the first, and of the others, in parts of the terms' sizes.
    """

    M: Any
    sizes: Any
    spread: Any
    first: Any
    second: Any
    rounding: float
    summing: float

    def lengths(self, total: float, free: bool) -> Any:
        """(sum_i c_i (z_ij - mean_j)²)^(1/2) at least, (d,); about 0 if b is not free."""
        square = np.maximum(self.second - self.first**2 / total, 0.0) if free else self.second
        return np.sqrt(square + 4.0 * self.summing * self.second) * (1.0 + 8 * EPS)


class Problem:
    """The data and weights of a claim."""

    def __init__(self, data: Data, certificate: Any) -> None:
        self.certificate = certificate
        self.W = np.asarray(certificate.coef, dtype=np.float64)
        self.b = np.asarray(certificate.intercept, dtype=np.float64)
        self.C, self.r = float(certificate.C), float(certificate.l1_ratio)
        self.free, self.loss = bool(certificate.fit_intercept), certificate.loss
        self.K, self.weight = len(self.W), data.weight
        self.Y = _targets(data.values, certificate, self.K)
        self.frame = Frame(data, self.free)

    def found(self) -> Found:
        """Both sides and the reach of the moments."""
        S, errors = self.frame.scores(self.W, self.b)
        primal, primal_error = self.primal(S, errors)
        W = self.W
        if self.certificate.dual_weights is not None:
            weights = np.asarray(self.certificate.dual_weights, dtype=np.float64)
            W = weights[:, :-1]
            S, _ = self.frame.scores(W, weights[:, -1])
        A, lost, value = self._log(S) if self.loss == "log" else self._margin(S)
        moments = self.frame.moments(A)
        moved = lost * (self.C * moments.spread if self.loss == "log" else moments.sizes)
        reach = np.abs(moments.M) + moments.rounding * moments.sizes + moved
        reach = (reach + TINY * len(A) * (1.0 + self.C)) * (1.0 + 8 * EPS)
        room = self.r + (1.0 - self.r) * np.abs(W)
        with np.errstate(all="ignore"):
            held = float(np.min(room / reach, initial=1.0)) * (1.0 - 8 * EPS)
        dual, dual_error, taken = 0.0, 0.0, 0.0  # losses and penalty are never negative
        for s in (held, 1.0) if self.r < 1.0 else (held,):
            if not 0.0 < s <= 1.0:  # NaN, where a moment is none
                continue
            gain, error = value(s)
            excess = np.maximum(s * reach - self.r, 0.0) if self.r < 1.0 else np.zeros(1)
            with np.errstate(all="ignore"):
                cost = float((excess * excess).sum()) / (2.0 * (1.0 - self.r)) if excess.any() else 0.0
            error = (error + SUMMED * (gain + cost)) * (1.0 + SUMMED)
            if gain - cost - error > dual - dual_error:
                dual, dual_error, taken = gain - cost, error, s
        bounds = Bounds(primal, primal_error, dual, dual_error)
        gap = primal + primal_error - (dual - dual_error)
        unknown = self.loss not in BALL or not taken > 0.0 or not gap < np.inf
        if unknown:
            return Found(bounds, np.full(self.W.shape, np.inf))
        lengths = moments.lengths(self.frame.total, self.free)
        radius = np.sqrt(BALL[self.loss] * max(gap, 0.0) * self.C)
        return Found(bounds, (taken * reach + radius * lengths) * (1.0 + 16 * EPS))

    def primal(self, S: Any, errors: Any) -> tuple[float, float]:
        """F, and how far rounding can take it."""
        if self.loss == "log":  # as `_logistic.Problem.primal` has it
            loss = losses(S, self.Y)
            others = -np.expm1(-loss) * (1.0 + 8 * EPS) * np.exp(2.0 * np.minimum(errors, 300.0))
            off = 2.0 * np.minimum(others, 1.0) * errors
        else:
            slack = np.maximum(0.0, 1.0 - self._signs * S[:, 0])
            errors = errors + EPS * slack
            squared = self.loss == "squared_hinge"
            loss, off = (slack**2, errors * (2.0 * slack + errors)) if squared else (slack, errors)
            off = np.where(slack + errors > 0.0, off, 0.0)
        value = self.C * fsum((self.weight * loss).tolist())
        sizes = np.abs(self.W)
        penalty = self.r * float(sizes.sum()) + 0.5 * (1.0 - self.r) * float((sizes * sizes).sum())
        rounding = self.C * float((self.weight * (off + TINY)).sum())
        rounding += (SUMMED + self.K * EPS) * value + (SUMMED + len(sizes) * EPS) * penalty
        return value + penalty, rounding * (1.0 + SUMMED) + TINY

    @property
    def _signs(self) -> Any:
        return 2.0 * self.Y[:, 0] - 1.0

    def _log(self, S: Any) -> tuple[Any, float, Callable[[float], tuple[float, float]]]:
        """Slopes C c_i (P_i - Y_i): the probabilities mixed with a constant prediction so that they sum to 0.

        They do so up to rounding; a further mixture, of a share eta, would make it exact. It moves each P_ik by eta at
        most and leaves 1 - eta of the entropy, for that is concave. Also what a value of s takes of the entropies.
        """
        weight, Y, total = self.weight, self.Y, self.frame.total
        R, share = residuals(S, Y), weight @ Y / total
        theta, constant = mixture(share, weight @ R / total) if self.free else (0.0, share)
        if theta > 0.0:
            R = (1 - theta) * R + theta * (constant - Y)
        R, own = _feasible(R, Y)
        A = (self.C * weight)[:, None] * R
        eta = 0.0
        if self.free:
            left = np.array([abs(fsum(a.tolist())) for a in A.T])
            left = (left + (self.K + 8) * EPS * np.abs(A).sum(axis=0)) / (self.C * total)
            least = np.minimum(share, 1.0 - share) if self.K == 1 else share
            with np.errstate(all="ignore"):
                eta = float(np.max(left / (left + least))) * (1.0 + 1e-6)

        def value(s: float) -> tuple[float, float]:
            entropy, slip = _entropy(s * R, Y, s * own)
            gain = self.C * fsum((weight * entropy).tolist())
            error = self.C * float((weight * slip).sum()) + (SUMMED + eta) * gain
            return gain, error if eta < 1.0 else np.inf

        return A, eta, value

    def _margin(self, S: Any) -> tuple[Any, float, Callable[[float], tuple[float, float]]]:
        """Slopes -y_i a_i, a_i = 2 C c_i max(0, 1 - y_i s_i) or as stated, the heavier class scaled down to the other.

        What is left of the sum, over the weight of the heavier one, is the share that would make it exact.
        """
        y, bound = self._signs, self.C * self.weight
        if self.loss == "hinge":
            a = np.clip(np.asarray(self.certificate.multipliers, dtype=np.float64), 0.0, bound)
        else:
            a = 2.0 * bound * np.maximum(0.0, 1.0 - y * S[:, 0])
        lost = 0.0
        if self.free:
            sides = [fsum(a[y > 0].tolist()), fsum(a[y < 0].tolist())]
            light, heavy = min(sides), max(sides)
            if heavy > 0.0:
                a = np.where((y > 0) == (sides[0] == heavy), a * (light / heavy), a)
                lost = abs(fsum((y * a).tolist())) / max(0.5 * float(a.sum()), TINY) * (1.0 + 1e-6)

        def value(s: float) -> tuple[float, float]:
            gain = s * fsum(a.tolist())
            error = (SUMMED + lost) * gain
            if self.loss == "hinge":
                return gain, error
            paid = s * s * fsum((a * (a / bound)).tolist()) / 4.0
            return gain - paid, error + SUMMED * paid

        return (-y * a)[:, None], lost, value


def _targets(values: Any, certificate: Any, K: int) -> Any:
    """Ones and zeros (n, K); of two classes one column, of the positive one."""
    if certificate.task is not None:
        return np.asarray(values[:, certificate.task], dtype=np.float64)[:, None]
    if certificate.positive is not None:
        return (values == certificate.positive).astype(np.float64)[:, None]
    return (values[:, None] == np.arange(K)).astype(np.float64)
