"""The squared hinge loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from separatrix.losses.base import MarginLoss, Reals


@dataclass(frozen=True)
class SquaredHinge(MarginLoss):
    """loss(y, z) = max(0, 1 - y z)².

    The slope has a kink at y z = 1, where the generalised curvatures lie between 0 and 2; `curvature`
    gives 0: a point on the margin has no slack. The conjugate is y s + s²/4 where y s <= 0.

    Examples
    --------
    >>> from separatrix.losses import SquaredHinge
    >>> SquaredHinge().value(+1, [-1.0, 0.0, 1.0])
    array([4., 1., 0.])
    >>> SquaredHinge().curvature(+1, [-1.0, 0.0, 1.0])
    array([2., 2., 0.])
    """

    name: ClassVar[str] = "squared_hinge"
    convex: ClassVar[bool] = True
    smoothness: ClassVar[float] = 2.0

    def _phi(self, u: Reals) -> Reals:
        slack: Reals = np.maximum(0, 1 - u)
        return slack**2

    def _dphi(self, u: Reals) -> Reals:
        return -2 * np.maximum(0, 1 - u)

    def _d2phi(self, u: Reals) -> Reals:
        return np.where(u < 1, 2, 0).astype(u.dtype)

    def _phi_conjugate(self, m: Reals) -> Reals:
        # As a product, m + m²/4 loses nothing where its two terms cancel, near m = -4.
        return np.where(m <= 0, m * (1 + m / 4), np.inf)
