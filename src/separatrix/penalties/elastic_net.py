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
        """W (K, m) plus what makes the penalty of each column least if it is added to all of the column.

        The derivative rises in the number v added, and jumps where an entry becomes 0: v is where it changes its sign,
        in the middle if that is an interval.
        """
        K = len(W)
        order = np.sort(W, axis=0)
        ranks = np.arange(K)[:, None]
        if self.ridge == 0.0:
            return np.asarray(W - 0.5 * (order[(K - 1) // 2] + order[K // 2]))
        # with the j largest positive and the others negative after adding v: r (2 j - K) + (1 - r) (sum W + K v) = 0
        total = W.sum(axis=0)
        jumps = -order  # v at which entry k becomes 0: from the largest entry down, v rises
        positive = K - ranks  # entries above 0 just above the jump of entry k
        above = self.r * (2 * positive - K) + self.ridge * (total + K * jumps)
        below = above - 2.0 * self.r
        inside = (above >= 0) & (below <= 0)
        level = -(total + self.r / self.ridge * (2 * np.arange(K + 1)[:, None] - K)) / K  # v of each number of positive ones
        lower = np.vstack([np.full((1, W.shape[1]), -np.inf), jumps[::-1]])
        upper = np.vstack([jumps[::-1], np.full((1, W.shape[1]), np.inf)])
        v = np.where(inside.any(axis=0), jumps[inside.argmax(axis=0), np.arange(W.shape[1])],
                     np.where((level > lower) & (level < upper), level, 0.0).sum(axis=0))
        moved = W + v
        return np.where(np.abs(moved) <= 4e-16 * np.abs(W).max(axis=0), 0.0, moved)
