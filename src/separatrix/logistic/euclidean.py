"""Logistic regression by Euclidean distance: min over (w, b) of E = C sum_i c_i (t_i - sigma(w.x_i + b))² + 1/2 ‖w‖².

E is not convex, so a fit claims a stationary point and says of which kind. Without a penalty it may have no minimum:
along a direction w the limit of E is the number of errors of w (1/4 for a point on the boundary), and that may be
less than E at any finite weights, as it always is for separable classes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from separatrix._typing import Floats
from separatrix.design import DenseDesign, Design
from separatrix.design.row_space import ROTATED, RowSpace, narrowed
from separatrix.formulas.claims import SHARP
from separatrix.formulas.least_squares import least_squares_start
from separatrix.logistic.choose import Shape, method
from separatrix.logistic.maximum_likelihood import Information, minimum_norm
from separatrix.logistic.penalised import Settings, make_risk, on_states
from separatrix.logistic.plain_rules import descend
from separatrix.logistic.progress import recorder
from separatrix.logistic.stationary import RelativeGradient, conclude
from separatrix.losses import SigmoidSquared
from separatrix.losses.sigmoid_squared import GaussNewton
from separatrix.outcome import Fit, Trace
from separatrix.problems.risk import Risk
from separatrix.problems.scored import TwoClasses
from separatrix.solvers.driver import State, run
from separatrix.solvers.lbfgs import lbfgs
from separatrix.solvers.newton import FACTORED_ORDER, newton
from separatrix.solvers.trust_region import trust_region
from separatrix.targets import Targets

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Run:
    """Where the steps from one start led."""

    state: State
    n_iter: int
    trace: Trace | None


def euclidean(design: Design, targets: Targets, weight: Floats, settings: Settings) -> Fit:
    """Solve from one start, or for "auto" from several and keep the lowest E; then say what was found."""
    if settings.plain:
        risk = squared_risk(design, targets, weight, settings)
        criterion = RelativeGradient(squared_risk(design.centred(weight), targets, weight, settings))
        end = descend(risk, criterion, settings)
        weights = (end.coef, end.intercept)
        return conclude(criterion, design, weights, settings, end.n_iter, end.trace, unfinished=end.warning)
    centred = design.centred(weight)
    criterion = RelativeGradient(squared_risk(centred, targets, weight, settings))
    narrow = _narrowed(centred)
    risk = criterion.risk if narrow is centred else squared_risk(narrow, targets, weight, settings)
    solve = _solver(risk, criterion if narrow is centred else RelativeGradient(risk), settings)

    def go(V: Floats) -> Run:
        trace = Trace() if settings.trace else None
        return Run(*solve(V, on_states(risk, recorder(trace, criterion, risk, design))), trace)

    best = min(map(go, _starts(risk, design, weight, settings)), key=lambda one: one.state.value)
    if settings.start is not None and best.state.stalled:
        _, _, reached = criterion.measure(*risk.design.user_units(best.state.V))
        if not reached <= SHARP:  # perhaps so far out on a plateau that no step changes E: from zeros one does
            best = min(best, go(np.zeros((risk.design.p, 1))), key=lambda one: one.state.value)
    V = minimum_norm(risk, best.state.V, Information(np.empty((0, risk.design.p)), coordinates(risk)[1]))
    rested = best.n_iter < settings.max_iter
    return conclude(criterion, design, risk.design.user_units(V), settings, best.n_iter, best.trace, rested=rested)


def _narrowed(design: Design) -> Design:
    """Far fewer rows than columns: in the coordinates of their span, where all that counts of w lies."""
    if 2 * design.n >= design.d or design.n * design.d > ROTATED:
        return design
    rows = design.block(0, design.n)
    x = rows.x.toarray() if hasattr(rows.x, "toarray") else rows.x
    plain = DenseDesign(x, design.intercept)  # without the offset, which the coordinates of the whole know of
    narrow = narrowed(plain)
    whole = replace(design, rest=None)
    return replace(narrow, whole=whole) if isinstance(narrow, RowSpace) else design


def squared_risk(design: Design, targets: Targets, weight: Floats, settings: Settings) -> Risk:
    """E in the coordinates of the design."""
    return replace(make_risk(design, targets, weight, settings), loss=TwoClasses(SigmoidSquared()))


def coordinates(risk: Risk) -> tuple[Floats, Floats]:
    """T (p, r) with T'BT = 1 for B = s sum_i c_i z_i z_i' + ridge, which no Hessian exceeds; and what no row sees.

    s is the largest curvature of the loss. Lengths in these coordinates are changes of the scores, whatever the units
    of the columns.
    """
    p = risk.design.p
    if p > FACTORED_ORDER:
        return np.empty((p, 0)), np.empty((p, 0))
    B = SigmoidSquared.smoothness * risk.design.gram(risk.weight) + np.diag(risk.ridge)
    size = np.sqrt(np.where(np.diag(B) > 0, np.diag(B), 1.0))
    values, Q = linalg.eigh(B / np.outer(size, size))
    live = values > 8 * p * EPS * values[-1]
    return Q[:, live] / np.sqrt(values[live]) / size[:, None], Q[:, ~live] / size[:, None]


Solve = Callable[[Floats, Callable[[int, State], None] | None], tuple[State, int]]


def _solver(risk: Risk, criterion: RelativeGradient, settings: Settings) -> Solve:
    """From V to where the solver ends; Newton's methods for tables of moderate size, L-BFGS for larger ones."""
    penalised = bool(risk.ridge.any())
    certain = 0.0 if penalised else 0.25 * float(risk.weight.min())  # below this every row is on its own side
    if settings.solver == "auto" and not _moderate(risk):
        step = _diagonal(risk)

        def enough(state: State) -> bool:
            return state.value < certain or criterion.at(state.V)[2] <= settings.tol

        return lambda V, record: run(lbfgs(risk, V, lambda G: G / step), enough, settings.max_iter, record)
    curved = risk
    if settings.solver == "gauss-newton":
        curved = replace(risk, loss=TwoClasses(GaussNewton()))
    T, _ = coordinates(risk)
    radius = float(np.sqrt(SigmoidSquared.smoothness * risk.weight.sum()))  # all scores change by 1

    def separated(state: State) -> bool:
        return state.value < certain

    return lambda V, record: run(trust_region(curved, V, T, radius), separated, settings.max_iter, record)


def _moderate(risk: Risk) -> bool:
    return method(Shape.of(risk), "auto", penalised=False) == "newton"


def _diagonal(risk: Risk) -> Floats:
    """s sum_i c_i z_ij² + ridge_j: no Hessian has a larger diagonal."""
    squares = risk.weight.max() * RelativeGradient(risk).lengths ** 2
    D = SigmoidSquared.smoothness * squares + risk.ridge
    return np.where(D > 0, D, 1.0)[:, None]


def _starts(risk: Risk, design: Design, weight: Floats, settings: Settings) -> list[Floats]:
    """The start that was asked for; else zeros, least squares and the optimum of cross-entropy."""
    if settings.start is not None:
        return [risk.design.from_user_units(*settings.start)]
    entropy = make_risk(risk.design, risk.targets, weight, settings)
    zeros = np.zeros((risk.design.p, 1))
    if not _moderate(risk):
        step = _diagonal(risk)
        likely, _ = run(lbfgs(entropy, zeros, lambda G: G / step), lambda state: state.decrement < 1e-3, 100)
        return [likely.V]
    # where there is no maximum likelihood, a few steps of the way there will do
    likely, _ = run(newton(entropy, zeros), lambda state: state.decrement < 1e-6 * state.value, 20)
    squares = least_squares_start(design, risk.targets, weight)
    return [zeros, risk.design.from_user_units(*squares), likely.V]
