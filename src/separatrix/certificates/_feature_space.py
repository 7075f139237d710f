"""Two classes in the feature space of a kernel: sums over a certificate's points, with bounds on their rounding."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from separatrix.certificates._data import EPS, TINY, two_classes
from separatrix.certificates._held import blocks_of
from separatrix.certificates._kernels import (
    AT_ONCE,
    checked_kernel,
    count,
    indefiniteness,
    kernel_block,
    only,
    points_of,
    semidefinite_check,
)
from separatrix.certificates._margins import BALANCED, hull_bound, quotient_below, rational_kernel, root_between, whole
from separatrix.certificates._witness import positions, sides

CLOSE = 1e-7  # relative rounding of a bound from which on a rational kernel is computed without any
ENTRIES = 200_000  # kernel values that are computed without rounding, at most
LONG = 400  # factors of such a value, at most: columns times degree


class FeatureSpace:
    """The rows of two classes, their signs, and the certificate's points among them."""

    def __init__(self, owner: Any, X: Any, y: Any, sample_weight: Any) -> None:
        y = np.asarray(y).ravel()
        self.kernel = checked_kernel(owner.kernel)
        sides(owner)
        points = points_of(owner.kernel, X)
        if count(points) != len(y):
            raise ValueError(f"There are {count(points)} points and {len(y)} labels.")
        kept, self.signs, _ = two_classes(owner, y, len(y), sample_weight)
        self.points = only(owner.kernel, points, kept)
        self.support = positions(owner.points, "points", len(kept))
        indefinite, self.shift = indefiniteness(self.kernel, self.points, len(self.signs))
        self.kernel_check = semidefinite_check(indefinite, self.shift)

    def dot(self, coef: Any) -> tuple[Any, Any]:
        """sum_j coef_j k(x_i, x_j) for all rows i, and bounds on the rounding errors."""
        values, errors = np.empty(len(self.signs)), np.empty(len(self.signs))
        for part in blocks_of(len(values), len(self.support), AT_ONCE):
            rows = np.arange(part.start, part.stop)
            K, size, rounded = kernel_block(self.kernel, self.points, rows, self.support)
            values[rows] = K @ coef
            errors[rows] = (rounded + len(coef) + 4) * (EPS * (size @ np.abs(coef)) + TINY)
        return values, errors + self.shift * float(np.abs(coef).max())

    def margin(self, coef: Any, b: float) -> float:
        """A number that min_i y_i (sum_j coef_j k(x_j, x_i) + b) / ‖w‖ is not below."""
        f, error = self.dot(coef)
        scores = self.signs * (f + b)
        error = error + 2 * EPS * (np.abs(f) + abs(b))
        low = scores - error
        square, doubt = self._square(coef, f, error)
        if not np.isfinite(low).all():
            return -np.inf
        smallest = float(low.min())
        doubtful = np.flatnonzero(low <= float((scores + error).min()))
        close = doubt <= CLOSE * square and float(error[doubtful].max()) <= CLOSE * abs(smallest)
        exact = None if close else self._exact_margin(coef, b, low, doubtful)
        if exact is not None:
            return exact
        return quotient_below(smallest, math.sqrt(max(square - doubt, 0.0)), math.sqrt(max(square + doubt, 0.0)))

    def hull(self, alpha: Any, free: bool) -> float:
        """An upper bound on every margin, by sum_i alpha_i y_i phi(x_i): `hull_bound` with c at the origin."""
        alpha = np.ldexp(alpha, -int(np.frexp(alpha.max())[1]))
        if self.kernel.get("kernel") == "linear":
            return hull_bound(self.points, self.signs, self.support, alpha, 0.0, free)
        weights = alpha * self.signs[self.support]
        for _ in range(2 if free else 0):  # the smallest alpha_i that is large enough takes up what rounding left
            tilt = math.fsum(weights.tolist())
            able = np.flatnonzero(alpha > 4 * abs(tilt))
            if 0 < abs(tilt) <= BALANCED * float(alpha.sum()) and len(able):
                weights[able[np.argmin(alpha[able])]] -= tilt
                alpha = np.abs(weights)
        total = math.fsum(alpha.tolist()) * (1 - EPS)
        pull, error = self.dot(weights)
        square, doubt = self._square(weights, pull, error)
        root = math.sqrt(max(square, 0.0) + doubt) * (1 + 2 * EPS)
        if not doubt <= CLOSE * square:
            exact = self._exact_length(weights)
            root = root if exact is None else exact[1]
        tilt = abs(math.fsum(weights.tolist())) * (1 + EPS)
        bound = (root + (self._reach() * tilt if free and tilt else 0.0)) / total
        return float(bound * (1 + 8 * EPS) + TINY) if np.isfinite(bound) else np.inf

    def size(self) -> float:
        """About the largest ‖phi(x_i)‖."""
        largest = 0.0
        for part in blocks_of(len(self.signs), 1, 64):
            rows = np.arange(part.start, part.stop)
            K, _, _ = kernel_block(self.kernel, self.points, rows, rows)
            largest = max(largest, float(np.abs(K.diagonal()).max()))
        return math.sqrt(largest)

    def _square(self, coef: Any, values: Any, errors: Any) -> tuple[float, float]:
        """‖sum_j coef_j phi(x_j)‖², and a bound on its error."""
        at = self.support
        square = float(coef @ values[at])
        doubt = float(np.abs(coef) @ errors[at]) + (len(at) + 2) * EPS * float(np.abs(coef) @ np.abs(values[at]))
        return square, doubt * (1 + 1e-6) + self.shift * float(coef @ coef) + TINY

    def _reach(self) -> float:
        """A radius about the origin within which both classes have a point; infinite if one has none."""
        ends = [self.support[self.signs[self.support] == side] for side in (1.0, -1.0)]
        return max(self._length(int(end[0])) if len(end) else np.inf for end in ends)

    def _length(self, i: int) -> float:
        """‖phi(x_i)‖ from above."""
        K, size, rounded = kernel_block(self.kernel, self.points, np.array([i]), np.array([i]))
        return math.sqrt(abs(float(K[0, 0])) + rounded * EPS * float(size[0, 0]) + self.shift) * (1 + 2 * EPS)

    def _rational(self, rows: Any, coef: Any) -> list[Fraction] | None:
        """sum_j coef_j k(x_i, x_j) for the rows i, without rounding; None if the kernel or the work forbids it."""
        rational = self.kernel.get("kernel") in ("linear", "poly") and self.shift == 0
        if isinstance(self.points, list) or not rational:
            return None
        factors = self.points.shape[1] * max(1, int(self.kernel.get("degree", 1)))
        if len(rows) * len(self.support) > ENTRIES or factors > LONG:
            return None
        K, unit = rational_kernel(self.kernel, self.points[rows], self.points[self.support])
        numbers, coef_unit = whole(coef)
        return [Fraction(int(value)) * unit * coef_unit for value in K @ numbers]

    def _exact_length(self, coef: Any) -> tuple[float, float] | None:
        """Bounds on ‖sum_j coef_j phi(x_j)‖ as close as floats are."""
        sums = self._rational(self.support, coef)
        if sums is None:
            return None
        return root_between(sum((Fraction(c) * s for c, s in zip(coef.tolist(), sums, strict=True)), Fraction(0)))

    def _exact_margin(self, coef: Any, b: float, low: Any, doubtful: Any) -> float | None:
        """`margin` with the doubtful scores and the length computed without rounding, if the kernel allows it."""
        doubtful = doubtful[np.argsort(low[doubtful], kind="stable")][: max(1, ENTRIES // len(self.support))]
        length, scores = self._exact_length(coef), self._rational(doubtful, coef)
        if length is None or scores is None:
            return None
        values = np.array([float(score + Fraction(b)) for score in scores]) * self.signs[doubtful]
        low = low.copy()
        low[doubtful] = values - EPS * np.abs(values)
        return quotient_below(float(low.min()), *length)
