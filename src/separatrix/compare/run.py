"""compare: a table in, a ranked and certified answer out."""

from __future__ import annotations

import os
import platform
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from importlib import metadata
from typing import Any

import numpy as np

import separatrix
from separatrix._typing import Array, Integers
from separatrix.compare import explain
from separatrix.compare.beside import shared
from separatrix.compare.candidates import Candidate, Left, facts_of, first_candidates, later_candidates
from separatrix.compare.commands import fit_command
from separatrix.compare.encoding import in_units
from separatrix.compare.folds import check_classes, check_folds, notes_on_classes, stratified
from separatrix.compare.judge import SHARE, LeftOutError, Problem, judge, seconds_a_fit
from separatrix.compare.leaks import possible_leaks
from separatrix.compare.limit import within
from separatrix.compare.proving import SMALL, Proof, Search, late_proof, prove, searching, too_much
from separatrix.compare.ranking import choose_best, line_of, ranked
from separatrix.compare.result import Entry, Run
from separatrix.compare.tuning import sample_rows
from separatrix.compare.verdict import linearity_words, verdict_words
from separatrix.data import Column, Encoder, Table
from separatrix.errors import DataError
from separatrix.loops.threads import count as threads

MOST_COLUMNS = 1000  # listed: a table of words has many, all alike
JUDGING = 0.85  # of the time limit: the rest is for what comes after the last classifier
UNLIMITED = 2  # classifiers, the first and cheapest, that are compared whatever the limit: there is always a result
WAITING = 0.4  # of the time that is left, for the verdict on separability
SHARED = 200_000  # entries, rows times columns, up to which two processes are faster than two threads


@dataclass(frozen=True)
class Event:
    """Something to tell a waiting user: what is under way, how much of the whole is done, and which part of it runs."""

    what: str
    done: int
    of: int
    part: str = ""

    def __str__(self) -> str:
        return f"{self.what}: {self.part}" if self.part else self.what


def compare(
    table: Table,
    *,
    folds: int = 5,
    seed: int = 0,
    time_limit: float = 300.0,
    metric: str = "balanced_accuracy",
    save: str | None = None,
    data: Sequence[str] = (),
    tell: Callable[[Event], None] = lambda event: None,
    fork: bool = False,
) -> Run:
    """Cross-validate, certify and rank every suitable classifier, and say whether the classes are separable.

    Parameters
    ----------
    table : Table
        As `separatrix.data.read_table` gives it.
    folds : int, default=5
        Stratified folds.
    seed : int, default=0
        Of the folds, samples and draws.
    time_limit : float, default=300.0
        Seconds: candidates that cannot be finished in it are left out, and listed.
    metric : str, default="balanced_accuracy"
        One of `metrics.METRICS`: what the ranking, the choice and the cuts go by.
    save : str, optional
        The number or name of the line to save, in place of the best.
    data : sequence of str, default=()
        The words that name the table on the command line, for the commands that fit a line again.
    tell : callable, optional
        Called with an `Event` before each step.
    fork : bool, default=False
        Share the classifiers of a small table with a fork of this process, where the system has forks and two cores.

    Returns
    -------
    Run
    """
    started = time.monotonic()
    # A penalty on ‖w‖² and a kernel of distances depend on units: without scales, whether a length is in metres or in
    # millimetres would decide the ranking.
    encoder = Encoder.fit(table, scale=True)
    scales = np.asarray(encoder.scales, dtype=np.float64)
    X, names = encoder.transform(table)
    y = np.asarray(table.y)
    classes, codes = np.unique(y, return_inverse=True)
    counts = np.bincount(codes)
    if folds < 2:
        raise DataError("Cross-validation needs at least 2 folds.")
    check_classes(classes, counts)
    if X.shape[1] == 0:
        raise DataError("No column is left to learn from: all are constant or unusable.")
    split = stratified(codes, folds, seed)
    check_folds(classes, codes, split, folds)
    notes = notes_on_classes(classes, counts, folds, len(split))
    problem = Problem(X, y, codes, classes, split, seed, started + JUDGING * time_limit, metric)
    leaks = possible_leaks(table, X, encoder, codes, seed)
    facts = facts_of(X, codes, "undecided")
    cheap = first_candidates(facts, seed)
    total = len(cheap) + len(later_candidates(facts, seed)[0])
    share = fork and hasattr(os, "fork") and threads() > 1 and X.shape[0] * X.shape[1] <= SHARED
    with encoder.naming(), _search(table, X, codes, scales) as search:
        found = _judged(cheap, problem, tell, 0, total, share)
        tell(Event("separability", len(cheap), total))
        proof = _proof(search, problem)
    slow, unsuited = later_candidates(replace(facts, verdict=proof.verdict), seed)
    found += _judged(slow, problem, tell, len(cheap), len(cheap) + len(slow), share)
    found = _again([*cheap, *slow], found, problem, tell)
    entries = [one for one in found if isinstance(one, Entry)]
    late = [one for one in found if isinstance(one, Left)]
    left = [replace(item, why=encoder.named(item.why)) for item in (*unsuited, *late)]
    if not any(entry.key for entry in entries):
        raise DataError(f"No classifier could be compared. {left[-1].title}: {left[-1].why}")
    tell(Event("ranking", total, total))
    entries = ranked(entries, codes, len(classes), metric)
    for entry in entries:
        entry.command = fit_command(entry, data, seed, folds)
        entry.warnings = [encoder.named(warning) for warning in entry.warnings]
    best, why = choose_best(entries, codes, len(classes), metric)
    wanted = None if save is None else line_of(entries, save)
    if wanted is not None and wanted is not best:
        best, why = wanted, f"asked for by --save; the comparison would save {best.title}"
    labels = [str(label) for label in classes]
    linear = next((entry for entry in [best, *entries] if entry.key and explain.has_class_weights(entry.model)), None)
    coefficients, why_none = (
        ([], None) if linear is None else explain.top_coefficients(linear.model, X, names, labels, scales)
    )
    if why_none is not None and linear is not None and hasattr(linear.model, "conf_int"):
        why_none = _why_none(proof.verdict)
    margins, score_is = explain.margins_of(codes, best.predictions)
    verification = best.model.certificate_.verify(*_rows_of(best, problem)) if best.model.certificate_ else None
    return Run(
        source=str(table.source),
        target=str(table.target),
        n_rows=int(X.shape[0]),
        n_columns=len(table.columns),
        notes=[*table.notes, *encoder.notes, *notes],
        kinds=Counter(column.kind for column in table.columns),
        columns=[_column(column) for column in table.columns[:MOST_COLUMNS]],
        classes=labels,
        counts=counts.tolist(),
        features=list(names),
        fingerprint=table.fingerprint,
        seed=seed,
        folds=len(split),
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
        seconds=time.monotonic() - started,
        truth=codes,
        encoder=encoder,
        X=X,
        y=y,
        metric=metric,
        verdict_words=verdict_words(entries, best, codes, labels, metric, leaks, left),
        linearity=linearity_words(entries, codes, len(classes), metric),
        leaks=leaks,
    )


def _judged(
    chosen: Sequence[Candidate], problem: Problem, tell: Callable[[Event], None], done: int, of: int, share: bool
) -> list[Entry | Left]:
    """Each of them, or why it is left out."""
    here = os.getpid()

    def job(place: int) -> Entry | Left:
        candidate, number = chosen[place], done + place

        def step(part: str) -> None:
            if os.getpid() == here:
                tell(Event(candidate.title, number, of, part))

        if number < UNLIMITED:
            return _one(candidate, problem, step, None)
        if time.monotonic() > problem.deadline:
            return Left(candidate.title, "--time-limit was reached", 0.0)
        return _one(candidate, problem, step, SHARE)

    return shared(job, len(chosen)) if share else [job(place) for place in range(len(chosen))]


def _again(
    chosen: Sequence[Candidate], found: Sequence[Entry | Left], problem: Problem, tell: Callable[[Event], None]
) -> list[Entry | Left]:
    """What was late has another turn, with all the time that is left, where a fit then has more than it had.

    Of 20,000 rows in 26 classes, the rbf machine is left out of its share of 5 minutes, which end after 3 without it.
    """
    again, of = list(found), len(found)
    for place in sorted(range(of), key=lambda place: chosen[place].reference):
        one, candidate = found[place], chosen[place]
        if isinstance(one, Left) and one.had is not None and one.had < seconds_a_fit(problem):
            again[place] = _one(candidate, problem, partial(_told, tell, candidate.title, of), 1.0)
    return again


def _told(tell: Callable[[Event], None], title: str, of: int, part: str) -> None:
    tell(Event(title, of, of, part))


def _one(candidate: Candidate, problem: Problem, step: Callable[[str], None], share: float | None) -> Entry | Left:
    """The candidate judged within a share of the time that is left, or why it is left out."""
    try:
        return judge(candidate, problem, step, share)
    except LeftOutError as reason:
        return Left(candidate.title, str(reason), reason.had)
    except Exception as error:  # one classifier, or the memory it asks for, must not cost the others
        if not candidate.key and not candidate.reference:
            raise
        return Left(candidate.title, f"it failed ({type(error).__name__}: {error})")


def _search(table: Table, X: Any, codes: Integers, scales: Any) -> Any:
    """A search for a separating hyperplane under way, or what to do later: a function, for tables where it is quick."""
    why = too_much(X, codes)
    if why is not None:
        return nullcontext(lambda: Proof("undecided", why, False, []))
    rows = in_units(table, X, scales)
    return nullcontext(lambda: prove(rows, codes)) if X.shape[0] * X.shape[1] <= SMALL else searching(rows, codes)


def _proof(search: Search | Callable[[], Proof], problem: Problem) -> Proof:
    seconds = max(0.0, WAITING * (problem.deadline - time.monotonic()))
    if isinstance(search, Search):
        return search.result(seconds)
    try:
        with within(seconds):
            return search()
    except TimeoutError:
        return late_proof(seconds)


def _rows_of(entry: Entry, problem: Problem) -> tuple[Any, Array]:
    """The rows that the model of an entry learned from."""
    if entry.sample is None:
        return problem.X, problem.y
    rows = sample_rows(problem.codes, entry.sample, problem.seed)
    return problem.X[rows], problem.y[rows]


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


def versions() -> dict[str, str]:
    """Of everything that the figures may depend on."""
    names = ("numpy", "scipy", "scikit-learn", "polars")
    found = {"separatrix": separatrix.__version__, "python": platform.python_version(), "platform": platform.platform()}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "absent"
    return found
