"""A kernel expansion with every point strictly on its own side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from separatrix.certificates._data import EPS, TINY, two_classes
from separatrix.certificates._held import blocks_of
from separatrix.certificates._kernels import AT_ONCE, checked_kernel, count, kernel_block, points_of
from separatrix.certificates._witness import number, positions, shaped, sides
from separatrix.certificates.base import Certificate, Check, Verification
from separatrix.certificates.margin_bracket import beyond


@dataclass(frozen=True, eq=False, repr=False)
class KernelSeparator(Certificate):
    """y_i f(x_i) >= `smallest` > 0 for every i, where f(x) = sum_j c_j k(x_j, x) + b over the support points x_j.

    Parameters
    ----------
    classes : array of shape (k,)
        The labels.
    positive : int
        Position in `classes` of the label with y_i = +1, all others being -1.
    kernel : dict
        Its name and settings, as ``{"kernel": "rbf", "gamma": 0.5}``; or the function itself under "kernel".
    support : integer array of shape (m,)
        The rows of the support points (rows of weight 0 not counted).
    dual_coef : array of shape (m,)
        c_j = alpha_j y_j.
    intercept : float
        b; 0 for a boundary through the origin of feature space.
    smallest : float
        Rounded down.
    """

    classes: Any
    positive: int
    kernel: Any
    support: Any
    dual_coef: Any
    intercept: float
    smallest: float

    @property
    def claim(self) -> str:
        """What is claimed, in one sentence."""
        return f"Every point has y f(x) >= {self.smallest:.4g} > 0, f being a sum of {len(self.support)} kernel terms."

    short = "separates every row"

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        """Recompute f at every point; X is whatever the kernel takes: rows, a list, the kernel matrix."""
        smallest = number(self.smallest, "smallest")
        least = self._least(X, y, sample_weight)
        checks = (
            Check("smallest y f(x) not above 0, but", -smallest if smallest else np.inf),
            beyond("smallest y f(x) below what is stated, by", smallest - least, least),
        )
        return Verification(checks)

    def stated(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """The same f with the bound that rounding leaves of its smallest y f(x) on these points."""
        with np.errstate(all="ignore"):
            return replace(self, smallest=self._least(X, y, sample_weight))

    def _least(self, X: Any, y: Any, sample_weight: Any) -> float:
        """A number that no y_i f(x_i) is below: each as float64 has it, less its rounding error."""
        checked_kernel(self.kernel)
        sides(self)
        b, least = number(self.intercept, "intercept"), np.inf
        points = points_of(self.kernel, X)
        kept, signs, _ = two_classes(self, y, count(points), sample_weight)
        chosen = positions(self.support, "support", len(kept))
        support, c = kept[chosen], shaped(self.dual_coef, "dual_coef", len(chosen))
        for rows in blocks_of(len(kept), len(c), AT_ONCE):
            K, size, rounded = kernel_block(self.kernel, points, kept[rows], support)
            f = K @ c + b
            error = (rounded + len(c) + 8) * (EPS * (size @ np.abs(c) + abs(b)) + TINY)
            low = signs[rows] * f - error
            least = min(least, float(low.min())) if np.isfinite(low).all() else -np.inf
        return least
