"""Firth's bias-reduced logistic regression: max over beta of l(beta) + 1/2 log det I(beta).

l = sum_i c_i log P(y_i | x_i), and I = sum_i c_i p_i (1 - p_i) z_i z_i' is the Fisher information. The maximum is
finite for separable classes too. Its equations are those of maximum likelihood with a modified score: sum_i [c_i (t_i
- p_i) + h_i (1/2 - p_i)] z_i = 0, where h_i = c_i p_i (1 - p_i) z_i' I⁻¹ z_i is the leverage of row i.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy import linalg

from separatrix._typing import Array, Floats
from separatrix.design import Block, Design
from separatrix.design.block import turned_gram
from separatrix.design.reducing import Parts
from separatrix.design.rounding import depth, exact_units, score_sizes
from separatrix.errors import ConvergenceWarning, InvalidInputError
from separatrix.formulas.claims import stationarity, within
from separatrix.geometry import Hyperplanes
from separatrix.logistic.maximum_likelihood import Information, standard_errors
from separatrix.logistic.penalised import Settings, first, make_risk, on_states
from separatrix.logistic.progress import recorder
from separatrix.outcome import Fit, Status, Trace
from separatrix.problems.risk import Risk
from separatrix.problems.scored import ScoredLoss
from separatrix.solvers.driver import State, run
from separatrix.targets import Targets

EPS = float(np.finfo(np.float64).eps)
MOST = 2_000_000_000  # bytes of the matrices of order p
SUM = 1e-4  # by which the leverages may miss the number of weights
FAINTEST = 1e-100  # information so small that all probabilities are 0 or 1: no place to go to
LONGEST = 5.0
REST = 1e-11  # and at this one the iterations end


@dataclass(frozen=True)
class Point:
    """Likelihood, information and modified score at V."""

    V: Floats
    log_likelihood: float
    root: Floats  # root I root' = 1
    log_det: float
    score: Floats  # root U*, of the modified score U*
    leverage: float  # the sum of all leverages: the number of weights, unless rounding has spoilt I⁻¹

    @property
    def penalised(self) -> float:
        """l + 1/2 log det I."""
        return self.log_likelihood + 0.5 * self.log_det

    @property
    def length(self) -> float:
        """The modified score in the norm of I⁻¹: how far the maximum is, in standard errors."""
        return float(np.linalg.norm(self.score))


def firth(design: Design, targets: Targets, weight: Floats, settings: Settings) -> Fit:
    """Solve by Fisher scoring, and certify the modified score."""
    _check_size(design)
    settings = replace(settings, C=np.inf)
    risk = make_risk(design.anchored(), targets, weight, settings)
    T = independent(risk)
    trace = Trace() if settings.trace else None
    record = on_states(risk, recorder(trace, ModifiedScore(risk, T), risk, design))
    V = first(risk, settings.start)
    states = fisher_scoring(risk, T, V if _informative(risk, T, V) else np.zeros_like(V))
    state, n_iter = run(states, lambda state: state.decrement <= REST**2, settings.max_iter, record)
    coef, intercept = risk.design.user_units(state.V)
    coef, intercept = design.rounded(coef), design.rounded(intercept)
    at = look(risk, T, exact_units(risk.design, coef, intercept))
    reached, rounding = at.length, _rounding(risk, T, at)
    claim = within(reached, rounding, settings.tol)
    model = Hyperplanes(coef, intercept)
    attributes = {
        "log_likelihood_": at.log_likelihood,
        "penalized_log_likelihood_": at.penalised,
        "rank_": design.p,
        "standard_errors_": standard_errors(risk, Information(at.root, np.empty((design.p, 0)))),
    }
    if claim is None or not (abs(at.leverage - design.p) <= SUM):
        advice = "raise max_iter"
        if np.sqrt(state.decrement) <= settings.tol:  # so it was before the weights were rounded
            advice = "rounding the weights allows no better: subtract the means of the columns, or pass X as float64"
        elif state.stalled:
            advice = "the columns are nearly dependent, and rounding allows no better"
        warning = ConvergenceWarning(
            f"Stopped after {n_iter} iterations with the modified score {reached:.1e} standard errors from zero "
            f"(tol={settings.tol:g}), so there is no certificate: {advice}."
        )
        return Fit(model, None, Status.UNCERTIFIED, n_iter, trace, attributes, (warning,))
    certificate = stationarity(
        "firth", design, targets, coef=coef, intercept=intercept, fit_intercept=design.intercept, task=None, tol=claim
    )
    return Fit(model, certificate, Status.STATIONARY, n_iter, trace, attributes)


def _informative(risk: Risk, T: Floats, V: Floats) -> bool:
    """Whether the information at V can be factored: where every p (1 - p) vanishes, no step is known."""
    try:
        with np.errstate(all="ignore"):
            at = look(risk, T, V)
    except (ValueError, np.linalg.LinAlgError):  # of SciPy, told of NaN
        return False
    return bool(np.isfinite(at.root).all() and np.isfinite(at.score).all() and np.isfinite(at.penalised))


def _check_size(design: Design) -> None:
    """Refuse what cannot have independent columns, and what has too many to hold the information."""
    if design.n < design.p:
        raise InvalidInputError(
            f"bias_reduction='firth' needs independent columns, since otherwise det I = 0, but there are {design.p} "
            f"weights and only {design.n} rows. Leave columns out, or use C < inf without bias_reduction.",
            "bias_reduction",
        )
    if 8 * 6 * design.p**2 > MOST:
        raise InvalidInputError(
            f"bias_reduction='firth' needs dense matrices of order {design.p}, {8 * 6 * design.p**2 / 1e9:.0f} GB in "
            "all. Leave columns out, or use C < inf without bias_reduction.",
            "bias_reduction",
        )


def fisher_scoring(risk: Risk, T: Floats, V: Floats) -> Iterator[State]:
    """beta ← beta + t I⁻¹ U*, with U* the modified score and t = 1, 1/2, 1/4, ... until it gains likelihood.

    No step changes the log-odds of a row by more than LONGEST: beyond, I is no longer what the step assumes.
    """
    at = look(risk, T, V)
    yield _state(at)
    while True:
        step = at.root.T @ at.score
        t = min(1.0, LONGEST / max(float(np.abs(risk.design.dot(step[:, None])).max()), LONGEST))
        while True:
            trial = look(risk, T, at.V + t * step[:, None])
            if trial.penalised > at.penalised:
                break
            # at the maximum the likelihood only rounds: then a smaller score is progress
            rounds = at.length**2 <= 64 * EPS * abs(at.penalised)
            if rounds and trial.length < 0.9 * at.length:
                break
            t *= 0.5
            if rounds or t < 1e-10:
                yield _state(at, stalled=True)
                return
        at = trial
        yield _state(at)


def _state(at: Point, stalled: bool = False) -> State:
    return State(at.V, -at.penalised, np.empty((0, 1)), at.length**2, stalled)


def look(risk: Risk, T: Floats, V: Floats) -> Point:
    """All that a step needs, at V; the information is formed of the rows T'z, which are well conditioned."""
    data = risk.targets.values, risk.weight
    value, information = risk.design.reduce(_inform, *data, args=(risk.loss, V, T))
    p = len(T)
    values, Q = linalg.eigh(information)
    if not values[0] > max(p * EPS * values[-1], FAINTEST):
        return Point(V, -value, np.zeros((p, p)), -np.inf, np.full(p, np.inf), 0.0)
    root = (Q / np.sqrt(values)).T
    score, total = risk.design.reduce(_score, *data, args=(risk.loss, V, T, root))
    log_det = float(np.log(values).sum()) - 2 * float(np.linalg.slogdet(T)[1])
    return Point(V, -value, root @ T.T, log_det, score, total)


def _inform(block: Block, t: Array, c: Floats, loss: ScoredLoss, V: Floats, T: Floats) -> Parts:
    """The loss, and the information in the coordinates T."""
    z, rows = block.dot(V), block.dot(T)
    losses, _ = loss.pointwise(t, z)
    return float(c @ losses), rows.T @ (c[:, None] * loss.own_curvature(t, z) * rows)


def _score(block: Block, t: Array, c: Floats, loss: ScoredLoss, V: Floats, T: Floats, root: Floats) -> Parts:
    """The modified score sum_i (h_i (1/2 - p_i) + c_i (t_i - p_i)) T'z_i in units of the errors, and sum_i h_i."""
    z, rows = block.dot(V), block.dot(T) @ root.T
    slope = loss.pointwise(t, z)[1][:, 0]  # p - t
    leverage = c * loss.own_curvature(t, z)[:, 0] * (rows**2).sum(axis=1)
    return rows.T @ (leverage * (0.5 - t - slope) - c * slope), float(leverage.sum())


def _errors(
    block: Block, t: Array, c: Floats, off: Floats, loss: ScoredLoss, V: Floats, B: Floats, deep: float
) -> Parts:
    """What rounding does to the score by way of its terms, of its rows and of the information; and the leverages."""
    z, rows, d = block.dot(V), block.dot(B), block.design.d
    error = (len(B) + 4) * EPS * np.linalg.norm(abs(block.x) @ np.abs(B[:d]) + np.abs(B[d:]).sum(axis=0), axis=1)
    slope, length = np.abs(loss.pointwise(t, z)[1][:, 0]), np.linalg.norm(rows, axis=1)
    h = c * loss.own_curvature(t, z)[:, 0] * length**2
    share = error / np.where(length > 0, length, 1.0)
    known = (0.25 * c * off + h * (0.75 * np.expm1(off) + 2 * share) + 2 * deep * (c * slope + h)) @ length
    return (
        float(known),
        float((c * slope + h) @ error),
        float(h @ (2 * share + np.expm1(off) + deep)),
        float(h @ length),
    )


@dataclass(frozen=True)
class ModifiedScore:
    """The length of the modified score in the norm of I⁻¹."""

    name: ClassVar[str] = "gradient"
    risk: Risk
    T: Floats

    def measure(self, coef: Floats, intercept: Floats) -> tuple[float, float, float]:
        """Minus the penalised log-likelihood, and the length, twice."""
        at = look(self.risk, self.T, self.risk.design.from_user_units(coef, intercept))
        return -at.penalised, at.length, at.length


def _rounding(risk: Risk, T: Floats, at: Point) -> float:
    """A bound on the rounding error of the modified score, in standard errors; the rows' own condition included."""
    design, deep = risk.design, depth(risk.design) * EPS
    off = (design.d + 8) * EPS * score_sizes(design, at.V)[:, 0]
    B = at.root.T
    args = risk.loss, at.V, B, deep
    with np.errstate(over="ignore", invalid="ignore"):
        of_pull, of_rows, of_information, leverage = design.reduce(
            _errors, risk.targets.values, risk.weight, off, args=args
        )
        return 2 * float(of_pull + of_rows + 2 * of_information * leverage)


def independent(risk: Risk) -> Floats:
    """T (p, p) with T' (sum_i c_i z_i z_i') T = 1; `InvalidInputError` for dependent columns, where det I = 0.

    The eigenvalues of a Gram matrix are known to about eps of the largest. Formed anew of the rows T'z, it shows what
    was below that: after two rounds singular values down to eps are told from 0.
    """
    design = risk.design
    length = np.sqrt(np.diag(design.gram(risk.weight)))
    T = np.diag(1.0 / np.where(length > 0, length, 1.0))
    for _ in range(3):
        (G,) = design.reduce(turned_gram, risk.weight, args=(T,))
        values, Q = linalg.eigh(G)
        T = T @ (Q / np.sqrt(np.maximum(values, 1e-13)))
    if values[0] > 0.01:
        return T
    column = int(np.argmax(np.abs(T[: design.d, 0]) * np.where(length > 0, length, 1.0)[: design.d]))
    raise InvalidInputError(
        "bias_reduction='firth' needs independent columns, since otherwise det I = 0: "
        f"{design.column(column)} is constant or a combination of the others. Leave it out.",
        "bias_reduction",
    )
