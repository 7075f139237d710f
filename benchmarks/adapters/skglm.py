"""skglm: working sets and proximal Newton steps for an L1 penalty, compiled by Numba when first used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scipy import sparse

from benchmarks.adapters import Route, Size, decades
from benchmarks.adapters.separatrix import solution
from benchmarks.problems import Problem

__all__ = ["NAME", "PACKAGE", "fit", "prepare", "routes", "solution"]

NAME = PACKAGE = "skglm"
STEPS = 1000  # the tolerance and the time limit end a run, never this


def routes(problem: Problem, size: Size) -> Sequence[Route]:
    return (Route("ProxNewton", decades(1, 10)),) if problem.sparse and problem.task == "logistic" else ()


def prepare(problem: Problem, X: Any, y: Any) -> Any:
    """It works on columns."""
    return sparse.csc_matrix(X) if sparse.issparse(X) else X, y


def fit(problem: Problem, data: Any, solver: str, tol: float) -> Any:
    from skglm import SparseLogisticRegression

    alpha = 1.0 / (problem.C * len(data[1]))  # its losses are a mean
    model = SparseLogisticRegression(alpha=alpha, fit_intercept=problem.intercept, tol=tol, max_iter=STEPS)
    return model.fit(*data)
