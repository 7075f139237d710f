"""The logistic objective and lower bounds on its minimum, recomputed from the rows, each with what rounding can do."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import Any

import numpy as np

from separatrix.certificates._data import ALLOWED, EPS, Data
from separatrix.certificates._row_basis import TINY, pieces
from separatrix.certificates.base import Check

SUMMED = 64 * EPS  # of the sum of the terms' sizes: what pairwise sums and a few roundings of each term can lose
SPLIT = 134217729.0  # 2**27 + 1: the upper half of the bits of a float, by Dekker


@dataclass(frozen=True)
class Bounds:
    """F at the weights and a lower bound on its minimum, each up to an error."""

    primal: float
    primal_error: float
    dual: float
    dual_error: float

    @property
    def error(self) -> float:
        """Of the gap."""
        return self.primal_error + self.dual_error


def check_logistic(data: Data, certificate: Any) -> list[Check]:
    """Primal and bound as stated, the gap within what is claimed, and rounding a small part of it."""
    found = bounds(data, certificate)
    scale = max(abs(certificate.primal), TINY)
    allowed = ALLOWED * certificate.tol * scale
    return [
        Check("primal as stated, off by", abs(found.primal - certificate.primal), allowed, found.primal_error),
        Check("stated lower bound above the bound, by", certificate.dual - found.dual, 0.0, found.dual_error),
        Check("stated lower bound above the primal, by", certificate.dual - certificate.primal),
        Check("relative gap", (certificate.primal - certificate.dual) / scale, certificate.tol),
        Check("rounding in these checks", found.error, allowed),
    ]


def bounds(data: Data, certificate: Any) -> Bounds:
    """The objective and the bound that the certificate names; a bound that says nothing is 0, which is exact."""
    problem = Problem(data, certificate)
    primal, error = problem.primal()
    if certificate.bound == "fenchel":
        dual, dual_error = problem.fenchel(primal + error)
    else:
        from separatrix.certificates._decrement import decrement

        dual, dual_error = primal - decrement(problem), error
    if not dual - dual_error > 0.0:  # losses and penalty are never negative
        dual = dual_error = 0.0
    return Bounds(primal, error, dual, dual_error)


class Problem:
    """The data and weights of a claim; scores are computed about the mean row, where they do not cancel."""

    def __init__(self, data: Data, certificate: Any) -> None:
        self.data = data
        self.W = np.asarray(certificate.coef, dtype=np.float64)
        self.b = np.asarray(certificate.intercept, dtype=np.float64)
        self.penalised = bool(np.isfinite(certificate.C))
        self.C = float(certificate.C) if self.penalised else 1.0
        self.free, self.task = bool(certificate.fit_intercept), certificate.task
        self.K, self.d = self.W.shape
        self.reference = bool(certificate.reference) and self.K > 1
        self.total = float(data.weight.sum())
        self.centre = np.zeros(self.d)
        if self.free:
            self.centre = sum((c @ x for x, _, c in data.blocks()), np.zeros(self.d)) / self.total
        self.level = levels(self.centre, self.W, self.b)

    def pieces(self, width: int = 1) -> Any:
        """x, targets Y (m, K), weights, scores and a bound on their error (m,), inf where they overflow."""
        size = np.abs(self.W).T
        for x, values, weight in pieces(self.data, max(self.K, width)):
            z = x - self.centre
            S = z @ self.W.T + self.level
            error = (self.d + 6) * (0.5 * EPS * (np.abs(z) @ size + np.abs(self.level)) + TINY).max(axis=1)
            sure = np.isfinite(S).all(axis=1) & np.isfinite(error)
            yield x, self._targets(values), weight, np.where(sure[:, None], S, 0.0), np.where(sure, error, np.inf)

    def _targets(self, values: Any) -> Any:
        """Ones and zeros; for two classes one column, of the positive class."""
        if self.task is None:
            return (values[:, None] == (np.arange(self.K) if self.K > 1 else np.array([1]))).astype(np.float64)
        column = values[:, self.task]
        if not ((column == 0) | (column == 1)).all():
            raise ValueError("y must be a matrix of zeros and ones.")
        return np.asarray(column, dtype=np.float64)[:, None]

    def primal(self) -> tuple[float, float]:
        """F, and how far rounding can take it.

        A change of the scores by e changes a loss by at most 2 e times the probability q of the other classes, and
        that, meanwhile, grows by at most exp(2 e).
        """
        values, errors = [], []
        for _, Y, weight, S, error in self.pieces():
            loss = losses(S, Y)
            values.append(float((weight * loss).sum()))
            others = -np.expm1(-loss) * (1.0 + 8 * EPS) * np.exp(2.0 * np.minimum(error, 300.0))
            errors.append(float((weight * (2.0 * np.minimum(others, 1.0) * error + TINY)).sum()))
        value = self.C * fsum(values)
        penalty = 0.5 * float((self.W**2).sum()) if self.penalised else 0.0
        rounding = self.C * fsum(errors) + (SUMMED + self.K * EPS) * value + SUMMED * penalty
        return value + penalty, rounding * (1.0 + SUMMED) + TINY

    def fenchel(self, most: float) -> tuple[float, float]:
        """C sum c_i entropy(Y_i + R_i) - 1/2 ‖C sum c_i R_i (x_i - centre)'‖² - C ‖sum c_i R_i‖₁ B, and its rounding.

        This bounds min F for any R with probabilities Y + R, here the fit's residuals mixed with those of a
        constant prediction so that the sum of R is 0 up to rounding; as computed, so that the scores' errors do not
        matter. B bounds the scores of the centre at weights with F <= most: see `after_spill`.
        """
        share, spill = np.zeros(self.K), np.zeros(self.K)
        for _, Y, weight, S, _ in self.pieces():
            share += weight @ Y / self.total
            spill += weight @ residuals(S, Y) / self.total
        theta, constant = mixture(share, spill) if self.free else (0.0, share)
        entropies, lost = [], []
        moment, sizes, means, left = np.zeros_like(self.W), np.zeros_like(self.W), np.zeros((self.K + 1, self.d)), []
        spread, taken = np.zeros(self.d), 0.0
        longest = count = 0
        for x, Y, weight, S, error in self.pieces():
            R = residuals(S, Y)
            if theta > 0.0:
                R = (1 - theta) * R + theta * (constant - Y)
            R, own = _feasible(R, Y)
            entropy, slip = _entropy(R, Y, own)
            entropies.append(float((weight * entropy).sum()))
            lost.append(float((weight * slip).sum()) if np.isfinite(error).all() else np.inf)
            z, c = x - self.centre, weight[:, None] * R
            moment += tall_product(c, z)
            sizes += np.abs(c).T @ np.abs(z)
            means[:-1] += (weight[:, None] * Y).T @ z
            means[-1] += weight @ z
            spread += weight @ np.abs(z)
            left.append([fsum(column) for column in c.T.tolist()])
            taken += float(np.abs(c).sum())
            longest, count = max(longest, len(x)), count + 1
        rounding = (roundings(longest) + count + self.K + 16) * EPS
        if self.reference:
            moment[-1] = sizes[-1] = 0.0  # the last class has no weights of its own to pay for
        with np.errstate(all="ignore"):
            pull = self.C * np.abs(moment)
            off = self.C * (rounding * sizes + TINY * len(self.data.weight) * (1 + self.d))
            square = float((pull * pull).sum())
            dual = self.C * fsum(entropies) - 0.5 * square
            error = self.C * (fsum(lost) + SUMMED * fsum(entropies)) + SUMMED * square
            error += float((off * (pull + 0.5 * off)).sum())
            if self.free:
                spilled = float(np.abs(np.sum(left, axis=0)).sum()) + (count + self.K + 4) * EPS * taken
                centres = class_centres(share, means, self.total, (longest + count + 16) * EPS * spread)
                # of the dual less its error, which is what the minimum is at least
                dual = after_spill(dual - error, self.C * spilled, self.C * self.total, *centres, most, self.W) + error
        return dual, (error + SUMMED * abs(dual)) * (1.0 + SUMMED)


def class_centres(share: Any, sums: Any, total: float, slack: Any) -> tuple[Any, Any]:
    """The share of each class in the weights, and how far its mean row is from the centre at most, in each column.

    ``sums`` (K + 1, d) are those of each class and of all rows about the centre, each off by at most ``slack`` (d,).
    """
    if len(share) == 1:
        share, sums = np.append(share, 1.0 - share), np.vstack([sums[0], sums[1] - sums[0]])
    with np.errstate(divide="ignore", invalid="ignore"):
        return share, (np.abs(sums[: len(share)]) + slack) / (total * share[:, None])


def after_spill(dual: float, spilled: float, weight: float, share: Any, apart: Any, most: float, W: Any) -> float:
    """dual - spilled B: what is left of a dual value if residuals do not sum to 0, which changes F by at most that.

    B bounds |b'_a - b'_c| for the scores b' of the centre (b'_c = 0 for two classes) at the best weights. By Jensen,
    C c_y (s_a - s_y) <= F for the scores s of the mean row of class y, of the weight c_y. From there to the centre a
    difference of scores changes by what it does for these weights W, and by at most sqrt(2) times the distance times
    how far the best weights are from W: the square root of twice the gap. So a bound makes a better one.
    """
    if not (share > 0).all():
        return float("-inf")
    least = float("-inf")
    with np.errstate(all="ignore"):
        known = 2.0 * (apart @ np.abs(W).T).max(axis=1) + most / (weight * share)
        distance = np.sqrt(2.0 * (apart * apart).sum(axis=1))
        gap = most
        for _ in range(8):
            level = float((known + np.sqrt(2.0 * gap) * distance).max())
            least = max(least, dual - 1.001 * spilled * level) if np.isfinite(level) else least
            gap = min(gap, most - least)
    return least


def levels(centre: Any, W: Any, b: Any) -> Any:
    """W centre + b, correctly rounded."""
    return np.array([fsum([float(one), *_products(centre, w)]) for w, one in zip(W, b, strict=True)])


def tall_product(a: Any, b: Any) -> Any:
    """a' b for tall arrays (m, k) and (m, d), in about sqrt(m) parts, so that errors do not add up over all m."""
    step = max(1, int(np.sqrt(len(a))))
    whole = len(a) // step * step
    parts = a[:whole].reshape(-1, step, a.shape[1]).transpose(0, 2, 1) @ b[:whole].reshape(-1, step, b.shape[1])
    return parts.sum(axis=0) + a[whole:].T @ b[whole:]


def roundings(m: int) -> float:
    """How many a sum of `tall_product` takes, one after the other."""
    return 2.0 * float(np.sqrt(m)) + 4.0


def _products(a: Any, b: Any) -> Any:
    """Numbers whose exact sum is a.b: products of halves of the bits have no rounding error."""
    parts = []
    for values in (a, b):
        upper = SPLIT * values
        upper = upper - (upper - values)
        parts.append((upper, values - upper))
    return [p for x in parts[0] for y in parts[1] for p in (x * y).tolist()]


def losses(S: Any, Y: Any) -> Any:
    """-log P(y_i) for each row, as accurate where it is tiny: the logarithm of 1 + the others' share."""
    if S.shape[1] == 1:
        u = ((2 * Y - 1) * S)[:, 0]
        return np.maximum(-u, 0.0) + np.log1p(np.exp(-np.abs(u)))
    rows, top = np.arange(len(S)), S.argmax(axis=1)
    below = S - S[rows, top][:, None]
    shares = np.exp(below)
    shares[rows, top] = 0.0
    return np.log1p(shares.sum(axis=1)) - (below * Y).sum(axis=1)


def probabilities(S: Any) -> Any:
    """sigma(S), or softmax of each row."""
    if S.shape[1] == 1:
        e = np.exp(-np.abs(S))
        return np.where(S >= 0, 1.0, e) / (1.0 + e)
    P = np.exp(S - S.max(axis=1, keepdims=True))
    return P / P.sum(axis=1, keepdims=True)


def residuals(S: Any, Y: Any) -> Any:
    """P - Y, without the cancellation where a row is far on its own side."""
    if S.shape[1] == 1:
        sign = 2 * Y - 1
        return -sign * probabilities(-sign * S)
    P = probabilities(S)
    return np.where(Y == 1, -(P * (Y == 0)).sum(axis=1, keepdims=True), P)


def _feasible(R: Any, Y: Any) -> tuple[Any, Any]:
    """Residuals with Y + R between 0 and 1, and what they take from the row's own class (m,): the sum of the others."""
    K = R.shape[1]
    if K == 1:
        R = np.clip(R, -Y, 1.0 - Y)
        return R, np.abs(R[:, 0])
    others = np.where(Y == 1, 0.0, np.maximum(R, 0.0))
    own = others.sum(axis=1)
    shrink = np.where(own > 1.0 - 4 * K * EPS, (1.0 - 8 * K * EPS) / np.maximum(own, 1.0), 1.0)
    others *= shrink[:, None]
    own = own * shrink
    return np.where(Y == 1, -own[:, None], others), own


def _entropy(R: Any, Y: Any, own: Any) -> tuple[Any, Any]:
    """-sum_c P_c log P_c of P = Y + R for each row, and how far rounding can take it."""
    K = R.shape[1]
    others = own[:, None] if K == 1 else np.where(Y == 1, 0.0, R)
    value = -(others * np.log(np.where(others > 0, others, 1.0))).sum(axis=1)
    stays = np.clip(1.0 - own, 0.0, 1.0)
    logarithm = np.where(stays > 0, np.log1p(-np.minimum(own, 1.0 - 0.5 * EPS)), 0.0)
    value -= stays * logarithm
    unit = (K + 16) * EPS
    steep = -np.log(np.maximum(stays, unit))  # -t log t changes by at most |log t| + 1 times a change of t
    return value, unit * (value + own * (2.0 + steep)) + TINY


def mixture(share: Any, spill: Any) -> tuple[float, Any]:
    """The least theta and a constant prediction q with (1 - theta) spill + theta (q - share) = 0.

    q = share - spill (1 - theta) / theta must be probabilities: at least 0, and for one column at most 1.
    """
    room = np.where(spill > 0, share, (1.0 - share) if len(share) == 1 else np.inf)
    need = np.abs(spill)
    with np.errstate(divide="ignore", invalid="ignore"):
        theta = float(np.max(np.where(need > 0, need / (need + room), 0.0)))
    if theta == 0.0:
        return 0.0, share
    theta = min(1.0, 2.0 * theta)  # not at the edge, where entropy is steep
    return theta, share - spill * (1 - theta) / theta
