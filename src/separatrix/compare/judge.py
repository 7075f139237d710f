"""One candidate: cross-validated, then fitted to all rows and certified."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix._typing import Array, Integers
from separatrix.compare.candidates import Candidate, Params
from separatrix.compare.folds import Fold, stratified
from separatrix.compare.held_out import Recipe, Said, joined, learn, listen
from separatrix.compare.limit import within
from separatrix.compare.metrics import METRICS, Predictions, figure
from separatrix.compare.quiet import quietly
from separatrix.compare.result import Entry
from separatrix.compare.tuning import FOLDS, sample_rows
from separatrix.compare.wording import certificate_words, count, seconds
from separatrix.errors import SeparatrixError
from separatrix.scoring.calibration import log_odds
from separatrix.scoring.decision import Decision, always, plug_in

SHARE = 0.5  # of the time that is left: what one candidate may take
LOWER = 2  # how often C is divided by 10 for the sake of a certificate


@dataclass(frozen=True)
class Problem:
    """The rows of a comparison: X, labels y as the user has them, and codes, their positions in the classes.

    Models of folds learn the codes, which say the same as the labels and are compared faster than words are.
    """

    X: Any
    y: Array
    codes: Integers
    classes: Array
    folds: Sequence[Fold]
    seed: int
    deadline: float
    metric: str = "balanced_accuracy"

    @property
    def k(self) -> int:
        """Number of classes."""
        return len(self.classes)


@dataclass(frozen=True)
class Fitted:
    """An estimator, its parameters, the rows it learned from, and how often C was lowered for a certificate."""

    model: Any
    params: Params
    rows: Integers
    lowered: int


class LeftOutError(Exception):
    """A candidate that does not finish; the message says why, and `had`, for want of time, what seconds a fit had."""

    def __init__(self, message: str, had: float | None = None) -> None:
        super().__init__(message)
        self.had = had


def judge(candidate: Candidate, problem: Problem, step: Callable[[str], None], share: float | None = SHARE) -> Entry:
    """The candidate's entry, if it is done within this share of the time that is left; None: in any time."""
    now = time.monotonic()
    deadline = np.inf if share is None else now + max(0.0, share * (problem.deadline - now))
    return _judged(candidate, replace(problem, deadline=deadline), step)


def seconds_a_fit(problem: Problem) -> float:
    """What each fit of a candidate would have if it had all the time that is left."""
    return max(0.0, (problem.deadline - time.monotonic()) / (1 + len(problem.folds)))


def _judged(candidate: Candidate, problem: Problem, step: Callable[[str], None]) -> Entry:
    """Cross-validate the candidate, fit it to all rows, and put both into words."""
    n = len(problem.codes)
    parts, codes, chances = [], np.zeros(n, dtype=np.intp), np.zeros((n, problem.k))
    offsets = np.zeros((n, problem.k))
    fold_of, chosen = np.zeros(n, dtype=np.intp), []
    for number, (train, test) in enumerate(problem.folds):
        step(f"fold {number + 1} of {len(problem.folds)}")
        with _in_time(problem, 1 + len(problem.folds) - number), quietly():
            fitted = _fitted(candidate, problem, train, problem.codes)
            said = listen(fitted.model, problem.X[test], problem.k, len(fitted.rows))
            recipe = _recipe(candidate, problem, fitted)
        parts.append(said)
        chosen.append(fitted.params.get("C"))
        chances[test] = recipe.probabilities(said)
        codes[test] = recipe.decision.codes(chances[test])
        offsets[test] = recipe.decision.log_offsets(problem.k)
        fold_of[test] = number
    whole = joined(parts, [test for _, test in problem.folds])
    scores = whole.scores if problem.k == 2 else log_odds(chances)
    predictions = Predictions(codes, scores, chances, fold_of, offsets)
    figures = {metric: figure(metric, problem.codes, predictions, problem.k) for metric in METRICS}
    step("all rows")
    started = time.monotonic()
    recipe = Recipe(None, Decision())
    with _in_time(problem, 1):
        with quietly() as warnings:
            fitted = _fitted(candidate, problem, np.arange(n), problem.y, fit=not candidate.reference)
        elapsed = time.monotonic() - started
        if candidate.inner_rows:
            with quietly():
                said = _with_its_parameters(candidate, problem, fitted.params, parts, chosen)
            recipe = learn(said, problem.codes, problem.k, problem.metric, candidate.level)
    certificate, status = getattr(fitted.model, "certificate_", None), getattr(fitted.model, "status_", None)
    return Entry(
        key=candidate.key,
        title=candidate.title,
        params=fitted.params,
        note="; ".join(_notes(candidate, fitted, chosen, n)),
        rows_used=len(fitted.rows),
        predictions=predictions,
        figures=figures,
        seconds=elapsed,
        model=fitted.model,
        certificate="nothing to prove" if status is None else certificate_words(certificate, status),
        claim=None if certificate is None else certificate.claim,
        status="" if status is None else str(status),
        certified=_certified(fitted.model),
        capped=len(fitted.rows) < n,
        warnings=warnings,
        calibration=recipe.calibration,
        decision=None if recipe.decision == Decision() else recipe.decision,
        reference=candidate.reference,
        sample=candidate.most_rows if len(fitted.rows) < n else None,
    )


def _with_its_parameters(
    candidate: Candidate, problem: Problem, params: Params, parts: Sequence[Said], chosen: Sequence[float | None]
) -> Said:
    """What models of the other folds say of each row, with the parameters of the model that is saved.

    Folds that had chosen another C are fitted again: its scores have another scale, on which a calibration learned
    from them would say nothing of the saved model's.
    """
    said = []
    for (train, test), part, C in zip(problem.folds, parts, chosen, strict=True):
        if params.get("C") == C:
            said.append(part)
            continue
        rows = train if candidate.most_rows is None else _sampled(candidate.most_rows, problem, train)
        try:
            model = candidate.build(params).fit(problem.X[rows], problem.codes[rows])
        except SeparatrixError as error:
            raise LeftOutError(str(error)) from error
        said.append(listen(model, problem.X[test], problem.k, len(rows)))
    return joined(said, [test for _, test in problem.folds])


def _sampled(most: int, problem: Problem, train: Integers) -> Integers:
    return train[sample_rows(problem.codes[train], most, problem.seed)]


def _notes(candidate: Candidate, fitted: Fitted, chosen: Sequence[float | None], n: int) -> list[str]:
    notes = [f"learns from {len(fitted.rows):,} of {n:,} rows"] if len(fitted.rows) < n else []
    notes += [candidate.note] if candidate.note else []
    if fitted.params.get("l1_ratio"):
        coef = np.asarray(fitted.model.coef_)
        notes.append(f"uses {np.count_nonzero(coef.any(axis=0)):,} of {count(coef.shape[1], 'feature')}")
    notes += ["C lowered until the fit was certified"] if fitted.lowered else []
    final = fitted.params.get("C")
    if any(final != C for C in chosen):
        words = ", ".join(f"{C:g}" for C in chosen if C is not None)
        notes.append(f"C in the folds, of which the figures are: {words}; in the fit to all rows: {final:g}")
    return notes


def _recipe(candidate: Candidate, problem: Problem, fitted: Fitted) -> Recipe:
    """How to read what the model says, from inner folds of the rows it learned from, or from their shares alone."""
    codes = problem.codes[fitted.rows]
    if not candidate.inner_rows:
        shares = np.bincount(codes, minlength=problem.k) / len(codes)
        # the baseline says the same in all folds: of two classes about as frequent, the folds may differ
        guess = always(int(np.bincount(problem.codes).argmax()), problem.k)
        return Recipe(None, plug_in(shares, problem.metric) if candidate.reference else guess)
    rows = fitted.rows[sample_rows(codes, candidate.inner_rows, problem.seed)]
    codes = problem.codes[rows]
    said, tests = [], []
    folds = stratified(codes, FOLDS, problem.seed)
    for train, test in folds[:1] if len(rows) > candidate.folded_rows else folds:
        mine, other = rows[train], rows[test]
        try:
            model = candidate.build(fitted.params).fit(problem.X[mine], problem.codes[mine])
        except SeparatrixError:
            continue  # such as a sample that is not separable, though all rows are: the other folds tell enough
        said.append(listen(model, problem.X[other], problem.k, len(mine)))
        tests.append(test)
    if not tests:
        raise LeftOutError("no part of its training rows could be fitted, so its probabilities cannot be calibrated")
    tested = codes[np.sort(np.concatenate(tests))]
    return learn(joined(said, tests), tested, problem.k, problem.metric, candidate.level)


def _fitted(candidate: Candidate, problem: Problem, train: Integers, labels: Array, fit: bool = True) -> Fitted:
    """The estimator fitted to the rows `train` or a sample of them, and their labels; merely built if not `fit`.

    Where the C that was chosen leaves a fit uncertified, a smaller one, whose problem is easier, takes its place.
    """
    if candidate.most_rows is not None:
        train = _sampled(candidate.most_rows, problem, train)
    params = dict(candidate.fixed)
    if not fit:
        return Fitted(candidate.build(params), params, train, 0)
    X, y = (problem.X, labels) if len(train) == len(labels) else (problem.X[train], labels[train])
    if candidate.choose is not None:
        params.update(candidate.choose(X, problem.codes[train], problem.seed))
    lowered = 0
    try:
        model = candidate.build(params).fit(X, y)
        while candidate.choose is not None and not _certified(model) and lowered < LOWER:
            lowered += 1
            params["C"] /= 10
            model = candidate.build(params).fit(X, y)
    except SeparatrixError as error:
        raise LeftOutError(str(error)) from error
    return Fitted(model, params, train, lowered)


def _certified(model: Any) -> bool:
    return getattr(model, "certificate_", None) is not None and bool(model.status_.certified)


@contextmanager
def _in_time(problem: Problem, fits: int) -> Iterator[None]:
    """One of so many fits, this one and those to come, stopped when it has taken its part of the time for all.

    A candidate that cannot be done in its share then costs a sixth of it and not the whole: the rest is for others.
    """
    started = time.monotonic()
    part = max(0.0, (problem.deadline - started) / fits)
    try:
        with within(part) if np.isfinite(part) else nullcontext():
            yield
        late = time.monotonic() - started > part  # where there are no alarms
    except TimeoutError:
        late = True
    if late:
        share = f"the {count(fits, 'fit')} left would exceed its share of --time-limit"
        raise LeftOutError(f"a fit takes more than {seconds(part)}: {share}", part)
