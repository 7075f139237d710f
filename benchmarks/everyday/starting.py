"""Importing, and the first fit in a process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import generate
from benchmarks.everyday.jobs import Action, Job, both, fitting, model
from benchmarks.generate import Data
from benchmarks.problems import Scale, Source

MODELS = {
    "LogisticRegression": "linear_model.LogisticRegression",
    "SVC": "svm.SVC",
    "Perceptron": "linear_model.Perceptron",
}


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
    return Job(
        f"{name}, first fit in a process, {size}",
        "start",
        TABLES[size],
        both(fitting(model(f"separatrix.{name}")), fitting(model(f"sklearn.{MODELS[name]}"))),
        warm=False,
    )


JOBS = (
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
