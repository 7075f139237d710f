"""The search for C by cross-validation: LogisticRegressionCV with ten values and five folds, and GridSearchCV."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks import generate
from benchmarks.everyday.jobs import Action, Entry, Job, both, model
from benchmarks.objective import Weights, objective
from benchmarks.problems import Problem, Source

DENSE = Source("search", lambda s: generate.dense(s.rows(20_000), s.columns(100)))
TABLE = Source("grid", lambda s: generate.dense(s.rows(10_000), s.columns(50)))
THEIRS = "sklearn.linear_model.LogisticRegression"
CS = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0)


def _fit(where: str, threads: int = 0, **parameters: Any) -> Entry:
    make = model(where, **parameters)

    def prepare(X: Any, y: Any) -> Action:
        return lambda: make().fit(X, y)

    return Entry(prepare, threads)


def every_fit(fitted: Any, X: Any, y: Any) -> dict[str, Any]:
    """The objective of each fold at each C: the speed is worth nothing without it."""
    from sklearn.model_selection import StratifiedKFold

    Cs = np.ravel(fitted.Cs_)
    paths = np.reshape(fitted.coefs_paths_, (5, len(Cs), -1))
    values = []
    for (train, _), path in zip(StratifiedKFold(5).split(X, y), paths, strict=True):
        rows, labels = X[train], y[train]
        for C, v in zip(Cs, path, strict=True):
            problem = Problem("a fold", "logistic", DENSE, C=float(C))
            values.append(objective(problem, rows, labels, Weights(v[None, :-1], v[-1:])))
    return {"objectives": values, "C": float(fitted.C_)}


def _theirs(solver: str, threads: int, tol: float) -> Entry:
    return _fit(
        THEIRS + "CV",
        threads,
        solver=solver,
        tol=tol,
        Cs=10,
        cv=5,
        l1_ratios=(0,),
        scoring="accuracy",
        max_iter=10_000,
        use_legacy_attributes=False,
    )


def _searching(where: str) -> Any:
    def prepare(X: Any, y: Any) -> Action:
        from sklearn.model_selection import GridSearchCV

        search = GridSearchCV(model(where)(), {"C": CS})
        return lambda: search.fit(X, y)

    return prepare


JOBS = (
    Job(
        "LogisticRegressionCV, 10 values, 5 folds, dense 20,000 x 100",
        "searches",
        DENSE,
        {"separatrix": _fit("separatrix.LogisticRegressionCV", tol=1e-5)}  # 1e-4 ends at 1.2e-6
        | {
            f"scikit-learn {solver}, tol {tol:g}, {threads} BLAS": _theirs(solver, threads, tol)
            for solver, tolerances in (("lbfgs", (1e-4, 1e-5)), ("newton-cholesky", (1e-3, 1e-4)))
            for tol in tolerances
            for threads in (1, 2)
        },
        every_fit,
        accuracy=1e-6,
    ),
    Job(
        "GridSearchCV over 7 values of C, dense 10,000 x 50",
        "searches",
        TABLE,
        both(_searching("separatrix.LogisticRegression"), _searching(THEIRS)),
        lambda search, X, y: {"C": search.best_params_["C"], "score": float(search.best_score_)},
    ),
)
