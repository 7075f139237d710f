"""Which rows are held out together, also where a class is rare."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import StratifiedKFold

from separatrix._typing import Array, Integers
from separatrix.compare.quiet import quietly
from separatrix.compare.wording import count
from separatrix.errors import DataError

Fold = tuple[Integers, Integers]


def stratified(codes: Integers, folds: int, seed: int) -> list[Fold]:
    """(train, test) rows, the classes in proportion; the rows of a class with fewer than folds go as far as they go.

    Fewer folds only if fewer than two classes have that many rows, since a model needs two to learn from.
    """
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
