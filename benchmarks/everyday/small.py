"""Small tables to the same objective: each machine of each class or pair within 1e-6 of the best that anyone found.

A fit takes milliseconds here, so that it is done many times in a process. `LinearSVC` is without an intercept, which
scikit-learn's penalises.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from benchmarks.everyday.jobs import Action, Entry, Job, model
from benchmarks.generate import Data
from benchmarks.objective import Weights, losses, objective
from benchmarks.problems import Problem, Scale, Source

TABLES = ("iris", "wine", "breast_cancer", "digits")
CALLS = 10
ACCURACY = 1e-6
TOLERANCES = (1e-3, 1e-5, 1e-7)  # of scikit-learn's; the fastest that is accurate enough counts
PASSES = 20_000


def _table(name: str, scaled: bool) -> Source:
    def load(scale: Scale) -> Data:
        from sklearn import datasets

        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        return (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0) if scaled else X, y

    return Source(f"small-{name}{'-scaled' if scaled else ''}", load)


def _fit(where: str, **parameters: Any) -> Entry:
    make = model(where, **parameters)

    def prepare(X: Any, y: Any) -> Action:
        return lambda: make().fit(X, y)

    return Entry(prepare, threads=1)


def logistic(fitted: Any, X: Any, y: Any) -> dict[str, Any]:
    task = "logistic" if len(fitted.classes_) == 2 else "softmax"
    labels = 2 * y - 1 if task == "logistic" else y
    problem = Problem("small", task, Source("small", lambda scale: (X, labels)))
    return {"objectives": [objective(problem, X, labels, Weights(fitted.coef_, fitted.intercept_))]}


def one_against_the_rest(fitted: Any, X: Any, y: Any) -> dict[str, Any]:
    """Of each class, with the loss that the model was given."""
    task = fitted.loss.replace("_", " ")
    classes = fitted.classes_[1:] if len(fitted.classes_) == 2 else fitted.classes_
    values = []
    for label, w in zip(classes, fitted.coef_, strict=True):
        slack = losses(task, np.where(y == label, 1, -1), (X @ w)[:, None])
        values.append(float(slack.sum()) + 0.5 * float(w @ w))
    return {"objectives": values}


def pairs(fitted: Any, X: Any, y: Any) -> dict[str, Any]:
    """Of each pair of classes: both libraries keep multipliers by class, a row for each other class."""
    from sklearn.metrics.pairwise import rbf_kernel

    K = rbf_kernel(X, gamma=1.0 / (X.shape[1] * X.var()))
    return {"objectives": list(_pair_objectives(fitted, K, y))}


def _pair_objectives(fitted: Any, K: Any, y: Any) -> Iterator[float]:
    k, support, coef = len(fitted.classes_), fitted.support_, fitted.dual_coef_
    for number, (a, c) in enumerate(combinations(range(k), 2)):
        alpha = np.zeros(len(y))
        for one, other in ((a, c), (c, a)):
            mine = y[support] == fitted.classes_[one]
            alpha[support[mine]] = coef[other - (other > one), mine] if k > 2 else coef[0, mine]
        both = (y == fitted.classes_[a]) | (y == fitted.classes_[c])
        positive = fitted.classes_[1 if k == 2 else a]
        scores = K @ alpha
        margins = np.where(y[both] == positive, 1, -1) * (scores[both] + fitted.intercept_[number])
        yield float(np.maximum(0, 1 - margins).sum()) + 0.5 * float(alpha @ scores)


def _jobs(name: str, table: str, describe: Any, theirs: dict[str, dict[str, Any]], **parameters: Any) -> list[Job]:
    module = "linear_model" if name == "LogisticRegression" else "svm"
    rivals = {
        f"scikit-learn{label}, tol {tol:g}": _fit(f"sklearn.{module}.{name}", tol=tol, **parameters, **more)
        for label, more in theirs.items()
        for tol in TOLERANCES
    }
    words = ", ".join(str(parameters[key]).replace("_", " ") for key in ("loss",) if key in parameters)
    return [
        Job(
            f"{name}{f' ({words})' if words else ''}, {table.replace('_', ' ')}{', scaled' if scaled else ''}",
            "small",
            _table(table, scaled),
            {"separatrix": _fit(f"separatrix.{name}", **parameters)} | rivals,
            describe,
            calls=CALLS,
            accuracy=ACCURACY,
        )
        for scaled in (False, True)
    ]


SOLVERS = {f" {solver}": {"solver": solver, "max_iter": PASSES} for solver in ("lbfgs", "newton-cg", "newton-cholesky")}
DUAL = {"": {"max_iter": PASSES, "random_state": 0}}
EITHER = {f" {'dual' if dual else 'primal'}": {"dual": dual, "max_iter": PASSES} for dual in (True, False)}

JOBS = tuple(
    job
    for table in TABLES
    for jobs in (
        _jobs("LogisticRegression", table, logistic, SOLVERS),
        _jobs("LinearSVC", table, one_against_the_rest, DUAL, loss="hinge", fit_intercept=False),
        _jobs("LinearSVC", table, one_against_the_rest, EITHER, loss="squared_hinge", fit_intercept=False),
        _jobs("SVC", table, pairs, {"": {}}),
    )
    for job in jobs
)
