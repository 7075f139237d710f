"""The elastic net, which makes weights exactly 0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix._typing import Floats


@dataclass(frozen=True)
class ElasticNet:
    """r ‖w‖₁ + (1 - r)/2 ‖w‖².

    Parameters
    ----------
    r : float
        The share of ‖w‖₁, 0 < r <= 1.
    """

    r: float

    @property
    def ridge(self) -> float:
        """The share of 1/2 ‖w‖²."""
        return 1.0 - self.r

    def value(self, w: Floats) -> float:
        """The penalty at w."""
        return self.r * float(np.abs(w).sum()) + 0.5 * self.ridge * float(np.vdot(w, w))

    def room(self, w: Floats) -> Floats:
        """r + (1 - r) |w_j|: how large the loss's slope in a weight is at the optimum, if the weight is not 0."""
        return np.asarray(self.r + self.ridge * np.abs(w))

    def conjugate(self, slopes: Floats) -> float:
        """sup over w of slopes.w - penalty: sum_j (|slope_j| - r)₊² / (2 (1 - r)), 0 or infinity for r = 1."""
        excess = np.maximum(np.abs(slopes) - self.r, 0.0)
        if self.ridge == 0.0:
            return float("inf") if excess.any() else 0.0
        return 0.5 * float(np.vdot(excess, excess)) / self.ridge
