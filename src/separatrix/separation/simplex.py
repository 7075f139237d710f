"""min s.1 subject to sum_i lambda_i a_i + s = (0, ..., 0, 1), lambda, s >= 0: the simplex method in whole numbers.

Column a_i = (z_i, g_i) with g_i > 0 the size of z_i. At the optimum either s = 0, and sum lambda_i z_i = 0 with
lambda >= 0 not all 0; or the multipliers u prove that impossible: z_i.v >= g_i t > 0 for v = -u_z and t = u_g.

The inverse of the basis is held as whole numbers over one determinant, and a pivot divides without remainder
(Edmonds, Bareiss). The lexicographic rule breaks ties, so no basis returns and the method ends.

Free columns (z_j, 0), whose weights may have either sign, ask the same modulo their span: either sum lambda_i z_i is
in the span, or v is orthogonal to it. They enter first and never leave.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix._typing import Array, Floats
from separatrix.certificates._data import EPS, TINY
from separatrix.separation.work import Work

IntVector = Array  # an object array of Python integers
FREE = "free"


@dataclass(frozen=True)
class Decision:
    """Either `direction` v with z_i.v > 0 for all i, or positive weights over `support` with sum lambda z = 0."""

    direction: IntVector | None
    support: tuple[Any, ...] = ()
    weights: tuple[int, ...] = ()


class Basis:
    """D B^-1 in whole numbers, D = det B > 0, for the basis B; starts with the unit columns of s."""

    def __init__(self, order: int) -> None:
        self.inverse = np.zeros((order, order), dtype=object)
        self.inverse[np.arange(order), np.arange(order)] = 1
        self.determinant = 1
        self.members: list[Any] = [None] * order  # None stands for an entry of s, FREE for a free column

    @property
    def values(self) -> IntVector:
        """D times the basic variables."""
        return self.inverse[:, -1]

    @property
    def multipliers(self) -> IntVector:
        """D times u: the sum of the rows of B^-1 that belong to s."""
        at = [r for r, member in enumerate(self.members) if member is None]
        return self.inverse[at].sum(axis=0) if at else np.zeros(len(self.members), dtype=object)

    def enter(self, column: IntVector, name: Any) -> None:
        """Bring in a column; the row that leaves is the lexicographically smallest ratio."""
        step = self.inverse.dot(column)
        rows = [r for r in range(len(step)) if self.members[r] is not FREE and step[r]]
        if name is FREE:
            if not rows:
                return  # it depends on those that are in already
            if all(step[r] < 0 for r in rows):
                step = -step  # of a free column the negative is as good
        row = self._leaving(step, [r for r in rows if step[r] > 0])
        pivot = step[row]
        kept = self.inverse[row].copy()
        self.inverse = (self.inverse * pivot - np.multiply.outer(step, kept)) // self.determinant
        self.inverse[row] = kept
        self.determinant = pivot
        self.members[row] = name

    def _leaving(self, step: IntVector, rows: list[int]) -> int:
        for column in (-1, *range(len(step) - 1)):
            if len(rows) == 1:
                break
            best = [rows[0]]
            for r in rows[1:]:
                difference = self.inverse[r, column] * step[best[0]] - self.inverse[best[0], column] * step[r]
                if difference < 0:
                    best = [r]
                elif difference == 0:
                    best.append(r)
            rows = best
        return rows[0]


class Prices:
    """Which of the known columns a has a.u > 0: floats say it of most, whole numbers of those they cannot tell."""

    def __init__(self, order: int, columns: list[IntVector]) -> None:
        self.columns: list[IntVector] = []
        self._sizes: list[int] = []
        self._floats = np.zeros((0, order))
        self.add(columns)

    def add(self, columns: list[IntVector]) -> None:
        """More columns."""
        self.columns += columns
        self._sizes += [max(map(abs, column)) for column in columns]
        floats = [_at_most_1(column) for column in columns]
        self._floats = np.concatenate([self._floats, np.reshape(floats, (-1, self._floats.shape[1]))])

    def gaining(self, u: IntVector) -> int | None:
        """The position of a column with a.u > 0, the largest as floats see it; None if there is none."""
        direction = _at_most_1(u)
        gains = self._floats @ direction
        size = np.abs(self._floats) @ np.abs(direction)
        error = (len(u) + 4) * (EPS * size + TINY)  # of products and sums, and of both factors, which were rounded
        sure = np.flatnonzero(gains > error)
        if len(sure):
            largest = max(self._sizes[at] for at in sure)
            return int(sure[np.argmax([gains[at] * (self._sizes[at] / largest) for at in sure])])
        doubtful = np.flatnonzero(np.abs(gains) <= error)
        return next((int(at) for at in doubtful if self.columns[at].dot(u) > 0), None)


def _at_most_1(whole: IntVector) -> Floats:
    """The whole numbers over the largest of them, as floats."""
    largest = max(map(abs, whole)) or 1
    return np.array([entry / largest for entry in whole])


def decide(
    order: int,
    start: list[Any],
    column: Callable[[Any], IntVector],
    violated: Callable[[IntVector], list[Any]],
    work: Work,
    free: Sequence[IntVector] = (),
) -> Decision:
    """Run the method, pricing the known columns first and asking for more when these are satisfied.

    Parameters
    ----------
    order : int
        Length of z, plus 1.
    start : list
        Names of the rows to begin with.
    column : function
        The column a of a name.
    violated : function
        Names of rows with z.v <= 0, the worst first; none if every row has z.v > 0.
    work : Work
        Every step is counted.
    free : sequence of vectors
        The z_j modulo whose span is asked.
    """
    basis = Basis(order)
    for z in free:
        work.spend(3 * order**2, int(basis.determinant).bit_length())
        basis.enter(np.append(z, 0), FREE)
    names = list(start)
    known = set(names)
    prices = Prices(order, [column(name) for name in names])
    while True:
        work.spend(3 * order**2, int(basis.determinant).bit_length())
        u = basis.multipliers
        if basis.determinant > 0 and not (basis.values * [member is None for member in basis.members]).any():
            pairs = zip(basis.members, basis.values, strict=True)
            held = [(member, value) for member, value in pairs if value and member is not FREE]
            return Decision(None, tuple(m for m, _ in held), tuple(int(v) for _, v in held))
        best = prices.gaining(u)
        if best is not None:
            basis.enter(prices.columns[best], names[best])
            continue
        fresh = [name for name in violated(-u[:-1]) if name not in known]
        if not fresh:
            return Decision(-u[:-1])
        names += fresh
        known.update(fresh)
        prices.add([column(name) for name in fresh])
