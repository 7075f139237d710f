"""celer: working sets by dual extrapolation, and proximal Newton steps, without an intercept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.adapters import Route, Size, decades
from benchmarks.adapters.skglm import STEPS, prepare
from benchmarks.objective import Solution, Weights
from benchmarks.problems import Problem

__all__ = ["NAME", "PACKAGE", "fit", "prepare", "routes", "solution"]

NAME = PACKAGE = "celer"


def routes(problem: Problem, size: Size) -> Sequence[Route]:
    possible = problem.sparse and problem.task == "logistic" and not problem.intercept
    return (Route("celer-pn", decades(1, 9)),) if possible else ()


def fit(problem: Problem, data: Any, solver: str, tol: float) -> Any:
    from celer import LogisticRegression

    return LogisticRegression(C=problem.C, solver=solver, tol=tol, max_iter=STEPS).fit(*data)


def solution(fitted: Any) -> Solution:
    return Weights(np.atleast_2d(fitted.coef_), np.zeros(1))
