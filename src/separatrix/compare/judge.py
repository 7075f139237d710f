"""One candidate: cross-validated, then fitted to all rows and certified."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.compare.candidates import Candidate, Params
from separatrix.compare.limit import within
from separatrix.compare.metrics import Predictions, area_under_curve, balanced_accuracy, log_loss
from separatrix.compare.quiet import quietly
from separatrix.compare.result import Entry
from separatrix.compare.tuning import sample_rows
from separatrix.compare.wording import certificate_words, count, seconds
from separatrix.errors import SeparatrixError

Fold = tuple[Integers, Integers]
SHARE = 0.5  # of the time that is left: what one candidate may take
LOWER = 2  # how often C is divided by 10 for the sake of a certificate


@dataclass(frozen=True)
class Problem:
    """The rows of a comparison: X, labels y as the user has them, and codes, their positions in the classes."""

    X: Any
    y: Array
    codes: Integers
    classes: Array
    folds: Sequence[Fold]
    seed: int
    deadline: float

    @property
    def k(self) -> int:
        """Number of classes."""
        return len(self.classes)


class LeftOutError(Exception):
    """A candidate that does not finish; the message says why."""


def judge(candidate: Candidate, problem: Problem, step: Callable[[str], None]) -> Entry:
    """The candidate's entry, if it is done within its share of the time that is left."""
    now = time.monotonic()
    share = max(0.0, SHARE * (problem.deadline - now))
    try:
        with within(share) if candidate.key else nullcontext():
            return _judged(candidate, replace(problem, deadline=now + share), step)
    except TimeoutError:
        raise LeftOutError(f"not done within {seconds(share)}, its share of --time-limit") from None


def _judged(candidate: Candidate, problem: Problem, step: Callable[[str], None]) -> Entry:
    """Cross-validate the candidate, fit it to all rows, and put both into words."""
    n = len(problem.codes)
    codes, fold_of = np.zeros(n, dtype=np.intp), np.zeros(n, dtype=np.intp)
    scores: list[Floats | None] = []
    chances: list[Floats | None] = []
    for number, (train, test) in enumerate(problem.folds):
        step(f"fold {number + 1} of {len(problem.folds)}")
        started = time.monotonic()
        with quietly():
            model, *_ = _fitted(candidate, problem, train)
            codes[test] = _codes(model.predict(problem.X[test]), problem.classes)
            scores.append(_scores(model, problem.X[test], problem.k))
            chances.append(model.predict_proba(problem.X[test]) if hasattr(model, "predict_proba") else None)
        fold_of[test] = number
        if candidate.key:
            _still_time(problem, time.monotonic() - started, len(problem.folds) - number)
    step("all rows")
    predictions = Predictions(codes, _gathered(scores, problem.folds), _gathered(chances, problem.folds), fold_of)
    started = time.monotonic()
    with quietly() as warnings:
        model, params, rows, lowered = _fitted(candidate, problem, np.arange(n))
    elapsed = time.monotonic() - started
    certificate, status = getattr(model, "certificate_", None), getattr(model, "status_", "")
    notes = [f"learns from {len(rows):,} of {n:,} rows"] if len(rows) < n else []
    notes += [candidate.note] if candidate.note else []
    notes += ["C lowered until the fit was certified"] if lowered else []
    return Entry(
        key=candidate.key,
        title=candidate.title,
        params=params,
        note="; ".join(notes),
        rows_used=len(rows),
        predictions=predictions,
        figures={
            "balanced_accuracy": balanced_accuracy(problem.codes, codes, problem.k),
            "auc": area_under_curve(problem.codes, predictions, problem.k),
            "log_loss": log_loss(problem.codes, predictions.probabilities),
        },
        seconds=elapsed,
        model=model,
        certificate=certificate_words(certificate, status) if candidate.key else "nothing to prove",
        claim=None if certificate is None else certificate.claim,
        status=str(status),
        certified=_certified(model),
        capped=len(rows) < n,
        warnings=warnings,
    )


def _fitted(candidate: Candidate, problem: Problem, train: Integers) -> tuple[Any, Params, Integers, int]:
    """The estimator fitted to the rows `train` or a sample; its parameters; the rows; and how often C was lowered.

    Where the C that was chosen leaves a fit uncertified, a smaller one, whose problem is easier, takes its place.
    """
    if candidate.most_rows is not None:
        train = train[sample_rows(problem.codes[train], candidate.most_rows, problem.seed)]
    X, y = (problem.X, problem.y) if len(train) == len(problem.codes) else (problem.X[train], problem.y[train])
    params = dict(candidate.fixed)
    if candidate.choose is not None:
        params.update(candidate.choose(X, y, problem.seed))
    lowered = 0
    try:
        model = candidate.build(params).fit(X, y)
        while candidate.choose is not None and not _certified(model) and lowered < LOWER:
            lowered += 1
            params["C"] /= 10
            model = candidate.build(params).fit(X, y)
    except SeparatrixError as error:
        raise LeftOutError(str(error)) from error
    return model, params, train, lowered


def _certified(model: Any) -> bool:
    certificate, status = getattr(model, "certificate_", None), str(getattr(model, "status_", ""))
    return certificate is not None and not status.startswith("Not certified")


def _still_time(problem: Problem, spent: float, fits_left: int) -> None:
    """Give up on a candidate early rather than when its time is over."""
    remaining = problem.deadline - time.monotonic()
    if spent * fits_left > remaining:
        raise LeftOutError(
            f"a fit takes {seconds(spent)}: the {count(fits_left, 'fit')} left would exceed its share of --time-limit"
        )


def _codes(labels: Array, classes: Array) -> Integers:
    return np.searchsorted(classes, labels).astype(np.intp)


def _scores(model: Any, X: Any, k: int) -> Floats | None:
    """Decision scores, (n,) of two classes and (n, k) of more; probabilities for want of them."""
    if hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(X), dtype=np.float64)
        if scores.ndim == 1 or scores.shape[1] == k:
            return scores
        return None  # one-vs-one: a score for each pair, not for each class
    if hasattr(model, "predict_proba"):
        chances = np.asarray(model.predict_proba(X), dtype=np.float64)
        return chances[:, 1] if k == 2 else chances
    return None


def _gathered(parts: Sequence[Floats | None], folds: Sequence[Fold]) -> Floats | None:
    """The folds' parts, back in the order of the rows."""
    if any(part is None for part in parts):
        return None
    whole = np.concatenate([part for part in parts if part is not None])
    order = np.concatenate([test for _, test in folds])
    gathered = np.empty_like(whole)
    gathered[order] = whole
    return gathered
