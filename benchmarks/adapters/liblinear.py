"""LIBLINEAR itself, on problems without an intercept, which it would penalise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.adapters import Route, Size, decades
from benchmarks.objective import Solution, Weights
from benchmarks.problems import Problem

NAME, PACKAGE = "LIBLINEAR", "liblinear-official"
SPARSE = {"logistic": ("-s 6",), "squared hinge": ("-s 5",)}
SOLVERS = {"logistic": ("-s 0", "-s 7"), "squared hinge": ("-s 1", "-s 2"), "hinge": ("-s 3",)}


def routes(problem: Problem, size: Size) -> Sequence[Route]:
    if problem.intercept or not size.sparse:
        return ()
    return [Route(solver, decades(1, 8)) for solver in (SPARSE if problem.sparse else SOLVERS).get(problem.task, ())]


def prepare(problem: Problem, X: Any, y: Any) -> Any:
    from liblinear.liblinear import problem as Rows

    return Rows(y.astype(float), X)


def fit(problem: Problem, data: Any, solver: str, tol: float) -> Any:
    from liblinear.liblinear import parameter
    from liblinear.liblinearutil import train

    return train(data, parameter(f"{solver} -c {problem.C} -e {tol} -B -1 -q"))


def solution(fitted: Any) -> Solution:
    coef = np.array(fitted.w[: fitted.nr_feature], dtype=np.float64)
    sign = 1.0 if fitted.get_labels()[0] > 0 else -1.0  # its scores are for the label that comes first in the data
    return Weights(sign * coef[None, :], np.zeros(1))
