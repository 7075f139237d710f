"""The hinge: min over (w, b) of 1/2 ‖w‖² + sum_i C_i max(0, 1 - y_i (w.x_i + b)).

Which way is a matter of shape: see `choose`. What a small table leaves open comes here.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import linalg

from separatrix._typing import Floats
from separatrix.design import DenseDesign, Design
from separatrix.solvers.interior_point import LinearMargins, interior_point
from separatrix.solvers.soft_margin import best_intercept
from separatrix.svm.balance import balanced
from separatrix.svm.linear.choose import Shape, hinge_method
from separatrix.svm.linear.conditioning import conditioned
from separatrix.svm.linear.descent import descent
from separatrix.svm.linear.from_sample import from_sample
from separatrix.svm.linear.machine import Machine, Start, of_multipliers
from separatrix.svm.linear.multipliers import feasible, snapped
from separatrix.svm.linear.near_margin import near_the_margin

BRIEF = 30  # passes of coordinate descent over sparse rows that cost less than an interior-point method does
FEWER, MORE = 10, 5  # columns for each of these passes, if that is more; rows near the margin of a free b are many
PRECISE = 1e-12  # relative gap, where it costs next to nothing
ROUGH = 0.5  # relative gap of a solution that does not tell which rows are near


def hinge(design: Design, y: Floats, bound: Floats, tol: float, max_iter: int, start: Start | None = None) -> Machine:
    """sum_i C_i max(0, 1 - y_i (w.x_i + b)) + 1/2 ‖w‖²; bound holds the C_i.

    Coordinate descent goes on from a start; an interior-point method has no use for one, nor need of it.
    """
    method = hinge_method(Shape.of(design))
    if method == "row space":
        return _in_row_space(design, y, bound, tol, max_iter)
    if method == "descent":
        return descent(design, y, bound, tol, max_iter, start)
    if method == "sample":
        machine = from_sample(design, y, bound, tol, max_iter)
        if machine.relative_gap <= tol:
            return machine
    elif method == "near":
        passes = max(BRIEF, design.d // (MORE if design.intercept else FEWER))
        brief = descent(design, y, bound, tol, min(max_iter, passes), start)
        if brief.relative_gap < ROUGH:
            machine = near_the_margin(design, y, bound, tol, max_iter, brief)
            if machine.relative_gap <= tol:
                return machine
    rows, ridge, c = conditioned(design, bound)
    problem = LinearMargins(rows, y, ridge)
    target = PRECISE if method == "small" else 0.5 * tol
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
    firm = snapped(beta, problem.margins(state) - 1.0, c)
    found = []
    for candidate in (beta, firm):
        alpha = np.minimum(largest * feasible(problem, state, candidate, c), bound)
        if design.intercept:
            alpha = np.minimum(balanced(alpha, y, bound), bound)
        u = plain.tdot((y * alpha)[:, None])[: design.d, 0]
        found.append((float(alpha.sum()) - 0.5 * float(u @ u), alpha))
    (loose, _), (tight, _) = found
    dual, alpha = found[1] if primal - tight <= max(2.0 * (primal - loose), 1e-12 * abs(primal)) else found[0]
    return Machine(w, b, alpha, primal, min(dual, primal), n_iter)


def _in_row_space(design: Design, y: Floats, bound: Floats, tol: float, max_iter: int) -> Machine:
    """The interior-point method in the space of the rows, of order n, where there are far fewer rows than columns."""
    Q, R = linalg.qr(design.array().T, mode="economic")
    narrow = hinge(DenseDesign(np.ascontiguousarray(R.T), design.intercept), y, bound, tol, max_iter)
    return of_multipliers(design, y, narrow.alpha, bound, narrow.n_iter, Q @ narrow.w)
