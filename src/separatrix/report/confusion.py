"""What is taken for what: of the rows of each class, the share that each class is predicted for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from separatrix._typing import Integers

MOST = 20  # classes with a row of their own; of more, the others share one
SHADES = 5  # steps of shading
LISTED = 5  # commonest confusions in words
WIDE = 3  # classes whose names are written out above their columns
NAME = 22  # letters of a class above a narrow column; its row has the whole name


@dataclass(frozen=True)
class Cell:
    """How many rows of the class of its row were predicted as that of its column."""

    rows: int
    share: float
    right: bool

    @property
    def shade(self) -> int:
        """0 for none, then in equal steps up to `SHADES` for all."""
        return math.ceil(self.share * SHADES - 1e-9)

    @property
    def percent(self) -> str:
        """Whole percents, but neither "0" for some nor "100" for nearly all."""
        if self.rows and self.share < 0.005:
            return "<1"
        if self.share < 1 and self.share >= 0.995:
            return ">99"
        return f"{100 * self.share:.0f}"


@dataclass(frozen=True)
class Confusions:
    """The table: names of columns, rows of cells with name and number of rows, and the commonest confusions."""

    names: list[str]
    rows: list[tuple[str, int, list[Cell]]]
    listed: list[tuple[str, str, int, int]]  # true, predicted, rows, of how many
    others: int  # classes that share the last row and column

    @property
    def narrow(self) -> bool:
        """Whether names stand upright above their columns."""
        return len(self.names) > WIDE


def confusions(truth: Integers, predicted: Integers, classes: Sequence[str]) -> Confusions:
    """The table of all classes, or of those with the most mistakes and the others taken together."""
    k = len(classes)
    counts = np.bincount(truth * k + predicted, minlength=k * k).reshape(k, k)
    wrong = counts - np.diag(np.diag(counts))
    pairs = [divmod(int(cell), k) for cell in np.argsort(-wrong, axis=None, kind="stable")[:LISTED]]
    rows_of = counts.sum(axis=1)
    listed = [(classes[i], classes[j], int(wrong[i, j]), int(rows_of[i])) for i, j in pairs if wrong[i, j]]
    names = list(classes)
    others = 0
    if k > MOST:
        mistakes = wrong.sum(axis=0) + wrong.sum(axis=1)
        shown = np.sort(np.argsort(-mistakes, kind="stable")[: MOST - 1])
        group = np.full(k, MOST - 1)
        group[shown] = np.arange(MOST - 1)
        merged = np.zeros((MOST, MOST), dtype=counts.dtype)
        np.add.at(merged, (group[:, None], group[None, :]), counts)
        others = k - len(shown)
        counts, names = merged, [classes[i] for i in shown] + [f"{others} other classes"]
    rows = []
    for i, name in enumerate(names):
        total = int(counts[i].sum())
        cells = [Cell(int(count), int(count) / max(total, 1), i == j) for j, count in enumerate(counts[i])]
        rows.append((name, total, cells))
    above = [shortened(name) for name in names] if k > WIDE else names
    return Confusions(above, rows, listed if k > 2 else [], others)


def shortened(name: str, most: int = NAME) -> str:
    """At most so many letters."""
    return name if len(name) <= most else name[: most - 1].rstrip() + "…"
