"""scikit-learn-intelex: the classes that it computes itself (the others are scikit-learn's, measured there)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.adapters import Route, Size, decades
from benchmarks.adapters.scikit_learn import PASSES
from benchmarks.adapters.separatrix import CACHE, prepare, solution
from benchmarks.problems import Problem

__all__ = ["NAME", "PACKAGE", "fit", "prepare", "routes", "solution"]

NAME = PACKAGE = "scikit-learn-intelex"


def routes(problem: Problem, size: Size) -> Sequence[Route]:
    if problem.task == "rbf":
        return (Route("SVC", decades(1, 6)),)
    dense_likelihood = problem.task in ("logistic", "softmax") and not (size.sparse or problem.sparse)
    return (Route("lbfgs", decades(1, 12)),) if dense_likelihood else ()


def fit(problem: Problem, data: Any, solver: str, tol: float) -> Any:
    from sklearnex.linear_model import LogisticRegression
    from sklearnex.svm import SVC

    if solver == "SVC":
        return SVC(C=problem.C, gamma=problem.gamma, tol=tol, cache_size=CACHE).fit(*data)
    model = LogisticRegression(C=problem.C, fit_intercept=problem.intercept, solver=solver, tol=tol, max_iter=PASSES)
    return model.fit(*data)
