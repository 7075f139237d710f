"""separatrix, with the solver it chooses by itself; only `tol` varies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.adapters import Route, Size, decades
from benchmarks.objective import Expansion, Solution, Weights
from benchmarks.problems import Problem

NAME = PACKAGE = "separatrix"
TIGHT = 1e-8  # for the best known optimum
CACHE = 200  # megabytes of kernel rows, for every contestant that keeps them


def routes(problem: Problem, size: Size) -> Sequence[Route]:
    return (Route("auto", decades(1, 8)),)


def prepare(problem: Problem, X: Any, y: Any) -> Any:
    return X, y


def fit(problem: Problem, data: Any, solver: str, tol: float) -> Any:
    from separatrix import SVC, LinearSVC, LogisticRegression

    model: Any
    penalty: dict[str, Any]  # nothing for 1/2 ‖w‖²: earlier versions know no other
    if problem.task == "rbf":
        model = SVC(C=problem.C, gamma=problem.gamma, tol=tol, cache_size=CACHE)
    elif problem.task in ("logistic", "softmax"):
        penalty = {"l1_ratio": 1.0} if problem.sparse else {}
        model = LogisticRegression(C=problem.C, fit_intercept=problem.intercept, tol=tol, **penalty)
    else:
        loss = problem.task.replace(" ", "_")
        penalty = {"penalty": "l1"} if problem.sparse else {}
        model = LinearSVC(C=problem.C, fit_intercept=problem.intercept, loss=loss, tol=tol, **penalty)
    return model.fit(*data)


def solution(fitted: Any) -> Solution:
    """Also of scikit-learn's classes, which have the same attributes."""
    if hasattr(fitted, "coef_"):
        return Weights(fitted.coef_, fitted.intercept_)
    coef = fitted.dual_coef_
    coef = (coef.toarray() if hasattr(coef, "toarray") else coef).astype(float).ravel()
    return Expansion(fitted.support_, coef, float(fitted.intercept_[0]))
