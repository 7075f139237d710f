"""The plain rules on the data as it is: gradient descent on the summed objective, one point at a time, and Newton's.

With the step 1/L, L a bound on the objective's curvature, every gradient step lowers it. The stochastic rule takes
the points of a pass in a new random order, with the step 10 eta / (9 + m) in pass m: at a constant step the weights
hover about the optimum for ever, which ``schedule="constant"`` shows. Its default eta is 1 / max_i L_i, L_i the
curvature of point i's own term: no single step overshoots on its point. Newton's rule is here without its damping.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from separatrix._typing import Floats
from separatrix.design import Design
from separatrix.errors import ConvergenceWarning, InvalidInputError
from separatrix.geometry import Hyperplanes
from separatrix.logistic.maximum_likelihood import Likelihood, certified, without_certificate
from separatrix.logistic.penalised import Settings, Watch, certify, first, make_risk, on_states, user_weights
from separatrix.logistic.progress import Criterion, Gap, recorder
from separatrix.loops.sgd import LOG, SQUARED_ERROR
from separatrix.losses import SigmoidSquared
from separatrix.outcome import Fit, Status, Trace
from separatrix.problems.risk import Risk
from separatrix.problems.scored import TwoClasses
from separatrix.solvers.driver import State, run
from separatrix.solvers.gradient import gradient_descent, largest_curvature
from separatrix.solvers.newton import undamped
from separatrix.solvers.online import Rows
from separatrix.solvers.sgd import Points, shortened, steepest_point
from separatrix.targets import Targets


@dataclass(frozen=True)
class Descended:
    """Where it went."""

    coef: Floats
    intercept: Floats
    n_iter: int
    rate: float
    safe: float  # the default step
    trace: Trace | None

    def warning(self, figure: str, settings: Settings) -> ConvergenceWarning:
        """What was reached, and what to do."""
        step = f"learning_rate={self.rate:.3g}" if settings.damping else "Newton's steps without damping"
        if settings.damping and self.rate > self.safe:
            step += f", which is above the safe step 1/L = {self.safe:.3g}: lower it"
        return ConvergenceWarning(
            f"Stopped after {self.n_iter} iterations at {figure}, above tol={settings.tol:g} ({step}). Raise max_iter, "
            "or tol, bring the columns of X to mean 0 and similar size, or use solver='auto'."
        )


def descended_logistic(design: Design, targets: Targets, weight: Floats, settings: Settings) -> Fit:
    """Cross-entropy by one of the plain rules, certified as by any other solver."""
    risk = make_risk(design, targets, weight, settings)
    criterion = Gap(Likelihood(design, targets, weight, settings))
    end = descend(risk, criterion, settings)
    model = Hyperplanes(design.rounded(end.coef), design.rounded(end.intercept))
    fit = _concluded(design, targets, weight, settings, model)
    warnings = fit.warnings
    if fit.status is Status.UNCERTIFIED:
        _, _, gap = criterion.measure(model.coef, model.intercept)
        warnings = (end.warning(f"a relative gap of {gap:.1e}", settings),)
    return replace(fit, n_iter=end.n_iter, trace=end.trace, warnings=warnings)


def _concluded(design: Design, targets: Targets, weight: Floats, settings: Settings, model: Hyperplanes) -> Fit:
    """The certificate of these very weights, or the proof that there is no maximum."""
    if np.isinf(settings.C):
        likelihood = Likelihood(design, targets, weight, settings)
        return certified(likelihood, model, 0) or without_certificate(likelihood, model, 0, stalled=False)
    certificate, within = certify(design, targets, weight, model, settings)
    return Fit(model, certificate, Status.CERTIFIED if within else Status.UNCERTIFIED)


def descend(risk: Risk, criterion: Criterion, settings: Settings) -> Descended:
    """Step after step, or pass after pass, until the criterion is within tol or max_iter is reached."""
    trace = Trace() if settings.trace else None
    watch = recorder(trace, criterion, risk, risk.design)
    enough = _now_and_then(criterion, settings.tol)
    V, stochastic = first(risk, settings.start), settings.damping and settings.solver == "sgd"
    safe = _safe_step(risk, stochastic) if settings.damping else 1.0
    rate = safe if settings.rate is None or not settings.damping else settings.rate
    try:
        if stochastic:
            coef, intercept, n_iter = _passes(risk, V, settings, rate, enough, watch)
        else:
            states = gradient_descent(risk, V, rate) if settings.damping else undamped(risk, V)
            coef, intercept, n_iter = _iterated(risk, states, settings, enough, watch)
    except FloatingPointError as error:
        if not settings.damping:
            raise InvalidInputError(
                f"Newton's steps without damping diverge ({error}): use damping=True, or a start nearer to the "
                "optimum.",
                "damping",
            ) from error
        raise InvalidInputError(
            f"learning_rate={rate:.3g} makes the weights diverge ({error}): use a smaller one, such as the default "
            f"1/L = {safe:.3g}.",
            "learning_rate",
        ) from error
    return Descended(coef, intercept, n_iter, rate, safe, trace)


def _safe_step(risk: Risk, stochastic: bool) -> float:
    """1/L, L the largest curvature of the objective, or of the term of a single point; 1 where nothing bends."""
    if stochastic:
        ridge = float(risk.ridge.max(initial=0.0))
        curvature = steepest_point(risk.design, risk.weight, risk.loss.steepest, ridge)
    else:
        curvature = largest_curvature(risk, risk.loss.steepest)
    return 1.0 / curvature if curvature > 0 else 1.0


Enough = Callable[[Floats, Floats], bool]


def _iterated(
    risk: Risk, states: Iterator[State], settings: Settings, enough: Enough, watch: Watch | None
) -> tuple[Floats, Floats, int]:
    """The states of a rule, until enough."""

    def done(state: State) -> bool:
        return enough(*user_weights(risk, state.V))

    state, n_iter = run(states, done, settings.max_iter, on_states(risk, watch))
    return *user_weights(risk, state.V), n_iter


def _passes(
    risk: Risk, V: Floats, settings: Settings, rate: float, enough: Enough, watch: Watch | None
) -> tuple[Floats, Floats, int]:
    """Pass after pass over the points, each in a new random order; or as many draws, with replacement."""
    design, d = risk.design, risk.design.d
    W = np.column_stack(user_weights(risk, V))
    points = _points(risk, settings)
    history = np.empty((design.n if watch is not None else 0, *W.shape))
    if watch is not None:
        watch(W[:, :d], W[:, d], -1, True)
    for n_iter in range(1, settings.max_iter + 1):
        n = design.n
        order = settings.rng.randint(n, size=n) if settings.replacement else settings.rng.permutation(n)
        shorter = 1.0 if settings.constant else shortened(n_iter)
        points.one_pass(W, rate * shorter, np.asarray(order, dtype=np.int64), history)
        if watch is not None:
            for t, point in enumerate(order):
                watch(history[t, :, :d], history[t, :, d], int(point), t == n - 1)
        if enough(W[:, :d], W[:, d]):
            break
    return W[:, :d].copy(), W[:, d].copy(), n_iter


def _points(risk: Risk, settings: Settings) -> Points:
    loss = SQUARED_ERROR if risk.loss == TwoClasses(SigmoidSquared()) else LOG
    ridge = float(risk.ridge.max(initial=0.0))
    return Points(Rows(risk.design), risk.targets.values, risk.weight, ridge, loss, settings.reference)


def in_order(risk: Risk, settings: Settings, W: Floats, number: int) -> None:
    """A step for each row, in their order, from W (k, d + 1), in place: as the pass of this number has it."""
    rate = settings.rate or _safe_step(risk, stochastic=True)
    shorter = 1.0 if settings.constant else shortened(number)
    _points(risk, settings).one_pass(W, rate * shorter, np.arange(risk.design.n), np.empty((0, *W.shape)))


def _now_and_then(criterion: Criterion, tol: float) -> Enough:
    """Whether the criterion is within tol, asked ever more rarely: the asking costs about what a step does."""
    calls, next_call = 0, 0

    def enough(coef: Floats, intercept: Floats) -> bool:
        nonlocal calls, next_call
        calls += 1
        if calls <= next_call:
            return False
        next_call = calls + calls // 10
        return criterion.measure(coef, intercept)[2] <= tol

    return enough
