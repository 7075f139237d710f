"""The perceptron loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from separatrix.losses.base import MarginLoss, Reals


@dataclass(frozen=True)
class PerceptronLoss(MarginLoss):
    """loss(y, z) = max(0, -y z).

    Also called the modified hinge: the hinge without its margin. The kink is at z = 0, where the
    subgradients lie between -y and 0; `slope` gives -y, so that a score of 0 counts as a mistake and
    training can leave the weights 0.

    Examples
    --------
    >>> from separatrix.losses import PerceptronLoss
    >>> PerceptronLoss().value(+1, [-2.0, 0.0, 2.0])
    array([2., 0., 0.])
    >>> PerceptronLoss().slope(+1, [-2.0, 0.0, 2.0])
    array([-1., -1.,  0.])
    """

    name: ClassVar[str] = "perceptron"
    convex: ClassVar[bool] = True
    smoothness: ClassVar[float] = np.inf

    def _phi(self, u: Reals) -> Reals:
        return np.maximum(0, -u)

    def _dphi(self, u: Reals) -> Reals:
        return np.where(u <= 0, -1, 0).astype(u.dtype)

    def _d2phi(self, u: Reals) -> Reals:
        return np.zeros_like(u)

    def _phi_conjugate(self, m: Reals) -> Reals:
        return np.where((m >= -1) & (m <= 0), 0, np.inf).astype(m.dtype)
