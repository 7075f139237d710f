"""How the time grows: three sizes over a decade of rows, columns and non-zeros, defaults of both."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks import generate
from benchmarks.everyday.jobs import Job, both, fitting, model
from benchmarks.generate import Data
from benchmarks.problems import Scale, Source

WHERE = {"LogisticRegression": "linear_model", "LinearSVC": "svm", "SVC": "svm"}


def _series(name: str, what: str, make: Callable[[Scale, int], Data], sizes: tuple[int, ...]) -> list[Job]:
    entries = both(fitting(model(f"separatrix.{name}")), fitting(model(f"sklearn.{WHERE[name]}.{name}")))
    return [
        Job(
            f"{name}, {what}: {size:,}",
            "growth",
            Source(f"growth-{name}-{what.replace(' ', '-')}-{size}", lambda s, size=size: make(s, size)),  # type: ignore[misc]
            entries,
            size=(f"{name}, {what}", size),
            repeat=3,
        )
        for size in sizes
    ]


JOBS = (
    *_series(
        "LogisticRegression",
        "dense rows of 100",
        lambda s, n: generate.dense(s.rows(n), 100),
        (20_000, 63_000, 200_000),
    ),
    *_series(
        "LogisticRegression", "dense columns of 50,000", lambda s, d: generate.dense(s.rows(50_000), d), (30, 95, 300)
    ),
    *_series(
        "LogisticRegression",
        "non-zeros a row, 50,000 x 50,000",
        lambda s, k: generate.text(s.rows(50_000), 50_000, k),
        (20, 63, 200),
    ),
    *_series(
        "LinearSVC",
        "non-zeros a row, 50,000 x 50,000",
        lambda s, k: generate.text(s.rows(50_000), 50_000, k),
        (20, 63, 200),
    ),
    *_series("SVC", "rows of 20", lambda s, n: generate.blobs(s.rows(n), 20), (1_500, 4_700, 15_000)),
)
