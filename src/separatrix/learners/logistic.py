"""Logistic regression: min over (w, b) of C sum_i c_i log(1 + exp(-y_i (w.x_i + b))) + 1/2 ‖w‖², certified.

Which solver is fastest is a matter of shape. Newton's method is, where forming the Hessian costs little; then it is
also exact to rounding. For other small tables it finds its steps by conjugate gradients. For tall data, the Hessian of
a sample of rows preconditions L-BFGS, whose passes over the data do the rest; or its diagonal, where the sample says
that this will do. For wide sparse data the diagonal has to do, until it pays to compile a loop: then dual coordinate
descent needs a few sweeps only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

import numpy as np

from separatrix._typing import Array, Floats
from separatrix.certificates import LogisticGap
from separatrix.compiled import worth
from separatrix.design import Block, Design
from separatrix.design.base import Parts
from separatrix.design.row_space import narrowed
from separatrix.design.sparse import SparseDesign
from separatrix.errors import ConvergenceWarning
from separatrix.geometry import Hyperplanes
from separatrix.outcome import Fit, Status
from separatrix.problems.risk import LogisticRisk, Risk
from separatrix.problems.softmax import SoftmaxRisk, reference_basis, symmetric_basis
from separatrix.solvers.driver import State, run
from separatrix.solvers.lbfgs import lbfgs
from separatrix.solvers.logistic_descent import Solver, logistic_descent
from separatrix.solvers.newton import newton
from separatrix.solvers.precondition import diagonal, easy, renewed, sampled, sampled_at
from separatrix.solvers.truncated import truncated
from separatrix.targets import Targets

Start: TypeAlias = tuple[Floats, Floats] | None  # coef and intercept
Within: TypeAlias = Callable[[Floats, float], bool]  # told a gradient and a value
Record: TypeAlias = Callable[[int, State], None] | None  # told of every state

TINY = 2e6  # multiplications of a Hessian that cost no more than a pass over the rows
CHEAP = 3e8  # and those that cost next to nothing
SMALL = 1 << 21  # bytes of a table whose passes cost next to nothing
SEVERAL = 1 << 23  # of one with several classes, which a sampled Hessian knows less well
WIDE = 1 << 24  # of one with too few rows to sample
CLOSE = 2e-6  # the relative gap to which these are solved even if tol allows more
EXACT = 1e-12  # of F: what Newton's last step gains at most
TINIEST = float(np.finfo(np.float64).tiny)
WIDEST = 3000  # largest order of a Hessian to factor
LONG = 40  # entries of a row beside which the rest of what a sweep does for it is little
PATIENCE = 60  # passes in which a sampled Hessian should have done
STEPS = 10  # or less: what so many of Newton's steps cost, at 20 columns of a Hessian a pass
ENTRY = 1 / 6  # Python steps in the time that a hard problem takes an entry of wide sparse rows, in some hundred passes


@dataclass(frozen=True)
class Settings:
    """What the user chose."""

    C: float
    solver: str
    tol: float
    max_iter: int
    reference: bool


def logistic(
    design: Design, targets: Targets, weight: Floats, settings: Settings, start: Start = None, record: Record = None
) -> Fit:
    """Solve, certify, and go on if the certificate asks for more."""
    risk = make_risk(narrowed(design.anchored()), targets, weight, settings)
    within = _within(risk, lambda: target)
    solver, accuracy = choose(risk, settings.solver, within, start is None)
    target, n_iter = min(settings.tol, accuracy), -1

    def done(state: State) -> bool:
        return polished(state) if accuracy == 0 else within(state.gradient, state.value)

    states = solver(risk, first(risk, start))
    while True:
        state, n_iter = run(states, done, settings.max_iter, record, first=n_iter + 1)
        certificate, model = certify(state, risk, design, weight, settings)
        certified = certificate.relative_gap <= settings.tol
        if certified or state.stalled or n_iter >= settings.max_iter:
            break
        target *= 0.1
    if not certified and state.stalled and risk.design.p * risk.k <= WIDEST:
        certificate = by_decrement(certificate, risk, settings)
        certified = certificate.relative_gap <= settings.tol
    if certified:
        return Fit(model, certificate, Status.CERTIFIED, n_iter)
    return Fit(
        model,
        certificate,
        Status.UNCERTIFIED,
        n_iter,
        warnings=(not_converged(n_iter, certificate, state, settings),),
    )


def not_converged(n_iter: int, certificate: LogisticGap, state: State, settings: Settings) -> ConvergenceWarning:
    """What was reached, and what to do."""
    advice = "rounding allows no better: raise tol." if state.stalled else "raise max_iter, or tol."
    return ConvergenceWarning(
        f"Stopped after {n_iter} iterations at a relative gap of {certificate.relative_gap:.1e}, above "
        f"tol={settings.tol:g}; {advice}"
    )


def first(risk: Risk, start: Start) -> Floats:
    """V of the weights to start from, zero by default."""
    if start is None:
        return np.zeros((risk.design.p, risk.k))
    V = risk.design.from_user_units(*start)
    return V @ risk.basis if isinstance(risk, SoftmaxRisk) else V


def make_risk(design: Design, targets: Targets, weight: Floats, settings: Settings) -> Risk:
    """The objective as stated, in the coordinates of the design."""
    penalised = not np.isinf(settings.C)
    ridge = np.zeros(design.p)
    if penalised:
        ridge[: design.d] = 1.0
        weight = settings.C * weight
    if targets.n_classes == 2:
        return LogisticRisk(design, targets, weight, ridge)
    basis = (reference_basis if settings.reference else symmetric_basis)(targets.n_classes)
    return SoftmaxRisk(design, targets, weight, ridge, basis)


def choose(risk: Risk, solver: str, within: Within | None = None, from_zero: bool = False) -> tuple[Solver, float]:
    """The solver, and the accuracy that it reaches at next to no cost: 0 for machine precision, inf for none.

    Conjugate gradients and coordinate descent need to know what gradient is ``within`` what is asked for. Who cannot
    say goes by what steps promise to gain, which only a good Hessian knows. The descent has alphas to start from for
    V = 0 only.
    """
    primal, accuracy = _choose_primal(risk, solver, within)
    if solver == "auto" and within is not None and from_zero and accuracy > 0 and _descends(risk):
        return lambda r, V: logistic_descent(r, within, primal), np.inf
    return primal, accuracy


def _descends(risk: Risk) -> bool:
    """Whether to use dual coordinate descent: for two classes in wide sparse rows, once its loop is worth compiling."""
    design = risk.design
    if not isinstance(risk, LogisticRisk) or not isinstance(design, SparseDesign) or design.offset is not None:
        return False
    if _tall(design) or (_many(design) and design.X.nnz < LONG * design.n):
        return False
    return worth(ENTRY * design.X.nnz)


def _tall(design: Design) -> bool:
    return design.p <= WIDEST and design.n > 3 * design.p


def _many(design: Design) -> bool:
    """Whether sparse rows are so many that passes tell more of the weights than the same time in products would."""
    return isinstance(design, SparseDesign) and design.n >= design.d


def _choose_primal(risk: Risk, solver: str, within: Within | None) -> tuple[Solver, float]:
    design, order = risk.design, risk.design.p * risk.k
    cost = design.n * order * design.p
    tiny = 0.5 * cost * risk.k <= TINY
    tall = _tall(design)
    small = SEVERAL if risk.k > 1 else SMALL if tall or _many(design) else WIDE
    if solver == "auto" and within is not None and not tiny:
        if design.nbytes <= small:
            return lambda r, V: truncated(r, V, within), CLOSE
        if tall:
            return _preconditioned, np.inf
    if solver == "newton" or (solver == "auto" and order <= WIDEST and cost <= CHEAP):
        return newton, 0.0 if cost <= CHEAP else np.inf
    if solver == "auto" and tall:
        return _by_sample, np.inf
    return lambda r, V: lbfgs(r, V, diagonal(r, V)), np.inf


def _preconditioned(risk: Risk, V: Floats) -> Iterator[State]:
    """L-BFGS, preconditioned by the diagonal where that seems to do, and by a sample of the rows where it does not."""
    found = easy(risk, V)
    if found is None:
        yield from _by_sample(risk, V)
        return
    V, precondition, worth = found
    for state in islice(lbfgs(risk, V, precondition), worth):
        yield state
    states = lbfgs(risk, state.V, sampled_at(risk, state.V))
    yield from islice(_patiently(risk, states), 1, None)


def _by_sample(risk: Risk, V: Floats) -> Iterator[State]:
    """L-BFGS, preconditioned by a sample of the rows, from near its optimum."""
    renew = isinstance(risk.design, SparseDesign) and risk.k == 1
    return _patiently(risk, renewed(risk, V) if renew else lbfgs(risk, *sampled(risk, V)))


def _patiently(risk: Risk, states: Iterator[State]) -> Iterator[State]:
    """These states, and those of Newton's method from where many passes have not been enough."""
    order = risk.design.p * risk.k
    for state in islice(states, min(PATIENCE, STEPS + STEPS * order // 20) if order <= WIDEST else None):
        yield state
    yield from islice(newton(risk, state.V), 1, None)


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


def certify(
    state: State, risk: Risk, design: Design, weight: Floats, settings: Settings
) -> tuple[LogisticGap, Hyperplanes]:
    """The weights in the user's units and precision, and a certificate of exactly these."""
    basis = risk.basis if isinstance(risk, SoftmaxRisk) else np.ones((1, 1))
    coef, intercept = risk.design.user_units(state.V @ basis.T)
    coef, intercept = design.rounded(coef), design.rounded(intercept)
    primal, dual = primal_and_dual(design, risk.targets, weight, coef, intercept, settings)
    return statement(risk, coef, intercept, settings, primal, dual, "fenchel"), Hyperplanes(coef, intercept)


def statement(
    risk: Risk, coef: Floats, intercept: Floats, settings: Settings, primal: float, dual: float, bound: str
) -> LogisticGap:
    """The certificate of these weights."""
    dual = min(max(dual, 0.0), primal)  # F is never negative; and rounding may put the dual above
    return LogisticGap(
        loss="log",
        C=settings.C,
        classes=risk.targets.classes,
        class_weight=risk.targets.class_weight,
        coef=coef,
        intercept=intercept,
        fit_intercept=risk.design.intercept,
        reference=settings.reference,
        task=None,
        bound=bound,
        primal=primal,
        dual=dual,
        tol=max(settings.tol, (primal - dual) / max(abs(primal), 1e-300)),
    )


def by_decrement(certificate: LogisticGap, risk: Risk, settings: Settings) -> LogisticGap:
    """The same weights certified by Newton's decrement, if that says more.

    The dual point follows from the weights, and in units where the gradient is large (entries of 1e8) their last
    bit spoils it, although F hardly feels that bit. The decrement does not depend on the units.
    """
    from separatrix.learners.maximum_likelihood import information, suboptimality

    V = first(risk, (certificate.coef, certificate.intercept))
    known = information(risk, V)
    if known.null.shape[1]:  # a curvature that rounding hides bounds nothing
        return certificate
    primal, gradient = risk.value_and_gradient(V)
    gap = suboptimality(risk, gradient, known)
    if not gap < certificate.gap:
        return certificate
    return statement(risk, certificate.coef, certificate.intercept, settings, primal, primal - gap, "decrement")


def primal_and_dual(
    design: Design, targets: Targets, weight: Floats, coef: Floats, intercept: Floats, settings: Settings
) -> tuple[float, float]:
    """F(w, b), and C sum_i c_i entropy(P_i) - 1/2 ‖C sum_i c_i (P_i - Y_i) x_i'‖² at P = the mixed probabilities.

    Mixing the fit's probabilities with a constant prediction q makes the residuals of each class sum to 0, as the dual
    of a free intercept requires. One pass over the rows, about their anchor, gives every sum for any mixture but
    the entropy, which needs the probabilities only.
    """
    anchored = design.anchored()
    C, K = settings.C, len(coef)
    V = anchored.from_user_units(coef, intercept)
    P = np.empty((K, design.n))
    used = 2 * K + 1 if design.intercept else K  # moments: without an intercept, nothing is mixed

    def add(block: Block, values: Array, c: Floats) -> Parts:
        S = np.ascontiguousarray(block.dot(V).T)  # a row a class: NumPy is slow along few columns
        R = np.zeros((2 * K + 1, len(c)))  # p - Y, Y and 1
        p, Y = R[:K], R[K:-1]
        if K == 1:
            Y[0] = values
            e = np.exp(-np.abs(S))
            losses = (np.maximum(S, 0.0) - S * Y + np.log1p(e))[0]
            p[:] = np.where(S >= 0, 1.0, e) / (1.0 + e)
        else:
            rows = np.arange(len(c))
            Y[values, rows] = 1.0
            S -= S.max(axis=0)
            losses = -S[values, rows]
            np.exp(S, out=p)
            total = p.sum(axis=0)
            p /= total
            losses += np.log(total)
        P[:, block.rows] = p
        p -= Y
        R[-1] = 1.0
        R *= c
        return float(c @ losses), block.tdot(R[:used].T), R.sum(axis=1)

    loss, moments, sums = anchored.reduce(add, targets.values, weight)
    moments = moments[: design.d]
    total = sums[-1]
    share, spill = sums[K : 2 * K] / total, sums[:K] / total
    theta, constant = _mixture(share, spill) if design.intercept else (0.0, share)
    if theta > 0.0:
        P *= 1 - theta
        P += theta * constant[:, None]
    entropy = float(_entropy(P) @ weight) + (float(_entropy(1.0 - P) @ weight) if K == 1 else 0.0)
    residual = moments[:, :K]
    if theta > 0.0:  # sum c (P - Y) x = (1 - theta) sum c (p - Y) x + theta (sum c x q - sum c Y x)
        residual = (1 - theta) * residual + theta * (np.outer(moments[:, -1], constant) - moments[:, K : 2 * K])
    if settings.reference and K > 1:
        residual = residual[:, :-1]
    penalty = 0.5 * float((coef**2).sum())
    with np.errstate(over="ignore"):  # an infinite gap says that this dual point says nothing
        return C * loss + penalty, C * entropy - 0.5 * float(((C * residual) ** 2).sum())


def _entropy(P: Floats) -> Floats:
    """The sum over the rows of P of -p log p."""
    return -np.einsum("ki,ki->i", P, np.log(np.maximum(P, TINIEST)))


def _mixture(share: Floats, spill: Floats) -> tuple[float, Floats]:
    """theta and q with (1 - theta) spill + theta (q - share) = 0, q well inside the probabilities."""
    room = np.where(spill > 0, share, 1.0 - share if len(share) == 1 else np.inf)
    need = np.abs(spill)
    theta = min(1.0, 2.0 * float(np.max(need / (need + room))))
    return (0.0, share) if theta == 0.0 else (theta, share - spill * (1 - theta) / theta)
