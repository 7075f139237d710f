"""scikit-learn: every solver of LogisticRegression that penalises ‖w‖², LinearSVC and SVC."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.adapters import Route, Size, decades
from benchmarks.adapters.libsvm import COARSE
from benchmarks.adapters.separatrix import CACHE, prepare, solution
from benchmarks.problems import Problem

__all__ = ["NAME", "PACKAGE", "fit", "prepare", "routes", "solution"]

NAME, PACKAGE = "scikit-learn", "scikit-learn"
PASSES = 100_000  # the tolerance and the time limit end a run, never this
HESSIAN = 4_000  # columns and rows of what newton-cholesky factors


def routes(problem: Problem, size: Size) -> Sequence[Route]:
    blas = (1,) if size.sparse else (2, 1)
    if problem.sparse:  # liblinear penalises the intercept, if there is one
        if problem.task != "logistic":
            return (Route("LinearSVC l1", decades(1, 8)),)
        return (Route("saga", decades(1, 7)), *(() if problem.intercept else (Route("liblinear", decades(1, 8)),)))
    if problem.task == "rbf":
        return () if size.sparse else (Route("SVC", COARSE),)  # on sparse rows it is LIBSVM as measured there
    if problem.task == "hinge":
        return (Route("LinearSVC", decades(1, 8)),)
    if problem.task == "squared hinge":
        return (Route("LinearSVC primal", decades(1, 8)), Route("LinearSVC dual", decades(1, 8)))
    found = [
        Route("lbfgs", decades(1, 9), blas),
        Route("newton-cg", decades(1, 9), blas),
        Route("saga", decades(1, 7)),
    ]
    if size.columns * (size.classes if problem.task == "softmax" else 1) <= HESSIAN:
        found.insert(0, Route("newton-cholesky", decades(1, 9), (2, 1)))
    return found


def fit(problem: Problem, data: Any, solver: str, tol: float) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import SVC, LinearSVC

    model: Any
    C, intercept = problem.C, problem.intercept
    if solver == "SVC":
        model = SVC(C=C, gamma=problem.gamma, tol=tol, cache_size=CACHE)
    elif solver.startswith("LinearSVC"):
        loss = problem.task.replace(" ", "_")
        how = {"dual": solver == "LinearSVC dual" or loss == "hinge", "penalty": "l1" if problem.sparse else "l2"}
        model = LinearSVC(C=C, fit_intercept=intercept, loss=loss, **how, tol=tol, max_iter=PASSES, random_state=0)
    else:
        ratio = 1.0 if problem.sparse else 0.0
        model = LogisticRegression(
            C=C, l1_ratio=ratio, fit_intercept=intercept, solver=solver, tol=tol, max_iter=PASSES, random_state=0
        )
    return model.fit(*data)
