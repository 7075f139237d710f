"""Probabilities → a class: where the cut is, tuned for a metric on rows that the model had not seen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix._typing import Floats, Integers
from separatrix.errors import DataError
from separatrix.scoring.calibration import TINY, is_finite

TUNED = ("balanced_accuracy", "accuracy", "f1", "mcc")  # the metrics of predicted classes; others need no cut
MOST_CUTS = 400  # tried along one line
MOST_CELLS = 20_000  # cuts times classes of a metric that depends on the counts of each class
MOST_ROWS = 100_000  # that a cut is tuned on: it is a number or a few
FAR = 1e3  # an offset beyond all log P
SWEEPS = 3  # over the classes, of which each has an offset


@dataclass(frozen=True)
class Decision:
    """Two classes: the second if its P >= threshold. More: the argmax of log P + offset. Neither: the most probable."""

    threshold: float | None = None
    offsets: tuple[float, ...] | None = None  # one for each class

    def codes(self, probabilities: Floats) -> Integers:
        """The position of each row's class, from (n, k) probabilities."""
        if self.threshold is not None:
            return np.asarray(probabilities[:, 1] >= self.threshold).astype(np.intp)
        if self.offsets is None:
            return np.asarray(probabilities).argmax(axis=1)
        return (np.log(np.maximum(probabilities, TINY)) + np.asarray(self.offsets)).argmax(axis=1)

    def log_offsets(self, k: int) -> Floats:
        """(k,): the same decision as what is added to log P before the largest is taken, a tie but for rounding."""
        if self.offsets is not None:
            return np.asarray(self.offsets, dtype=np.float64)
        cut = 0.5 if self.threshold is None else self.threshold
        odds = math.log(max(1 - cut, TINY)) - math.log(max(cut, TINY))
        return np.array([0.0, odds]) if k == 2 else np.zeros(k)

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        return {"threshold": self.threshold, "offsets": None if self.offsets is None else list(self.offsets)}

    @classmethod
    def from_dict(cls, plain: Any) -> Decision:
        """The decision that `to_dict` described; `DataError` if it describes none."""
        if not isinstance(plain, dict) or set(plain) != {"threshold", "offsets"}:
            raise DataError("the decision is malformed")
        threshold, offsets = plain["threshold"], plain["offsets"]
        if threshold is not None and offsets is not None:
            raise DataError("the decision has a threshold, for two classes, and offsets, for more")
        if threshold is not None and not (is_finite(threshold) and 0 <= threshold <= 1):
            raise DataError("the threshold of the decision is no probability")
        several = isinstance(offsets, list) and len(offsets) > 2
        if offsets is not None and not (several and all(map(is_finite, offsets))):
            raise DataError("the offsets of the decision are malformed")
        cut = None if threshold is None else float(threshold)
        return cls(cut, None if offsets is None else tuple(map(float, offsets)))


def tune(probabilities: Floats, codes: Integers, metric: str, level: bool = False) -> Decision:
    """The cut with the best value of the metric on these rows, which the model must not have seen.

    Of the cuts that lie about one standard error or less behind the best, the one nearest to where it would be if
    the probabilities were right: at the class's share for balanced accuracy, at 1/2 for the others. A few rows would
    move the best cut anywhere along a flat top. `level` for probabilities of a model that was told to take all classes
    for equally frequent: its odds are the right ones divided by those of the shares.
    """
    if metric not in TUNED:
        return Decision()
    probabilities = np.asarray(probabilities, dtype=np.float64)
    if len(codes) > MOST_ROWS:
        some = np.random.default_rng(0).choice(len(codes), MOST_ROWS, replace=False)
        probabilities, codes = probabilities[some], codes[some]
    k = probabilities.shape[1]
    rows = np.bincount(codes, minlength=k)
    logs = np.log(np.maximum(probabilities, TINY))
    share = np.maximum(rows, 1) / max(1, len(codes))
    plug_in = np.log(share) * (float(level) - float(metric == "balanced_accuracy"))
    leaders = _Leaders(logs, plug_in if k > 2 else np.zeros(2))
    if k == 2:
        offset = _best_offset(leaders, codes, 1, float(plug_in[1] - plug_in[0]), metric)
        return Decision(threshold=float(1 / (1 + math.exp(min(700.0, max(-700.0, offset))))))
    offsets = plug_in.copy()
    for _ in range(SWEEPS):
        before = offsets.copy()
        for code in range(k):
            offsets[code] = _best_offset(leaders, codes, code, float(offsets[code]), metric)
            leaders.put(code, offsets[code])
        if (offsets == before).all():
            break
    return Decision(offsets=tuple((offsets - offsets.mean()).tolist()))


def always(code: int, k: int) -> Decision:
    """One class, whatever the probabilities."""
    if k == 2:
        return Decision(threshold=1.0 - code)
    return Decision(offsets=tuple(FAR * (place == code) for place in range(k)))


def plug_in(shares: Floats, metric: str) -> Decision:
    """The cut that is best if the probabilities are right: for balanced accuracy where P is the share of the class."""
    if metric != "balanced_accuracy" or not (shares > 0).all():
        return Decision()
    if len(shares) == 2:
        return Decision(threshold=float(shares[1]))
    return Decision(offsets=tuple((-np.log(shares)).tolist()))


class _Leaders:
    """The two largest of log P + offset in each row, while one offset after the other changes."""

    def __init__(self, logs: Floats, offsets: Floats) -> None:
        self.logs, self.sums = logs, logs + offsets
        self.first, self.second = (np.empty(len(logs), dtype=np.intp) for _ in range(2))
        self._look(np.arange(len(logs)))

    def but(self, code: int) -> Integers:
        """Who leads among the others."""
        return np.where(self.first == code, self.second, self.first)

    def put(self, code: int, offset: float) -> None:
        """Another offset of a class."""
        self.sums[:, code] = self.logs[:, code] + offset
        beaten = self.sums[:, code] >= self.sums[np.arange(len(self.logs)), self.second]
        self._look(np.flatnonzero((self.first == code) | (self.second == code) | beaten))

    def _look(self, rows: Integers) -> None:
        sums, every = self.sums[rows], np.arange(len(rows))
        self.first[rows] = first = sums.argmax(axis=1)
        sums[every, first] = -np.inf
        self.second[rows] = sums.argmax(axis=1)


def _best_offset(leaders: _Leaders, codes: Integers, code: int, near: float, metric: str) -> float:
    """The offset of one class, the others' being given, with the best metric; `near` if it is about as good."""
    n, k = leaders.logs.shape
    winner = leaders.but(code)
    turns = leaders.sums[np.arange(n), winner] - leaders.logs[:, code]  # the offset that gives a row to the class
    additive = metric in ("accuracy", "balanced_accuracy")
    cuts = _cuts(turns, near, MOST_CUTS if additive else min(MOST_CUTS, MOST_CELLS // k))
    bins = np.searchsorted(cuts, turns, side="left")  # given to the class at all cuts from this one on
    rows = np.bincount(codes, minlength=k).astype(np.float64)
    worth = (np.full(k, 1.0 / n) if metric == "accuracy" else 1.0 / (k * np.maximum(rows, 1)))[codes]

    def along(weights: Floats) -> Floats:
        """The sum over the rows that have turned by each cut."""
        return np.bincount(bins, weights, minlength=len(cuts) + 1)[:-1].cumsum()

    if additive:
        values = along(worth * ((codes == code) * 1.0 - (winner == codes)))
    else:
        values = metric_of_counts(*_counts(bins, len(cuts), winner, codes, code, k), rows, metric)
    best, moved = int(values.argmax()), along(worth**2)
    good = np.flatnonzero(values >= values[best] - np.sqrt(np.abs(moved - moved[best])))
    return float(cuts[good[np.abs(cuts[good] - near).argmin()]])


def _counts(bins: Integers, cuts: int, winner: Integers, codes: Integers, code: int, k: int) -> tuple[Floats, Floats]:
    """(cuts, k) rows recognised and rows predicted, of each class at each cut."""

    def along(where: Any, column: Integers) -> Floats:
        """How many of these rows have turned by each cut, by class."""
        table = np.bincount(bins[where] * k + column[where], minlength=(cuts + 1) * k).reshape(-1, k)
        return table.cumsum(axis=0)[:cuts].astype(np.float64)

    gone = along(slice(None), winner)
    predicted = np.bincount(winner, minlength=k) - gone
    predicted[:, code] += gone.sum(axis=1)
    right = np.bincount(winner[winner == codes], minlength=k) - along(winner == codes, winner)
    right[:, code] += along(codes == code, codes)[:, code]
    return right, predicted


def _cuts(turns: Floats, near: float, most: int) -> Floats:
    """Offsets between the rows' turning points, at most so many, and `near`."""
    points = np.unique(turns)
    if len(points) > most:
        points = points[np.unique(np.linspace(0, len(points) - 1, most).astype(int))]
    between = (points[1:] + points[:-1]) / 2
    return np.unique(np.concatenate([[points[0] - 1.0], between, [points[-1] + 1.0, near]]))


def metric_of_counts(right: Floats, predicted: Floats, rows: Floats, metric: str) -> Floats:
    """The metric from counts a class, (..., k): rows recognised, rows predicted, and rows there are.

    f1: of the second of two classes; of more, the mean over classes. mcc: Gorodkin's correlation for k classes.
    """
    right, predicted, rows = (np.asarray(each, dtype=np.float64) for each in (right, predicted, rows))
    n, k = rows.sum(axis=-1), rows.shape[-1]
    if metric == "accuracy":
        return right.sum(axis=-1) / n
    if metric == "balanced_accuracy":
        return (right / np.maximum(rows, 1)).sum(axis=-1) / (rows > 0).sum(axis=-1)
    if metric == "f1":
        each = 2 * right / np.maximum(predicted + rows, 1)
        if k == 2:
            return each[..., 1]
        return each.sum(axis=-1) / np.maximum(((predicted + rows) > 0).sum(axis=-1), 1)
    if metric == "mcc":
        agreed = right.sum(axis=-1) * n - (predicted * rows).sum(axis=-1)
        size = np.sqrt(_unlike_pairs(predicted) * _unlike_pairs(rows))
        return np.where(size > 0, agreed / np.where(size > 0, size, 1.0), 0.0)
    raise ValueError(metric)


def _unlike_pairs(rows: Floats) -> Floats:
    """n² - sum_c n_c²: ordered pairs of rows of different classes."""
    return np.asarray(rows.sum(axis=-1) ** 2 - (rows**2).sum(axis=-1))
