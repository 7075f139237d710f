"""The hinge from a rough solution: few rows are near its margin, and only they are in question."""

from __future__ import annotations

import numpy as np

from separatrix._typing import Floats
from separatrix.design import Design
from separatrix.solvers.interior_point import LinearMargins, interior_point
from separatrix.svm.balance import balanced
from separatrix.svm.linear.conditioning import conditioned
from separatrix.svm.linear.machine import Machine, of_multipliers
from separatrix.svm.linear.multipliers import snapped

NEAR = 0.5  # of the margin: rows within it may yet change sides; with fewer, one round more is needed
WIDER, SOME = 0.8, 0.2  # of the margin, where so few of the rows are within it: they cost less than one round more
MANY = 0.5  # of the rows near the margin: then it is as well to take all
ROUNDS = 8  # of the interior-point method with the rows near the margin


def near_the_margin(design: Design, y: Floats, bound: Floats, tol: float, max_iter: int, machine: Machine) -> Machine:
    """From a rough solution: the interior-point method with the rows near its margin, all others at their bounds.

    A row is left out if it is off the margin and its alpha_i where that puts it, 0 or C_i. A few that should not be
    come in with the next round, so the first need not be exact. Ends when a round adds none and does not help, or when
    most rows are in it.
    """
    if machine.relative_gap <= tol:
        return machine
    largest = float(bound.max())
    rows, ridge, c = conditioned(design, bound)
    near, helped = np.zeros(design.n, dtype=bool), False
    for _ in range(ROUNDS):
        V = rows.from_user_units(machine.w[None], np.array([machine.b]))
        excess = y * rows.dot(V)[:, 0] - 1.0
        alpha = np.where(excess < 0, bound, 0.0)
        before = np.count_nonzero(near)
        width = WIDER if np.count_nonzero(np.abs(excess) < WIDER) <= SOME * design.n else NEAR
        near |= (np.abs(excess) < width) | (np.abs(machine.alpha - alpha) > NEAR * bound)
        play = np.flatnonzero(near)
        if len(play) > MANY * design.n or (len(play) == before and not helped):
            break
        alpha[play] = 0.0
        pull = rows.tdot((y * alpha / largest)[:, None])[:, 0]
        problem = LinearMargins(rows.take(play), y[play], ridge, pull)
        target = max(0.1 * tol, 0.01 * machine.relative_gap) * machine.primal / largest
        for n_iter, iterate in enumerate(interior_point(problem, c[play])):
            if 2 * len(play) * iterate.complementarity <= target or n_iter >= max_iter:
                break
        alpha[play] = largest * snapped(iterate.beta, problem.margins(iterate.state) - 1.0, c[play])
        alpha = np.minimum(balanced(alpha, y, bound) if design.intercept else alpha, bound)
        w = rows.user_units(iterate.state[:, None])[0][0]
        last, machine = machine, of_multipliers(design, y, alpha, bound, machine.n_iter + n_iter, w)
        helped = machine.relative_gap < 0.8 * last.relative_gap
        if machine.relative_gap <= tol:
            break
    return machine
