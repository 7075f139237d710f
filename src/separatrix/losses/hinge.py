"""The hinge loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from separatrix.losses.base import MarginLoss, Reals


@dataclass(frozen=True)
class Hinge(MarginLoss):
    """loss(y, z) = max(0, 1 - y z).

    The slack of the soft-margin SVM. The kink is at y z = 1, where the subgradients lie between -y and 0;
    `slope` gives 0: a point on the margin has no slack. The conjugate is y s where -1 <= y s <= 0.

    Examples
    --------
    >>> from separatrix.losses import Hinge
    >>> Hinge().value(+1, [-1.0, 0.0, 1.0])
    array([2., 1., 0.])
    >>> Hinge().slope(+1, [-1.0, 0.0, 1.0])
    array([-1., -1.,  0.])
    """

    name: ClassVar[str] = "hinge"
    convex: ClassVar[bool] = True
    smoothness: ClassVar[float] = np.inf

    def _phi(self, u: Reals) -> Reals:
        return np.maximum(0, 1 - u)

    def _dphi(self, u: Reals) -> Reals:
        return np.where(u < 1, -1, 0).astype(u.dtype)

    def _d2phi(self, u: Reals) -> Reals:
        return np.zeros_like(u)

    def _phi_conjugate(self, m: Reals) -> Reals:
        return np.where((m >= -1) & (m <= 0), m, np.inf)
