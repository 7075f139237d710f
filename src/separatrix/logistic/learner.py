"""Logistic regression as the user asked for it: by the loss and the solver; of a 0/1 matrix y, column by column."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix._typing import Floats
from separatrix.certificates import All, Certificate
from separatrix.design.sample import Sample
from separatrix.geometry import Hyperplanes
from separatrix.logistic.euclidean import euclidean, squared_risk
from separatrix.logistic.firth import firth
from separatrix.logistic.penalised import Settings, make_risk
from separatrix.logistic.plain_rules import descended_logistic, in_order
from separatrix.logistic.progress import watched
from separatrix.outcome import Fit, Trace


def learn(sample: Sample, settings: Settings) -> Fit:
    """One fit, or one for each column of a 0/1 matrix, put together."""
    if settings.firth:
        solve = firth
    elif settings.loss == "squared_error":
        solve = euclidean
    else:
        solve = descended_logistic if settings.plain else watched
    fits = [
        solve(sample.design, targets, sample.weight, settings.of_column(j) if sample.targets.multilabel else settings)
        for j, targets in enumerate(sample.targets.columns)
    ]
    return together(fits, sample.targets.classes) if sample.targets.multilabel else fits[0]


def one_pass(sample: Sample, settings: Settings, W: Floats, number: int) -> None:
    """A step of "sgd" for each row, in their order, from W (k, d + 1), in place: those of the pass of this number."""
    make = squared_risk if settings.loss == "squared_error" else make_risk
    in_order(make(sample.design, sample.targets, sample.weight, settings), settings, W, number)


def together(fits: list[Fit], classes: Any) -> Fit:
    """One predictor for each column of a 0/1 matrix."""
    claims = [fit.certificate and fit.certificate.about_column(j, classes) for j, fit in enumerate(fits)]
    parts: list[Certificate] = [claim for claim in claims if claim is not None]
    worst = max(fits, key=lambda fit: len(fit.warnings))
    coef: Floats = np.vstack([fit.model.coef for fit in fits])
    intercept: Floats = np.concatenate([fit.model.intercept for fit in fits])
    return Fit(
        Hyperplanes(coef, intercept),
        All(tuple(parts)) if len(parts) == len(fits) else None,
        worst.status,
        n_iter=max(fit.n_iter for fit in fits),
        trace=_one_after_the_other([fit.trace for fit in fits]),
        warnings=tuple(warning for fit in fits for warning in fit.warnings),
    )


def _one_after_the_other(traces: list[Trace | None]) -> Trace | None:
    joined = Trace()
    for j, trace in enumerate(traces):
        if trace is None:
            return None
        for step in range(trace.n_steps):
            joined.record(task=j, **{name: column[step] for name, column in trace.items()})
    return joined
