"""The Euclidean distance between labels and probabilities: sum_i c_i (t_i - sigma(z_i.V))², and its two Hessians."""

from __future__ import annotations

from math import sqrt

import numpy as np

from separatrix._typing import Array, Floats
from separatrix.loops.passes import GAUSS_NEWTON, SIGMOID
from separatrix.problems.risk import Risk

STEEPEST = (39 + 55 * sqrt(33)) / 2304  # the largest curvature of (t - sigma(z))²: 0.154


class SigmoidSquaredRisk(Risk):
    """(t - sigma(z))² for t = 0 or 1. With q = sigma(-y z) the probability of the wrong class, y = ±1, and p = 1 - q:

    loss q², slope -2 y p q², curvature 2 p q² (2p - q), which is negative where q > 2/3: the risk is not convex.
    """

    loss = SIGMOID

    def pointwise(self, values: Array, Z: Floats) -> tuple[Floats, Floats]:
        y, p, q = _odds(values, Z)
        return (q * q)[:, 0], -2.0 * y * p * q * q

    def curvature(self, values: Array, Z: Floats) -> Floats:
        _, p, q = _odds(values, Z)
        return (2.0 * p * q * q * (2.0 * p - q))[:, :, None]


class GaussNewtonRisk(SigmoidSquaredRisk):
    """The same risk with the Hessian 2 J'J, J = diag(p q) Z: without the term of the errors, so never negative."""

    loss = GAUSS_NEWTON

    def curvature(self, values: Array, Z: Floats) -> Floats:
        _, p, q = _odds(values, Z)
        return (2.0 * (p * q) ** 2)[:, :, None]


def _odds(values: Array, Z: Floats) -> tuple[Floats, Floats, Floats]:
    """y = ±1, and the probabilities of the true and of the wrong class, each to full accuracy."""
    y = 2.0 * values[:, None] - 1.0
    u = y * Z
    e = np.exp(-np.abs(u))
    small, large = e / (1.0 + e), 1.0 / (1.0 + e)
    right = u >= 0
    return y, np.where(right, large, small), np.where(right, small, large)
