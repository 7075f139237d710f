"""The duality gap of a support vector machine, with its Karush-Kuhn-Tucker conditions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.certificates._data import EPS, read
from separatrix.certificates._kernels import indefiniteness, kernel_block, points_of, take
from separatrix.certificates.base import Check, Verification
from separatrix.certificates.duality_gap import DualityGap


@dataclass(frozen=True, eq=False)
class HingeGap(DualityGap):
    """dual <= min of 1/2 ‖w‖² + C sum_i c_i loss(y_i f(x_i)) <= primal, where f(x) = w.x + b.

    For "hinge", loss(m) = max(0, 1 - m): for any alpha with 0 <= alpha_i <= C c_i and (b being free) sum_i alpha_i y_i
    = 0, the minimum is at least sum_i alpha_i - 1/2 ‖sum_i alpha_i y_i x_i‖². For "squared_hinge", loss(m) =
    max(0, 1 - m)², alpha has no upper bound, and sum_i alpha_i² / (4 C c_i) is subtracted.

    Parameters
    ----------
    loss : str
        "hinge" or "squared_hinge".
    C : float
        Weight of the losses.
    classes : array of shape (k,)
        The labels.
    class_weight : array of shape (k,) or None
        The factor of each class in the weights c_i.
    positive, negative : int, and int or None
        Positions in `classes` of the labels with y_i = +1 and -1; None for all others. Rows of neither play no part.
    fit_intercept : bool
        Whether b is free.
    coef : array of shape (d,) or None
        w; None with a kernel.
    intercept : float
        b.
    kernel : dict or None
        Name and settings of the kernel; None for a hyperplane.
    points, alpha : arrays of shape (m,)
        The rows with alpha_i > 0, counted in the data as given, and their alpha_i.
    expansion : array of shape (m,) or None
        With a kernel, f(x) = sum_i expansion_i k(x_i, x) + b over the same points.
    primal, dual, tol : float
        As for every `DualityGap`.
    """

    loss: str
    C: float
    classes: Any
    class_weight: Any
    positive: int
    negative: int | None
    fit_intercept: bool
    coef: Any
    intercept: float
    kernel: Any
    points: Any
    alpha: Any
    expansion: Any

    @property
    def claim(self) -> str:
        """What is claimed, in one sentence."""
        power = "²" if self.loss == "squared_hinge" else ""
        return (
            f"1/2 ‖w‖² + {self.C:g} sum_i c_i max(0, 1 - y_i f(x_i)){power} is {self.primal:.10g} here, and at least "
            f"{self.dual:.10g} everywhere: a relative gap of {self.relative_gap:.1e}."
        )

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        part = self._part(X, y, sample_weight)
        squared = self.loss == "squared_hinge"
        scores, norm, pull, pull_norm, error = part.kernel_terms() if self.kernel is not None else part.linear_terms()
        margins = part.signs * (scores + self.intercept)
        slack = np.maximum(0.0, 1.0 - margins)
        losses = part.bound * (slack**2 if squared else slack)
        primal = 0.5 * norm + float(losses.sum())
        dual = float(part.alpha.sum()) - 0.5 * pull_norm
        if squared:
            dual -= float((part.alpha**2 / (4 * part.bound)).sum())
        n, total = len(margins), float(part.alpha.sum())
        near = margins - error < 1.0  # further off, rounding changes no loss
        rounding = float(part.bound[near] @ ((2 * slack + 1) * error)[near]) + n * EPS * (primal + total)
        rounding += 4 * EPS * norm + n * EPS * pull_norm + part.pull_rounding
        scale = max(abs(primal), np.finfo(np.float64).tiny)
        over = 0.0 if squared else float(np.maximum(0.0, part.alpha - part.bound).max(initial=0.0))
        balance = abs(float(part.signs @ part.alpha)) if self.fit_intercept else 0.0
        slackness = part.alpha * np.abs(margins - 1.0 + slack)
        tolerance = max(self.tol * scale, 0.0)
        # kernel values have one true value and many ways to round it: they are stated to a thousandth of tol
        stated = 1e-3 * tolerance if self.kernel is not None else 0.0
        return Verification(
            (
                Check("dual feasibility: alpha below 0 or outside the problem, by", part.below),
                Check("dual feasibility: alpha above C c_i, by", over, 0.0, 8 * EPS * float(part.bound.max())),
                Check("dual feasibility: sum of alpha_i y_i", balance, 0.0, 4 * n * EPS * total),
                Check("stationarity: ‖w - sum alpha_i y_i x_i‖² / 2", 0.5 * pull, tolerance, rounding),
                Check(
                    "complementary slackness, largest alpha_i (y_i f - 1 + xi_i)",
                    float(slackness.max(initial=0.0)),
                    tolerance,
                    rounding,
                ),
                Check("primal as stated, off by", abs(primal - self.primal), stated, rounding),
                Check("stated lower bound above the bound, by", self.dual - dual, stated + 1e-9 * tolerance, rounding),
                Check("relative gap", (primal - dual) / scale, self.tol, 2 * rounding / scale),
                *part.kernel_checks(),
            )
        )

    def _part(self, X: Any, y: Any, sample_weight: Any) -> _Part:
        """The rows of the two sides, with their signs, bounds C c_i, and alpha."""
        y = np.asarray(y).ravel()
        weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        weight = np.broadcast_to(weight, y.shape)
        points = np.asarray(self.points, dtype=np.intp)
        if points.size and (points.min() < 0 or points.max() >= len(y) or len(np.unique(points)) < len(points)):
            raise ValueError("The certificate's points are not rows of these data.")
        alpha = np.zeros(len(y))
        alpha[points] = self.alpha
        classes = np.asarray(self.classes)
        sides = (weight > 0) & (
            np.ones(len(y), dtype=bool)
            if self.negative is None
            else np.isin(y, classes[[self.positive, self.negative]])
        )
        kept = np.flatnonzero(sides)
        expansion = None
        if self.expansion is not None:
            expansion = np.zeros(len(y))
            expansion[points] = self.expansion
            expansion = expansion[kept]
        if self.kernel is None:
            rows = (X.tocsr() if hasattr(X, "tocsr") else np.asarray(X))[kept]
        else:
            rows = points_of(self.kernel, X)
            # of a precomputed kernel, the columns too
            precomputed = self.kernel.get("kernel") == "precomputed"
            rows = rows[kept][:, kept] if precomputed else take(rows, kept)
        numbered = rows if self.kernel is None else np.zeros((len(kept), 1))
        data = read(numbered, y[kept], weight[kept], classes, self.class_weight)
        signs = np.where(data.values == self.positive, 1.0, -1.0)
        below = max(0.0, -float(alpha.min(initial=0.0))) + float(np.abs(np.delete(alpha, kept)).sum())
        return _Part(self, data, rows, signs, float(self.C) * data.weight, alpha[kept], expansion, below)


class _Part:
    """Two sides of the data, and the sums over them that the check needs."""

    def __init__(
        self, owner: HingeGap, data: Any, rows: Any, signs: Any, bound: Any, alpha: Any, expansion: Any, below: float
    ) -> None:
        self.owner, self.data, self.rows, self.signs = owner, data, rows, signs
        self.bound, self.alpha, self.expansion, self.below = bound, alpha, expansion, below
        self.pull_rounding = 0.0

    def linear_terms(self) -> tuple[Any, float, float, float, Any]:
        """w.x_i, ‖w‖², ‖w - u‖² and ‖u‖² for u = sum alpha_i y_i x_i, and the rounding error of w.x_i + b.

        With a free intercept the sum is about a centre: as sum alpha_i y_i = 0, that changes nothing but the rounding.
        """
        w = np.asarray(self.owner.coef, dtype=np.float64)
        weights = self.signs * self.alpha
        centre = np.zeros(len(w))
        if self.owner.fit_intercept:
            centre = sum((c @ x for x, _, c in self.data.blocks()), np.zeros(len(w))) / self.data.weight.sum()
        scores, errors, u, size, first = [], [], np.zeros(len(w)), np.zeros(len(w)), 0
        for x, _, _ in self.data.blocks():
            part = weights[first : first + len(x)]
            first += len(x)
            scores.append(x @ w)
            errors.append((len(w) + 4) * EPS * (np.abs(x) @ np.abs(w) + abs(self.owner.intercept)))
            u += part @ (x - centre)
            size += np.abs(part) @ (np.abs(x - centre) + EPS * np.abs(x))
        self.pull_rounding = float(np.abs(u) @ (len(weights) * EPS * size)) + float(
            ((len(weights) * EPS * size) ** 2).sum()
        )
        return np.concatenate(scores), float(w @ w), float(((w - u) ** 2).sum()), float(u @ u), np.concatenate(errors)

    def kernel_terms(self) -> tuple[Any, float, float, float, Any]:
        """The same in feature space: w = sum e_i phi(x_i) and u = sum alpha_i y_i phi(x_i)."""
        weights, n = self.signs * self.alpha, len(self.signs)
        used = np.flatnonzero((weights != 0) | (self.expansion != 0))
        both = np.column_stack([self.expansion[used], weights[used]])
        values, errors = np.zeros((n, 2)), np.zeros((n, 2))
        step = max(1, 2_000_000 // max(len(used), 1))
        for first in range(0, n, step):
            rows = np.arange(first, min(first + step, n))
            K, size, rounded = kernel_block(self.owner.kernel, self.rows, rows, used)
            values[rows] = K @ both
            errors[rows] = EPS * (size @ np.abs(both)) * (rounded + len(used) + 4)
        gram = both.T @ values[used]
        self.pull_rounding = float(np.abs(both[:, 1]) @ (errors[used, 1] + len(used) * EPS * np.abs(values[used, 1])))
        pull = float(gram[0, 0] - gram[0, 1] - gram[1, 0] + gram[1, 1])
        error = errors[:, 0] + EPS * abs(self.owner.intercept)
        return values[:, 0], float(gram[0, 0]), pull, float(gram[1, 1]), error

    def kernel_checks(self) -> tuple[Check, ...]:
        """That the kernel is one, without which there is no lower bound."""
        if self.owner.kernel is None:
            return ()
        figure, shift = indefiniteness(self.owner.kernel, self.rows, len(self.signs))
        name = f"kernel matrix not positive semidefinite (or not tested), up to {shift:.1e} times the identity"
        return (Check(name, figure),)
