"""The hinge of few rows: pairs of multipliers are moved, as for a kernel, and the free ones solved for exactly."""

from __future__ import annotations

import numpy as np

from separatrix._typing import Floats
from separatrix.design import Design
from separatrix.solvers.active_set import approached, polished
from separatrix.svm.linear.machine import Machine, of_multipliers

FEW = 1000  # rows whose inner products are all held
VIOLATIONS = (1e-2, 1e-4)  # of a margin, at which it is guessed which multipliers are at a bound
MOVES = 5  # pairs for each row, before each guess
GUESSES = 10


def by_pairs(design: Design, y: Floats, bound: Floats, target: float) -> Machine | None:
    """The machine, if a guess which multipliers are at a bound turns out right; else None, for a surer method to go on.

    The rows are taken about their centre, which changes nothing but the intercept, if that is free.
    """
    X = design.array()
    with np.errstate(all="ignore"):
        Z = X - X.mean(axis=0) if design.intercept else X
        K = Z @ Z.T
        scale = float(K.diagonal().max(initial=0.0))
        if not (np.finfo(np.float64).tiny < scale < np.inf):
            return None
        K /= scale
        U = bound * scale
    alpha, F = np.zeros(design.n), y.copy()
    for n_iter, violation in enumerate(VIOLATIONS, 1):
        alpha, _ = approached(K, y, U, violation, MOVES * design.n, (alpha, F))
        found = polished(K, y, U, alpha, GUESSES, design.intercept)
        if found.distance <= target:
            machine = of_multipliers(design, y, np.minimum(found.alpha / scale, bound), bound, n_iter)
            return machine if machine.relative_gap <= target else None
    return None
