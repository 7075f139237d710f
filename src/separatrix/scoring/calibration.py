"""Scores → probabilities: P(class | score), learned from rows that the model had not seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from separatrix._typing import Floats, Integers
from separatrix.errors import DataError

ROUNDING = 1e-9  # of the scores: no fit is more exact than that in all of them
ISOTONIC = 1_000  # rows of the rarer class, from which on steps are learned in place of a sigmoid
KINDS = ("sigmoid", "isotonic")
MOST_KNOTS = 1_000  # of an isotonic map, so that it stays a small part of a model file
LARGEST = float(np.finfo(np.float64).max)
TINY = 1e-300  # the smallest probability that has a logarithm worth having


@dataclass(frozen=True)
class Calibration:
    """A map from scores to probabilities.

    Parameters
    ----------
    kind : {"sigmoid", "isotonic"}
    maps : tuple of tuples of (x, y)
        One for two classes, whose score is that of the second; else one for each class against the rest, normalised.
        Isotonic: knots, between which P is interpolated and beyond which it stays as it is. Sigmoid: one pair, with
        P = 1 / (1 + exp(-(x score + y))).
    """

    kind: str
    maps: tuple[tuple[tuple[float, float], ...], ...]

    @np.errstate(over="ignore")  # of a slope times a score that is nearly beyond all floats
    def probabilities(self, scores: Floats) -> Floats:
        """(n, k) probabilities whose rows sum to 1, of scores as `class_scores` gives them: (n,) or (n, k)."""
        scores = np.asarray(scores, dtype=np.float64)
        if len(self.maps) == 1:
            positive = self._one(self.maps[0], scores.reshape(len(scores)))
            return np.stack([1.0 - positive, positive], axis=1)
        each = np.stack([self._one(each, scores[:, c]) for c, each in enumerate(self.maps)], axis=1)
        lost = ~each.any(axis=1)  # rows so far from all classes that every P is below the smallest float
        if lost.any():
            slopes, shifts = np.array(self.maps)[:, 0].T
            logs = np.maximum(slopes * scores[lost] + shifts, -LARGEST)  # log P, but for rounding
            each[lost] = np.exp(logs - logs.max(axis=1, keepdims=True))
        return each / each.sum(axis=1, keepdims=True)

    def _one(self, knots: Sequence[tuple[float, float]], scores: Floats) -> Floats:
        if self.kind == "sigmoid":
            slope, shift = knots[0]
            return _sigmoid(slope * scores + shift)
        places, heights = zip(*knots, strict=True)
        return np.interp(scores, places, heights)

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        return {"kind": self.kind, "maps": [[list(pair) for pair in knots] for knots in self.maps]}

    @classmethod
    def from_dict(cls, plain: Any) -> Calibration:
        """The map that `to_dict` described; `DataError` if it describes none."""
        if not isinstance(plain, dict) or set(plain) != {"kind", "maps"} or plain["kind"] not in KINDS:
            raise DataError("the calibration is malformed")
        maps = plain["maps"]
        if not isinstance(maps, list) or not maps or len(maps) == 2 or not all(map(_is_knots, maps)):
            raise DataError("the maps of the calibration are malformed")
        for knots in maps:
            if plain["kind"] == "sigmoid" and len(knots) != 1:
                raise DataError("a sigmoid of the calibration has a slope and a shift, no more")
            if plain["kind"] == "isotonic" and not (
                all(0 < y < 1 for _, y in knots) and all(a[0] < b[0] and a[1] <= b[1] for a, b in pairwise(knots))
            ):
                raise DataError("the steps of the calibration do not go upwards between 0 and 1")
        return cls(plain["kind"], tuple(tuple((float(x), float(y)) for x, y in knots) for knots in maps))


def _is_knots(knots: Any) -> bool:
    pairs = isinstance(knots, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in knots)
    return pairs and len(knots) > 0 and all(is_finite(value) for pair in knots for value in pair)


def is_finite(value: Any) -> bool:
    """Whether this is a finite number of JSON."""
    return type(value) in (int, float) and math.isfinite(value)


def class_scores(model: Any, X: Any) -> Floats:
    """What `Calibration` maps: (n,) scores of the second of two classes, or (n, k), one column for each class.

    Of two classes the decision function. Of more, log P_c - log(1 - P_c) where the model has probabilities: scores
    of a softmax are defined up to a common term, and this is not; else the decision function, class against rest.
    """
    k = len(model.classes_)
    if hasattr(model, "predict_proba") and (k > 2 or not hasattr(model, "decision_function")):
        odds = log_odds(np.asarray(model.predict_proba(X), dtype=np.float64))
        return odds[:, 1] if k == 2 else odds
    return np.asarray(model.decision_function(X), dtype=np.float64)


def log_odds(probabilities: Floats) -> Floats:
    """log P_c - log(1 - P_c) for each class, 1 - P_c being the sum of the others, which does not cancel near 1."""
    k = probabilities.shape[1]
    others = probabilities @ (np.ones((k, k)) - np.eye(k))
    return np.log(np.maximum(probabilities, TINY)) - np.log(np.maximum(others, TINY))


def fit_calibration(scores: Floats, codes: Integers, k: int, kind: str | None = None) -> Calibration:
    """The map from scores to the classes of their rows.

    Parameters
    ----------
    scores : array of shape (n,) for two classes or (n, k)
        Of rows that the model which gave them had not seen.
    codes : integer array of shape (n,)
        Position of each row's label in the classes.
    k : int
        Number of classes.
    kind : {"sigmoid", "isotonic"}, optional
        By default a sigmoid if the rarest class has fewer than 1,000 rows.
    """
    scores = told_apart(np.asarray(scores, dtype=np.float64))
    if kind is None:
        kind = "sigmoid" if np.bincount(codes, minlength=k).min() < ISOTONIC else "isotonic"
    learn = _platt if kind == "sigmoid" else _isotonic
    if scores.ndim == 1:
        return Calibration(kind, (learn(scores, codes == 1),))
    return Calibration(kind, tuple(learn(scores[:, c], codes == c) for c in range(k)))


def told_apart(scores: Floats) -> Floats:
    """The scores, or their mean where they differ by rounding alone, as those of w = 0 up to rounding do.

    A map learned from such differences would be steep, and of other rows they have another size.
    """
    mean = scores.mean(axis=0)
    flat = np.abs(scores - mean).max(axis=0) <= ROUNDING * np.abs(scores).max(axis=0)
    return np.where(flat, mean, scores)


def _platt(scores: Floats, mine: Any) -> tuple[tuple[float, float], ...]:
    """min over a, b of the log-loss of sigmoid(a s + b) against targets (n1 + 1)/(n1 + 2) and 1/(n0 + 2).

    Platt's targets: as if each class had been seen once more on the other side, so that separable scores do not
    ask for an infinite slope. Newton's method with halved steps, on scores centred and scaled.
    """
    n1 = int(mine.sum())
    n0 = len(mine) - n1
    target = np.where(mine, (n1 + 1) / (n1 + 2), 1 / (n0 + 2))
    centre, spread = float(scores.mean()), float(scores.std())
    if not n1 or not n0:
        return ((0.0, math.log((n1 + 1) / (n0 + 1))),)
    if not np.ptp(scores) > 0 or not spread > 0:  # equal numbers may have a spread, by rounding
        return ((0.0, math.log(n1 / n0)),)
    Z = np.stack([(scores - centre) / spread, np.ones(len(scores))], axis=1)
    w = np.array([0.0, math.log((n1 + 1) / (n0 + 1))])

    def loss(w: Floats) -> float:
        s = Z @ w
        return float((np.logaddexp(0.0, s) - target * s).sum())

    value = loss(w)
    for _ in range(100):
        p = _sigmoid(Z @ w)
        gradient = Z.T @ (p - target)
        hessian = (Z * (p * (1 - p))[:, None]).T @ Z + 1e-12 * np.eye(2)
        step = np.linalg.solve(hessian, gradient)
        fall, size = float(gradient @ step), 1.0
        while size > 1e-10 and loss(w - size * step) > value - 1e-4 * size * fall:
            size /= 2
        w, before = w - size * step, value
        value = loss(w)
        if before - value <= 1e-12 * (1 + abs(value)):
            break
    slope = max(float(w[0]), 0.0) / spread  # scores that point the wrong way say nothing, rather than the opposite
    shift = float(w[1]) - slope * centre if slope else math.log((n1 + 1) / (n0 + 1))
    return ((slope, shift),)


def _isotonic(scores: Floats, mine: Any) -> tuple[tuple[float, float], ...]:
    """The increasing steps closest to the labels, with one row of the other class added at each end.

    These two rows keep P away from 0 and 1, which no number of rows could justify.
    """
    from sklearn.isotonic import isotonic_regression

    order = np.argsort(scores, kind="stable")
    places, start, rows = np.unique(scores[order], return_index=True, return_counts=True)
    right = np.add.reduceat(mine[order].astype(np.float64), start)
    weight = rows.astype(np.float64)
    right[0], weight[0], weight[-1] = right[0] + 1, weight[0] + 1, weight[-1] + 1
    heights = isotonic_regression(right / weight, sample_weight=weight, y_min=1e-12, y_max=1 - 1e-12)
    flat = np.flatnonzero((heights[1:-1] == heights[:-2]) & (heights[1:-1] == heights[2:])) + 1
    places, heights = np.delete(places, flat), np.delete(heights, flat)
    if len(places) > MOST_KNOTS:
        keep = np.unique(np.linspace(0, len(places) - 1, MOST_KNOTS).astype(int))
        places, heights = places[keep], heights[keep]
    return tuple(zip(places.tolist(), np.maximum.accumulate(heights).tolist(), strict=True))


def _sigmoid(s: Floats) -> Floats:
    return np.exp(-np.logaddexp(0.0, -s))
