"""The logistic function."""

from __future__ import annotations

import numpy as np

from separatrix.losses.base import Reals


def sigma(u: Reals) -> Reals:
    """σ(u) = 1 / (1 + exp(-u)), to full relative accuracy in both tails.

    exp(u) / (1 + exp(u)) is the same number: of the two, each u gets the one whose exponential is at most 1.
    Unlike 1 / (1 + exp(-u)), this does not fall to 0 before exp(u) does (near u = -710 in float64).
    """
    e = np.exp(-np.abs(u))
    probability: Reals = np.where(u >= 0, 1, e) / (1 + e)
    return probability
