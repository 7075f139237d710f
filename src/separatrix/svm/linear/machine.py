"""What the soft margin of a hyperplane comes to: the weights with multipliers, and where to begin."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from separatrix._typing import Floats
from separatrix.certificates._hinge import Task, linear_sums
from separatrix.design import Design
from separatrix.solvers.soft_margin import STRETCHED, best_intercept, best_squared_intercept


@dataclass(frozen=True)
class Machine:
    """A hyperplane with multipliers that bound its distance from the best.

    Parameters
    ----------
    w, b : array of shape (d,), float
    alpha : array of shape (n,)
        0 <= alpha_i (<= C_i for the hinge), sum_i alpha_i y_i = 0 if b is free.
    primal, dual : float
    n_iter : int
    doubt : float
        The relative gap that rounding alone makes of the claim.
    summed : bool
        Whether w is the sum of alpha_i y_i x_i to the last digit.
    """

    w: Floats
    b: float
    alpha: Floats
    primal: float
    dual: float
    n_iter: int
    doubt: float = 0.0
    summed: bool = False

    @property
    def relative_gap(self) -> float:
        """(primal - dual) / |primal|, 0 for 0/0; or what rounding leaves in doubt, if that is more."""
        gap = (self.primal - self.dual) / abs(self.primal) if self.primal > self.dual else 0.0
        return max(gap, self.doubt)


@dataclass(frozen=True)
class Start:
    """Where an earlier fit ended: weights and multipliers."""

    w: Floats
    b: float
    alpha: Floats


def outward(machine: Machine, design: Design, y: Floats, bound: Floats, tol: float, squared: bool) -> Machine:
    """The machine as its certificate states it: primal not below the true one, dual not above, by the checker's sums.

    Without a positive dual, alpha is 0. Of a large C, slacks of mere rounding cost more than anything else: if the
    claim needs it, w and b are stretched so that there are none.
    """
    task, best = Task(y, bound, machine.alpha, design.intercept, squared), machine
    for factor in STRETCHED:
        w, b = machine.w, machine.b
        if factor > 1.0:
            w, b = design.rounded(w * factor), float(design.rounded(np.array([b * factor]))[0])
        with np.errstate(all="ignore"):
            primal, dual, doubt = design.lend(linear_sums, task, w, b, tol).outward()
        alpha = machine.alpha if dual > 0 else np.zeros_like(machine.alpha)
        found = replace(machine, w=w, b=b, alpha=alpha, primal=primal, dual=dual, doubt=doubt)
        best = found if factor == 1.0 or found.relative_gap < best.relative_gap else best
        if best.relative_gap <= tol:
            break
    return best


def of_multipliers(
    design: Design, y: Floats, alpha: Floats, bound: Floats, n_iter: int, w: Floats | None = None, squared: bool = False
) -> Machine:
    """The weights, w = sum_i alpha_i y_i x_i if not given, with their best intercept."""
    plain = design.anchored()
    u = plain.tdot((y * alpha)[:, None])[: design.d, 0]
    summed = w is None
    w = design.rounded(u if w is None else w)
    scores = plain.dot(np.append(w, np.zeros(int(design.intercept)))[:, None])[:, 0]
    b = 0.0
    if design.intercept:
        best = best_squared_intercept if squared else best_intercept
        shift = float(plain.shift @ w)
        b = float(design.rounded(np.array([best(y - scores, y, bound) - shift]))[0])
        scores = scores + (b + shift)
    slack = np.maximum(0.0, 1.0 - y * scores)
    primal = 0.5 * float(w @ w) + float(bound @ (slack**2 if squared else slack))
    dual = float(alpha.sum()) - 0.5 * float(u @ u) - (0.25 * float((alpha**2 / bound).sum()) if squared else 0.0)
    return Machine(w, b, alpha, primal, min(dual, primal), n_iter, summed=summed)
