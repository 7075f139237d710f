"""Linear support vector machines: min over (w, b) of 1/2 ‖w‖² + sum_i C_i loss(y_i (w.x_i + b)), certified.

The hinge goes through an interior-point method, of order d or, for wide data, of order n; where both are large, through
dual coordinate descent; of many sparse rows, through a brief descent, which tells the rows near the margin, and an
interior-point method with these. The squared hinge is smooth, and goes the way of logistic regression,
but for long sparse rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg, sparse

from separatrix._typing import Floats
from separatrix.design import DenseDesign, Design
from separatrix.design.row_space import ROTATED
from separatrix.learners.svm import balanced
from separatrix.problems.squared_hinge import SquaredHingeRisk
from separatrix.solvers.coordinate_descent import FACTORED, CoordinateDescent
from separatrix.solvers.driver import State, run
from separatrix.solvers.interior_point import LinearMargins, interior_point, positive_definite
from separatrix.solvers.lbfgs import lbfgs
from separatrix.solvers.newton import newton
from separatrix.solvers.precondition import diagonal, sampled
from separatrix.solvers.soft_margin import best_intercept, best_squared_intercept
from separatrix.targets import Targets

CHEAP = 3e8  # multiplications of a Gram matrix that cost next to nothing: then go to machine precision
WIDEST = 2000  # largest order of a system to factor
BRIEF = 30  # passes of coordinate descent over sparse rows, or d/5, that cost less than an interior-point method does
NEAR = 0.2  # of the margin: rows within it may yet change sides
ROUGH = 0.5  # relative gap of a solution that does not tell which rows are near
ROUNDS = 8  # of the interior-point method with the rows near the margin
PATIENCE = 20  # passes of coordinate descent that should make the gap a tenth, or conjugate gradients take over
SETTLED = 0.98  # of the rows in play still are so after as many passes: then they are the right ones, nearly
FIRST = 2e-3  # relative gap at which coordinate descent first looks back


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
    """

    w: Floats
    b: float
    alpha: Floats
    primal: float
    dual: float
    n_iter: int

    @property
    def relative_gap(self) -> float:
        """(primal - dual) / |primal|, 0 for 0/0."""
        return (self.primal - self.dual) / abs(self.primal) if self.primal > self.dual else 0.0


@dataclass(frozen=True)
class Start:
    """Where an earlier fit ended: weights and multipliers."""

    w: Floats
    b: float
    alpha: Floats


def hinge(design: Design, y: Floats, bound: Floats, tol: float, max_iter: int, start: Start | None = None) -> Machine:
    """sum_i C_i max(0, 1 - y_i (w.x_i + b)) + 1/2 ‖w‖²; bound holds the C_i.

    Coordinate descent goes on from a start; an interior-point method has no use for one, nor need of it.
    """
    if design.p > WIDEST:
        if design.n <= WIDEST and design.n * design.d <= ROTATED:
            return _in_row_space(design, y, bound, tol, max_iter)
        return _descent(design, y, bound, tol, max_iter, start)
    exact = design.n * design.p**2 <= CHEAP
    if sparse.issparse(design.X) and not exact:
        brief = _descent(design, y, bound, tol, min(max_iter, max(BRIEF, design.d // 5)), start)
        if brief.relative_gap < ROUGH:
            machine = _near_the_margin(design, y, bound, tol, max_iter, brief)
            if machine.relative_gap <= tol:
                return machine
    rows, ridge, c = _conditioned(design, bound)
    problem = LinearMargins(rows, y, ridge)
    target = 1e-12 if exact else 0.5 * tol
    best: Machine | None = None
    for n_iter, iterate in enumerate(interior_point(problem, c)):
        v = iterate.state
        value = 0.5 * float(ridge @ v**2) + float(c @ np.maximum(0.0, 1.0 - problem.margins(v)))
        near = 2 * design.n * iterate.complementarity <= target * value
        if near or iterate.complementarity < 1e-20 or n_iter >= max_iter:
            machine = _machine(problem, iterate.state, iterate.beta, c, design, bound, n_iter)
            improved = best is None or machine.relative_gap < 0.5 * best.relative_gap
            if best is None or machine.relative_gap < best.relative_gap:
                best = machine
            if machine.relative_gap <= target or not improved or n_iter >= max_iter:
                return best
    raise AssertionError("an interior-point method does not end by itself")


def _conditioned(design: Design, bound: Floats) -> tuple[Design, Floats, Floats]:
    """Rows about their centre of length about 1, and R and c of the objective divided by the largest C_i."""
    largest = float(bound.max())
    centred = design.centred(bound)
    scale = _size(centred, bound)
    ridge = np.zeros(design.p)
    ridge[: design.d] = 1.0 / largest / scale / scale
    return centred.scaled(np.full(design.d, 1.0 / scale)), ridge, bound / largest


def _near_the_margin(design: Design, y: Floats, bound: Floats, tol: float, max_iter: int, machine: Machine) -> Machine:
    """From a rough solution: the interior-point method with the rows near its margin, all others at their bounds.

    A row is left out if it is off the margin and its alpha_i where that puts it, 0 or C_i. A few that should not be
    come in with the next round, so the first need not be exact. Ends when a round does not help.
    """
    largest = float(bound.max())
    rows, ridge, c = _conditioned(design, bound)
    near = np.zeros(design.n, dtype=bool)
    for _ in range(ROUNDS):
        if machine.relative_gap <= tol:
            break
        V = rows.from_user_units(machine.w[None], np.array([machine.b]))
        excess = y * rows.dot(V)[:, 0] - 1.0
        alpha = np.where(excess < 0, bound, 0.0)
        near |= (np.abs(excess) < NEAR) | (np.abs(machine.alpha - alpha) > NEAR * bound)
        play = np.flatnonzero(near)
        if not len(play):
            break
        alpha[play] = 0.0
        pull = rows.tdot((y * alpha / largest)[:, None])[:, 0]
        problem = LinearMargins(replace(rows, X=design.X[play]), y[play], ridge, pull)
        target = max(0.3 * tol, 0.01 * machine.relative_gap) * machine.primal / largest
        for n_iter, iterate in enumerate(interior_point(problem, c[play])):
            if 2 * len(play) * iterate.complementarity <= target or n_iter >= max_iter:
                break
        alpha[play] = largest * _snapped(iterate.beta, problem.margins(iterate.state) - 1.0, c[play])
        alpha = np.minimum(balanced(alpha, y, bound) if design.intercept else alpha, bound)
        w = rows.user_units(iterate.state[:, None])[0][0]
        last, machine = machine, _of_multipliers(design, y, alpha, bound, machine.n_iter + n_iter, w)
        if not machine.relative_gap < 0.8 * last.relative_gap:
            break
    return machine


def _snapped(beta: Floats, excess: Floats, c: Floats) -> Floats:
    """Multipliers that are clearly at a bound set to it, by the excess of their margins over 1."""
    share = beta / c
    return np.where(excess > share, 0.0, np.where(-excess > 1.0 - share, c, beta))


def _size(centred: Design, weight: Floats) -> float:
    """Root mean square length of the rows about their centre, or 1 if they are all equal."""
    centre, codes = centred.shift[None], np.zeros(centred.n, dtype=np.intp)
    (total,) = centred.reduce(lambda block, w, k: (block.spread(w[:, None], centre, k).sum(),), weight, codes)
    size = float(np.sqrt(total / weight.sum()))
    return size if size > 0 else 1.0


def _machine(
    problem: LinearMargins, state: Floats, beta: Floats, c: Floats, design: Design, bound: Floats, n_iter: int
) -> Machine:
    """The hyperplane of an iterate in the user's units, and a feasible dual point near its multipliers.

    Of the two ways to round the multipliers, leave them or set those that are clearly at a bound to it, the second
    gives the support vectors; it is taken unless it costs accuracy.
    """
    rows, y, largest = problem.design, problem.y, float(bound.max())
    w = design.rounded(rows.user_units(state[:, None])[0][0])
    plain = replace(rows, scale=None)
    V = plain.from_user_units(w[None], np.zeros(1))
    if design.intercept:
        V[-1] = 0.0
    scores = plain.dot(V)[:, 0]
    b = 0.0
    if design.intercept:  # scores are about the rows' centre: so is this intercept
        b = float(design.rounded(np.array([best_intercept(y - scores, y, bound) - plain.shift @ w]))[0])
        scores = scores + (b + plain.shift @ w)
    primal = 0.5 * float(w @ w) + float(bound @ np.maximum(0.0, 1.0 - y * scores))
    snapped = _snapped(beta, problem.margins(state) - 1.0, c)
    found = []
    for candidate in (beta, snapped):
        alpha = np.minimum(largest * _feasible(problem, state, candidate, c), bound)
        if design.intercept:
            alpha = np.minimum(balanced(alpha, y, bound), bound)
        u = plain.tdot((y * alpha)[:, None])[: design.d, 0]
        found.append((float(alpha.sum()) - 0.5 * float(u @ u), alpha))
    (loose, _), (tight, _) = found
    dual, alpha = found[1] if primal - tight <= max(2.0 * (primal - loose), 1e-12 * abs(primal)) else found[0]
    return Machine(w, b, alpha, primal, min(dual, primal), n_iter)


def _feasible(problem: LinearMargins, state: Floats, beta: Floats, c: Floats) -> Floats:
    """beta moved so that sum_i beta_i y_i z_i = R v, as nearly as rounding allows, by those inside their bounds.

    A weighted projection: beta_i changes by h_i y_i z_i.t, where h_i is 0 at the bounds. Where R is small, this is
    what makes the dual value, which divides by it, mean something.
    """
    rows, y = problem.design, problem.y
    for _ in range(2):
        h = np.where(np.isfinite(c), beta * (1.0 - beta / c), beta)
        if not h.any():
            break
        t = positive_definite(rows.gram(h))(problem.residual(state, beta))
        beta = np.clip(beta - h * y * rows.dot(t[:, None])[:, 0], 0.0, c)
    return beta


def _descent(
    design: Design, y: Floats, bound: Floats, tol: float, max_iter: int, start: Start | None, squared: bool = False
) -> Machine:
    """By dual coordinate descent, for many long rows; of the hinge or, `squared`, of its square.

    The solver's own estimate of the gap, corrected by what the gap was at the last look at all rows, says when to look
    again: when it has become a tenth, or as small as required.
    """
    X = design.X if sparse.issparse(design.X) else sparse.csr_array(design.X)
    most, ridge = (np.full(design.n, np.inf), 0.5 / bound) if squared else (bound, np.zeros(design.n))
    alpha, b = np.zeros(design.n), 0.0
    if start is not None:
        alpha, b = start.alpha if squared else _carried(start.alpha, bound), start.b
    ascent = CoordinateDescent(X, y, most, ridge, design.intercept, alpha, b)
    if start is not None:
        ascent.leap(min(PATIENCE, max_iter))
    target, goal = max(FIRST, tol), tol
    while True:
        in_play = ascent.in_play
        patience = PATIENCE if in_play > FACTORED else PATIENCE // 4
        estimate = ascent.descend(target, min(patience, max_iter - ascent.epochs))
        ended = ascent.epochs >= max_iter or estimate < 1e-14
        settled = ascent.in_play > SETTLED * in_play
        if estimate > target and not settled and not ended:
            continue
        gap = ascent.check()
        if gap <= goal or ended:
            alpha = np.minimum(balanced(ascent.alpha, y, most) if design.intercept else ascent.alpha, most)
            machine = _of_multipliers(design, y, alpha, bound, ascent.epochs, squared=squared)
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


def _in_row_space(design: Design, y: Floats, bound: Floats, tol: float, max_iter: int) -> Machine:
    """The interior-point method in the space of the rows, of order n, where there are far fewer rows than columns."""
    X = np.asarray(design.X.toarray() if sparse.issparse(design.X) else design.X, dtype=np.float64)
    Q, R = linalg.qr(X.T, mode="economic")
    narrow = hinge(DenseDesign(np.ascontiguousarray(R.T), design.intercept), y, bound, tol, max_iter)
    return _of_multipliers(design, y, narrow.alpha, bound, narrow.n_iter, Q @ narrow.w)


def _of_multipliers(
    design: Design, y: Floats, alpha: Floats, bound: Floats, n_iter: int, w: Floats | None = None, squared: bool = False
) -> Machine:
    """The weights, w = sum_i alpha_i y_i x_i if not given, with their best intercept."""
    plain = design.anchored()
    u = plain.tdot((y * alpha)[:, None])[: design.d, 0]
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
    return Machine(w, b, alpha, primal, min(dual, primal), n_iter)


def squared_hinge(
    design: Design, y: Floats, bound: Floats, tol: float, max_iter: int, start: Start | None = None
) -> Machine:
    """sum_i C_i max(0, 1 - y_i (w.x_i + b))² + 1/2 ‖w‖².

    By Newton's method, L-BFGS with a sampled Hessian or, of long sparse rows, dual coordinate descent.
    """
    if design.p > WIDEST and sparse.issparse(design.X):
        return _descent(design, y, bound, tol, max_iter, start, squared=True)
    anchored = design.anchored()
    ridge = np.zeros(design.p)
    ridge[: design.d] = 1.0
    targets = Targets(np.array([-1, 1]), (y > 0).astype(np.intp))
    risk = SquaredHingeRisk(anchored, targets, bound, ridge)
    V = np.zeros((design.p, 1))
    if start is not None:
        V = anchored.from_user_units(start.w[None], np.array([start.b]))
    exact = design.p <= WIDEST and design.n * design.p**2 <= CHEAP
    if exact:
        states: Iterator[State] = newton(risk, V)
    elif design.p <= WIDEST and design.n > 3 * design.p:
        states = lbfgs(risk, *sampled(risk, V))
    else:
        states = lbfgs(risk, V, diagonal(risk, V))
    target, n_iter = tol, -1
    while True:
        done = _small_gradient(design.d, target) if not exact else _never
        state, n_iter = run(states, done, max_iter, first=n_iter + 1)
        machine = _squared_machine(risk, state, design, y, bound, n_iter)
        if machine.relative_gap <= tol or state.stalled or n_iter >= max_iter:
            return machine
        target *= 0.1


def _never(state: State) -> bool:
    return False


def _small_gradient(d: int, target: float) -> Callable[[State], bool]:
    """Whether 1/2 ‖dF/dw‖², the gap of an optimal intercept, is within the target."""
    return lambda state: 0.5 * float((state.gradient[:d] ** 2).sum()) <= 0.5 * target * abs(state.value)


def _squared_machine(
    risk: SquaredHingeRisk, state: State, design: Design, y: Floats, bound: Floats, n_iter: int
) -> Machine:
    """The dual point of the squared hinge follows from the slacks: alpha_i = 2 C_i xi_i, then balanced."""
    coef, intercept = risk.design.user_units(state.V)
    coef, intercept = design.rounded(coef), design.rounded(intercept)
    V = risk.design.from_user_units(coef, intercept)
    slack = np.maximum(0.0, 1.0 - y * risk.design.dot(V)[:, 0])
    alpha = 2.0 * bound * slack
    if design.intercept:
        alpha = balanced(alpha, y, np.full_like(alpha, np.inf))
    u = risk.design.tdot((y * alpha)[:, None])[: design.d, 0]
    primal = 0.5 * float((coef**2).sum()) + float(bound @ slack**2)
    dual = float(alpha.sum()) - 0.5 * float(u @ u) - 0.25 * float((alpha**2 / bound).sum())
    return Machine(coef[0], float(intercept[0]), alpha, primal, min(dual, primal), n_iter)


@dataclass(frozen=True)
class Widest:
    """The hyperplane of maximum margin, and bounds on that margin from both sides.

    Parameters
    ----------
    w, b : array of shape (d,), float
        y_i (w.x_i + b) >= 1, up to rounding.
    alpha : array of shape (n,)
        Multipliers: sum_i alpha_i y_i x_i is close to w.
    lower, upper : float
        min_i y_i (w.x_i + b) / ‖w‖, and ‖sum_i alpha_i y_i x_i‖ / sum_i alpha_i.
    n_iter : int
    """

    w: Floats
    b: float
    alpha: Floats
    lower: float
    upper: float
    n_iter: int


def widest(design: Design, y: Floats, tol: float, max_iter: int) -> Widest:
    """min 1/2 ‖w‖² subject to y_i (w.x_i + b) >= 1, of separable rows; until upper - lower <= tol * upper."""
    ones = np.ones(design.n)
    centred = design.centred(ones)
    scale = _size(centred, ones)
    rows = centred.scaled(np.full(design.d, 1.0 / scale))
    ridge = np.ones(design.p)
    ridge[design.d :] = 0.0
    problem = LinearMargins(rows, y, ridge)
    best: Widest | None = None
    for n_iter, iterate in enumerate(interior_point(problem, np.full(design.n, np.inf))):
        found = _widest(problem, iterate.state, iterate.beta, design, n_iter)
        gain = best is None or found.upper - found.lower < 0.9 * (best.upper - best.lower)
        if best is None or not np.isfinite(best.upper) or found.upper - found.lower < best.upper - best.lower:
            best = found
        small = np.isfinite(best.upper) and best.upper - best.lower <= 1e-12 * best.upper
        if small or n_iter >= max_iter or (not gain and n_iter > 30 and best.upper - best.lower <= tol * best.upper):
            return best
    raise AssertionError("an interior-point method does not end by itself")


def _widest(problem: LinearMargins, state: Floats, beta: Floats, design: Design, n_iter: int) -> Widest:
    rows, y = problem.design, problem.y
    plain = replace(rows, scale=None)
    w = rows.user_units(state[:, None])[0][0]
    V = np.append(w, np.zeros(int(design.intercept)))[:, None]
    scores = plain.dot(V)[:, 0]
    b = 0.0
    if design.intercept:  # halfway between the classes
        b = -0.5 * float(scores[y > 0].min() + scores[y < 0].max()) if (y > 0).any() and (y < 0).any() else 0.0
    margin = float((y * (scores + b)).min())
    if margin > 0:  # so that the nearest points have y f = 1
        w, b, scores = w / margin, b / margin, scores / margin
    w = design.rounded(w)
    b = float(design.rounded(np.array([b - float(plain.shift @ w)]))[0]) if design.intercept else 0.0
    scores = plain.dot(np.append(w, np.zeros(int(design.intercept)))[:, None])[:, 0] + (b + float(plain.shift @ w))
    lower = float((y * scores).min()) / float(np.linalg.norm(w)) if w.any() else 0.0
    inf = np.full(design.n, np.inf)
    alpha = _feasible(problem, state, np.where(beta > 1e-9 * beta.max(), beta, 0.0), inf)
    alpha = balanced(alpha, y, inf) if design.intercept else alpha
    u = plain.tdot((y * alpha)[:, None])[: design.d, 0]
    total, length = float(alpha.sum()), float(np.linalg.norm(u))
    if not (total > 0 and length > 0):
        return Widest(w, b, alpha, lower, np.inf, n_iter)
    return Widest(w, b, alpha * (total / length / length), lower, max(length / total, lower), n_iter)
