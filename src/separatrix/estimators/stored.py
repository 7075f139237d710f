"""Rows in a file or on workers: which classifiers learn from them, and why the others refuse."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from separatrix.design.partitions import Partitions
from separatrix.design.partitions_dask import fetched, held, is_collection
from separatrix.errors import InvalidInputError
from separatrix.files import RowsElsewhere, Stored

# classifiers and functions that do not work by passes over rows: why, and what to use
REFUSED = {
    "SVC": "a kernel compares all pairs of rows. Use LinearSVC, or fit to a sample, such as {sample}",
    "KernelPerceptron": "a kernel compares all pairs of rows. Use Perceptron, or fit to a sample, such as {sample}",
    "HardMarginSVC": "it looks for the rows nearest to each other. Use LinearSVC with a large C, or separability",
    "MinimumErrorClassifier": "its search turns hyperplanes about sets of rows. Use LinearSVC, or fit to a sample",
    "PocketPerceptron": "it draws rows at random, one at a time. Use LogisticRegression, or LinearSVC",
    "LogisticRegressionCV": "its folds are rows in memory. Use LogisticRegression with each C, and rows kept out",
    "Cascade": "its layers hold numbers for each row. Use LogisticRegression, or fit to a sample, such as {sample}",
    "BernoulliNB": "it cuts entries at a threshold first. Use NaiveBayes(family='bernoulli') on rows of 0 and 1",
    "mistake_bound": "it looks for the rows nearest to each other. Use separability for the verdict",
}

#: Numbers for each row that a fit or its check holds at its peak: so many, and so many for each task (a class, unless
#: there are two). Measured between 2 and 6 million rows, and of two and of ten classes.
SPARSE_MODEL, LINEAR_MACHINE, ANY_OTHER = (4, 10), (9, 10), (5, 4)
SMALL = 200 * 10**6  # bytes beyond the memory given that a fit may take, for blocks, samples and the like


def reason(kind: type, rows: type[RowsElsewhere] = Stored) -> str | None:
    """Why classifiers of a kind do not learn from rows in a file, or elsewhere, and what to use; None if they do."""
    why = next((REFUSED[base.__name__] for base in kind.__mro__ if base.__name__ in REFUSED), None)
    return None if why is None else why.format(sample=rows.sample)


def check_learner(estimator: Any, rows: type[RowsElsewhere]) -> None:
    """Refuse a classifier that does not learn by passes over rows, and say what to use."""
    if (why := reason(type(estimator), rows)) is not None:
        raise InvalidInputError(f"{type(estimator).__name__} does not learn from rows {rows.where}: {why}.")
    if getattr(estimator, "solver", None) == "sgd":
        raise InvalidInputError(
            f"solver='sgd' takes single rows at random, and these are {rows.where}: use 'auto'.", "solver"
        )


def require_memory(estimator: Any, X: Any, tasks: int) -> None:
    """Refuse a fit that would take more memory than the rows in a file were opened with."""
    if not isinstance(X, Stored) or X.memory is None:
        return
    sparse = getattr(estimator, "l1_ratio", 0) or getattr(estimator, "penalty", None) == "l1"
    machine = any(base.__name__ == "LinearSVC" for base in type(estimator).__mro__)
    some, each = SPARSE_MODEL if sparse else LINEAR_MACHINE if machine else ANY_OTHER
    need = 8 * X.shape[0] * (some + each * tasks)
    if need > X.memory + SMALL:
        raise InvalidInputError(
            f"{type(estimator).__name__} keeps about {need / 1e6:,.0f} MB for {X.shape[0]:,} rows and {tasks} "
            f"task{'s' * (tasks > 1)}, and these were opened with memory={X.memory / 1e6:,.0f} MB: open them with "
            "more, or fewer of them."
        )


@contextmanager
def reachable(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Iterator[tuple[Any, Any, Any]]:
    """What `fit` was given; collections of Dask as rows on workers, and labels and weights in memory."""
    if not is_collection(X):
        yield X, fetched(y), fetched(sample_weight)
        return
    require_labels(estimator, y)
    check_learner(estimator, Partitions)
    with held(X, y, sample_weight) as found:
        yield found


def require_labels(estimator: Any, y: Any) -> None:
    """Refuse a fit without labels."""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None: give the labels."
        )


def check_stored(estimator: Any, X: RowsElsewhere, *, reset: bool) -> RowsElsewhere:
    """The rows as they are, if the estimator can go through them; they were checked when they were written."""
    known = estimator.__dict__
    if not reset:
        if known.get("n_features_in_") != X.shape[1]:
            raise InvalidInputError(
                f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting "
                f"{known.get('n_features_in_')} features as input."
            )
        return X
    check_learner(estimator, type(X))
    known["n_features_in_"] = X.shape[1]
    known.pop("feature_names_in_", None)
    if (names := getattr(X, "names", None)) is not None:
        known["feature_names_in_"] = np.array(names, dtype=object)
    return X


def with_weight(X: Any, kept: Any) -> Any:
    """The rows that have a weight, of rows in memory."""
    if isinstance(X, RowsElsewhere):
        raise InvalidInputError(
            f"{X.shape[0] - len(kept):,} rows have a weight of 0, and rows {X.where} are not left out one by one: "
            "leave them out of the source."
        )
    return X[kept]
