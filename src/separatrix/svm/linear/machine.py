"""What the soft margin of a hyperplane comes to: the weights with multipliers, and where to begin."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from separatrix._typing import Floats
from separatrix.certificates._hinge import Task, linear_sums
from separatrix.design import Design
from separatrix.design.rounding import depth
from separatrix.solvers.soft_margin import EPS, STRETCHED, best_intercept, best_squared_intercept
from separatrix.svm.claims import Bracketed
from separatrix.svm.stated import Terms, stated

MANY_ENTRIES = 1 << 19  # of X, from which on the passes of the check take longer than the digits are worth
SMALL = 0.01  # of a gap, and of tol: rounding that need not be looked at more closely


class Sums(NamedTuple):
    """w.x_i + b of every row, and ‖sum_i alpha_i y_i x_i‖²."""

    scores: Floats
    square: float


@dataclass(frozen=True)
class Machine(Bracketed):
    """A hyperplane with multipliers that bound its distance from the best."""

    w: Floats
    b: float
    alpha: Floats  # 0 <= alpha_i (<= C_i for the hinge), sum_i alpha_i y_i = 0 if b is free
    primal: float
    dual: float
    n_iter: int
    doubt: float = 0.0  # the relative gap that rounding alone makes of the claim
    summed: bool = False  # whether w is the sum of alpha_i y_i x_i to the last digit
    sums: Sums | None = None  # what it was computed from, if that is at hand


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
    if machine.sums is not None and design.entries >= MANY_ENTRIES:
        found = _at_hand(machine, machine.sums, design, y, bound, squared)
        wider = found.relative_gap - machine.relative_gap
        if found.relative_gap <= tol and wider <= SMALL * machine.relative_gap and found.doubt <= SMALL * tol:
            return found
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
    dual = float(alpha.sum()) - 0.5 * float(u @ u) - (0.25 * float((alpha * (alpha / bound)).sum()) if squared else 0.0)
    return Machine(w, b, alpha, primal, min(dual, primal), n_iter, summed=summed, sums=Sums(scores, float(u @ u)))


def _at_hand(machine: Machine, sums: Sums, design: Design, y: Floats, bound: Floats, squared: bool) -> Machine:
    """What these sums say, with bounds on their rounding from the largest entry alone.

    Those of the check are closer, and take as long as some passes over the rows.
    """
    w, alpha, plain = machine.w, machine.alpha, design.anchored()
    shift = np.abs(plain.shift)
    far = design.farthest + float(shift.max(initial=0.0))  # no entry is farther from its column's shift
    length, pull = float(np.linalg.norm(w)), float(np.sqrt(sums.square))
    reach = far * min(np.sqrt(design.d) * length, float(np.abs(w).sum()))  # no |x_i|.|w| is more
    error = (design.d + 8) * EPS * (reach + float(shift @ np.abs(w))) + 2 * EPS * abs(machine.b)
    unbalanced = abs(float(y @ alpha)) + design.n * EPS * float(alpha.sum()) if design.intercept else 0.0
    chain = design.n + 8 if design.sparse else max(depth(design), design.n // 64)  # additions one after the other
    off = chain * EPS * float(np.linalg.norm(alpha)) * far * np.sqrt(design.entries)
    off += unbalanced * float(np.linalg.norm(shift))
    rounding = (design.d + 4) * EPS
    terms = Terms(
        scores=(sums.scores - machine.b)[None],
        errors=np.full((1, 1), error),
        square=np.array([sums.square]),
        square_error=np.array([off * (2 * pull + off) + rounding * sums.square]),
        reach=far * np.sqrt(design.d),
        apart=(np.array([length**2]), np.array([rounding * length**2])),
    )
    lines = y[None], bound[None], alpha[None], np.array([machine.b])
    with np.errstate(all="ignore"):
        primal, dual, doubt = (float(figure[0]) for figure in stated(terms, *lines, design.intercept, squared))
    return replace(machine, primal=primal, dual=dual, doubt=doubt if dual > 0 else np.inf)
