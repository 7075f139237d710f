"""The choice of C for classifiers that have no path of their own: a few values, three folds, few rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from separatrix._typing import Array, Integers
from separatrix.compare.folds import common_rows, stratified
from separatrix.compare.quiet import quietly
from separatrix.errors import SeparatrixError

FOLDS = 3


def sample_rows(y: Array, most: int, seed: int) -> Integers:
    """At most `most` rows at random, each class in its proportion and with at least two rows, in their order."""
    if len(y) <= most:
        return np.arange(len(y))
    random = np.random.default_rng(seed)
    chosen = []
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        size = min(len(rows), max(2, round(most * len(rows) / len(y))))
        chosen.append(random.choice(rows, size=size, replace=False))
    return np.sort(np.concatenate(chosen))


def tuning_rows(y: Array, most: int, seed: int) -> Integers:
    """The rows that a parameter is chosen on: a sample, without the classes that are too rare to be in every fold."""
    rows = sample_rows(y, most, seed)
    return rows[common_rows(y[rows], FOLDS)]


def choose_C(
    make: Callable[[float], BaseEstimator],
    X: Any,
    y: Array,
    values: Sequence[float],
    *,
    most_rows: int,
    seed: int,
) -> float:
    """The value of C with the best order of the held-out rows, in the mean over three folds of `most_rows` at most.

    By the area under the curve of two classes, since the cut is tuned later, and balanced accuracy of more. Of
    equally good values the smallest, as `LogisticRegressionCV` does. A value with which a fold cannot be fitted is out.
    """
    rows = tuning_rows(y, most_rows, seed)
    X, y = X[rows], y[rows]
    codes = np.unique(y, return_inverse=True)[1]
    if np.sort(np.bincount(codes))[-2] < 2:
        return float(values[len(values) // 2])
    folds = stratified(codes, FOLDS, seed)
    scores = {C: float(np.mean([_score(make(C), X, y, train, test) for train, test in folds])) for C in values}
    return float(min(scores, key=lambda C: (-scores[C], C)))


def _score(model: Any, X: Any, y: Array, train: Integers, test: Integers) -> float:
    from sklearn.metrics import roc_auc_score

    truth = y[test]
    labels = np.unique(truth)
    try:
        with quietly():
            model.fit(X[train], y[train])
            if len(labels) == 2 and hasattr(model, "decision_function"):
                return float(roc_auc_score(truth == labels[1], model.decision_function(X[test])))
            predicted = model.predict(X[test])
    except SeparatrixError:
        return -np.inf
    return float(np.mean([(predicted[truth == label] == label).mean() for label in labels]))
