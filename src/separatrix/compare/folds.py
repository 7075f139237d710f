"""Which rows are held out together, also where a class is rare."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from sklearn.model_selection import StratifiedKFold

from separatrix._typing import Array, Integers
from separatrix.compare.quiet import quietly
from separatrix.compare.wording import count
from separatrix.errors import DataError

Fold = tuple[Integers, Integers]
KEPT_ROWS = 10_000  # up to which folds are kept: a few megabytes in all


def stratified(codes: Integers, folds: int, seed: int) -> list[Fold]:
    """(train, test) rows, the classes in proportion; the rows of a class with fewer than folds go as far as they go.

    Fewer folds only if fewer than two classes have that many rows, since a model needs two to learn from.
    """
    if len(codes) > KEPT_ROWS:
        return _split(codes, folds, seed)
    return list(_kept(np.asarray(codes, dtype=np.int64).tobytes(), folds, seed))


@lru_cache(maxsize=32)
def _kept(codes: bytes, folds: int, seed: int) -> tuple[Fold, ...]:
    """The same for labels that were split before: every classifier asks for the same inner folds."""
    found = _split(np.frombuffer(codes, dtype=np.int64), folds, seed)
    for rows in (rows for fold in found for rows in fold):
        rows.flags.writeable = False
    return tuple(found)


def _split(codes: Integers, folds: int, seed: int) -> list[Fold]:
    sizes = np.sort(np.bincount(codes))[::-1]
    folds = max(2, min(folds, int(sizes[1])))
    with quietly():  # scikit-learn warns of the rare classes, of which we speak ourselves
        return list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(np.zeros(len(codes)), codes))


def check_classes(classes: Array, counts: Integers) -> None:
    """That there are two classes to learn from, whichever row is held out."""
    if len(classes) < 2:
        raise DataError("The target has one value only: there is nothing to tell apart.")
    if (counts >= 2).sum() < 2:
        rare = str(classes[int(counts.argmin())])
        raise DataError(f"Class {rare!r} has one row only, which cannot be learned and held out: drop or merge it.")


def check_folds(classes: Array, codes: Integers, split: Sequence[Fold], asked: int) -> None:
    """That the training part of every fold has two classes of two rows: one to learn from, one to calibrate by."""
    if all(np.sort(np.bincount(codes[train]))[-2] >= 2 for train, _ in split):
        return
    counts = np.bincount(codes)
    second = int(np.argsort(-counts, kind="stable")[1])
    few = f"Class {str(classes[second])!r} has {count(int(counts[second]), 'row')}, and at most one class has more"
    advice = "add rows, merge classes, or ask for 3 --folds" if asked == 2 else "add rows or merge classes"
    raise DataError(
        f"{few}: too few to be learned, calibrated and held out in {len(split)} folds. Two classes need at least "
        f"{4 if asked == 2 else 3} rows: {advice}."
    )


def notes_on_classes(classes: Array, counts: Integers, asked: int, used: int) -> list[str]:
    """What became of classes with fewer rows than folds."""
    rare = [(str(label), int(rows)) for label, rows in zip(classes, counts, strict=True) if rows < asked]
    if not rare:
        return []
    names = ", ".join(f"{label!r} ({count(rows, 'row')})" for label, rows in rare[:5])
    more = f" and {len(rare) - 5} more" if len(rare) > 5 else ""
    if used < asked:
        return [f"There are {used} folds instead of {asked}, because only one class has more rows than that: {names}."]
    subject = "Class" if len(rare) == 1 else "Classes"
    return [
        f"{subject} {names}{more}: fewer rows than the {asked} folds, so the folds are made by the other classes. "
        "Such a class is learned from what is left of it, and its figures mean little: merge it with "
        "another, or leave it out."
    ]


def common_rows(y: Array, least: int) -> Integers:
    """The rows whose class has at least so many, in their order; all rows if fewer than two classes have."""
    _, place, rows = np.unique(y, return_inverse=True, return_counts=True)
    good = rows >= least
    return np.flatnonzero(good[place]) if good.sum() > 1 else np.arange(len(y))
