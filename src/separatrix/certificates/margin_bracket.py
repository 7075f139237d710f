"""The best margin of any hyperplane through the origin, bracketed from both sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.certificates._data import EPS, Data, read
from separatrix.certificates.base import Certificate, Check, Verification


@dataclass(frozen=True, eq=False)
class MarginBracket(Certificate):
    """lower <= max over ‖v‖ = 1 of min_i v.z_i <= upper, where z_i = y_i (x_i, 1), or y_i x_i without intercept.

    Or, in the space of the x_i themselves, lower <= max over ‖w‖ = 1 and b of min_i y_i (w.x_i + b) <= upper: the
    maximum margin.

    From below by a direction v: its own smallest v.z_i. From above by a point of the convex hull of the z_i: for any
    unit v, min_i v.z_i <= sum_i alpha_i v.z_i <= ‖sum_i alpha_i z_i‖. With b outside the norm the combination has
    to balance, sum_i alpha_i y_i = 0, and the bound is ‖sum_i alpha_i y_i x_i‖.

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

    @property
    def claim(self) -> str:
        """What is claimed, in one sentence."""
        space = "(x, 1)" if self.fit_intercept and self.space == "homogeneous" else "x"
        return f"The best margin of a hyperplane in the space of {space} is from {self.lower:.6g} to {self.upper:.6g}."

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        data = read(X, y, sample_weight, self.classes, None)
        if self.negative is not None:
            kept = np.flatnonzero(np.isin(data.values, (self.positive, self.negative)))
            data = Data(data.X[kept], data.values[kept], data.weight[kept])
        v = np.asarray(self.direction, dtype=np.float64)
        v = v / np.abs(v).max() if v.any() else v
        free = self.fit_intercept and self.space == "input"  # b is no part of the norm
        length = float(np.linalg.norm(v[:-1] if free else v)) or 1.0
        w, b = (v[:-1], v[-1]) if self.fit_intercept else (v, 0.0)
        lower, size = np.inf, 0.0
        for x, codes, _ in data.blocks():
            y_i = np.where(codes == self.positive, 1.0, -1.0)
            lower = min(lower, float((y_i * (x @ w + b)).min()))
            size = max(size, float((np.abs(x) @ np.abs(w) + abs(b)).max()))
        lower, rounding = lower / length, (len(v) + 8) * EPS * size / length

        points, alpha = np.asarray(self.points, dtype=np.intp), np.asarray(self.alpha, dtype=np.float64)
        if points.shape != alpha.shape or points.ndim != 1 or not points.size or not alpha.sum() > 0:
            raise ValueError("A bracket needs one weight for each of its points, and a positive sum.")
        if points.min() < 0 or points.max() >= len(data.weight):
            raise ValueError("The bracket's points are not rows of these data.")
        alpha = alpha / alpha.sum()
        chosen = data.X[points]
        chosen = np.asarray(chosen.toarray() if hasattr(chosen, "toarray") else chosen, dtype=np.float64)
        signs = np.where(data.values[points] == self.positive, 1.0, -1.0)
        centre = chosen.mean(axis=0) if free else np.zeros(chosen.shape[1])  # balanced weights do not see it
        chosen = chosen - centre
        z = signs[:, None] * (
            np.column_stack([chosen, np.ones(len(chosen))]) if self.fit_intercept and not free else chosen
        )
        upper = float(np.linalg.norm(alpha @ z))
        terms = np.abs(z)
        terms[:, : len(centre)] += np.abs(centre)
        noise = (len(alpha) + 8) * EPS * float(np.linalg.norm(alpha @ terms))
        balance = abs(float(alpha @ signs)) if free else 0.0
        return Verification(
            (
                Check("imbalance of the convex combination", balance, 0.0, 4 * len(alpha) * EPS),
                Check("negative weight in the convex combination", float(max(0.0, -alpha.min()))),
                Check("lower bound above the direction's own margin, by", self.lower - lower, 0.0, rounding),
                Check("upper bound below the point of the hull, by", upper - self.upper, 0.0, noise),
            )
        )
