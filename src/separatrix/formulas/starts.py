"""Where to start: least squares on the labels 0 and 1."""

from __future__ import annotations

import numpy as np

from separatrix._typing import Floats
from separatrix.design import Design
from separatrix.formulas.least_squares import least_squares
from separatrix.targets import Targets

STEPS = 1000  # of LSMR, where the normal equations are too large


def least_squares_start(design: Design, targets: Targets, weight: Floats) -> tuple[Floats, Floats]:
    """min over (w, b) of sum_i c_i (t_i - w.x_i - b)², t_i in {0, 1}, as coef (k, d) and intercept (k,)."""
    fit = least_squares(design, targets, weight, max_iter=STEPS, low=0.0)
    coef, intercept = fit.model.coef, fit.model.intercept
    return np.asarray(coef, dtype=np.float64), np.asarray(intercept, dtype=np.float64)
