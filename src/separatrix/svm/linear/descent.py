"""The hinge and its square by dual coordinate descent, for many long rows."""

from __future__ import annotations

import numpy as np

from separatrix._typing import Floats
from separatrix.design import Design
from separatrix.solvers.coordinate_descent import CoordinateDescent
from separatrix.solvers.soft_margin import balanced
from separatrix.svm.linear.machine import Machine, Start, of_multipliers

PATIENCE = 40  # passes of coordinate descent that should make the gap a tenth, or conjugate gradients take over
SETTLED = 0.98  # of the rows in play still are so after as many passes: then they are the right ones, nearly
FIRST = 2e-3  # relative gap at which coordinate descent first looks back


def descent(
    design: Design, y: Floats, bound: Floats, tol: float, max_iter: int, start: Start | None, squared: bool = False
) -> Machine:
    """Sweeps, and leaps where they are slow, until the gap is within tol, or max_iter passes.

    The solver's own estimate of the gap, corrected by what the gap was at the last look at all rows, says when to look
    again: when it has become a tenth, or as small as required.
    """
    most, ridge = (np.full(design.n, np.inf), 0.5 / bound) if squared else (bound, np.zeros(design.n))
    alpha, b = np.zeros(design.n), 0.0
    if start is not None:
        alpha, b = start.alpha if squared else _carried(start.alpha, bound), start.b
    ascent = CoordinateDescent(design.csr(), y, most, ridge, design.intercept, alpha, b)
    if start is not None:
        ascent.leap(min(PATIENCE, max_iter))
    target, goal = max(FIRST, tol), tol
    while True:
        in_play = ascent.in_play
        estimate = ascent.descend(target, min(PATIENCE, max_iter - ascent.epochs))
        ended = ascent.epochs >= max_iter or estimate < 1e-14
        settled = ascent.in_play > SETTLED * in_play
        if estimate > target and not settled and not ended:
            continue
        gap = ascent.check()
        if gap <= goal or ended:
            alpha = balanced(ascent.alpha, y, most, design.intercept)
            machine = of_multipliers(design, y, alpha, bound, ascent.epochs, squared=squared)
            if machine.relative_gap <= tol or ended:
                return machine
            goal = 0.25 * gap
        if estimate > target:
            ascent.leap(min(PATIENCE, max_iter - ascent.epochs))
        else:
            target = estimate * max(0.1, min(0.9 * goal / gap, 0.9))


def _carried(alpha: Floats, bound: Floats) -> Floats:
    """Multipliers of an earlier fit as a start of this one: what was at its bound C_i then is at the new one."""
    share = alpha / bound
    return np.where(share >= (1 - 1e-9) * share.max(initial=0.0), bound, np.minimum(alpha, bound)) * (alpha > 0)
