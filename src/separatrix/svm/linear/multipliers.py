"""The multipliers of an interior point as a dual point: at their bounds where they should be, and stationary."""

from __future__ import annotations

import numpy as np

from separatrix._typing import Floats
from separatrix.solvers.interior_point import LinearMargins, positive_definite


def snapped(beta: Floats, excess: Floats, c: Floats) -> Floats:
    """Multipliers that are clearly at a bound set to it, by the excess of their margins over 1."""
    share = beta / c
    return np.where(excess > share, 0.0, np.where(-excess > 1.0 - share, c, beta))


def feasible(problem: LinearMargins, state: Floats, beta: Floats, c: Floats) -> Floats:
    """beta moved so that sum_i beta_i y_i z_i = R v, as nearly as rounding allows, by those inside their bounds.

    A weighted projection: beta_i changes by h_i y_i z_i.t, where h_i is 0 at the bounds. Where R is small, this is
    what makes the dual value, which divides by it, mean something.
    """
    rows, y = problem.design, problem.y
    for _ in range(2):
        h = np.where(np.isfinite(c), beta * (1.0 - beta / c), beta)
        if not h.any():
            break
        t = positive_definite(rows.gram(h))(problem.residual(state, beta))
        beta = np.clip(beta - h * y * rows.dot(t[:, None])[:, 0], 0.0, c)
    return beta
