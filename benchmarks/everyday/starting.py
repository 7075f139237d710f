"""Importing, and the first fit in a process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import generate
from benchmarks.adapters import adapter
from benchmarks.everyday.jobs import Action, Entry, Job, both, fitting, model
from benchmarks.generate import Data
from benchmarks.objective import objective
from benchmarks.problems import NEWS20, PROBLEMS, Scale, Source

MODELS = {
    "LogisticRegression": "linear_model.LogisticRegression",
    "LinearSVC": "svm.LinearSVC",
    "SVC": "svm.SVC",
    "Perceptron": "linear_model.Perceptron",
}
PASSES = {"Perceptron": ({"max_iter": 20}, {"max_iter": 20, "tol": None, "shuffle": False})}  # of both, ours first


def iris(scale: Scale) -> Data:
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    return X, y


TABLES = {
    "150 x 4, 3 classes": Source("iris", iris),
    "10,000 x 20": Source("table", lambda s: generate.dense(s.rows(10_000), 20)),
}


def starting(code: str) -> Callable[[Any, Any], Action]:
    """A new interpreter that does this and ends."""
    return lambda X, y: lambda: subprocess.run([sys.executable, "-c", code], check=True)


def _first(name: str, size: str) -> Job:
    ours, theirs = PASSES.get(name, ({}, {}))
    return Job(
        f"{name}, first fit in a process, {size}",
        "start",
        TABLES[size],
        both(fitting(model(f"separatrix.{name}", **ours)), fitting(model(f"sklearn.{MODELS[name]}", **theirs))),
        warm=False,
    )


SPARSE = next(problem for problem in PROBLEMS if problem.sparse and problem.source is NEWS20)


def sparse(name: str, solver: str, tol: float) -> Entry:
    """The sparse problem by one contestant, imported and compiled within the time if it is by then."""

    def prepare(X: Any, y: Any) -> Action:
        contestant = adapter(name)
        own = contestant.prepare(SPARSE, X, y)
        return lambda: contestant.solution(contestant.fit(SPARSE, own, solver, tol))

    return Entry(prepare, package=adapter(name).PACKAGE)


JOBS = (
    Job(
        f"{SPARSE.name}, first fit in a process",
        "start",
        NEWS20,
        {
            "separatrix": sparse("separatrix", "auto", 1e-4),
            "skglm": sparse("skglm", "ProxNewton", 1e-6),
            "celer": sparse("celer", "celer-pn", 1e-4),
            "LIBLINEAR": sparse("liblinear", "-s 6", 1e-4),
        },
        lambda found, X, y: {"objectives": [objective(SPARSE, X, y, found)]},
        warm=False,
    ),
    Job(
        "a process that imports LogisticRegression",
        "start",
        Source("nothing", lambda s: (np.zeros((2, 1)), np.array([-1, 1]))),
        both(
            starting("from separatrix import LogisticRegression"),
            starting("from sklearn.linear_model import LogisticRegression"),
        ),
    ),
    *(_first(name, size) for size in TABLES for name in MODELS),
)
