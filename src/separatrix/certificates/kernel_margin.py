"""The maximum margin in the feature space of a kernel: bounds from both sides, or the proof that there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.certificates._data import EPS, read
from separatrix.certificates._kernels import indefiniteness, kernel_block, points_of, take
from separatrix.certificates.base import Certificate, Check, Verification
from separatrix.certificates.margin_bracket import MarginBracket


@dataclass(frozen=True, eq=False)
class KernelMarginBracket(MarginBracket):
    """lower <= max over ‖w‖ = 1 and b of min_i y_i (<w, phi(x_i)> + b) <= upper, phi being the kernel's feature map.

    From below by f(x) = sum_i expansion_i k(x_i, x) + b: its smallest y_i f(x_i), divided by ‖w‖. From above by
    alpha >= 0 with sum_i alpha_i y_i = 0: the bound is ‖sum_i alpha_i y_i phi(x_i)‖ / sum_i alpha_i.

    Parameters
    ----------
    classes, positive, negative, points, alpha, lower, upper
        As for every `MarginBracket`.
    kernel : dict
        Name and settings of the kernel.
    expansion : array
        Of the same points.
    intercept : float
        b.
    """

    kernel: Any = None
    expansion: Any = None
    intercept: float = 0.0

    @property
    def claim(self) -> str:
        """What is claimed, in one sentence."""
        name = self.kernel["kernel"] if isinstance(self.kernel["kernel"], str) else "given"
        return (
            f"The best margin in the feature space of the {name} kernel is from {self.lower:.6g} to {self.upper:.6g}."
        )

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        part = _Sides(self, X, y, sample_weight)
        e, a = np.asarray(self.expansion, dtype=np.float64), np.asarray(self.alpha, dtype=np.float64)
        signs = part.signs[part.support]
        f, error = part.dot(e)
        pull, pull_error = part.dot(a * signs)
        margins = part.signs * (f + self.intercept)
        square = float(e @ f[part.support])
        length = np.sqrt(max(square, 0.0))
        lower = float(margins.min()) / length if length > 0 else 0.0
        off = float((error + EPS * abs(self.intercept)).max()) / length if length > 0 else 0.0
        off += 0.5 * abs(lower) * float(np.abs(e) @ error[part.support]) / square if square > 0 else 0.0
        upper_square = max(float((a * signs) @ pull[part.support]), 0.0)
        noise = float(a @ pull_error[part.support])
        upper, total = np.sqrt(upper_square) / float(a.sum()), float(a.sum())
        upper_off = (np.sqrt(upper_square + noise) - np.sqrt(upper_square)) / total + 4 * EPS * upper
        return Verification(
            (
                Check("negative weight in the combination", float(max(0.0, -a.min()))),
                Check("weights out of balance", abs(float(a @ signs)), 0.0, 4 * len(a) * EPS * total),
                Check("lower bound above the margin of f, by", self.lower - lower, 1e-9 * abs(lower), off),
                Check("upper bound below that of the combination, by", upper - self.upper, 1e-9 * upper, upper_off),
                part.kernel_check(),
            )
        )


@dataclass(frozen=True, eq=False)
class KernelInseparable(Certificate):
    """sum_i lambda_i y_i phi(x_i) = 0 with lambda >= 0, sum_i lambda_i y_i = 0: no f has every y_i f(x_i) > 0.

    For the sum of lambda_i y_i f(x_i) would be positive, and it is <w, 0> + 0 b. In float64 the sum is 0 up to
    rounding, which proves that no margin ‖w‖⁻¹ min_i y_i f(x_i) is above `margin_bound`.

    Parameters
    ----------
    classes : array of shape (k,)
        The labels.
    positive, negative : int
        Positions in `classes` of the labels with y_i = +1 and -1; rows of further classes play no part.
    kernel : dict
        Name and settings of the kernel.
    points, weights : arrays
        The rows with lambda_i > 0, counted among those of the two classes with a weight, and their lambda_i.
    margin_bound : float
        ‖sum_i lambda_i y_i phi(x_i)‖ / sum_i lambda_i, rounding included.
    """

    classes: Any
    positive: int
    negative: int | None
    kernel: Any
    points: Any
    weights: Any
    margin_bound: float

    @property
    def claim(self) -> str:
        """What is claimed, in one sentence."""
        return (
            "sum_i lambda_i y_i phi(x_i) = 0 and sum_i lambda_i y_i = 0 up to rounding, so nothing in the kernel's "
            f"feature space separates the classes with a margin above {self.margin_bound:.3g}."
        )

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        part = _Sides(self, X, y, sample_weight)
        weights = np.asarray(self.weights, dtype=np.float64)
        signs = part.signs[part.support]
        pull, error = part.dot(weights * signs)
        total = float(weights.sum())
        square = max(float((weights * signs) @ pull[part.support]), 0.0)
        noise = float(weights @ error[part.support])
        bound = np.sqrt(square + noise) / total
        size = float(weights @ np.sqrt(np.abs(part.diagonal()))) / total
        return Verification(
            (
                Check("negative weight", float(max(0.0, -weights.min()))),
                Check("weights out of balance", abs(float(weights @ signs)), 0.0, 4 * len(weights) * EPS * total),
                Check("‖sum‖² relative to the sizes of its terms", square / total**2, 0.0, 64 * noise / total**2),
                Check("margin bound below what is proved, by", bound - self.margin_bound, 1e-6 * bound + EPS * size),
                part.kernel_check(),
            )
        )


class _Sides:
    """The rows of two classes, their signs, and kernel sums over the certificate's points."""

    def __init__(self, owner: Any, X: Any, y: Any, sample_weight: Any) -> None:
        y = np.asarray(y).ravel()
        classes = np.asarray(owner.classes)
        data = read(np.arange(len(y))[:, None], y, sample_weight, classes, None)
        if owner.negative is None:
            inside = np.ones(len(data.values), dtype=bool)
        else:
            inside = (data.values == owner.positive) | (data.values == owner.negative)
        kept = np.asarray(data.X)[inside, 0]
        self.kernel = owner.kernel
        self.signs = np.where(data.values[inside] == owner.positive, 1.0, -1.0)
        points = points_of(owner.kernel, X)
        precomputed = owner.kernel.get("kernel") == "precomputed"
        self.points = points[kept][:, kept] if precomputed else take(points, kept)
        self.support = np.asarray(owner.points, dtype=np.intp)
        if len(np.unique(self.support)) < len(self.support) or (self.support < 0).any():
            raise ValueError("The certificate's points are not different rows of these data.")

    def dot(self, coef: Any) -> tuple[Any, Any]:
        """sum_j coef_j k(x_i, x_j) for all rows i, and bounds on the rounding errors."""
        values, errors = np.empty(len(self.signs)), np.empty(len(self.signs))
        step = max(1, 2_000_000 // max(len(self.support), 1))
        for first in range(0, len(values), step):
            rows = np.arange(first, min(first + step, len(values)))
            K, size, rounded = kernel_block(self.kernel, self.points, rows, self.support)
            values[rows] = K @ coef
            errors[rows] = (rounded + len(coef) + 4) * EPS * (size @ np.abs(coef))
        return values, errors

    def diagonal(self) -> Any:
        """k(x, x) of the certificate's points."""
        entries = [kernel_block(self.kernel, self.points, np.array([i]), np.array([i]))[0] for i in self.support]
        return np.array([float(entry[0, 0]) for entry in entries])

    def kernel_check(self) -> Check:
        """That the kernel is one, without which there is no feature space."""
        figure, shift = indefiniteness(self.kernel, self.points, len(self.signs))
        return Check(f"kernel matrix not positive semidefinite (or not tested), up to {shift:.1e}", figure)
