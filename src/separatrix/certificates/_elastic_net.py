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

from collections.abc import Callable
from dataclasses import dataclass
from math import fsum
from typing import Any

import numpy as np

from separatrix.certificates._data import ALLOWED, EPS, TINY, Data, exact_sum
from separatrix.certificates._exact_hinge import optimal_moments
from separatrix.certificates._frame import Frame
from separatrix.certificates._held import blocks_of
from separatrix.certificates._logistic import (
    SUMMED,
    Bounds,
    check_gap,
    entropy_of,
    feasible,
    losses_between,
    mixture,
    residuals,
    targets,
)
from separatrix.certificates._witness import worst_of
from separatrix.certificates.base import Check

BELOW = 1.0 - 2.0**-30  # of l1_ratio is what a moment may reach, all errors counted, if its weight is to be proved 0
Value = Callable[[float], tuple[float, float]]  # of s times the slopes, and how far rounding can take it
NEGLIGIBLE = 1e-3  # of the rounding that a check allows may come of bounds that cost nothing
SPARE = 0.1  # of the rounding that a check allows may be that of the dual point, which each storage has for itself
MADE = 100  # numbers that are made of a score on the way to its loss: those of a few rows at a time stay in cache
BALL = {"log": 0.5, "squared_hinge": 4.0}  # sum_i (A_ik - A*_ik)² / (C c_i) is at most this times the gap


@dataclass(frozen=True)
class Found:
    """Both sides, and how large the moments (K, d) of the best slopes can be; infinite where nothing is known.

    Of several claims about the same data also where both sides were taken, for mixtures of neighbours.
    """

    bounds: Bounds
    reach: Any
    ends: Ends | None = None


@dataclass(frozen=True, eq=False)
class Ends:
    """A claim's scores (n, K) and bounds on their errors (n,), and the dual point of the log loss that proved most.

    That is C c_i R_i, which takes ``own`` from the row's own class; the penalty's conjugate there is at most ``cost``,
    and a mixture of the share ``lost`` would make the slopes sum to 0 exactly. Rounding of the moments may have taken
    the share ``doubt`` of the losses. ``moments`` (K, d) are those of the slopes before they were made feasible.
    """

    scores: Any
    errors: Any
    R: Any
    own: Any
    cost: float
    lost: float
    doubt: float
    moments: Any


def check_elastic_net(data: Data, certificate: Any) -> list[Check]:
    """Primal and bound as stated, the gap within what is claimed, rounding a small part of it; and the zeros."""
    found = both_sides(data, certificate)
    reach = found.reach[np.asarray(certificate.zeros)] / certificate.l1_ratio
    zeros = worst_of("largest |x_j.a| of a weight proved 0, over l1_ratio", reach, BELOW, 0.0)
    return [*check_gap(found.bounds, certificate), zeros]


def both_sides(data: Data, certificate: Any, frame: Frame | None = None) -> Found:
    """F at the weights, and what the dual point of the certificate proves; claims about the same data share a frame."""
    return Problem(data, certificate, frame or Frame(data, bool(certificate.fit_intercept))).found()


class Problem:
    """The data and weights of a claim."""

    def __init__(self, data: Data, certificate: Any, frame: Frame) -> None:
        self.certificate = certificate
        self.W = np.asarray(certificate.coef, dtype=np.float64)
        self.b = np.asarray(certificate.intercept, dtype=np.float64)
        self.C, self.r = float(certificate.C), float(certificate.l1_ratio)
        self.free, self.loss = bool(certificate.fit_intercept), certificate.loss
        self.K, self.weight = len(self.W), data.weight
        self.Y = targets(data.values, self.K, certificate.task, certificate.positive)
        self.frame = frame

    def found(self) -> Found:
        """Both sides and the reach of the moments."""
        negligible = NEGLIGIBLE * ALLOWED * float(self.certificate.tol)
        S, errors = self.frame.scores(self.W, self.b, negligible)
        primal, primal_error = self.primal(S, errors)
        at = (S, errors) if self.frame.several else None
        del errors  # of all rows
        W = self.W
        if self.certificate.dual_weights is not None:
            weights = np.asarray(self.certificate.dual_weights, dtype=np.float64)
            W = weights[:, :-1]
            S, _ = self.frame.scores(W, weights[:, -1], negligible)
        A, lost, value, slopes = self._log(S) if self.loss == "log" else self._margin(S)
        steepest = self.C if self.loss == "log" else np.inf
        moments = self.frame.moments(A, steepest, negligible * self.r)
        moved = lost * (self.C * moments.columns.spread if self.loss == "log" else moments.sizes)
        reach = np.abs(moments.M) + moments.columns.rounding * moments.sizes + moved
        reach = (reach + TINY * len(A) * (1.0 + self.C)) * (1.0 + 8 * EPS)
        room = self.r + (1.0 - self.r) * np.abs(W)
        with np.errstate(all="ignore"):
            held = float(np.min(room / reach, initial=1.0)) * (1.0 - 8 * EPS)
            unrounded = float(np.min(room / np.abs(moments.M), initial=1.0))
        most = SPARE * ALLOWED * float(self.certificate.tol) * primal
        dual, dual_error, taken, paid, doubt = 0.0, 0.0, 0.0, 0.0, 0.0  # losses and penalty are never negative
        for s in (held, 1.0) if self.r < 1.0 else (held,):
            if not 0.0 < s <= 1.0:  # NaN, where a moment is none
                continue
            gain, error = value(s)
            cost, share = self._cost(s * reach), max(unrounded / s - 1.0, 0.0) if s == held else 0.0
            spare = gain * share + max(cost - self._cost(s * np.abs(moments.M)), 0.0)
            spare = min(spare + primal_error, most)  # the slopes are of scores that are known no better either
            error = (error + spare + SUMMED * (gain + cost + spare)) * (1.0 + SUMMED)
            if gain - cost + spare - error > dual - dual_error:
                dual, dual_error, taken, paid, doubt = gain - cost + spare, error, s, cost, spare / gain
        bounds = Bounds(primal, primal_error, dual, dual_error)
        gap = primal + primal_error - (dual - dual_error)
        if self.loss == "hinge":
            return Found(bounds, optimal_moments(self.frame.data, self._signs, self.certificate))
        unknown = not taken > 0.0 or not gap < np.inf
        ends = None
        if at is not None and slopes is not None:
            ends = Ends(*at, taken * slopes[0], taken * slopes[1], paid, lost, doubt, moments.M)
        if unknown or ends is not None:  # of several claims none is about zeros
            return Found(bounds, np.full(self.W.shape, np.inf), ends)
        lengths = moments.lengths(self.frame.total, self.free)
        radius = np.sqrt(BALL[self.loss] * max(gap, 0.0) * self.C)
        return Found(bounds, (taken * reach + radius * lengths) * (1.0 + 16 * EPS), ends)

    def _cost(self, pull: Any) -> float:
        """The conjugate of the penalty where the moments are so large; r itself is not exceeded if it is all of it."""
        excess = np.maximum(pull - self.r, 0.0)
        with np.errstate(all="ignore"):
            return float((excess * excess).sum()) / (2.0 * (1.0 - self.r)) if self.r < 1.0 and excess.any() else 0.0

    def mixed(self, share: float, first: Ends, C: float, last: Ends, C_last: float) -> Bounds:
        """Both sides of weights that are the share of the way from one claim's to another's, with C so as well.

        Scores are mixed as weights are, and so are dual points: what is feasible for two values of C is so for those
        between, and the conjugate of the penalty is convex. No row is read.
        """
        near, far = 1.0 - share, share
        S = near * first.scores + far * last.scores
        errors = near * first.errors + far * last.errors
        size = (near * np.abs(first.scores) + far * np.abs(last.scores)).max(axis=1)
        primal, primal_error = self.primal(S, errors + 4 * EPS * size)
        near, far = near * C / self.C, far * C_last / self.C
        R, own = near * first.R + far * last.R, near * first.own + far * last.own
        gain, error = self._entropies(R, own, max(first.lost, last.lost))
        cost, spare = (1.0 - share) * first.cost + share * last.cost, max(first.doubt, last.doubt) * gain
        error = (2.0 * error + spare + SUMMED * (gain + cost + spare)) * (1.0 + SUMMED)  # R itself is rounded here
        return Bounds(primal, primal_error + 8 * EPS * primal, gain - cost + spare, error)

    def primal(self, S: Any, errors: Any) -> tuple[float, float]:
        """F, and how far rounding can take it."""
        parts = [self._losses(rows, S[rows], errors[rows]) for rows in blocks_of(len(S), MADE * self.K)]
        values, off = (fsum(column) for column in zip(*parts, strict=True))
        value, sizes = self.C * values, np.abs(self.W)
        penalty = self.r * float(sizes.sum()) + 0.5 * (1.0 - self.r) * float((sizes * sizes).sum())
        rounding = self.C * off + (SUMMED + self.K * EPS) * value + (SUMMED + len(sizes) * EPS) * penalty
        return value + penalty, rounding * (1.0 + SUMMED) + TINY

    def _losses(self, rows: slice, S: Any, errors: Any) -> tuple[float, float]:
        """The sum of some losses, and how far the errors of their scores can take it."""
        if self.loss == "log":
            loss, off = losses_between(S, self.Y[rows], errors)
        else:
            slack = np.maximum(0.0, 1.0 - self._signs[rows] * S[:, 0])
            errors = errors + EPS * slack
            squared = self.loss == "squared_hinge"
            loss, off = (slack**2, errors * (2.0 * slack + errors)) if squared else (slack, errors)
            off = np.where(slack + errors > 0.0, off, 0.0)
        weight = self.weight[rows]
        return float((weight * loss).sum()), float((weight * (off + TINY)).sum())

    @property
    def _signs(self) -> Any:
        return 2.0 * self.Y[:, 0] - 1.0

    def _log(self, S: Any) -> tuple[Any, float, Value, tuple[Any, Any]]:
        """Slopes C c_i (P_i - Y_i): the probabilities mixed with a constant prediction so that they sum to 0.

        They do so up to rounding; a further mixture, of a share eta, would make it exact. It moves each P_ik by eta at
        most and leaves 1 - eta of the entropy, for that is concave.
        """
        weight, Y, total = self.weight, self.Y, self.frame.total
        R, share = residuals(S, Y), weight @ Y / total
        theta, constant = mixture(share, weight @ R / total) if self.free else (0.0, share)
        if theta > 0.0:
            R = (1 - theta) * R + theta * (constant - Y)
        R, own = feasible(R, Y)
        A = (self.C * weight)[:, None] * R
        eta = 0.0
        if self.free:
            left = np.array([abs(exact_sum(a)) for a in A.T])
            left = (left + (self.K + 8) * EPS * np.abs(A).sum(axis=0)) / (self.C * total)
            # not 1 - share, which rounding may make larger than a tiny share is
            least = np.minimum(share, weight @ (1.0 - Y) / total) if self.K == 1 else share
            with np.errstate(all="ignore"):
                eta = float(np.max(left / (left + least))) * (1.0 + 1e-6)

        return A, eta, lambda s: self._entropies(R, own, eta, s), (R, own)

    def _entropies(self, R: Any, own: Any, lost: float, s: float = 1.0) -> tuple[float, float]:
        """The dual value of C c_i s R_i without the penalty, and how far rounding and a mixture can take it."""
        gain = error = 0.0
        for rows in blocks_of(len(R), MADE * self.K):
            entropy, slip = entropy_of(s * R[rows], self.Y[rows], s * own[rows])
            gain += self.C * float((self.weight[rows] * entropy).sum())
            error += self.C * float((self.weight[rows] * slip).sum())
        return gain, error + (SUMMED + lost) * gain if lost < 1.0 else np.inf

    def _margin(self, S: Any) -> tuple[Any, float, Value, None]:
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
            sides = [exact_sum(a[y > 0]), exact_sum(a[y < 0])]
            light, heavy = min(sides), max(sides)
            if heavy > 0.0:
                a = np.where((y > 0) == (sides[0] == heavy), a * (light / heavy), a)
                lost = abs(exact_sum(y * a)) / max(0.5 * float(a.sum()), TINY) * (1.0 + 1e-6)

        def value(s: float) -> tuple[float, float]:
            gain = s * exact_sum(a)
            error = (SUMMED + lost) * gain
            if self.loss == "hinge":
                return gain, error
            paid = s * s * exact_sum(a * (a / bound)) / 4.0
            return gain - paid, error + SUMMED * paid

        return (-y * a)[:, None], lost, value, None
