"""How well a classifier does on rows it has not seen, with 95% intervals.

Each figure is, up to terms that vanish faster, a mean over rows: value - truth ≈ sum_i psi_i. So its variance is
sum_i psi_i², with no resampling and no random numbers. The intervals are about the rows: they take the models of
the folds as given.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.scoring.decision import metric_of_counts

Z = 1.959963984540054  # of a 95% interval
METRICS = ("balanced_accuracy", "accuracy", "auc", "log_loss", "brier", "f1", "mcc")
LOSSES = ("log_loss", "brier")  # of which less is better
NAMES = {
    "balanced_accuracy": "balanced accuracy",
    "accuracy": "accuracy",
    "auc": "AUC",
    "log_loss": "log-loss",
    "brier": "Brier score",
    "f1": "F1",
    "mcc": "MCC",
}


@dataclass(frozen=True)
class Figure:
    """A number with its 95% interval."""

    value: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float]:
        """For run.json."""
        return {"value": self.value, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class Predictions:
    """What a classifier said of each row when that row was held out.

    Parameters
    ----------
    codes : integer array of shape (n,)
        Position in the classes of the predicted label.
    scores : array of shape (n,) or (n, k), or None
        Larger for the positive class; of more classes log P_c - log(1 - P_c), to which no common term can be added.
        Comparable within a fold only.
    probabilities : array of shape (n, k) or None
    fold : integer array of shape (n,)
        The fold in which the row was held out.
    offsets : array of shape (n, k) or None
        What was added to log P before the largest was taken: the cut of the row's fold; None where nothing was.
    """

    codes: Integers
    scores: Floats | None
    probabilities: Floats | None
    fold: Integers
    offsets: Floats | None = None


def balanced_accuracy(truth: Integers, codes: Integers, k: int) -> Figure:
    """The mean over classes of the share of its rows that are recognised.

    The interval adds two successes and two failures, spread evenly over the classes (Price and Bonett), so that a class
    without an error is not taken for one that can have none, and many small classes do not pull the mean down.
    """
    rows = np.bincount(truth, minlength=k)
    right = np.bincount(truth[truth == codes], minlength=k)
    k, rows, right = int((rows > 0).sum()), rows[rows > 0], right[rows > 0]
    share = (right + 2 / k) / (rows + 4 / k)
    error = float(np.sqrt((share * (1 - share) / (rows + 4 / k)).sum())) / k
    value, centre = float((right / rows).mean()), float(share.mean())
    return Figure(value, min(value, max(0.0, centre - Z * error)), max(value, min(1.0, centre + Z * error)))


def area_under_curve(truth: Integers, predictions: Predictions, k: int) -> Figure | None:
    """P(a row of the class scores above a row of the others), averaged over classes and folds; DeLong's variance.

    Within each fold: the models of different folds need not score on the same scale. None without scores.
    """
    value, psi = area_parts(truth, predictions, k)
    if psi is None:
        return None
    error = float(np.sqrt((psi**2).sum()))
    low, high = max(0.0, value - Z * error), min(1.0, value + Z * error)
    if value == 1.0:  # every pair in order: no more than a run of successes, as many as rows of the rarest class
        low = 0.025 ** (1 / max(1, min(np.bincount(truth, minlength=k))))
    return Figure(value, low, high)


def area_parts(truth: Integers, predictions: Predictions, k: int) -> tuple[float, Floats | None]:
    """The area, and each row's part in it; None without scores, or where no fold has rows of two classes."""
    if predictions.scores is None:
        return 0.5, None
    columns = predictions.scores[:, None] if predictions.scores.ndim == 1 else predictions.scores
    classes = [1] if columns.shape[1] == 1 else range(k)
    values, psi = [], np.zeros(len(truth))
    for fold in np.unique(predictions.fold):
        rows = np.flatnonzero(predictions.fold == fold)
        for column, code in enumerate(classes):
            mine = truth[rows] == code
            n1, n0 = int(mine.sum()), int((~mine).sum())
            if not n1 or not n0:
                continue
            area, above, below = _delong(columns[rows, column], mine)
            values.append(area)
            psi[rows[mine]] += (above - area) / n1
            psi[rows[~mine]] += (below - area) / n0
    return (float(np.mean(values)), psi / len(values)) if values else (0.5, None)


def _delong(scores: Floats, mine: Array) -> tuple[float, Floats, Floats]:
    """The area, and the share of the other side that each row beats: rows of the class, then the others."""
    n1, n0 = int(mine.sum()), int((~mine).sum())
    whole = ranks(scores)
    above = (whole[mine] - ranks(scores[mine])) / n0
    below = 1 - (whole[~mine] - ranks(scores[~mine])) / n1
    return float(above.mean()), above, below


def ranks(scores: Floats) -> Floats:
    """The place of each score, from 1 on; equal scores share their mean."""
    order = np.argsort(scores, kind="stable")
    s = scores[order]
    first = np.flatnonzero(np.append(True, s[1:] != s[:-1]))  # of each run of equal scores
    length = np.diff(np.append(first, len(s)))
    found = np.empty(len(s))
    found[order] = np.repeat(first + 0.5 * (length + 1), length)
    return found


def losses(truth: Integers, probabilities: Floats, metric: str) -> Floats:
    """What each row costs: -log P(the true class), P held to at least 1e-15, or the squared distance from its label.

    The distance is that of the second class's probability if there are two, and of all probabilities if more.
    """
    if metric == "log_loss":
        return -np.log(np.maximum(probabilities[np.arange(len(truth)), truth], 1e-15))
    k = probabilities.shape[1]
    squares = ((probabilities - np.eye(k)[truth]) ** 2).sum(axis=1)
    return squares / 2 if k == 2 else squares


def mean_loss(truth: Integers, probabilities: Floats | None, metric: str) -> Figure | None:
    """The mean of what rows cost; None without probabilities."""
    if probabilities is None:
        return None
    each = losses(truth, probabilities, metric)
    value, error = float(each.mean()), float(each.std() / np.sqrt(len(each)))
    return Figure(value, max(0.0, value - Z * error), value + Z * error)


def confusion(truth: Integers, codes: Integers, k: int) -> Floats:
    """(k, k): rows of class i predicted as class j."""
    return np.bincount(truth * k + codes, minlength=k * k).reshape(k, k).astype(np.float64)


def value_of(table: Floats, metric: str) -> float:
    """A metric of predicted classes, from its confusion table."""
    return float(metric_of_counts(np.diagonal(table), table.sum(axis=0), table.sum(axis=1), metric))


def cell_parts(table: Floats, metric: str) -> Floats:
    """(k, k): by how much one row more in a cell, and one fewer on average, changes the metric: its influence.

    A row of class i predicted as j is one more of the rows of i, of those predicted as j and, if i = j, of the
    recognised: to first order, the sum of what each of these changes.
    """
    recognised, predicted, there = np.diagonal(table), table.sum(axis=0), table.sum(axis=1)
    n, base = table.sum(), value_of(table, metric)
    more = 1e-6 * n * np.eye(len(table))
    of_recognised = metric_of_counts(recognised + more, predicted, there, metric) - base
    of_predicted = metric_of_counts(recognised, predicted + more, there, metric) - base
    of_there = metric_of_counts(recognised, predicted, there + more, metric) - base
    change = (np.diag(of_recognised) + of_predicted + of_there[:, None]) / (1e-6 * n)
    return change - float((table * change).sum() / n)


def value_and_parts(metric: str, truth: Integers, predictions: Predictions, k: int) -> tuple[float, Floats]:
    """The area, or a metric of predicted classes, and each row's part in it."""
    if metric == "auc":
        value, psi = area_parts(truth, predictions, k)
        return value, np.zeros(len(truth)) if psi is None else psi
    table = confusion(truth, predictions.codes, k)
    return value_of(table, metric), cell_parts(table, metric)[truth, predictions.codes]


def of_counts(truth: Integers, codes: Integers, k: int, metric: str) -> Figure:
    """Accuracy, F1 or the Matthews correlation, by the first-order variance of a function of counts.

    The interval is about a table with two rows more on the right and two on the wrong side, spread evenly, so that no
    error is no certainty.
    """
    table = confusion(truth, codes, k)
    smooth = table + 2 / k * np.eye(k) + 2 / (k * max(1, k - 1)) * (1 - np.eye(k))
    error = float(np.sqrt((smooth * cell_parts(smooth, metric) ** 2).sum()))
    value, centre = value_of(table, metric), value_of(smooth, metric)
    lowest = -1.0 if metric == "mcc" else 0.0
    return Figure(value, min(value, max(lowest, centre - Z * error)), max(value, min(1.0, centre + Z * error)))


def figure(metric: str, truth: Integers, predictions: Predictions, k: int) -> Figure | None:
    """One metric of held-out predictions, with its interval; None where it does not apply."""
    if metric == "balanced_accuracy":
        return balanced_accuracy(truth, predictions.codes, k)
    if metric == "auc":
        return area_under_curve(truth, predictions, k)
    if metric in LOSSES:
        return mean_loss(truth, predictions.probabilities, metric)
    return of_counts(truth, predictions.codes, k, metric)
