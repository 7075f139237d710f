"""Logistic regression: min over (w, b) of C sum_i c_i log(1 + exp(-y_i (w.x_i + b))) + 1/2 ‖w‖², certified.

Which solver is fastest is a matter of shape: see `choose`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from separatrix._typing import Floats
from separatrix.certificates import LogisticGap
from separatrix.certificates._data import ALLOWED, Data
from separatrix.certificates._logistic import Bounds, bounds
from separatrix.design import Design
from separatrix.design.row_space import narrowed
from separatrix.geometry import Hyperplanes
from separatrix.logistic.choose import Within, choose
from separatrix.logistic.last_pass import swept
from separatrix.losses import Logistic
from separatrix.outcome import Fit, Status
from separatrix.penalties import Ridge
from separatrix.problems.risk import Risk
from separatrix.problems.scored import Classes, TwoClasses, reference_basis, symmetric_basis
from separatrix.solvers.claims import not_converged, statement
from separatrix.solvers.driver import State, run
from separatrix.solvers.logistic_descent import Solver
from separatrix.solvers.newton import FACTORED_ORDER
from separatrix.targets import Targets

Start: TypeAlias = tuple[Floats, Floats] | None  # coef and intercept
# told the weights coef (k, d) and intercept (k,), the point that led to them (-1: all), and whether to measure
Watch: TypeAlias = Callable[[Floats, Floats, int, bool], None]

USUAL_TOL = 1e-4  # the default: with a larger tol, a fit goes no further than that, although it would cost little
EXACT = 1e-12  # of F: what Newton's last step gains at most
SHARP_ENTRIES = 1 << 17  # of X, up to which weights exact to rounding are certified as sharply, in some milliseconds


@dataclass(frozen=True)
class Settings:
    """What the user chose."""

    C: float
    solver: str  # by our own name for it
    tol: float
    max_iter: int
    reference: bool  # whether the last of several classes has the weights 0
    start: Start = None  # the first weights; None for the solver's own choice
    trace: bool = False
    loss: str = "log"
    firth: bool = False
    rate: float | None = None  # the step eta of the plain rules; None for 1/L
    rng: Any = None  # draws the order of the points
    damping: bool = True  # whether Newton's steps are shortened where they go too far
    constant: bool = False  # whether the stochastic step stays as it is
    replacement: bool = False  # whether points are drawn one by one, so that a pass may have some twice and others not

    @property
    def plain(self) -> bool:
        """Whether the plain rules are asked for, on the data as it is."""
        return self.solver in ("gradient", "sgd") or not self.damping

    def of_column(self, j: int) -> Settings:
        """The same for column j of a 0/1 matrix."""
        start = self.start
        return self if start is None else replace(self, start=(start[0][j : j + 1], start[1][j : j + 1]))


def logistic(design: Design, targets: Targets, weight: Floats, settings: Settings, watch: Watch | None = None) -> Fit:
    """Solve, certify, and go on if the certificate asks for more."""
    risk = make_risk(narrowed(design.anchored()), targets, weight, settings)
    within = _within(risk, lambda: target)
    solver, accuracy = choose(risk, settings.solver, within, settings.start is None)
    n_iter, exact = -1, accuracy == 0
    target = min(settings.tol, accuracy) if exact or settings.tol <= USUAL_TOL else settings.tol

    def done(state: State) -> bool:
        return polished(state) if exact else within(state.gradient, state.value)

    states = recovered(solver, risk, first(risk, settings.start))
    record = on_states(risk, watch)
    while True:
        state, n_iter = run(states, done, settings.max_iter, record, first=n_iter + 1)
        model = in_user_units(risk, design, state.V)
        certificate, certified = certify(design, targets, weight, model, settings, exact)
        if certified or state.stalled or n_iter >= settings.max_iter:
            break
        target *= 0.1
    if not certified and state.stalled:
        certificate, certified = by_decrement(design, targets, weight, model, settings, certificate)
    if certified:
        return Fit(model, certificate, Status.CERTIFIED, n_iter, sure=_sharp(design, exact))
    warning = not_converged(n_iter, certificate, state.stalled, settings.tol)
    return Fit(model, certificate, Status.UNCERTIFIED, n_iter, warnings=(warning,))


def user_weights(risk: Risk, V: Floats) -> tuple[Floats, Floats]:
    """coef (k, d) and intercept (k,) of the classes, in the user's units."""
    return risk.design.user_units(V @ risk.basis.T)


def on_states(risk: Risk, watch: Watch | None) -> Callable[[int, State], None] | None:
    """The watch as the driver calls it, after every step on all points."""
    return None if watch is None else lambda _, state: watch(*user_weights(risk, state.V), -1, True)


def first(risk: Risk, start: Start) -> Floats:
    """V of the weights to start from, zero by default."""
    if start is None:
        return np.zeros((risk.design.p, risk.k))
    V = risk.design.from_user_units(*start)
    return V @ risk.basis


def recovered(solver: Solver, risk: Risk, V: Floats) -> Iterator[State]:
    """The solver's states; from V = 0 after the first, if that one is worse.

    Far on the wrong side (weights of the same columns in other units) the curvature underflows, and no step that it
    promises leads anywhere.
    """
    at_zero = float(risk.weight.sum()) * float(np.log(max(risk.targets.n_classes, 2)))
    states = solver(risk, V)
    start = next(states)
    yield start
    yield from states if start.value <= at_zero * (1.0 + 1e-9) else solver(risk, np.zeros_like(V))


def make_risk(design: Design, targets: Targets, weight: Floats, settings: Settings) -> Risk:
    """The objective as stated, in the coordinates of the design."""
    penalised = not np.isinf(settings.C)
    penalty = Ridge.on_weights(design.d, design.p, 1.0 if penalised else 0.0)
    weight = settings.C * weight if penalised else weight
    if targets.n_classes == 2:
        return Risk(TwoClasses(Logistic()), penalty, design, targets, weight)
    basis = (reference_basis if settings.reference else symmetric_basis)(targets.n_classes)
    return Risk(Classes(basis), penalty, design, targets, weight)


def polished(state: State) -> bool:
    """Whether Newton's next step would gain rounding only: the last one's error is the square of its own."""
    return state.decrement <= EXACT * abs(state.value)


def _within(risk: Risk, target: Callable[[], float]) -> Within:
    """Whether 1/2 ‖dF/dw‖², the duality gap once the intercept is optimal, is within the target."""
    d, total = risk.design.d, float(risk.weight.sum())

    def within(gradient: Floats, value: float) -> bool:
        gap = 0.5 * float(np.vdot(gradient[:d], gradient[:d]))
        spill = float(np.abs(gradient[d:]).max(initial=0.0)) / total
        return gap + spill * abs(value) <= 0.5 * target() * abs(value)

    return within


def in_user_units(risk: Risk, design: Design, V: Floats) -> Hyperplanes:
    """The weights as the model will hold them."""
    coef, intercept = user_weights(risk, V)
    return Hyperplanes(design.rounded(coef), design.rounded(intercept))


# ------------------------------------------------------------------ certificates
def certify(
    design: Design, targets: Targets, weight: Floats, model: Hyperplanes, settings: Settings, exact: bool = False
) -> tuple[LogisticGap | None, bool]:
    """A certificate of these very weights (exact: up to rounding), if one holds, and whether it is within tol."""
    claim = draft(design, targets, model.coef, model.intercept, settings)
    return statement(claim, fenchel(design, targets, weight, claim, exact))


def by_decrement(
    design: Design,
    targets: Targets,
    weight: Floats,
    model: Hyperplanes,
    settings: Settings,
    certificate: LogisticGap | None,
) -> tuple[LogisticGap | None, bool]:
    """The same weights certified by Newton's decrement, if that says more.

    The dual point follows from the weights, and in units where the gradient is large (entries of 1e8) their last
    bit spoils it, although F hardly feels that bit. The decrement does not depend on the units.
    """
    claim = replace(draft(design, targets, model.coef, model.intercept, settings), bound="decrement")
    if design.p * len(model.coef) > FACTORED_ORDER:
        return certificate, False
    with np.errstate(all="ignore"):
        other, certified = statement(claim, bounds(design.lend(Data, targets.values, weight), claim))
    better = other is not None and (certificate is None or other.relative_gap < certificate.relative_gap)
    return (other, certified) if better else (certificate, False)


def draft(design: Design, targets: Targets, coef: Floats, intercept: Floats, settings: Settings) -> LogisticGap:
    """The certificate of these weights, its numbers still to come."""
    return LogisticGap(
        loss="log",
        C=settings.C,
        classes=targets.classes,
        class_weight=targets.class_weight,
        coef=coef,
        intercept=intercept,
        fit_intercept=design.intercept,
        reference=settings.reference,
        task=None,
        bound="decrement" if np.isinf(settings.C) else "fenchel",
        primal=np.nan,
        dual=np.nan,
        tol=settings.tol,
    )


def _sharp(design: Design, exact: bool) -> bool:
    """Whether the numbers of the certificate are those of its check."""
    return exact and design.n * design.d <= SHARP_ENTRIES


def fenchel(design: Design, targets: Targets, weight: Floats, claim: LogisticGap, exact: bool = False) -> Bounds:
    """F and the dual value in one pass if that is accurate enough, else as the check computes them.

    The errors of a pass are uniform bounds, a hundred times as large as the check's, which take a hundred times as long
    on sparse rows: 20,000 x 10,000 words in 12 ms and in 2 s.
    """
    if not _sharp(design, exact):
        found = swept(design, targets, weight, claim)
        if not found.error > 0.5 * ALLOWED * claim.tol * abs(found.primal):
            return found
    with np.errstate(all="ignore"):
        return bounds(design.lend(Data, targets.values, weight), claim)
