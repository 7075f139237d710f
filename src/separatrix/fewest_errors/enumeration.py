"""The fewest errors by trying every hyperplane through p - 1 of the rows, for p = d + 1 up to 6 or so.

Any split of the points by a hyperplane is, but for points on it, that of one through p - 1 independent rows (x, 1); and
those on it can be split further by turning it a little, in any way that a hyperplane of their own span can. So
errors(points) = min over these hyperplanes of the errors off it + errors(points on it), a smaller problem. In general
position only the p - 1 rows themselves are on it, and these can be split in every way: no error among them.

Float signs are used where they exceed their rounding error, whole numbers elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice
from math import comb, factorial

import numpy as np

from separatrix._typing import Array, Floats
from separatrix.certificates._data import EPS
from separatrix.fewest_errors.budget import SETTLED, SIGNS, Budget
from separatrix.separation.integers import echelon

LARGEST = 6  # rows (x, 1) longer than this are not enumerated
BATCH = 1 << 22  # signs computed at a time


def work(m: int, p: int) -> float:
    """How many signs are to be computed."""
    return float(comb(m, p - 1)) * signs(m, p)


def signs(m: int, p: int) -> float:
    """How many of them for one hyperplane, the products of its normal counting as some."""
    return m + p * 2.0**p / 4


class Enumeration:
    """Errors of the points with whole-number rows P (m, p), an object array, signs y and weights.

    Parameters
    ----------
    P, y, weight : arrays
    best : float
        Errors already known to be possible: only fewer are looked for.
    budget : Budget
    zero : bool
        Whether v = 0, which predicts + everywhere, is allowed: it is where the rows end in a 1 (b alone does it), for
        the points on a hyperplane, and where all rows are on one, as they are if their columns are dependent.
    """

    def __init__(self, P: Array, y: Floats, weight: Floats, best: float, budget: Budget, zero: bool) -> None:
        columns = P.shape[1]
        P = independent_columns(P)
        self.zero = zero or P.shape[1] < columns or not P.any()
        self.P, self.y, self.weight = P, y, weight
        self.plus, self.minus = np.where(y > 0, weight, 0.0), np.where(y < 0, weight, 0.0)
        self.best, self.budget = best, budget
        self.predicted: Floats | None = None  # ±1, of the best split found
        self.complete = True
        self._seen: set[bytes] = set()
        self.p = P.shape[1]

    def run(self) -> Enumeration:
        """Try everything."""
        if self.zero:
            self._offer(float(self.minus.sum()), np.ones(len(self.y)))
        if self.p == 1:
            for turn in (1, -1):
                side = np.array([1.0 if turn * row[0] >= 0 else -1.0 for row in self.P])
                self._offer(float(self.weight[side != self.y].sum()), side)
            return self
        F, exact = self._floats()
        rows = combinations(range(len(self.y)), self.p - 1)
        size = max(1, BATCH // (len(self.y) + 2**self.p))
        for batch in _batches(rows, size):
            if self.best <= 0:
                return self
            if not self.budget.left:
                self.complete = False
                return self
            self.budget.spend(len(batch) * signs(len(self.y), self.p) / SIGNS)
            self._try(batch, F, exact)
        return self

    def _offer(self, errors: float, predicted: Floats) -> None:
        if errors < self.best:
            self.best, self.predicted = errors, predicted

    def _floats(self) -> tuple[Floats, bool]:
        """The rows as floats, columns of size 1 or so; whether products of them are free of rounding."""
        largest = [max(1, max(abs(entry) for entry in column)) for column in self.P.T]
        if max(largest) ** self.p * factorial(self.p) < 2**53:
            return self.P.astype(np.float64), True
        shifts = [entry.bit_length() for entry in largest]
        F = np.array([[entry / (1 << s) for entry, s in zip(row, shifts, strict=True)] for row in self.P])
        return F, False

    def _try(self, batch: Array, F: Floats, exact: bool) -> None:
        normal, size = normals(F[batch])
        score = normal @ F.T
        error = 0.0 if exact else 32 * EPS * (size @ np.abs(F).T)
        above, below = score > error, score < -error
        left = len(self.y) - above.sum(axis=1) - below.sum(axis=1)
        wrong = np.stack([above @ self.minus + below @ self.plus, above @ self.plus + below @ self.minus])
        some = (left < len(self.y)) | (not exact)  # rows that are dependent have no normal
        general = some & (left == self.p - 1)
        for turn, sign in enumerate((1.0, -1.0)):
            at = np.where(general, wrong[turn], np.inf)
            b = int(np.argmin(at))
            if at[b] < self.best:
                predicted = sign * np.where(above[b], 1.0, -1.0)
                predicted[batch[b]] = self.y[batch[b]]
                self._offer(float(at[b]), predicted)
        for turn, sign in enumerate((1.0, -1.0)):
            for at_b in np.flatnonzero(some & ~general & (wrong[turn] < self.best)):
                if not self.budget.left:
                    self.complete = False
                    return
                if wrong[turn, at_b] < self.best:
                    self._resolve(batch[at_b], sign * (above[at_b] * 1.0 - below[at_b]), sign)

    def _resolve(self, rows: Array, side: Floats, sign: float) -> None:
        """One hyperplane in whole numbers where floats left `side` at 0, and the problem of the points on it."""
        if side.tobytes() in self._seen:  # the points at 0 are all on one that was tried, and span no other
            return
        self.budget.spend(1 / SETTLED)
        v = whole_normal(self.P[rows])
        if not any(v):
            return
        for i in np.flatnonzero(side == 0):
            score = sum(a * b for a, b in zip(self.P[i], v, strict=True) if a)
            side[i] = sign * ((score > 0) - (score < 0))
        key = side.tobytes()  # many sets of rows give the same hyperplane
        off = float(self.weight[(side != 0) & (side != self.y)].sum())
        if off >= self.best or key in self._seen:
            return
        self._seen.add(key)
        on = np.flatnonzero(side == 0)
        drop = next(j for j, entry in enumerate(v) if entry)
        flat = np.delete(self.P[on], drop, axis=1)
        inner = Enumeration(flat, self.y[on], self.weight[on], self.best - off, self.budget, True).run()
        self.complete &= inner.complete
        if inner.predicted is not None:
            side[on] = inner.predicted
            self._offer(off + inner.best, side)


def _batches(rows: Iterator[tuple[int, ...]], size: int) -> Iterator[Array]:
    while batch := list(islice(rows, size)):
        yield np.array(batch)


def independent_columns(P: Array) -> Array:
    """Columns on which all others depend: a linear function of the rows needs no more."""
    _, pivots = echelon(P)
    return P[:, pivots] if len(pivots) < P.shape[1] else P


def normals(rows: Floats) -> tuple[Floats, Floats]:
    """Vectors orthogonal to p - 1 rows (B, p - 1, p) by signed minors, and the same with absolute values added up.

    The minors of the first r rows, one for each set of r columns, give those of r + 1 by expansion along the last row:
    p 2^p products in all.
    """
    p = rows.shape[2]
    minors = {frozenset((j,)): (rows[:, 0, j], np.abs(rows[:, 0, j])) for j in range(p)}
    for r in range(1, p - 1):
        larger = {}
        for columns in combinations(range(p), r + 1):
            value, size = np.zeros(len(rows)), np.zeros(len(rows))
            for place, j in enumerate(columns):
                smaller, smaller_size = minors[frozenset(columns) - {j}]
                value += (-1) ** (r + place) * rows[:, r, j] * smaller
                size += np.abs(rows[:, r, j]) * smaller_size
            larger[frozenset(columns)] = value, size
        minors = larger
    every = frozenset(range(p))
    value = np.column_stack([(-1) ** j * minors[every - {j}][0] for j in range(p)])
    return value, np.column_stack([minors[every - {j}][1] for j in range(p)])


def whole_normal(rows: Array) -> Array:
    """The same in whole numbers, for one set of rows (p - 1, p)."""
    p = rows.shape[1]
    return np.array([(-1) ** j * _whole_det(np.delete(rows, j, axis=1)) for j in range(p)], dtype=object)


def _whole_det(A: Array) -> int:
    if A.shape[0] == 1:
        return int(A[0, 0])
    return sum((-1) ** j * int(A[0, j]) * _whole_det(np.delete(A[1:], j, axis=1)) for j in range(A.shape[0]) if A[0, j])
