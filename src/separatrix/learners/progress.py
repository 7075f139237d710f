"""How far weights are from optimal, and a record of how they got there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Protocol, TypeAlias

import numpy as np

from separatrix._typing import Floats
from separatrix.design import Design
from separatrix.learners.logistic import Settings, Start, first, logistic, make_risk, primal_and_dual
from separatrix.learners.maximum_likelihood import information, maximum_likelihood, suboptimality
from separatrix.outcome import Fit, Trace
from separatrix.problems.risk import Risk
from separatrix.problems.softmax import SoftmaxRisk
from separatrix.solvers.driver import State
from separatrix.targets import Targets

TINY = float(np.finfo(np.float64).tiny)

# told the weights coef (k, d) and intercept (k,), the point that led to them (-1: all), and whether to measure
Watch: TypeAlias = Callable[[Floats, Floats, int, bool], None]


class Criterion(Protocol):
    """What `tol` bounds."""

    @property
    def name(self) -> str:
        """Its column in a trace."""

    def measure(self, coef: Floats, intercept: Floats) -> tuple[float, float, float]:
        """The objective at these weights, the figure itself, and the figure as it compares with `tol`."""


@dataclass(frozen=True)
class Gap:
    """F minus a lower bound on its minimum: of the dual, or for C = inf of Newton's decrement."""

    name: ClassVar[str] = "gap"
    design: Design
    targets: Targets
    weight: Floats
    settings: Settings

    @cached_property
    def _risk(self) -> Risk:
        return make_risk(self.design.anchored(), self.targets, self.weight, self.settings)

    def measure(self, coef: Floats, intercept: Floats) -> tuple[float, float, float]:
        if np.isinf(self.settings.C):
            V = first(self._risk, (coef, intercept))
            value, gradient = self._risk.value_and_gradient(V)
            gap = suboptimality(self._risk, gradient, information(self._risk, V))
        else:
            value, dual = primal_and_dual(self.design, self.targets, self.weight, coef, intercept, self.settings)
            gap = max(value - dual, 0.0)
        return value, gap, gap / max(abs(value), TINY) if gap else 0.0


def user_weights(risk: Risk, V: Floats) -> tuple[Floats, Floats]:
    """coef (k, d) and intercept (k,) of the classes, in the user's units."""
    return risk.design.user_units(V @ risk.basis.T if isinstance(risk, SoftmaxRisk) else V)


def recorder(trace: Trace, criterion: Criterion, risk: Risk, design: Design) -> Watch:
    """Writes one row of the trace for each step: one or two passes over the rows."""
    anchored, codes = design.anchored(), risk.targets.values

    def watch(coef: Floats, intercept: Floats, point: int, measured: bool) -> None:
        scores = anchored.dot(anchored.from_user_units(coef, intercept))
        predicted = (scores[:, 0] >= 0) if len(coef) == 1 else scores.argmax(axis=1)
        if measured:
            objective, figure, _ = criterion.measure(coef, intercept)
        else:
            objective, figure = risk.value_and_gradient(first(risk, (coef, intercept)))[0], np.nan
        weights = np.column_stack([coef, intercept])
        trace.record(
            step=trace.n_steps,
            point=point,
            objective=objective,
            **{criterion.name: figure},
            mistakes=int((predicted != codes).sum()),
            weights=weights[0] if len(weights) == 1 else weights,
        )

    return watch


def on_states(risk: Risk, watch: Watch) -> Callable[[int, State], None]:
    """The watch as the driver calls it: after every step on all points."""
    return lambda _, state: watch(*user_weights(risk, state.V), -1, True)


def watched(
    design: Design, targets: Targets, weight: Floats, settings: Settings, start: Start = None, traced: bool = False
) -> Fit:
    """Cross-entropy by the solvers that condition the problem themselves, recorded if so wished."""
    learn = maximum_likelihood if np.isinf(settings.C) else logistic
    if not traced:
        return learn(design, targets, weight, settings, start)
    trace = Trace()
    risk = make_risk(design.anchored(), targets, weight, settings)
    watch = recorder(trace, Gap(design, targets, weight, settings), risk, design)
    return replace(learn(design, targets, weight, settings, start, on_states(risk, watch)), trace=trace)
