"""The maximum margin in the feature space of a kernel: bounds from both sides, or the proof that there is none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from separatrix.certificates._feature_space import FeatureSpace
from separatrix.certificates._witness import flag, number, shaped
from separatrix.certificates.base import Certificate, Check, Verification
from separatrix.certificates.margin_bracket import MarginBracket, beyond

NOTHING = 1e-6  # of the points' length in feature space: a sum that is shorter is 0 up to rounding


@dataclass(frozen=True, eq=False, repr=False)
class KernelMarginBracket(MarginBracket):
    """lower <= max over ‖w‖ = 1 and b of min_i y_i (<w, phi(x_i)> + b) <= upper, phi being the kernel's feature map.

    From below by f(x) = sum_i expansion_i k(x_i, x) + b: its smallest y_i f(x_i), divided by ‖w‖. From above by
    alpha >= 0 with sum_i alpha_i y_i = 0: the bound is ‖sum_i alpha_i y_i phi(x_i)‖ / sum_i alpha_i. Without an
    intercept b is 0, and alpha need not balance.

    Parameters
    ----------
    classes, positive, negative, fit_intercept, points, alpha, lower, upper
        As for every `MarginBracket`.
    kernel : dict
        Name and settings of the kernel.
    expansion : array
        Of the same points.
    intercept : float
        b.
    direction, space
        None and "feature".
    """

    kernel: Any = None
    expansion: Any = None
    intercept: float = 0.0

    _names = (
        "negative weight in the combination",
        "lower bound above the margin of f, by",
        "upper bound below that of the combination, by",
    )

    @property
    def claim(self) -> str:
        """What is claimed, in one sentence."""
        name = self.kernel["kernel"] if isinstance(self.kernel["kernel"], str) else "given"
        through = "" if self.fit_intercept else ", of a boundary through the origin,"
        return (
            f"The best margin in the feature space of the {name} kernel{through} is from {self.lower:.6g} to "
            f"{self.upper:.6g}."
        )

    def _proved(self, X: Any, y: Any, sample_weight: Any) -> tuple[float, float, tuple[Check, ...]]:
        free, b = flag(self.fit_intercept, "fit_intercept"), number(self.intercept, "intercept")
        if self.space != "feature" or self.direction is not None:
            raise ValueError("With a kernel, the field 'space' must be 'feature', and 'direction' None.")
        if not free and b != 0:
            raise ValueError(f"The field 'intercept' must be 0 without an intercept, not {b}.")
        space = FeatureSpace(self, X, y, sample_weight)
        m = len(space.support)
        alpha, expansion = shaped(self.alpha, "alpha", m), shaped(self.expansion, "expansion", m)
        if not alpha.max() > 0:
            raise ValueError("The field 'alpha' must have a weight above 0.")
        return space.margin(expansion, b), space.hull(np.maximum(alpha, 0.0), free), (space.kernel_check,)


@dataclass(frozen=True, eq=False, repr=False)
class KernelInseparable(Certificate):
    """sum_i lambda_i y_i phi(x_i) = 0 with lambda >= 0, sum_i lambda_i y_i = 0: no f has every y_i f(x_i) > 0.

    For the sum of lambda_i y_i f(x_i) would be positive, and it is <w, 0> + 0 b. In float64 the sums are 0 up to
    rounding, which proves that no margin ‖w‖⁻¹ min_i y_i f(x_i) is above `margin_bound`. Without an intercept the
    second sum is no part of it.

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
        ‖sum_i lambda_i y_i phi(x_i)‖ / sum_i lambda_i, rounded up, and at most a millionth of the length of the points.
    fit_intercept : bool
        Whether f has an intercept b.
    """

    classes: Any
    positive: int
    negative: int | None
    kernel: Any
    points: Any
    weights: Any
    margin_bound: float
    fit_intercept: bool = True

    @property
    def claim(self) -> str:
        """What is claimed, in one sentence."""
        balance = " and sum_i lambda_i y_i = 0" if self.fit_intercept else ""
        through = "" if self.fit_intercept else ", through the origin,"
        return (
            f"sum_i lambda_i y_i phi(x_i) = 0{balance} up to rounding, so nothing in the kernel's feature space"
            f"{through} separates the classes with a margin above {self.margin_bound:.3g}."
        )

    short = "proof that nothing in the feature space separates the classes"

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        stated = number(self.margin_bound, "margin_bound")
        space, bound = self._bound(X, y, sample_weight)
        weights = np.asarray(self.weights, dtype=np.float64)
        checks = (
            Check("negative weight", float(max(0.0, -weights.min()))),
            Check("length of the sum, of that of the points", bound, NOTHING * space.size()),
            beyond("margin bound below what is proved, by", bound - stated, bound),
            space.kernel_check,
        )
        return Verification(checks)

    def stated(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """The same weights with the bound that they prove about these data."""
        with np.errstate(all="ignore"):
            return replace(self, margin_bound=self._bound(X, y, sample_weight)[1])

    def _bound(self, X: Any, y: Any, sample_weight: Any) -> tuple[FeatureSpace, float]:
        free = flag(self.fit_intercept, "fit_intercept")
        space = FeatureSpace(self, X, y, sample_weight)
        weights = shaped(self.weights, "weights", len(space.support))
        if not weights.max() > 0:
            raise ValueError("The field 'weights' must have an entry above 0.")
        return space, space.hull(np.maximum(weights, 0.0), free)
