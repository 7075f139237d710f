"""Default against default: what a user sees who swaps the import and changes nothing."""

from __future__ import annotations

from typing import Any

from benchmarks.everyday.jobs import Action, Job, both, model
from benchmarks.everyday.starting import TABLES
from benchmarks.objective import Weights, objective
from benchmarks.problems import PROBLEMS, Problem, Source

MODELS = {
    "LogisticRegression": "sklearn.linear_model.LogisticRegression",
    "LinearSVC": "sklearn.svm.LinearSVC",
    "SVC": "sklearn.svm.SVC",
    "Perceptron": "sklearn.linear_model.Perceptron",
    "NaiveBayes": "sklearn.naive_bayes.GaussianNB",
}
SOURCES = {problem.source.name: problem.source for problem in PROBLEMS} | {"table 10,000 x 20": TABLES["10,000 x 20"]}


def _training(where: str) -> Any:
    make = model(where)

    def prepare(X: Any, y: Any) -> Action:
        kept = _kept(len(y))
        rows, labels, fresh = X[kept], y[kept], make()
        return lambda: fresh.fit(rows, labels)

    return prepare


def _kept(n: int) -> Any:
    """All rows but every fifth, which are for testing."""
    import numpy as np

    return np.arange(n) % 5 != 0


def outcome(fitted: Any, X: Any, y: Any) -> dict[str, Any]:
    kept = _kept(len(y))
    figures = {"test accuracy": float((fitted.predict(X[~kept]) == y[~kept]).mean())}
    if type(fitted).__name__ == "LogisticRegression":  # both minimise the same
        task = "logistic" if len(fitted.classes_) == 2 else "softmax"
        problem = Problem("default", task, Source("default", lambda scale: (X, y)))
        value = objective(problem, X[kept], y[kept], Weights(fitted.coef_, fitted.intercept_))
        return figures | {"objectives": [value]}
    return figures


def _job(name: str, source: str) -> Job:
    entries = both(_training(f"separatrix.{name}"), _training(MODELS[name]))
    return Job(f"{name}(), {source}", "defaults", SOURCES[source], entries, outcome, repeat=3)


JOBS = (
    *(
        _job("LogisticRegression", s)
        for s in ("breast-cancer", "digits", "table 10,000 x 20", "dense-200k-100", "text")
    ),
    *(_job("LinearSVC", s) for s in ("breast-cancer", "digits", "table 10,000 x 20", "text")),
    *(_job("SVC", s) for s in ("breast-cancer", "digits", "table 10,000 x 20")),
    *(_job("Perceptron", s) for s in ("breast-cancer", "table 10,000 x 20")),
    *(_job("NaiveBayes", s) for s in ("breast-cancer", "dense-200k-100")),
)
