"""What a model says of rows it has not seen, and what is learned from that: calibration and cut.

Both are learned from out-of-fold scores: those of an outer fold from inner folds of its training rows, so that the rows
it is judged by touch neither; those that are saved from the outer folds, which are all rows, fitted with the
parameters of the model that is saved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix._typing import Floats, Integers
from separatrix.compare.folds import Fold
from separatrix.compare.metrics import losses
from separatrix.compare.tuning import sample_rows
from separatrix.scoring.calibration import Calibration, class_scores, fit_calibration, log_odds
from separatrix.scoring.decision import Decision, tune


@dataclass(frozen=True)
class Said:
    """Of some rows: scores as `class_scores` has them, (n,) of two classes or (n, k); and the model's probabilities."""

    scores: Floats
    probabilities: Floats | None


@dataclass(frozen=True)
class Recipe:
    """From what a model says to probabilities and classes; `calibration` None to take the model's own."""

    calibration: Calibration | None
    decision: Decision

    def probabilities(self, said: Said) -> Floats:
        """(n, k)."""
        if self.calibration is not None:
            return self.calibration.probabilities(said.scores)
        assert said.probabilities is not None
        return said.probabilities


def listen(model: Any, X: Any, k: int, n: int) -> Said:
    """What a model, fitted to n rows and the codes of their classes, says of rows X.

    A class of the k that its rows lacked has the probability 1 / (n + 1) and the lowest score.
    """
    scores = class_scores(model, X)
    chances = np.asarray(model.predict_proba(X), dtype=np.float64) if hasattr(model, "predict_proba") else None
    known = model.classes_
    if len(known) == k:
        return Said(scores, chances)
    if chances is not None:
        whole = np.full((len(chances), k), 1 / (n + 1))
        whole[:, known] = chances * (1 - (k - len(known)) / (n + 1))
        return Said(log_odds(whole), whole)
    scores = np.stack([-scores, scores], axis=1) if scores.ndim == 1 else scores
    spread = np.full((len(scores), k), scores.min(initial=0.0) - 1.0)
    spread[:, known] = scores
    return Said(spread, None)


def learn(said: Said, codes: Integers, k: int, metric: str, level: bool = False) -> Recipe:
    """Calibrate if the model has no probabilities, or worse ones than the shares of the classes; then tune the cut.

    `level` if the model was told to take all classes for equally frequent.
    """
    calibration = None
    if said.probabilities is None or not better_than_shares(said.probabilities, codes):
        calibration = fit_calibration(said.scores, codes, k)
    probabilities = Recipe(calibration, Decision()).probabilities(said)
    return Recipe(calibration, tune(probabilities, codes, metric, level and calibration is None))


def better_than_shares(probabilities: Floats, codes: Integers) -> bool:
    """Whether the log-loss is not above that of always stating the shares of the classes."""
    shares = np.bincount(codes, minlength=probabilities.shape[1]) / len(codes)
    guess = -float((shares[shares > 0] * np.log(shares[shares > 0])).sum())
    return float(losses(codes, probabilities, "log_loss").mean()) <= guess


def joined(parts: Sequence[Said], tests: Sequence[Integers]) -> Said:
    """The parts of several folds, back in the order of the rows."""
    order = np.argsort(np.concatenate(tests), kind="stable")
    scores = np.concatenate([part.scores for part in parts])[order]
    chances = [part.probabilities for part in parts if part.probabilities is not None]
    return Said(scores, np.concatenate(chances)[order] if len(chances) == len(parts) else None)


def out_of_fold(
    build: Callable[[], Any], X: Any, codes: Integers, folds: Sequence[Fold], k: int, most: int | None, seed: int
) -> Said:
    """What models of the other folds say of each row; each learns from `most` of their rows, if there are more."""
    said = []
    for train, test in folds:
        rows = train if most is None else train[sample_rows(codes[train], most, seed)]
        said.append(listen(build().fit(X[rows], codes[rows]), X[test], k, len(rows)))
    return joined(said, [test for _, test in folds])
