"""What the page asks for, read: points, labels and settings, or a sentence that says what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix._typing import Floats, Integers
from separatrix.errors import InvalidInputError

POINTS = 2000  # that are learned from: a fit is to answer while the finger still moves
TOO_MANY = 100_000  # points that are refused
LARGEST = 1e100  # coordinate: squares and sums of squares are floats too
CLASSES = 6  # as many as there are colours that can be told apart


@dataclass(frozen=True)
class Sample:
    """The points to learn from, with the place of each among the points drawn.

    Parameters
    ----------
    X : array of shape (n, 2)
    y : integer array of shape (n,)
        Codes of the classes, from 0.
    rows : integer array of shape (n,)
        Which of the points drawn they are.
    note : str
        A sentence if there are fewer than were drawn; else empty.
    """

    X: Floats
    y: Integers
    rows: Integers
    note: str

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return len(np.unique(self.y))


def read_sample(request: Mapping[str, Any], most: int = POINTS) -> Sample:
    """The points and labels of a request, `most` of them; `InvalidInputError` with a sentence for the page."""
    points, labels = request.get("X"), request.get("y")
    if not isinstance(points, list) or not isinstance(labels, list) or len(points) != len(labels):
        raise InvalidInputError("A request has X, a list of points, and y, as long a list of classes.")
    if len(points) > TOO_MANY:
        raise InvalidInputError(f"There are {len(points):,} points; the lab takes up to {TOO_MANY:,}.")
    if len(points) < 2:
        raise InvalidInputError("Draw at least two points, of two classes: one point can be split from nothing.")
    for i, point in enumerate(points):
        if not (isinstance(point, list) and len(point) == 2 and all(map(finite, point))):
            raise InvalidInputError(f"Point {i} is not two numbers below {LARGEST:g} in size.")
    if not all(type(label) is int and 0 <= label < CLASSES for label in labels):
        raise InvalidInputError(f"A class is a whole number from 0 to {CLASSES - 1}.")
    X, y = np.array(points, dtype=np.float64), np.array(labels, dtype=np.int64)
    if len(np.unique(y)) < 2:
        raise InvalidInputError(
            "All points are of one class: draw some of another, so that there is something to tell."
        )
    if (X[0] == X).all():
        raise InvalidInputError("All points are in the same place: no line can tell them apart. Drag some away.")
    rows, note = np.arange(len(y)), ""
    if len(y) > most:
        rows = thinned(y, most)
        note = (
            f"Learned from {len(rows):,} of the {len(y):,} points, evenly taken from each class: the lab answers at "
            "once for so many."
        )
    return Sample(np.ascontiguousarray(X[rows]), y[rows], rows, note)


def finite(value: Any) -> bool:
    """Whether JSON gave a number, and one that is not too large."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < LARGEST


def thinned(y: Integers, most: int) -> Integers:
    """`most` rows or a few more: of each class every k-th, and at least one."""
    kept = []
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        share = max(1, len(rows) * most // len(y))
        kept.append(rows[np.arange(share) * len(rows) // share])
    return np.sort(np.concatenate(kept))


def read_settings(request: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """The settings sent, with the defaults for the rest; what a value may be is for the classifier to say."""
    given = request.get("settings", {})
    if not isinstance(given, dict):
        raise InvalidInputError("The settings must be an object.")
    for name, value in given.items():
        if name not in known:
            raise InvalidInputError(f"There is no setting {name!r} here; there are: {', '.join(known)}.")
        if not alike(name, value, known[name]):
            raise InvalidInputError(f"The setting {name!r} must be of the kind of {known[name]!r}.")
    return {**known, **given}


def alike(name: str, value: Any, default: Any) -> bool:
    """Whether a value is of the kind of the default; a start may be three numbers, and no penalty or step is None."""
    if isinstance(default, bool):
        return isinstance(value, bool)
    if isinstance(default, str):
        three = isinstance(value, list) and len(value) == 3 and all(map(finite, value))
        return isinstance(value, str) or (name == "init" and three)
    return finite(value) or (value is None and name in ("C", "learning_rate"))
