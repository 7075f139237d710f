"""Rosenblatt's rule in leaps: score all points that are left at once, and update at the first mistake among them.

The same updates as one point after the other, by a few NumPy calls for each mistake instead of some Python for each
point: for a small table of dense rows and few mistakes, before a compiler would pay.
"""

from __future__ import annotations

import numpy as np

from separatrix._typing import Array, Floats, Integers

LEAP = 75.0  # entries that Python reads in the time of the calls for a mistake
PRODUCTS = 80.0  # entries of the table, half of which is left on average, for one that Python reads
LARGEST = 1e300  # below this no sum of products overflows
TINY = 5e-324  # the smallest number above 0


def cost(entries: int, mistakes: int) -> float:
    """What a pass costs, in entries that Python reads."""
    return (mistakes + 1) * (LEAP + entries / PRODUCTS)


class Leaps:
    """The points z_i = sign(step_i) (x_i, one), for which z_i.w > 0 is right; and the changes step_i (x_i, one).

    Parameters
    ----------
    x : array of shape (n, d)
        The rows.
    one : float
        1 with an intercept, else 0.
    step : array of shape (n,)
        c_i y_i.
    offset : array of shape (n,) or None
        What is added to the scores of w.
    tie : float
        A score of 0 is a mistake for steps below it.
    """

    def __init__(self, x: Array, one: float, step: Floats, offset: Floats | None, tie: float) -> None:
        points = np.column_stack([x, np.full(len(x), one)]).astype(np.float64, copy=False)
        self.step, self.offset, self.tie = step, offset, tie
        self.added = None if offset is None else np.sign(step) * offset
        changes = step[:, None] * points
        self.changes = list(changes)
        self.columns = np.ascontiguousarray((np.sign(step)[:, None] * points).T)
        self.limit = np.where(step < tie, TINY, 0.0)
        with np.errstate(all="ignore"):
            self.reach = float(len(x) * np.abs(changes).max())  # how far a pass can move a weight
            self.size = float(np.abs(points).max() * len(self.columns))
            self.most_added = 0.0 if offset is None else float(np.abs(offset).max())

    def finite(self, w: Floats) -> bool:
        """Whether no score of the next pass can overflow."""
        with np.errstate(over="ignore"):
            largest = 1.0 + float(np.dot(w, w))  # no weight is larger
        return (largest + self.reach) * self.size + self.most_added < LARGEST  # False for NaN

    def run(self, order: Integers | None, start: int, w: Floats, alpha: Integers) -> int:
        """Apply the rule to the points order[start:], in place; return the number of updates."""
        columns, limit = (self.columns, self.limit) if order is None else (self.columns[:, order], self.limit[order])
        added = None if self.added is None else (self.added if order is None else self.added[order])
        t, updates = start, 0
        while t < len(limit):
            scores = np.dot(w, columns[:, t:])
            if added is not None:
                scores += added[t:]
            wrong = scores < limit[t:]
            first = int(wrong.argmax())
            if not wrong[first]:
                break
            i = t + first if order is None else order[t + first]
            w += self.changes[i]
            alpha[i] += 1
            updates += 1
            t += first + 1
        return updates
