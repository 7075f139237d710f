"""The best margin of any hyperplane, bracketed from both sides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from separatrix.certificates._data import Data, read
from separatrix.certificates._margins import hull_bound, length_between, quotient_below, smallest_score
from separatrix.certificates._witness import flag, number, positions, shaped, sides
from separatrix.certificates.base import Certificate, Check, Verification

SPACES = ("homogeneous", "input")
LAST_DIGITS = 4e-12  # of a bound: what stating it after other sums than these may change; no sign, and no digit shown


def beyond(name: str, excess: float, proved: float) -> Check:
    """That a stated bound does not exceed what is proved by more than its last digits; nothing proved is a failure."""
    if not np.isfinite(proved):
        return Check(name, np.inf)
    return Check(name, excess, 0.0, LAST_DIGITS * abs(proved))


@dataclass(frozen=True, eq=False, repr=False)
class MarginBracket(Certificate):
    """lower <= max over ‖v‖ = 1 of min_i v.z_i <= upper, where z_i = y_i (x_i, 1), or y_i x_i without intercept.

    Or, in the space of the x_i themselves, lower <= max over ‖w‖ = 1 and b of min_i y_i (w.x_i + b) <= upper: the
    maximum margin.

    From below by a direction v: its own smallest v.z_i. From above by a point of the convex hull of the z_i: for any
    unit v, min_i v.z_i <= sum_i alpha_i v.z_i <= ‖sum_i alpha_i z_i‖. With b outside the norm the combination has
    to balance, sum_i alpha_i y_i = 0, and the bound is ‖sum_i alpha_i y_i x_i‖; what rounding leaves out of balance is
    added to it. Both bounds are computed so that rounding makes them worse and never wrong.

    Parameters
    ----------
    classes : array of shape (k,)
        The labels.
    positive : int
        Position in `classes` of the label with y_i = +1, all others being -1.
    fit_intercept : bool
        Whether z ends in y_i.
    lower, upper : float
        The bracket. A positive lower bound separates the classes.
    direction : array of shape (d + 1,) or (d,)
        v, of any length but 0.
    points : integer array
        The rows of the convex combination (rows of weight 0 not counted).
    alpha : array
        Their weights: not negative, of any positive sum.
    space : str
        "homogeneous", of the z_i; or "input", of the x_i, where b does not count into the norm.
    negative : int or None
        Position in `classes` of the label with y_i = -1 if rows of further classes play no part (and do not count
        among the points).
    """

    classes: Any
    positive: int
    fit_intercept: bool
    lower: float
    upper: float
    direction: Any
    points: Any
    alpha: Any
    space: str = "homogeneous"
    negative: int | None = None

    _names = (  # of the checks
        "negative weight in the convex combination",
        "lower bound above what the direction proves, by",
        "upper bound below what the hull proves, by",
    )

    @property
    def claim(self) -> str:
        """What is claimed, in one sentence."""
        space = "(x, 1)" if self.fit_intercept and self.space == "homogeneous" else "x"
        return f"The best margin of a hyperplane in the space of {space} is from {self.lower:.6g} to {self.upper:.6g}."

    @property
    def short(self) -> str:
        """What is claimed, in a few words."""
        if self.lower <= 0:
            return f"best margin at most {self.upper:.2g}"
        return f"best margin in [{self.lower:.3g}, {self.upper:.3g}]"

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        lower, upper = number(self.lower, "lower"), number(self.upper, "upper")
        least, most, more = self._proved(X, y, sample_weight)
        negative, above, below = self._names
        alpha = np.asarray(self.alpha, dtype=np.float64)
        checks = (
            Check(negative, float(max(0.0, -alpha.min()))),
            beyond(above, lower - least, least),
            beyond(below, most - upper, most),
            *more,
        )
        return Verification(checks)

    def stated(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """The same witnesses with the bounds that they prove about these data, rounded outward."""
        with np.errstate(all="ignore"):
            lower, upper, _ = self._proved(X, y, sample_weight)
        return replace(self, lower=lower, upper=upper)

    def _proved(self, X: Any, y: Any, sample_weight: Any) -> tuple[float, float, tuple[Check, ...]]:
        """Bounds on the best margin, of the direction from below and of the hull from above; and further checks."""
        intercept, (positive, negative) = flag(self.fit_intercept, "fit_intercept"), sides(self)
        if self.space not in SPACES:
            raise ValueError(f"The field 'space' must be one of {SPACES}, not {self.space!r:.80}.")
        data = read(X, y, sample_weight, self.classes, None)
        if negative is not None:
            kept = np.flatnonzero(np.isin(data.values, (positive, negative)))
            data = Data(data.X[kept], data.values[kept], data.weight[kept])
        n, d = data.X.shape
        signs = np.where(data.values == positive, 1.0, -1.0)
        points = positions(self.points, "points", n)
        alpha, v = shaped(self.alpha, "alpha", len(points)), shaped(self.direction, "direction", d + intercept)
        if not alpha.max() > 0:
            raise ValueError("The field 'alpha' must have a weight above 0.")
        free = intercept and self.space == "input"  # b is no part of the norm
        v = np.ldexp(v, -int(np.frexp(np.abs(v[:d] if free else v).max(initial=0.0))[1]))
        below, above = length_between(v[:d] if free else v)
        score = smallest_score(data, signs, v[:d], float(v[d]) if intercept else 0.0)
        upper = hull_bound(data.X, signs, points, np.maximum(alpha, 0.0), float(intercept), free)
        return quotient_below(score, below, above), upper, ()
