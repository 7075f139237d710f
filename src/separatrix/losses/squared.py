"""The squared loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from separatrix.losses.base import MarginLoss, Reals


@dataclass(frozen=True)
class Squared(MarginLoss):
    """loss(y, z) = (y - z)².

    Least squares on the labels -1 and +1, where (y - z)² = (1 - y z)²; there is no factor 1/2. The
    conjugate is y s + s²/4.

    Examples
    --------
    >>> from separatrix.losses import Squared
    >>> Squared().value(+1, [0.0, 1.0, 3.0])
    array([1., 0., 4.])
    """

    name: ClassVar[str] = "squared"
    convex: ClassVar[bool] = True
    smoothness: ClassVar[float] = 2.0

    def _phi(self, u: Reals) -> Reals:
        return (1 - u) ** 2

    def _dphi(self, u: Reals) -> Reals:
        return -2 * (1 - u)

    def _d2phi(self, u: Reals) -> Reals:
        return np.full_like(u, 2)

    def _phi_conjugate(self, m: Reals) -> Reals:
        # As a product, m + m²/4 loses nothing where its two terms cancel, near m = -4.
        return m * (1 + m / 4)
