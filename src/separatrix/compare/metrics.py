"""How well a classifier does on rows it has not seen, with 95% intervals.

Each figure is, up to terms that vanish faster, a mean over rows: value - truth ≈ sum_i psi_i. So its variance is
sum_i psi_i², with no resampling and no random numbers. The intervals are about the rows: they take the models of
the folds as given.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix._typing import Array, Floats, Integers

Z = 1.959963984540054  # of a 95% interval


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
        Larger for the positive class, or for each class; comparable within a fold only.
    probabilities : array of shape (n, k) or None
    fold : integer array of shape (n,)
        The fold in which the row was held out.
    """

    codes: Integers
    scores: Floats | None
    probabilities: Floats | None
    fold: Integers


def balanced_accuracy(truth: Integers, codes: Integers, k: int) -> Figure:
    """The mean over classes of the share of its rows that are recognised.

    The interval adds two successes and two failures, spread evenly over the classes (Price and Bonett), so that a class
    without an error is not taken for one that can have none, and many small classes do not pull the mean down.
    """
    rows = np.bincount(truth, minlength=k)
    right = np.bincount(truth[truth == codes], minlength=k)
    share = (right + 2 / k) / (rows + 4 / k)
    error = float(np.sqrt((share * (1 - share) / (rows + 4 / k)).sum())) / k
    value, centre = float((right / rows).mean()), float(share.mean())
    return Figure(value, min(value, max(0.0, centre - Z * error)), max(value, min(1.0, centre + Z * error)))


def area_under_curve(truth: Integers, predictions: Predictions, k: int) -> Figure | None:
    """P(a row of the class scores above a row of the others), averaged over classes and folds; DeLong's variance.

    Within each fold: the models of different folds need not score on the same scale. None without scores.
    """
    if predictions.scores is None:
        return None
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
    if not values:
        return None
    value = float(np.mean(values))
    error = float(np.sqrt((psi**2).sum())) / len(values)
    low, high = max(0.0, value - Z * error), min(1.0, value + Z * error)
    if value == 1.0:  # every pair in order: no more than a run of successes, as many as rows of the rarest class
        low = 0.025 ** (1 / max(1, min(np.bincount(truth, minlength=k))))
    return Figure(value, low, high)


def _delong(scores: Floats, mine: Array) -> tuple[float, Floats, Floats]:
    """The area, and the share of the other side that each row beats: rows of the class, then the others."""
    from scipy.stats import rankdata

    n1, n0 = int(mine.sum()), int((~mine).sum())
    ranks = rankdata(scores)
    above = (ranks[mine] - rankdata(scores[mine])) / n0
    below = 1 - (ranks[~mine] - rankdata(scores[~mine])) / n1
    return float(above.mean()), above, below


def log_loss(truth: Integers, probabilities: Floats | None) -> Figure | None:
    """The mean of -log P(the true class), P held to at least 1e-15; None without probabilities."""
    if probabilities is None:
        return None
    losses = -np.log(np.maximum(probabilities[np.arange(len(truth)), truth], 1e-15))
    value = float(losses.mean())
    error = float(losses.std() / np.sqrt(len(losses)))
    return Figure(value, max(0.0, value - Z * error), value + Z * error)


@dataclass(frozen=True)
class Difference:
    """Balanced accuracy of the best less that of another, on the same rows."""

    value: float
    low: float
    high: float

    @property
    def tie(self) -> bool:
        """Whether 0 lies within the interval: these rows cannot tell the two apart."""
        return self.low <= 0.0 <= self.high

    @property
    def near(self) -> bool:
        """Whether the best leads by one standard error or less, as the choice of a model goes by."""
        return self.value <= (self.high - self.low) / (2 * Z)

    def to_dict(self) -> dict[str, float]:
        """For run.json."""
        return {"value": self.value, "low": self.low, "high": self.high}


def paired_difference(truth: Integers, best: Integers, other: Integers, k: int) -> Difference:
    """The difference of balanced accuracies, with the interval of Agresti and Min for paired shares.

    Only rows that one gets right and the other wrong tell anything; half a row is added to each of the four cells,
    so that two classifiers that agree everywhere are not declared equal for ever.
    """
    values, estimates, variance = [], [], 0.0
    for code in range(k):
        rows = truth == code
        n = int(rows.sum())
        gained = int((rows & (best == code) & (other != code)).sum())
        lost = int((rows & (best != code) & (other == code)).sum())
        values.append((gained - lost) / n)
        estimate = (gained - lost) / (n + 2)
        estimates.append(estimate)
        variance += ((gained + lost + 1) / (n + 2) - estimate**2) / (n + 2)
    centre, error = float(np.mean(estimates)), float(np.sqrt(variance)) / k
    return Difference(float(np.mean(values)), centre - Z * error, centre + Z * error)
