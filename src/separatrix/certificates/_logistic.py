"""The logistic objective and lower bounds on its minimum, recomputed from the rows, each with what rounding can do."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from itertools import chain
from math import fsum
from typing import Any

import numpy as np

from separatrix.certificates._data import ALLOWED, EPS, TINY, Data
from separatrix.certificates._row_basis import ENTRIES, over
from separatrix.certificates._sums import halves
from separatrix.certificates.base import Check

SUMMED = 64 * EPS  # of the sum of the terms' sizes: what pairwise sums and a few roundings of each term can lose


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


def check_gap(found: Bounds, certificate: Any) -> list[Check]:
    """Primal and bound as stated, the gap within what is claimed, and rounding a small part of it."""
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
    if certificate.bound == "fenchel":
        found = problem.both_sides()
    else:
        from separatrix.certificates._decrement import decrement

        primal, error = problem.primal()
        found = Bounds(primal, error, primal - decrement(problem), error)
    useful = found.dual - found.dual_error > 0.0  # losses and penalty are never negative
    return found if useful else replace(found, dual=0.0, dual_error=0.0)


class Problem:
    """The data and weights of a claim; scores are computed about a row amid the others, where they do not cancel."""

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
        self.centre = data.amid() if self.free else np.zeros(self.d)
        self.level = levels(self.centre, self.W, self.b)

    def pieces(self, width: int = 1) -> Any:
        """x, targets Y (m, K), weights, scores and a bound on their error (m,), inf where they overflow."""
        for x, values, weight in self.data.blocks(ENTRIES, max(self.K, width)):
            yield x, targets(values, self.K, self.task), weight, *self.scores(x)

    def scores(self, x: Any) -> tuple[Any, Any]:
        """Of some rows, and a bound on their error (m,), inf where they overflow."""
        z, size = x - self.centre, np.abs(self.W).T
        S = z @ self.W.T + self.level
        error = (self.d + 6) * (0.5 * EPS * (np.abs(z) @ size + np.abs(self.level)) + TINY).max(axis=1)
        sure = np.isfinite(S).all(axis=1) & np.isfinite(error)
        return np.where(sure[:, None], S, 0.0), np.where(sure, error, np.inf)

    def _claim(self) -> Problem:
        """The same without the data, to be sent to where they are."""
        claim = copy(self)
        claim.data = None  # type: ignore[assignment]
        return claim

    def primal(self) -> tuple[float, float]:
        """F, and how far rounding can take it."""
        return self._objective([self._losses(Y, weight, S, error) for _, Y, weight, S, error in self.pieces()])

    def _losses(self, Y: Any, weight: Any, S: Any, error: Any) -> tuple[float, float]:
        loss, off = losses_between(S, Y, error)
        return float((weight * loss).sum()), float((weight * (off + TINY)).sum())

    def _objective(self, parts: list[tuple[float, float]]) -> tuple[float, float]:
        values, errors = zip(*parts, strict=True)
        value = self.C * fsum(values)
        penalty = 0.5 * float((self.W**2).sum()) if self.penalised else 0.0
        rounding = self.C * fsum(errors) + (SUMMED + self.K * EPS) * value + SUMMED * penalty
        return value + penalty, rounding * (1.0 + SUMMED) + TINY

    def both_sides(self) -> Bounds:
        """F and C sum c_i entropy(Y_i + R_i) - 1/2 ‖C sum c_i R_i (x_i - centre)'‖² - C ‖sum c_i R_i‖₁ B, in one pass.

        The latter bounds min F for any R with probabilities Y + R, here the fit's residuals mixed with those of a
        constant prediction so that the sum of R is 0 up to rounding; as computed, so that the scores' errors do not
        matter. B bounds the scores of the centre at weights with F no larger than here: see `after_spill`. The pass
        sums up c_i R_i z_i', c_i Y_i z_i' and c_i z_i', of which the moment of any mixture is made.
        """
        K, sums = self.K, np.zeros(2 * self.K)
        moments, sizes = np.zeros((2 * K + 1, self.d)), np.zeros((2 * K + 1, self.d))
        R, done, parts, lengths, known = np.empty((len(self.data.weight), K)), 0, [], [], True
        for loss, r, moment, size, summed, sure in over(self.data, _sides, K, self._claim()):
            rows = slice(done, done + len(r))
            R[rows] = r
            parts.append(loss)
            moments += moment
            sizes += size
            sums += summed
            known &= sure
            lengths.append(len(r))
            done = rows.stop
        primal, primal_error = self._objective(parts)
        share = sums[K:]
        theta, constant = mixture(share, sums[:K]) if self.free else (0.0, share)
        if K > 1:
            constant = constant / constant.sum()
        moment = (1 - theta) * moments[:K] + theta * (constant[:, None] * moments[-1] - moments[K:-1])
        reach = (1 - theta) * sizes[:K] + theta * (constant[:, None] * sizes[-1] + sizes[K:-1])
        entropy, lost, spilled, taken = self._mixed(R, theta, constant, lengths)
        if self.reference:
            moment[-1] = reach[-1] = 0.0  # the last class has no weights of its own to pay for
        longest, count = max(lengths), len(lengths)
        # of the sums, and of R_i itself: mixed, and made probabilities, it is some roundings off the mixture
        rounding = (roundings(longest) + count + 16 * K + 32) * EPS
        with np.errstate(all="ignore"):
            pull = self.C * np.abs(moment)
            off = self.C * (rounding * reach + TINY * len(R) * (1 + self.d))
            square = float((pull * pull).sum())
            dual = self.C * entropy - 0.5 * square
            error = self.C * ((lost if known else np.inf) + SUMMED * entropy) + SUMMED * square
            error += float((off * (pull + 0.5 * off)).sum())
            if self.free:
                spilled += (count + K + 4) * EPS * taken
                share = self._shares(share)
                centres = class_centres(share, moments[K:], self.total, (longest + count + 16) * EPS * sizes[-1])
                most = primal + primal_error
                # of the dual less its error, which is what the minimum is at least
                dual = after_spill(dual - error, self.C * spilled, self.C * self.total, *centres, most, self.W) + error
        return Bounds(primal, primal_error, dual, (error + SUMMED * abs(dual)) * (1.0 + SUMMED))

    def _shares(self, share: Any) -> Any:
        """The share of each class in the weights: of two, that of the negative one is summed up, as it may be tiny."""
        if self.K > 1:
            return share
        Y = targets(self.data.values, 1, self.task)[:, 0]
        return np.append(share, float(self.data.weight[Y == 0].sum()) / self.total)

    def _mixed(self, R: Any, theta: float, constant: Any, lengths: list[int]) -> tuple[float, float, float, float]:
        """sum c_i entropy(Y_i + R_i) of mixed residuals and its rounding, ‖sum c_i R_i‖₁, and the sum of |c_i R_i|."""
        entropies, lost, left, taken, stop = [], [], [], 0.0, 0
        for m in lengths:
            rows = slice(stop, stop + m)
            stop, mixed, weight = rows.stop, R[rows], self.data.weight[rows]
            Y = targets(self.data.values[rows], self.K, self.task)
            if theta > 0.0:
                mixed = (1 - theta) * mixed + theta * (constant - Y)
            mixed, own = feasible(mixed, Y)
            entropy, slip = entropy_of(mixed, Y, own)
            entropies.append(float((weight * entropy).sum()))
            lost.append(float((weight * slip).sum()))
            c = weight[:, None] * mixed
            left.append([fsum(column) for column in c.T.tolist()])
            taken += float(np.abs(c).sum())
        return fsum(entropies), fsum(lost), float(np.abs(np.sum(left, axis=0)).sum()), taken


def _sides(x: Any, values: Any, weight: Any, claim: Problem) -> tuple[Any, ...]:
    """Of some rows: losses, residuals R, the moments of R, Y and 1, their sizes, sums, and whether all are known."""
    Y, (S, error) = targets(values, claim.K, claim.task), claim.scores(x)
    R, z = residuals(S, Y), x - claim.centre
    columns = np.column_stack([R, Y, np.ones(len(x))]) * weight[:, None]
    moments, sizes = tall_product(columns, z), np.abs(columns).T @ np.abs(z)
    sums = weight @ np.hstack([R, Y]) / claim.total
    return claim._losses(Y, weight, S, error), R, moments, sizes, sums, bool(np.isfinite(error).all())


def targets(values: Any, K: int, task: int | None, positive: Any = 1) -> Any:
    """Ones and zeros (m, K): a column of a 0/1 matrix, the positive one of two classes, or a column for each class."""
    if task is not None:
        return np.asarray(values[:, task], dtype=np.float64)[:, None]
    return (values[:, None] == (np.arange(K) if K > 1 else positive)).astype(np.float64)


def class_centres(share: Any, sums: Any, total: float, slack: Any) -> tuple[Any, Any]:
    """The share of each class in the weights, and how far its mean row is from the centre at most, in each column.

    ``sums`` (K + 1, d) are those of each class and of all rows about the centre, each off by at most ``slack`` (d,);
    of two classes (2, d), those of the positive one and of all rows.
    """
    if len(sums) == 2:
        sums = np.vstack([sums[0], sums[1] - sums[0]])
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
    parts = [[(x * y).tolist() for x in halves(centre) for y in halves(w)] for w in W]  # without a rounding error
    return np.array([fsum([float(one), *chain(*part)]) for part, one in zip(parts, b, strict=True)])


def tall_product(a: Any, b: Any) -> Any:
    """a' b for tall arrays (m, k) and (m, d), in about sqrt(m) parts, so that errors do not add up over all m."""
    step = max(1, int(np.sqrt(len(a))))
    whole = len(a) // step * step
    parts = a[:whole].reshape(-1, step, a.shape[1]).transpose(0, 2, 1) @ b[:whole].reshape(-1, step, b.shape[1])
    return parts.sum(axis=0) + a[whole:].T @ b[whole:]


def roundings(m: int) -> float:
    """How many a sum of `tall_product` takes, one after the other."""
    return 2.0 * float(np.sqrt(m)) + 4.0


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


def losses_between(S: Any, Y: Any, error: Any) -> tuple[Any, Any]:
    """The losses, and how far scores that are off by ``error`` (m,) can take them.

    A change of the scores by e changes a loss by at most 2 e times the probability of the other classes, and that,
    meanwhile, grows by at most exp(2 e).
    """
    loss = losses(S, Y)
    others = -np.expm1(-loss) * (1.0 + 8 * EPS) * np.exp(2.0 * np.minimum(error, 300.0))
    return loss, 2.0 * np.minimum(others, 1.0) * error


def sigma(S: Any) -> Any:
    """1 / (1 + exp(-S)), without overflow."""
    e = np.exp(-np.abs(S))
    return np.where(S >= 0, 1.0, e) / (1.0 + e)


def probabilities(S: Any) -> Any:
    """sigma(S), or softmax of each row."""
    if S.shape[1] == 1:
        return sigma(S)
    P = np.exp(S - S.max(axis=1, keepdims=True))
    return P / P.sum(axis=1, keepdims=True)


def residuals(S: Any, Y: Any) -> Any:
    """P - Y, without the cancellation where a row is far on its own side."""
    if S.shape[1] == 1:
        sign = 2 * Y - 1
        return -sign * probabilities(-sign * S)
    P = probabilities(S)
    return np.where(Y == 1, -(P * (Y == 0)).sum(axis=1, keepdims=True), P)


def feasible(R: Any, Y: Any) -> tuple[Any, Any]:
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


def entropy_of(R: Any, Y: Any, own: Any) -> tuple[Any, Any]:
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
