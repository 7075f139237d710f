"""compare: a table in, a ranked and certified answer out."""

from __future__ import annotations

import platform
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

import separatrix
from separatrix._typing import Array, Integers
from separatrix.compare import explain
from separatrix.compare.candidates import Left, candidates, facts_of
from separatrix.compare.encoding import fit_encoder, scales_of
from separatrix.compare.judge import LeftOutError, Problem, judge
from separatrix.compare.metrics import paired_difference
from separatrix.compare.proving import prove_within
from separatrix.compare.result import Entry, Run
from separatrix.compare.wording import count
from separatrix.data import Column, Table
from separatrix.errors import DataError

PROVING = 30.0  # seconds for the verdict on separability at most
MOST_COLUMNS = 1000  # listed: a table of words has many, all alike


@dataclass(frozen=True)
class Event:
    """Something to tell a waiting user: what is under way, and how much of the whole is done."""

    what: str
    done: int
    of: int


def compare(
    table: Table,
    *,
    folds: int = 5,
    seed: int = 0,
    time_limit: float = 300.0,
    tell: Callable[[Event], None] = lambda event: None,
) -> Run:
    """Say whether the classes are separable, then cross-validate, certify and rank every suitable classifier.

    Parameters
    ----------
    table : Table
        As `separatrix.data.read_table` gives it.
    folds : int, default=5
        Stratified folds; fewer if a class has fewer rows.
    seed : int, default=0
        Of the folds, samples and draws.
    time_limit : float, default=300.0
        Seconds: candidates that cannot be finished in it are left out, and listed.
    tell : callable, optional
        Called with an `Event` before each step.

    Returns
    -------
    Run
    """
    started = time.monotonic()
    encoder = fit_encoder(table)
    scales = scales_of(encoder)
    X, names = encoder.transform(table)
    y = np.asarray(table.y)
    classes, codes = np.unique(y, return_inverse=True)
    counts = np.bincount(codes)
    _check(classes, counts, X, folds)
    folds = min(folds, int(counts.min()))
    tell(Event("separability", 0, 1))
    proof = prove_within(X, codes, min(PROVING, time_limit / 3))
    chosen, left = candidates(facts_of(X, codes, proof.verdict), seed)
    split = list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(np.zeros(len(y)), codes))
    problem = Problem(X, y, codes, classes, split, seed, started + time_limit)
    entries: list[Entry] = []
    for number, candidate in enumerate(chosen):

        def step(what: str, title: str = candidate.title, number: int = number) -> None:
            tell(Event(f"{title}: {what}", number, len(chosen)))

        if candidate.key and time.monotonic() > problem.deadline:
            left.append(Left(candidate.title, "--time-limit was reached"))
            continue
        try:
            entries.append(judge(candidate, problem, step))
        except LeftOutError as reason:
            left.append(Left(candidate.title, str(reason)))
    if all(entry.baseline for entry in entries):
        raise DataError(f"No classifier could be compared. {left[-1].title}: {left[-1].why}")
    tell(Event("ranking", len(chosen), len(chosen)))
    entries = ranked(entries, codes, len(classes))
    best, why = choose_best(entries, codes, len(classes))
    labels = [str(label) for label in classes]
    linear = next((entry for entry in [best, *entries] if explain.has_class_weights(entry.model)), None)
    coefficients, why_none = (
        ([], None) if linear is None else explain.top_coefficients(linear.model, X, names, labels, scales)
    )
    if why_none is not None and linear is not None and hasattr(linear.model, "conf_int"):
        why_none = _why_none(proof.verdict)
    margins, score_is = explain.margins_of(codes, best.predictions)
    verification = best.model.certificate_.verify(X, y) if best.model.certificate_ is not None else None
    return Run(
        source=str(table.source),
        target=str(table.target),
        n_rows=int(X.shape[0]),
        n_columns=len(table.columns),
        notes=[*table.notes, *encoder.notes],
        kinds=Counter(column.kind for column in table.columns),
        columns=[_column(column) for column in table.columns[:MOST_COLUMNS]],
        classes=labels,
        counts=counts.tolist(),
        features=list(names),
        fingerprint=table.fingerprint,
        seed=seed,
        folds=folds,
        time_limit=time_limit,
        versions=versions(),
        verdict=proof.verdict,
        verdict_claim=proof.claim,
        verdict_exact=proof.exact,
        verdict_checks=proof.checks,
        entries=entries,
        left=left,
        best=best,
        why_best=why,
        coefficients=coefficients,
        coefficients_of="" if linear is None else linear.title,
        why_no_intervals=why_none,
        hard_rows=explain.hardest_rows(best, margins, codes, table.row_numbers, X, names, labels, scales),
        score_is=score_is,
        scaled=bool((scales != 1).any()),
        verification=[] if verification is None else [str(check) for check in verification.checks],
        verified=bool(verification),
        trace=explain.traced(best.model, X, y),
        seconds=time.monotonic() - started,
        truth=codes,
        encoder=encoder,
        margins=margins,
        X=X,
        y=y,
    )


def _check(classes: Array, counts: Integers, X: Any, folds: int) -> None:
    if folds < 2:
        raise DataError("Cross-validation needs at least 2 folds.")
    if len(classes) < 2:
        raise DataError("The target has one value only: there is nothing to tell apart.")
    if counts.min() < 2:
        rare = str(classes[int(counts.argmin())])
        raise DataError(f"Class {rare!r} has one row only, which cannot be learned and held out: drop or merge it.")
    if X.shape[1] == 0:
        raise DataError("No column is left to learn from: all are constant or unusable.")


def _why_none(verdict: str) -> str:
    """Why a penalised logistic regression has no intervals, and what has."""
    words = "A penalised estimate is biased, so its curvature is not its uncertainty."
    if verdict == "overlapping":
        return f"{words} Maximum likelihood has intervals: separatrix fit --model logistic --C inf."
    if verdict == "undecided":
        return words
    return f"{words} Maximum likelihood would have intervals, but no finite answer: the classes are {verdict}."


def _column(column: Column) -> dict[str, Any]:
    return {
        "column": column.name,
        "type": column.kind,
        "missing": column.n_missing,
        "unique": column.n_unique,
        "example": column.example,
        "note": column.note,
    }


def ranked(entries: Sequence[Entry], truth: Integers, k: int) -> list[Entry]:
    """By balanced accuracy, then log-loss, then area under the curve; each entry with its distance to the first."""

    def order(entry: Entry) -> tuple[float, float, float]:
        loss = np.inf if entry.log_loss is None else entry.log_loss.value
        return -entry.balanced_accuracy.value, loss, 0.0 if entry.auc is None else -entry.auc.value

    found = sorted(entries, key=order)
    first = found[0]
    for entry in found[1:]:
        entry.behind = paired_difference(truth, first.predictions.codes, entry.predictions.codes, k)
        entry.tie = entry.behind.tie
    first.tie = any(entry.tie for entry in found[1:])
    return found


def choose_best(entries: Sequence[Entry], truth: Integers, k: int) -> tuple[Entry, str]:
    """Of the classifiers that saw all rows and lie within a standard error of the best, the one with the best log-loss.

    The error is of the paired difference in balanced accuracy: so close, a classifier is as good, and probabilities
    decide. Certified ones come first; if none is so close, the best of those whose 95% interval reaches the first.
    """
    able = [entry for entry in entries if not entry.baseline and not entry.capped]
    able = able or [entry for entry in entries if not entry.baseline]
    first = able[0]
    behind = [paired_difference(truth, first.predictions.codes, entry.predictions.codes, k) for entry in able]
    near = [entry for entry, difference in zip(able, behind, strict=True) if difference.near]
    tied = [entry for entry, difference in zip(able, behind, strict=True) if difference.tie and entry.certified]
    near = [entry for entry in near if entry.certified] or tied[:1] or near
    likely = [entry for entry in near if entry.log_loss is not None]
    best = min(likely, key=lambda entry: entry.log_loss.value) if likely else near[0]  # type: ignore[union-attr]
    words = "the highest balanced accuracy" if best is first else f"tied with {first.title}"
    if best is first and entries[0].capped and not first.capped:
        words += " of those that learned from all rows"
    if len(near) > 1 and likely:
        words += f"; of the {count(len(near), 'classifier')} within a standard error, the best log-loss"
    return best, words


def versions() -> dict[str, str]:
    """Of everything that the figures may depend on."""
    names = ("numpy", "scipy", "scikit-learn", "numba", "polars")
    found = {"separatrix": separatrix.__version__, "python": platform.python_version(), "platform": platform.platform()}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "absent"
    return found
