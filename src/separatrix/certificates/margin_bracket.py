"""The best margin of any hyperplane through the origin, bracketed from both sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.certificates._data import EPS, read
from separatrix.certificates.base import Certificate, Check, Verification


@dataclass(frozen=True, eq=False)
class MarginBracket(Certificate):
    """lower <= max over ‖v‖ = 1 of min_i v.z_i <= upper, where z_i = y_i (x_i, 1), or y_i x_i without intercept.

    From below by a direction v: its own smallest v.z_i. From above by a point of the convex hull of the z_i: for any
    unit v, min_i v.z_i <= sum_i alpha_i v.z_i <= ‖sum_i alpha_i z_i‖.

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
        v, of any length.
    points : integer array
        The rows of the convex combination (rows of weight 0 not counted).
    alpha : array
        Their weights: not negative, of any positive sum.
    """

    classes: Any
    positive: int
    fit_intercept: bool
    lower: float
    upper: float
    direction: Any
    points: Any
    alpha: Any

    @property
    def claim(self) -> str:
        """What is claimed, in one sentence."""
        space = "(x, 1)" if self.fit_intercept else "x"
        return f"The best margin of a hyperplane in the space of {space} is from {self.lower:.6g} to {self.upper:.6g}."

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        data = read(X, y, sample_weight, self.classes, None)
        v = np.asarray(self.direction, dtype=np.float64)
        v = v / np.abs(v).max() if v.any() else v
        length = float(np.linalg.norm(v)) or 1.0
        w, b = (v[:-1], v[-1]) if self.fit_intercept else (v, 0.0)
        lower, size = np.inf, 0.0
        for x, codes, _ in data.blocks():
            y_i = np.where(codes == self.positive, 1.0, -1.0)
            lower = min(lower, float((y_i * (x @ w + b)).min()))
            size = max(size, float((np.abs(x) @ np.abs(w) + abs(b)).max()))
        lower, rounding = lower / length, (len(v) + 8) * EPS * size / length

        points, alpha = np.asarray(self.points, dtype=np.intp), np.asarray(self.alpha, dtype=np.float64)
        alpha = alpha / alpha.sum()
        chosen = data.X[points]
        chosen = np.asarray(chosen.toarray() if hasattr(chosen, "toarray") else chosen, dtype=np.float64)
        signs = np.where(data.values[points] == self.positive, 1.0, -1.0)
        z = signs[:, None] * (np.column_stack([chosen, np.ones(len(chosen))]) if self.fit_intercept else chosen)
        upper = float(np.linalg.norm(alpha @ z))
        noise = (len(alpha) + 8) * EPS * float(np.linalg.norm(alpha @ np.abs(z)))
        return Verification(
            (
                Check("negative weight in the convex combination", float(max(0.0, -alpha.min()))),
                Check("lower bound above the direction's own margin, by", self.lower - lower, 0.0, rounding),
                Check("upper bound below the point of the hull, by", upper - self.upper, 0.0, noise),
            )
        )
