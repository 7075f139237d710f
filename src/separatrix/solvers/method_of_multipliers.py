"""The hinge by the method of multipliers, with Newton's method inside.

    min over v of  1/2 v'R v + sum_i c_i max(0, 1 - y_i z_i.v)

with a diagonal R >= 0 (0 for the intercept). About multipliers a_i, the hinge is made smooth over a zone of the margin
as wide as h: its slope is then -alpha_i, with

    alpha_i = a_i + c_i (1 - y_i z_i.v) / h,  clipped to [0, c_i].

Newton's method on that takes the Gram matrix of only those rows whose alpha_i is inside its bounds,

    (R + sum_inside c_i z_i z_i' / h) dv = sum_i alpha_i y_i z_i - R v,

and the way along dv needs no pass over the rows: the margins are linear in it. Then a = alpha, and h is made smaller.
The gap is a sum of terms that are never negative,

    sum_i c_i max(0, 1 - y_i z_i.v) - alpha_i (1 - y_i z_i.v)  +  1/2 ‖R v - sum_i alpha_i y_i z_i‖² in the norm of 1/R,

of which the second is what Newton's method has left, and the first what the multipliers have: it is the turn of the
larger. There is no start from scratch at each a, as an interior-point method has, so few steps suffice from a good v.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from separatrix._typing import Floats, Integers
from separatrix.design import Design
from separatrix.loops import threads
from separatrix.loops.margin_newton import step_length
from separatrix.solvers.interior_point import LinearMargins, positive_definite

TAKEN_ENTRIES = 1 << 22  # of rows that are in memory together
NARROWER = 0.5  # h over the last h: less, and each a needs more Newton steps than are saved


@dataclass(frozen=True)
class Iterate:
    """State and multipliers after a Newton step, and the gap they leave, relative to the objective."""

    state: Floats
    alpha: Floats
    relative_gap: float


def method_of_multipliers(problem: LinearMargins, c: Floats, state: Floats, a: Floats, h: float) -> Iterator[Iterate]:
    """Iterates from this state and these multipliers, beginning with a zone of width h.

    About a = c/2, which knows nothing, half of the zone is on either side of the margin.
    """
    ridge = problem.ridge
    free = ridge <= 0
    m = problem.margins(state)
    while True:
        alpha = a + c * (1.0 - m) / h
        inside = np.flatnonzero((alpha > 0) & (alpha < c))
        np.clip(alpha, 0.0, c, out=alpha)
        residual = problem.residual(state, alpha)
        loss = float(c @ np.maximum(0.0, 1.0 - m))
        slack = loss - float(alpha @ (1.0 - m))
        curvature = np.where(free, max(float(c[inside].sum()), float(c.min())) / h, ridge)
        left = 0.5 * float(residual @ (residual / curvature))
        value = 0.5 * float(state @ (ridge * state)) + loss
        yield Iterate(state, alpha, (slack + left) / max(value, float(np.finfo(np.float64).tiny)))
        if left <= slack:
            a, h = alpha, NARROWER * h
            continue
        H = _gram(problem.design, inside, c[inside] / h)
        H[np.diag_indices_from(H)] += np.where(free & (np.diag(H) <= 0), curvature, ridge)
        with threads.single_threaded_blas():
            dv = positive_definite(H)(residual)
        dm = problem.margins(dv)
        slope = _slope(problem, state, dv, m, dm, a, c, h)
        t = step_length(slope(0.0), slope)
        state, m = state + t * dv, m + t * dm


def _gram(design: Design, rows: Integers, weight: Floats) -> Floats:
    """sum_i weight_i z_i z_i' of these rows, some at a time: of weak labels they may be most, and of a file."""
    step = max(1, int(TAKEN_ENTRIES * design.n // max(1, design.entries)))
    parts = [slice(first, first + step) for first in range(0, max(1, len(rows)), step)]
    return np.asarray(sum(design.take(rows[part]).gram(weight[part]) for part in parts))


def _slope(
    problem: LinearMargins, v: Floats, dv: Floats, m: Floats, dm: Floats, a: Floats, c: Floats, h: float
) -> Callable[[float], float]:
    """The derivative of the smooth objective along dv, as a function of the length."""
    linear, square = float(dv @ (problem.ridge * v)), float(dv @ (problem.ridge * dv))
    start, rate = a + c * (1.0 - m) / h, c * dm / h
    return lambda t: linear + t * square - float(np.clip(start - t * rate, 0.0, c) @ dm)
