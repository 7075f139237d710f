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

    def shared(self, W: Floats) -> Floats:
        """W (K, m) less the number of each column that leaves the least penalty, the nearest to 0 of several.

        The penalty of W_k - x has the derivative r (number of W_k below x - number above) + (1 - r) K (x - mean). That
        is 0 at the median of the W_k and of what x would be for each number above (Li and Osher, 2009).
        """
        K = len(W)
        if self.ridge == 0.0:
            order = np.sort(W, axis=0)
            return np.asarray(W - np.clip(0.0, order[(K - 1) // 2], order[K // 2]))
        levels = W.mean(axis=0) + self.r / self.ridge * (2.0 * np.arange(K + 1)[:, None] / K - 1.0)
        return np.asarray(W - np.median(np.vstack([W, levels]), axis=0))
