"""The hinge of far more rows than columns: a sample of them tells roughly, and Newton steps with all rows do the rest.

A step takes two passes over the rows and the Gram matrix of those near the margin, and need not wait for a compiler.
"""

from __future__ import annotations

import numpy as np

from separatrix._typing import Floats
from separatrix.design import Design
from separatrix.solvers.interior_point import LinearMargins
from separatrix.solvers.method_of_multipliers import method_of_multipliers
from separatrix.svm.balance import balanced
from separatrix.svm.linear.machine import Machine, of_multipliers

SAMPLE = 20  # rows for each column
ROUGH = 3e-2  # relative gap of the sample's solution: it is off by more than that anyway
WIDE, NARROW = 4.0, 0.3  # of the margin: where the hinge is first made smooth, of the sample and of all rows
STEPS = 100  # after which an interior-point method would have been better


def from_sample(design: Design, y: Floats, bound: Floats, tol: float, max_iter: int) -> Machine:
    """Newton steps on the smoothed hinge until the gap is within tol, or `STEPS` of them with all rows."""
    rows = design.centred(bound)
    ridge = np.ones(design.p)
    ridge[design.d :] = 0.0
    every = max(1, design.n // (SAMPLE * design.p))
    sample = LinearMargins(rows.take(slice(None, None, every)), y[::every], ridge)
    steps = method_of_multipliers(sample, every * bound[::every], np.zeros(design.p), WIDE)
    first, rough = next(
        (k, step) for k, step in enumerate(steps) if step.relative_gap <= ROUGH or k >= min(STEPS, max_iter)
    )
    goal, last = tol, min(first + STEPS, max_iter)
    steps = method_of_multipliers(LinearMargins(rows, y, ridge), bound, rough.state, NARROW)
    for n_iter, step in enumerate(steps, start=first):
        if step.relative_gap <= goal or n_iter >= last:
            alpha = np.minimum(balanced(step.alpha, y, bound) if design.intercept else step.alpha, bound)
            w = rows.user_units(step.state[:, None])[0][0]
            machine = of_multipliers(design, y, alpha, bound, n_iter, w)
            if machine.relative_gap <= tol or n_iter >= last:
                return machine
            goal *= 0.5
    raise AssertionError("the method of multipliers does not end by itself")
