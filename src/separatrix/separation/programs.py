"""max t subject to z_ic.V >= t ‖z_ic‖, |V_j| <= 1: HiGHS on a working set of rows, the worst of the others added.

A positive optimum on all rows separates them. An optimum of 0 comes with weights on few rows whose sum is 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from separatrix._typing import Floats, Integers
from separatrix.separation.cone import Cone
from separatrix.separation.work import FLOATS, Work

ROUNDS = 40
FEW = 300  # rows to begin with: a few that cannot be separated prove it for all
ENTRIES = 4_000_000  # of the largest program
STEPS = 100  # of the simplex method for each row and column of a program, which needs one or two: then HiGHS is lost
ZERO = 1e-9  # what HiGHS cannot tell from 0


@dataclass(frozen=True)
class LeadProgram:
    """What the linear programs found.

    Parameters
    ----------
    V : array of shape (p, k - 1)
        The last optimum.
    separates : bool
        Whether every lead of V is positive, as floats see it.
    margin : float
        The last optimum t.
    rows, rivals : integer arrays
        The working set, rows that bind first.
    weights : array
        The multipliers of the working set: if t = 0, a combination of these rows that is 0 up to rounding.
    """

    V: Floats
    separates: bool
    margin: float
    rows: Integers
    rivals: Integers
    weights: Floats

    @property
    def support(self) -> tuple[Integers, Integers]:
        """The rows and rivals with a weight above 0."""
        held = self.weights > 0
        return self.rows[held], self.rivals[held]


def largest_lead(cone: Cone, V: Floats, work: Work | None = None) -> LeadProgram | None:
    """Solve by adding rows, starting with those nearest to the boundary of V; None if HiGHS gives up."""
    work = work or Work()
    most = max(ENTRIES // (cone.q + 1), cone.q + 2)
    i, c, _ = cone.nearest(V, min(cone.size, most, FEW))
    found: LeadProgram | None = None
    for _ in range(ROUNDS):
        solved = lead_program(cone.dense(i, c), work)
        if solved is None:
            return found
        v, t, weights = solved
        V = v.reshape(cone.k - 1, cone.design.p).T
        order = np.argsort(-weights, kind="stable")
        found = LeadProgram(V, False, t, i[order], c[order], weights[order])
        if t <= ZERO:
            return found
        worst_i, worst_c, lead = cone.nearest(V, min(cone.size, 2 * len(i)))  # at most so many: old ones, new ones
        bad = lead <= 0
        if not bad.any():
            return LeadProgram(V, True, t, i[order], c[order], weights[order])
        fresh = ~np.isin(worst_i * cone.k + worst_c, i * cone.k + c) & bad
        if not fresh.any() or len(i) + fresh.sum() > most:
            return found
        i, c = np.concatenate([i, worst_i[fresh]]), np.concatenate([c, worst_c[fresh]])
    return found


def lead_program(z: Floats, work: Work) -> tuple[Floats, float, Floats] | None:
    """v, t and the weights of the rows z; None if HiGHS does not solve it."""
    m, q = z.shape
    size = np.abs(z).max(axis=1, initial=0.0)
    size = np.where(size > 0, size, 1.0)
    A = np.column_stack([-z / size[:, None], np.ones(m)])
    cost = np.append(np.zeros(q), -1.0)
    bounds = [(-1.0, 1.0)] * q + [(0.0, 2.0 * q)]
    steps = work.steps(A.size, STEPS * (m + q))
    result = linprog(cost, A_ub=A, b_ub=np.zeros(m), bounds=bounds, method="highs", options={"maxiter": steps})
    work.spend(result.nit * A.size / FLOATS)
    if result.status != 0:
        return None
    return result.x[:q], float(result.x[q]), np.maximum(-result.ineqlin.marginals, 0.0) / size
