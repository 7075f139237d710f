"""The soft margin: min over (w, b) of 1/2 ‖w‖² + sum_i C_i loss(y_i (w.x_i + b)), loss the hinge or its square.

Which way is a matter of shape: see `choose`. What a small table leaves open comes here, and what is not within tol goes
on by an interior-point method, where there is one.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from separatrix._typing import Floats
from separatrix.design import DenseDesign, Design
from separatrix.losses import SquaredHinge
from separatrix.penalties import Ridge
from separatrix.problems.risk import Risk
from separatrix.problems.scored import TwoClasses
from separatrix.solvers.driver import State, run
from separatrix.solvers.interior_point import LinearMargins, interior_point
from separatrix.solvers.lbfgs import lbfgs
from separatrix.solvers.precondition import diagonal, sampled
from separatrix.solvers.soft_margin import balanced
from separatrix.svm.linear.choose import Shape, method
from separatrix.svm.linear.conditioning import conditioned
from separatrix.svm.linear.descent import descent
from separatrix.svm.linear.machine import Machine, Start, of_multipliers
from separatrix.svm.linear.multipliers import feasible, snapped
from separatrix.svm.linear.newton import from_machine, from_sample
from separatrix.svm.linear.small_table import PRECISE
from separatrix.targets import Targets

BRIEF, FEWER = 30, 2  # passes of brief coordinate descent, at least; columns of sparse rows for each, if that is more


def soft_margin(
    design: Design, y: Floats, bound: Floats, tol: float, max_iter: int, squared: bool, start: Start | None = None
) -> Machine:
    """bound holds the C_i. Coordinate descent and L-BFGS go on from a start; others have no use for one, nor need."""
    shape = Shape.of(design)
    way = method(shape, squared)
    machine: Machine | None = None
    if way == "descent":
        machine = descent(design, y, bound, tol, max_iter, start, squared)
    elif way == "brief" or (way == "interior" and shape.in_memory):
        machine = descent(design, y, bound, tol, min(max_iter, brief(shape)), start, squared)
        if machine.relative_gap > tol and way == "brief":
            machine = from_machine(design, y, bound, tol, max_iter, machine)
    elif way == "gradient" or (way == "sample" and squared):
        machine = _by_gradients(design, y, bound, tol, max_iter, start, way == "sample")
    elif way == "sample":
        machine = from_sample(design, y, bound, tol, max_iter)
    if machine is not None and (machine.relative_gap <= tol or not shape.factored):
        return machine
    solve = _in_row_space if shape.wide or shape.spanned else _interior
    return solve(design, y, bound, tol, max_iter, squared)


def brief(shape: Shape) -> int:
    """Passes of coordinate descent before what is surer, and takes a Gram matrix of order min(n, d) a step.

    So many passes of dense rows take as long as one such matrix, and rows beyond the columns make descent slow.
    """
    if shape.sparse:
        return max(BRIEF, shape.d // FEWER)
    short, long = sorted((shape.n, shape.d))
    return max(BRIEF, short * short // long)


def _interior(design: Design, y: Floats, bound: Floats, tol: float, max_iter: int, squared: bool) -> Machine:
    """By the interior-point method; of the squared hinge, whose multipliers have no bound, with soft margins."""
    target = PRECISE if Shape.of(design).small else 0.5 * tol
    rows, ridge, c = conditioned(design, bound)
    problem = LinearMargins(rows, y, ridge)
    best: Machine | None = None
    iterates = interior_point(problem, np.full(design.n, np.inf), 0.5 / c) if squared else interior_point(problem, c)
    for n_iter, iterate in enumerate(iterates):
        v = iterate.state
        slack = np.maximum(0.0, 1.0 - problem.margins(v))
        value = 0.5 * float(ridge @ v**2) + float(c @ (slack**2 if squared else slack))
        near = 2 * design.n * iterate.complementarity <= target * value
        if near or iterate.complementarity < 1e-20 or n_iter >= max_iter:
            machine = _machine(problem, v, iterate.beta, c, design, bound, n_iter, squared)
            improved = best is None or machine.relative_gap < 0.5 * best.relative_gap
            if best is None or machine.relative_gap < best.relative_gap:
                best = machine
            if machine.relative_gap <= target or not improved or n_iter >= max_iter:
                return best
    raise AssertionError("an interior-point method does not end by itself")


def _machine(
    problem: LinearMargins, state: Floats, beta: Floats, c: Floats, design: Design, bound: Floats, n_iter: int,
    squared: bool,
) -> Machine:  # fmt: skip
    """The hyperplane of an iterate in the user's units, and a feasible dual point near its multipliers.

    Of the two ways to round the multipliers of the hinge, leave them or set those that are clearly at a bound to it,
    the second gives the support vectors; it is taken unless it costs accuracy.
    """
    y, largest, w = problem.y, float(bound.max()), problem.design.user_units(state[:, None])[0][0]
    most = np.full(design.n, np.inf) if squared else bound
    excess = problem.margins(state) - 1.0
    trials = [2.0 * c * np.maximum(0.0, -excess)] if squared else [beta, snapped(beta, excess, c)]
    found = []
    for trial in trials:
        alpha = balanced(largest * feasible(problem, state, trial, most / largest), y, most, design.intercept)
        found.append(of_multipliers(design, y, alpha, bound, n_iter, w, squared))
    loose, firm = found[0], found[-1]
    return firm if firm.relative_gap <= max(2.0 * loose.relative_gap, 1e-12) else loose


def _in_row_space(design: Design, y: Floats, bound: Floats, tol: float, max_iter: int, squared: bool) -> Machine:
    """The interior-point method in the space of the rows, of order n, where there are far fewer rows than columns."""
    Q, R = linalg.qr(design.array().T, mode="economic")
    narrow = DenseDesign(np.ascontiguousarray(R.T), design.intercept)
    found = _interior(narrow, y, bound, tol, max_iter, squared)
    return of_multipliers(design, y, found.alpha, bound, found.n_iter, Q @ found.w, squared)


def _by_gradients(
    design: Design, y: Floats, bound: Floats, tol: float, max_iter: int, start: Start | None, sample: bool
) -> Machine:
    """The squared hinge is smooth: by L-BFGS, with the Hessian of sampled rows or the diagonal of that of all.

    The dual point follows from the slacks, alpha_i = 2 C_i xi_i. With an optimal intercept the gap is 1/2 ‖dF/dw‖².
    """
    anchored = design.anchored()
    targets = Targets(np.array([-1, 1]), (y > 0).astype(np.intp))
    risk = Risk(TwoClasses(SquaredHinge()), Ridge.on_weights(design.d, design.p), anchored, targets, bound)
    V = np.zeros((design.p, 1))
    if start is not None:
        V = anchored.from_user_units(start.w[None], np.array([start.b]))
    states = lbfgs(risk, *sampled(risk, V)) if sample else lbfgs(risk, V, diagonal(risk, V))
    target, n_iter = tol, -1

    def near(state: State) -> bool:
        return float((state.gradient[: design.d] ** 2).sum()) <= target * abs(state.value)

    while True:
        state, n_iter = run(states, near, max_iter, first=n_iter + 1)
        slack = np.maximum(0.0, 1.0 - y * anchored.dot(state.V)[:, 0])
        alpha = balanced(2.0 * bound * slack, y, np.full(design.n, np.inf), design.intercept)
        w = anchored.user_units(state.V)[0][0]
        machine = of_multipliers(design, y, alpha, bound, n_iter, w, squared=True)
        if machine.relative_gap <= tol or n_iter >= max_iter or state.stalled:
            return machine
        target *= 0.1
