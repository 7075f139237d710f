"""The squared length of the weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix._typing import Floats


@dataclass(frozen=True, eq=False)
class Ridge:
    """1/2 sum_j curvature_j ‖V_j‖² for V (p, k).

    Parameters
    ----------
    curvature : array of shape (p,)
        scale² for a weight in conditioned coordinates, 0 for the intercept and without a penalty.
    """

    curvature: Floats

    @classmethod
    def on_weights(cls, d: int, p: int, strength: float = 1.0) -> Ridge:
        """strength/2 ‖w‖²: of p coordinates the first d are weights, and the intercept is free."""
        return cls(np.where(np.arange(p) < d, strength, 0.0))

    def expand(self, V: Floats) -> tuple[float, Floats]:
        """The penalty at V, and its gradient."""
        gradient = self.gradient(V)
        return 0.5 * float(np.vdot(gradient, V)), gradient

    def gradient(self, V: Floats) -> Floats:
        """Its derivative (p, k), which is also its Hessian times V."""
        return self.curvature[:, None] * V
