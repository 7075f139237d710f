"""The choice of C for classifiers that have no path of their own: a few values, three folds, few rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from separatrix._typing import Array, Floats, Integers
from separatrix.compare.folds import Fold, common_rows, stratified
from separatrix.compare.metrics import losses, ranks
from separatrix.compare.quiet import quietly
from separatrix.errors import SeparatrixError
from separatrix.scoring.calibration import told_apart

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
    make: Callable[[float], BaseEstimator], X: Any, y: Array, values: Sequence[float], *, most_rows: int, seed: int
) -> float:
    """The value of C that puts held-out rows of three folds in the best order; of `most_rows` rows at most.

    Of equally good values the smallest, as `LogisticRegressionCV` does. A value with which a fold cannot be fitted is
    out.
    """
    rows = tuning_rows(y, most_rows, seed)
    X, y = X[rows], y[rows]
    codes = np.unique(y, return_inverse=True)[1]
    if np.sort(np.bincount(codes))[-2] < 2:
        return float(values[len(values) // 2])
    folds = stratified(codes, FOLDS, seed)
    scores = {C: _score(make, C, X, y, folds) for C in values}
    return float(min(scores, key=lambda C: (-scores[C], C)))


def _score(make: Callable[[float], Any], C: float, X: Any, y: Array, folds: Sequence[Fold]) -> float:
    """Of two classes the area under the curve of all held-out rows together; of more, the mean of `balanced_score`.

    Together: a machine of a very small C scores nearly its intercept, which jumps from -1 to 1 with a row more of a
    class. Within a fold the order may be the best there is, but no calibration holds for the scores of another.
    """
    classes = np.unique(y)
    try:
        with quietly():
            held_out = [(make(C).fit(X[train], y[train]), test) for train, test in folds]
    except SeparatrixError:
        return -np.inf
    if len(classes) > 2:
        return float(np.mean([balanced_score(model, X[test], y[test]) for model, test in held_out]))
    scores = np.concatenate([model.decision_function(X[test]) for model, test in held_out])
    return area(np.concatenate([y[test] for _, test in folds]) == classes[1], told_apart(scores))


def order_score(model: Any, X: Any, y: Array) -> float:
    """Of two classes the area under the curve, since the cut is tuned later; of more, balanced accuracy."""
    if len(np.unique(y)) == len(model.classes_) == 2:
        return area(y == model.classes_[1], told_apart(model.decision_function(X)))
    return balanced_score(model, X, y)


# The three scores below are scikit-learn's, without its checks, which take longer than some of the fits.


def area(mine: Array, scores: Floats) -> float:
    """The share of pairs, one row of the class and one other, in which the former has the higher score."""
    n1 = int(mine.sum())
    return float((ranks(scores)[mine].sum() - n1 * (n1 + 1) / 2) / (n1 * (len(mine) - n1)))


def balanced_score(model: Any, X: Any, y: Array) -> float:
    """The mean over the classes in y of the share of their rows that is recognised."""
    right = model.predict(X) == y
    return float(np.mean([right[y == label].mean() for label in np.unique(y)]))


def likelihood_score(model: Any, X: Any, y: Array) -> float:
    """The mean of log P(the true class)."""
    codes = np.searchsorted(model.classes_, y)
    return -float(losses(codes, model.predict_proba(X), "log_loss").mean())
