"""How the time grows with rows and with columns, for every estimator: no size may cost much more than the one before.

Sizes double, so that a cliff where the method changes is seen as a step of the curve. Where scikit-learn has the same
estimator, its curve is beside ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks import generate
from benchmarks.everyday.jobs import Entry, Job, fitting, model
from benchmarks.generate import Data
from benchmarks.problems import Scale, Source

Make = Callable[[Scale, int], Data]

ROWS = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000)
FEW_ROWS = (250, 500, 1_000, 2_000, 4_000, 8_000)
COLUMNS = (8, 16, 32, 64, 128, 256, 512)

OTHERS = {
    "LogisticRegression": "linear_model.LogisticRegression",
    "LinearSVC": "svm.LinearSVC",
    "SVC": "svm.SVC",
    "Perceptron": "linear_model.Perceptron",
    "NaiveBayes": "naive_bayes.GaussianNB",
    "NearestCentroid": "neighbors.NearestCentroid",
}


def _series(name: str, what: str, make: Make, sizes: tuple[int, ...], **parameters: Any) -> list[Job]:
    entries: Mapping[str, Entry] = {"separatrix": Entry(fitting(model(f"separatrix.{name}", **parameters)))} | (
        {"scikit-learn": Entry(fitting(model(f"sklearn.{OTHERS[name]}")))} if name in OTHERS and not parameters else {}
    )
    label = f"{name}{'' if not parameters else ', ' + ', '.join(f'{k}={v}' for k, v in parameters.items())}, {what}"
    return [
        Job(
            f"{label}: {size:,}",
            "growth",
            Source(f"growth-{name}-{what.replace(' ', '-')}-{size}", lambda s, size=size: make(s, size)),  # type: ignore[misc]
            entries,
            size=(label, size),
            repeat=3,
        )
        for size in sizes
    ]


def _dense_rows(s: Scale, n: int) -> Data:
    return generate.dense(s.rows(n), 30)


def _dense_columns(s: Scale, d: int) -> Data:
    return generate.dense(s.rows(20_000), s.columns(d))


def _blobs(s: Scale, n: int) -> Data:
    return generate.blobs(s.rows(n), 20)


def _apart(s: Scale, n: int) -> Data:
    return generate.sided(s.rows(n), 10, True)


def _classes(s: Scale, n: int) -> Data:
    return generate.classes(s.rows(n), 30, 10)


def _words(s: Scale, k: int) -> Data:
    return generate.text(s.rows(50_000), 50_000, k)


TALL = ("LogisticRegression", "LinearSVC", "NaiveBayes", "NearestCentroid", "LeastSquaresClassifier")

JOBS = (
    *(job for name in TALL for job in _series(name, "rows of 30", _dense_rows, ROWS)),
    *(job for name in TALL for job in _series(name, "columns of 20,000", _dense_columns, COLUMNS)),
    *_series("LinearSVC", "rows of 30", _dense_rows, ROWS, loss="squared_hinge"),
    *_series("LinearSVC", "columns of 20,000", _dense_columns, COLUMNS, loss="squared_hinge"),
    *_series("LogisticRegression", "rows of 30 in 10 classes", _classes, ROWS[:-2]),
    *_series("LogisticRegressionCV", "rows of 30", _dense_rows, ROWS[:-2]),
    *_series("Perceptron", "rows of 30", _dense_rows, ROWS, max_iter=10),
    *_series("PocketPerceptron", "rows of 30", _dense_rows, ROWS[:-2], max_iter=5),
    *_series("SVC", "rows of 20", _blobs, FEW_ROWS),
    *_series("KernelPerceptron", "rows of 20", _blobs, FEW_ROWS, max_iter=10),
    *_series("Kozinec", "rows of 10, separable", _apart, ROWS[:-2]),
    *_series("HardMarginSVC", "rows of 10, separable", _apart, FEW_ROWS),
    *_series("MinimumErrorClassifier", "rows of 10, separable", _apart, FEW_ROWS),
    *_series("LogisticRegression", "non-zeros a row, 50,000 x 50,000", _words, (20, 63, 200)),
    *_series("LinearSVC", "non-zeros a row, 50,000 x 50,000", _words, (20, 63, 200)),
)
