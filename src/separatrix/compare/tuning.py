"""The choice of C for classifiers that have no path of their own: a few values, three folds, few rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedKFold

from separatrix._typing import Array, Integers
from separatrix.compare.quiet import quietly
from separatrix.errors import SeparatrixError

PATIENCE = 2.0  # seconds for the choice of one C


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


def choose_C(
    make: Callable[[float], BaseEstimator],
    X: Any,
    y: Array,
    values: Sequence[float],
    *,
    most_rows: int,
    seed: int,
) -> float:
    """The value of C with the best mean balanced accuracy over three folds of at most `most_rows` rows.

    Of equally good values the smallest, as `LogisticRegressionCV` does. A value with which a fold cannot be fitted is
    out, and after some seconds no further value is tried.
    """
    rows = sample_rows(y, most_rows, seed)
    X, y = X[rows], y[rows]
    fewest = int(np.unique(y, return_counts=True)[1].min())
    if fewest < 2:
        return float(values[len(values) // 2])
    folds = list(StratifiedKFold(min(3, fewest), shuffle=True, random_state=seed).split(np.zeros(len(y)), y))
    started, scores = time.monotonic(), {}
    for C in sorted(values, key=lambda C: abs(np.log10(C))):  # from 1 outwards, so that what time cuts off are extremes
        scores[C] = float(np.mean([_score(make(C), X, y, train, test) for train, test in folds]))
        if time.monotonic() - started > PATIENCE:
            break
    return float(min(scores, key=lambda C: (-scores[C], C)))


def _score(model: Any, X: Any, y: Array, train: Integers, test: Integers) -> float:
    try:
        with quietly():
            predicted = model.fit(X[train], y[train]).predict(X[test])
    except SeparatrixError:
        return -np.inf
    truth = y[test]
    return float(np.mean([(predicted[truth == label] == label).mean() for label in np.unique(truth)]))
