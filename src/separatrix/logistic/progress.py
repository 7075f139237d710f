"""How far weights are from optimal, and a record of how they got there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

import numpy as np

from separatrix._typing import Floats
from separatrix.design import Design
from separatrix.logistic.maximum_likelihood import Likelihood, maximum_likelihood
from separatrix.logistic.penalised import Settings, Watch, draft, fenchel, first, logistic, make_risk
from separatrix.outcome import Fit, Trace
from separatrix.problems.risk import Risk
from separatrix.targets import Targets

TINY = float(np.finfo(np.float64).tiny)


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
    problem: Likelihood

    def measure(self, coef: Floats, intercept: Floats) -> tuple[float, float, float]:
        problem = self.problem
        if np.isinf(problem.settings.C):
            _, found = problem.bounds(coef, intercept)
        else:
            claim = draft(problem.design, problem.targets, coef, intercept, problem.settings)
            found = fenchel(problem.design, problem.targets, problem.weight, claim)
        gap = max(found.primal - found.dual, 0.0) + found.error
        return found.primal, gap, gap / max(abs(found.primal), TINY)


def recorder(trace: Trace | None, criterion: Criterion, risk: Risk, design: Design) -> Watch | None:
    """Writes one row of the trace, if there is one, for each step: one or two passes over the rows."""
    if trace is None:
        return None
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


def watched(design: Design, targets: Targets, weight: Floats, settings: Settings) -> Fit:
    """Cross-entropy by the solvers that condition the problem themselves, recorded if so wished."""
    solve = maximum_likelihood if np.isinf(settings.C) else logistic
    if not settings.trace:
        return solve(design, targets, weight, settings)
    trace = Trace()
    risk = make_risk(design.anchored(), targets, weight, settings)
    watch = recorder(trace, Gap(Likelihood(design, targets, weight, settings)), risk, design)
    return replace(solve(design, targets, weight, settings, watch), trace=trace)
