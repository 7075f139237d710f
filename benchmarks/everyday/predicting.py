"""predict: one row, as a service does it, and 100,000 at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks import generate
from benchmarks.everyday.jobs import Action, Job, both, model
from benchmarks.problems import Source

ROWS = Source("predict", lambda s: generate.dense(s.rows(100_000), 30))
MODELS = {"LogisticRegression": "linear_model", "LinearSVC": "svm", "SVC": "svm"}


def predicting(make: Callable[[], Any], rows: int) -> Callable[[Any, Any], Action]:
    def prepare(X: Any, y: Any) -> Action:
        fitted = make().fit(X[:1_000], y[:1_000])
        return lambda: fitted.predict(X[:rows])

    return prepare


def _job(name: str, rows: int) -> Job:
    makes = model(f"separatrix.{name}"), model(f"sklearn.{MODELS[name]}.{name}")
    return Job(
        f"{name}: predict {rows:,} row{'s' * (rows > 1)} of 30",
        "predict",
        ROWS,
        both(*(predicting(make, rows) for make in makes)),
        calls=1_000 if rows == 1 else 5,
    )


JOBS = tuple(_job(name, rows) for name in MODELS for rows in (1, 100_000))
