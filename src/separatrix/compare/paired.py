"""How much better one classifier is than another on the same rows, and whether these rows can tell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix._typing import Floats, Integers
from separatrix.compare.metrics import LOSSES, Figure, Predictions, Z, losses, value_and_parts


@dataclass(frozen=True)
class Difference(Figure):
    """By how much the best is better than another in the metric, on the same rows; positive also for losses."""

    @property
    def tie(self) -> bool:
        """Whether 0 lies within the interval: these rows cannot tell the two apart."""
        return self.low <= 0.0 <= self.high

    @property
    def near(self) -> bool:
        """Whether the best leads by half a standard error or less, as the choice of a model goes by."""
        return self.value <= (self.high - self.low) / (4 * Z)


def difference(metric: str, truth: Integers, best: Predictions, other: Predictions, k: int) -> Difference:
    """Best less other in a metric, or other less best in a loss, with a 95% interval of paired rows."""
    if metric in ("balanced_accuracy", "accuracy"):
        group = truth if metric == "balanced_accuracy" else np.zeros_like(truth)
        return _shares(group, best.codes == truth, other.codes == truth)
    if metric in LOSSES:
        assert best.probabilities is not None
        assert other.probabilities is not None
        each = losses(truth, other.probabilities, metric) - losses(truth, best.probabilities, metric)
        return _interval(float(each.mean()), (each - each.mean()) / len(each))
    values, parts = zip(*(value_and_parts(metric, truth, one, k) for one in (best, other)), strict=True)
    return _interval(values[0] - values[1], parts[0] - parts[1])


def _interval(value: float, parts: Floats) -> Difference:
    error = float(np.sqrt((parts**2).sum()))
    return Difference(value, value - Z * error, value + Z * error)


def _shares(group: Integers, best: Integers, other: Integers) -> Difference:
    """The mean over groups of the difference of shares, with the interval of Agresti and Min for paired shares.

    Only rows that one gets right and the other wrong tell anything; half a row is added to each of the four cells,
    so that two classifiers that agree everywhere are not declared equal for ever.
    """
    values, estimates, variance = [], [], 0.0
    for code in np.unique(group):
        rows = group == code
        n = int(rows.sum())
        gained, lost = int((rows & best & ~other).sum()), int((rows & ~best & other).sum())
        values.append((gained - lost) / n)
        estimate = (gained - lost) / (n + 2)
        estimates.append(estimate)
        variance += ((gained + lost + 1) / (n + 2) - estimate**2) / (n + 2)
    centre, error = float(np.mean(estimates)), float(np.sqrt(variance)) / len(values)
    return Difference(float(np.mean(values)), centre - Z * error, centre + Z * error)
