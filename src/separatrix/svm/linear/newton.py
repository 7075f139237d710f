"""The hinge by Newton steps with all rows, from a rough solution: few of them are near its margin.

A step takes two passes over the rows and the Gram matrix of those near the margin.
"""

from __future__ import annotations

import numpy as np

from separatrix._typing import Floats
from separatrix.design import Design
from separatrix.solvers.interior_point import LinearMargins
from separatrix.solvers.method_of_multipliers import method_of_multipliers
from separatrix.solvers.soft_margin import balanced
from separatrix.svm.linear.machine import Machine, of_multipliers

SAMPLE = 20  # rows for each column
ROUGH = 3e-2  # relative gap of the sample's solution: it is off by more than that anyway
WIDE, NARROW = 4.0, 0.3  # of the margin: where the hinge is first made smooth, of the sample and of all rows
STEPS = 100  # after which an interior-point method would have been better


def from_sample(design: Design, y: Floats, bound: Floats, tol: float, max_iter: int) -> Machine:
    """From the solution of a sample of the rows, of which there are far more than columns."""
    rows, ridge = _rows(design, bound)
    every = max(1, design.n // (SAMPLE * design.p))
    sample = LinearMargins(rows.take(slice(None, None, every)), y[::every], ridge)
    c = every * bound[::every]
    steps = method_of_multipliers(sample, c, np.zeros(design.p), 0.5 * c, WIDE)
    first, rough = next(
        (k, step) for k, step in enumerate(steps) if step.relative_gap <= ROUGH or k >= min(STEPS, max_iter)
    )
    return newton(design, y, bound, tol, max_iter, rough.state, 0.5 * bound, first)


def from_machine(design: Design, y: Floats, bound: Floats, tol: float, max_iter: int, rough: Machine) -> Machine:
    """From another method's weights and multipliers."""
    V = _rows(design, bound)[0].from_user_units(rough.w[None], np.array([rough.b]))
    return newton(design, y, bound, tol, max_iter, V[:, 0], rough.alpha, rough.n_iter)


def newton(
    design: Design, y: Floats, bound: Floats, tol: float, max_iter: int, state: Floats, a: Floats, first: int
) -> Machine:
    """Newton steps on the hinge, smoothed about the multipliers a, until the gap is within tol, or `STEPS` of them."""
    rows, ridge = _rows(design, bound)
    goal, last = tol, min(first + STEPS, max_iter)
    steps = method_of_multipliers(LinearMargins(rows, y, ridge), bound, state, a, NARROW)
    for n_iter, step in enumerate(steps, start=first):
        if step.relative_gap <= goal or n_iter >= last:
            alpha = balanced(step.alpha, y, bound, design.intercept)
            w = rows.user_units(step.state[:, None])[0][0]
            machine = of_multipliers(design, y, alpha, bound, n_iter, w)
            if machine.relative_gap <= tol or n_iter >= last:
                return machine
            goal *= 0.5
    raise AssertionError("the method of multipliers does not end by itself")


def _rows(design: Design, bound: Floats) -> tuple[Design, Floats]:
    """Rows about their centre, and R."""
    ridge = np.ones(design.p)
    ridge[design.d :] = 0.0
    return design.centred(bound), ridge
