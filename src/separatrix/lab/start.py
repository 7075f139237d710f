"""What the page begins with: two columns of someone's data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from separatrix._typing import Floats
from separatrix.errors import DataError
from separatrix.lab.algorithms import ALGORITHMS
from separatrix.lab.files import lessons
from separatrix.lab.request import CLASSES, thinned

DRAWN = 5000  # points: more would hide each other, and a picture of them would take longer than a glance


def beginning(points: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """All that the page begins with: points, if there are any, the lessons, and the settings of each algorithm."""
    settings = {name: dict(algorithm.settings) for name, algorithm in ALGORITHMS.items()}
    return {**(points or {}), "lessons": lessons(), "settings": settings}


def two_columns(
    X: Any, names: list[str], numeric: list[str], y: Any, across: str | None, up: str | None
) -> dict[str, Any]:
    """The two columns named, or the first two of numbers, with the labels: see `start`."""
    rest = [name for name in numeric if name not in (across, up)]
    chosen = [name if name is not None else (rest.pop(0) if rest else None) for name in (across, up)]
    if chosen[0] is None or chosen[1] is None:
        raise DataError("The lab draws two columns of numbers; this table has fewer.")
    columns = [names.index(str(name)) for name in chosen]
    gaps = [j for j, name in enumerate(names) if name in [f"{one} is missing" for one in chosen]]
    pair = X[:, [*columns, *gaps]]
    pair = np.asarray(pair.toarray() if hasattr(pair, "toarray") else pair, dtype=np.float64)
    whole = ~pair[:, 2:].any(axis=1)  # an encoder has means in place of what is missing
    note = "" if whole.all() else f"Rows with gaps in these columns are left out: {np.count_nonzero(~whole):,}."
    return start(pair[whole, :2], np.asarray(y)[whole], [str(name) for name in chosen], note)


def start(X: Any, y: Any, names: list[str], note: str = "") -> dict[str, Any]:
    """Points, codes and names of their classes, and what is to be said of them; `DataError` for what is no such."""
    X, labels = real_numbers(X), np.asarray(y)
    labels = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
    if X.ndim != 2 or X.shape[1] != 2 or X.shape[:1] != labels.shape or len(names) != 2:
        raise DataError(
            f"The lab draws points of two columns, with a name for each column and a label for each point; X has the "
            f"shape {X.shape}, y {labels.shape}, and there are {len(names)} names."
        )
    if not np.isfinite(X).all():
        raise DataError("The lab draws finite numbers: X holds NaN or infinity.")
    gaps = [i for i, label in enumerate(labels.tolist()) if label is None or label != label]
    if gaps:
        raise DataError(f"Label {gaps[0]} is missing, and {len(gaps) - 1} more: leave out the points without one.")
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError:  # numbers and words have no common order
        classes, codes = np.unique(labels.astype(str), return_inverse=True)
    if len(classes) > CLASSES:
        raise DataError(f"The lab tells {CLASSES} classes apart by colour and shape; there are {len(classes)}.")
    if len(X) > DRAWN:
        kept = thinned(codes, DRAWN)
        note += f" Of {len(X):,} rows {len(kept):,} are drawn, evenly taken from each class."
        X, codes = X[kept], codes[kept]
    return {
        "note": note.strip(),
        "X": X.tolist(),
        "y": codes.tolist(),
        "names": names,
        "classes": [str(label) for label in classes],
    }


def real_numbers(X: Any) -> Floats:
    """X as an array of float64; `DataError` if it holds anything else."""
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    try:
        if X.dtype.kind == "c":
            raise TypeError
        return np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("The lab draws two columns of real numbers; X holds something else.") from None
