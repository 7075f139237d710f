"""The squared hinge: min over (w, b) of 1/2 ‖w‖² + sum_i C_i max(0, 1 - y_i (w.x_i + b))².

It is smooth, and goes the way of logistic regression, but for long sparse rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from separatrix._typing import Floats
from separatrix.design import Design
from separatrix.losses import SquaredHinge
from separatrix.penalties import Ridge
from separatrix.problems.risk import Risk
from separatrix.problems.scored import TwoClasses
from separatrix.solvers.driver import State, run
from separatrix.solvers.lbfgs import lbfgs
from separatrix.solvers.newton import newton
from separatrix.solvers.precondition import diagonal, sampled
from separatrix.svm.balance import balanced
from separatrix.svm.linear.choose import FACTORED_ORDER, Shape, squared_method
from separatrix.svm.linear.descent import descent
from separatrix.svm.linear.machine import Machine, Start
from separatrix.targets import Targets


def squared_hinge(
    design: Design, y: Floats, bound: Floats, tol: float, max_iter: int, start: Start | None = None
) -> Machine:
    """sum_i C_i max(0, 1 - y_i (w.x_i + b))² + 1/2 ‖w‖².

    By Newton's method, L-BFGS with a sampled Hessian or, of long sparse rows, dual coordinate descent.
    """
    method = squared_method(Shape.of(design))
    if method == "descent":
        return descent(design, y, bound, tol, max_iter, start, squared=True)
    anchored = design.anchored()
    targets = Targets(np.array([-1, 1]), (y > 0).astype(np.intp))
    risk = Risk(TwoClasses(SquaredHinge()), Ridge.on_weights(design.d, design.p), anchored, targets, bound)
    V = np.zeros((design.p, 1))
    if start is not None:
        V = anchored.from_user_units(start.w[None], np.array([start.b]))
    exact = method == "small"
    if exact:
        states: Iterator[State] = newton(risk, V)
    elif method == "sample":
        states = lbfgs(risk, *sampled(risk, V))
    else:
        states = lbfgs(risk, V, diagonal(risk, V))
    target, n_iter = tol, -1
    while True:
        done = _small_gradient(design.d, target) if not exact else _never
        state, n_iter = run(states, done, max_iter, first=n_iter + 1)
        machine = _squared_machine(risk, state, design, y, bound, n_iter)
        ended = n_iter >= max_iter or (state.stalled and (exact or design.p > FACTORED_ORDER))
        if machine.relative_gap <= tol or ended:
            return machine
        if state.stalled:  # L-BFGS goes no further: Newton's method does
            states, exact = newton(risk, state.V), True
        target *= 0.1


def _never(state: State) -> bool:
    return False


def _small_gradient(d: int, target: float) -> Callable[[State], bool]:
    """Whether 1/2 ‖dF/dw‖², the gap of an optimal intercept, is within the target."""
    return lambda state: 0.5 * float((state.gradient[:d] ** 2).sum()) <= 0.5 * target * abs(state.value)


def _squared_machine(risk: Risk, state: State, design: Design, y: Floats, bound: Floats, n_iter: int) -> Machine:
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
