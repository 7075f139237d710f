"""The squared hinge, max(0, 1 - y z)²."""

from __future__ import annotations

import numpy as np

from separatrix._typing import Array, Floats
from separatrix.loops.passes import SQUARED_HINGE
from separatrix.problems.risk import Risk


class SquaredHingeRisk(Risk):
    """max(0, 1 - y z)² with y = ±1: smooth, and quadratic between kinks, so Newton is finite."""

    loss = SQUARED_HINGE

    def pointwise(self, values: Array, Z: Floats) -> tuple[Floats, Floats]:
        y = 2.0 * values[:, None] - 1.0
        slack = np.maximum(0.0, 1.0 - y * Z)
        return (slack**2)[:, 0], -2.0 * y * slack

    def curvature(self, values: Array, Z: Floats) -> Floats:
        y = 2.0 * values[:, None] - 1.0
        return np.where(y * Z < 1.0, 2.0, 0.0)[:, :, None]
