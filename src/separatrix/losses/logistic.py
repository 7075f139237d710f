"""The logistic loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import entr, xlog1py

from separatrix.losses.base import MarginLoss, Reals, sigma


@dataclass(frozen=True)
class Logistic(MarginLoss):
    """loss(y, z) = log(1 + exp(-y z)).

    Minus the log-likelihood of y when P(+1) = σ(z). The conjugate is a log a + (1 - a) log(1 - a),
    with a = -y s in [0, 1].

    Examples
    --------
    >>> from separatrix.losses import Logistic
    >>> Logistic().value(+1, [-50.0, 0.0, 50.0])
    array([5.00000000e+01, 6.93147181e-01, 1.92874985e-22])
    >>> Logistic().slope([-1, +1], 0.0)
    array([ 0.5, -0.5])
    """

    name: ClassVar[str] = "log"
    convex: ClassVar[bool] = True
    smoothness: ClassVar[float] = 0.25

    def _phi(self, u: Reals) -> Reals:
        return np.maximum(0, -u) + np.log1p(np.exp(-np.abs(u)))

    def _dphi(self, u: Reals) -> Reals:
        return -sigma(-u)

    def _d2phi(self, u: Reals) -> Reals:
        # σ(u) σ(-u), which is even in u.
        e: Reals = np.exp(-np.abs(u))
        return e / (1 + e) ** 2

    def _phi_conjugate(self, m: Reals) -> Reals:
        # The binary entropy is the same for a and 1 - a. The lesser of the two, which is exact, keeps the
        # accuracy at both ends of the domain; it is negative outside, where entr is -inf.
        a = np.minimum(-m, 1 + m)
        negative_entropy: Reals = xlog1py(1 - a, -a) - entr(a)
        return negative_entropy
