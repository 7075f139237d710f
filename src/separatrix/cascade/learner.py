"""A cascade from several starts, each down to where its gradient vanishes; the best of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from separatrix._typing import Floats
from separatrix.cascade.network import Network
from separatrix.design import Design
from separatrix.design.sample import Sample
from separatrix.errors import ConvergenceWarning, InvalidInputError
from separatrix.formulas.claims import stationarity
from separatrix.geometry import Layers
from separatrix.outcome import Fit, Status, Trace
from separatrix.solvers.driver import State, run
from separatrix.solvers.lbfgs import lbfgs
from separatrix.targets import signs

FLAT = 1e-12  # of the mean that a deviation is by rounding
SAFE = 0.5  # of what is to be claimed: weights in the user's units are rounded once more
GAIN = 1e-4  # of the decrease that the slope promises, for a step to be taken
SHORTEST = 1e-12  # step that is tried


@dataclass(frozen=True)
class Settings:
    """What a cascade is told, apart from the data."""

    hidden: tuple[int, ...]
    C: float
    squared: bool
    descent: bool
    rate: float | None
    tol: float
    max_iter: int
    starts: int
    random: np.random.RandomState
    trace: bool


def learn(sample: Sample, settings: Settings) -> Fit:
    """The best of some starts, with its gradient for a certificate."""
    targets, weight = sample.targets, sample.weight
    centred = sample.design.centred(weight)
    scale = deviations(centred, weight)
    T = signs(targets.values, targets.n_classes, 0.0)
    design = centred.scaled(1.0 / scale)
    sizes = (design.d, *settings.hidden, T.shape[1])
    network = Network(design, T, settings.C * weight, sizes, settings.squared)
    best: tuple[State, int, Trace | None] | None = None
    for _ in range(settings.starts):
        found = _descended(network, network.start(settings.random), settings)
        if best is None or found[0].value < best[0].value:
            best = found
    assert best is not None
    state, n_iter, trace = best
    return _concluded(network, sample, settings, scale, state, n_iter, trace)


def deviations(centred: Design, weight: Floats) -> Floats:
    """The weighted standard deviation of each column; 1 for one that is constant but for rounding."""
    rows = np.zeros(centred.n, dtype=np.intp)
    squares = centred.class_sums(rows, weight, 1, centred.shift[None])[0]
    found = np.sqrt(squares / weight.sum())
    return np.where(found > FLAT * np.abs(centred.shift), found, 1.0)


def _descended(network: Network, theta: Floats, settings: Settings) -> tuple[State, int, Trace | None]:
    trace = Trace() if settings.trace else None
    states = _gradient_descent(network, theta, settings.rate) if settings.descent else lbfgs(network, theta, np.copy)

    def record(step: int, state: State) -> None:
        assert trace is not None
        slope = float(np.abs(state.gradient).max())
        trace.record(step=step, point=-1, objective=state.value, gradient=slope, weights=state.V)

    goal = SAFE * settings.tol * network.scale
    state, n_iter = run(
        states, lambda s: float(np.abs(s.gradient).max()) <= goal, settings.max_iter, None if trace is None else record
    )
    if not np.isfinite(state.value):
        if settings.rate is None:
            raise FloatingPointError("the objective is not finite")
        raise InvalidInputError(
            f"learning_rate={settings.rate:.3g} makes the weights diverge: use a smaller one, or None.", "learning_rate"
        )
    return state, n_iter, trace


def _gradient_descent(network: Network, theta: Floats, rate: float | None) -> Iterator[State]:
    """theta ← theta - t dF/dtheta, with t = rate; or, without one, twice the last t, halved until F falls enough."""
    value, gradient = network.value_and_gradient(theta)
    yield State(theta, value, gradient)
    t = 1.0 / network.scale if rate is None else rate
    while True:
        square = float(gradient @ gradient)
        if rate is None:
            t *= 2.0
        while True:
            trial = theta - t * gradient
            trial_value, trial_gradient = network.value_and_gradient(trial)
            if rate is not None or trial_value <= value - GAIN * t * square:
                break
            t *= 0.5
            if t * network.scale < SHORTEST:
                yield State(theta, value, gradient, stalled=True)
                return
        theta, value, gradient = trial, trial_value, trial_gradient
        yield State(theta, value, gradient, stalled=not np.isfinite(value))


def _concluded(
    network: Network, sample: Sample, settings: Settings, scale: Floats, state: State, n_iter: int, trace: Trace | None
) -> Fit:
    """The weights in the user's units, as the model holds them, and what may be claimed of them."""
    design, targets, layers = sample.design, sample.targets, network.layers(state.V)
    coef, intercept = network.design.user_units(layers[0])
    coefs = [design.rounded(W) for W in (coef.T, *(V[:-1] for V in layers[1:]))]
    intercepts = [design.rounded(b) for b in (intercept, *(V[-1] for V in layers[1:]))]
    if design.dtype != np.float64:  # rounding to fewer digits has moved them
        first = network.design.from_user_units(coefs[0].T, intercepts[0])
        held = [first, *(np.vstack([W, b]) for W, b in zip(coefs[1:], intercepts[1:], strict=True))]
        V = np.concatenate([layer.ravel() for layer in held])
        state = State(V, *network.value_and_gradient(V))
    model = Layers(*(tuple(a.astype(design.dtype) for a in arrays) for arrays in (coefs, intercepts)))
    attributes = {
        "coefs_": list(model.coefs),
        "intercepts_": list(model.intercepts),
        "objective_": state.value,
    }
    reached = float(np.abs(state.gradient).max()) / network.scale
    if reached > settings.tol:
        advice = "" if settings.rate is None else ", or leave out learning_rate"
        warning = ConvergenceWarning(
            f"Stopped after {n_iter} iterations with a derivative of {reached:.1e} of C sum_i c_i, above "
            f"tol={settings.tol:g}: raise max_iter, or tol{advice}."
        )
        return Fit(model, None, Status.UNCERTIFIED, n_iter, trace, attributes, (warning,))
    certificate = stationarity(
        "cascade", design, targets, sizes=np.array(network.sizes), coefs=np.concatenate([W.ravel() for W in coefs]),
        intercepts=np.concatenate(intercepts), scale=scale, C=settings.C,
        loss="squared_error" if settings.squared else "log", tol=settings.tol,
    )  # fmt: skip
    return Fit(model, certificate, Status.STATIONARY, n_iter, trace, attributes)
