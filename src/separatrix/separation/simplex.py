"""min s.1 subject to sum_i lambda_i a_i + s = (0, ..., 0, 1), lambda, s >= 0: the simplex method in whole numbers.

Column a_i = (z_i, g_i) with g_i > 0 the size of z_i. At the optimum either s = 0, and sum lambda_i z_i = 0 with
lambda >= 0 not all 0; or the multipliers u prove that impossible: z_i.v >= g_i t > 0 for v = -u_z and t = u_g.

The inverse of the basis is held as whole numbers over one determinant, and a pivot divides without remainder
(Edmonds, Bareiss). The lexicographic rule breaks ties, so no basis returns and the method ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix._typing import Array
from separatrix.separation.work import Work

IntVector = Array  # an object array of Python integers


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
        self.members: list[Any] = [None] * order  # None stands for an entry of s

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
        row = self._leaving(step)
        pivot = step[row]
        kept = self.inverse[row].copy()
        self.inverse = (self.inverse * pivot - np.multiply.outer(step, kept)) // self.determinant
        self.inverse[row] = kept
        self.determinant = pivot
        self.members[row] = name

    def _leaving(self, step: IntVector) -> int:
        rows = [r for r in range(len(step)) if step[r] > 0]
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


def decide(
    order: int,
    start: list[Any],
    column: Callable[[Any], IntVector],
    violated: Callable[[IntVector], list[Any]],
    work: Work,
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
    """
    basis = Basis(order)
    names = list(start)
    known = set(names)
    columns = [column(name) for name in names]
    while True:
        work.spend(3 * order**2 + len(columns) * order, int(basis.determinant).bit_length())
        u = basis.multipliers
        if basis.determinant > 0 and not (basis.values * [member is None for member in basis.members]).any():
            held = [(member, value) for member, value in zip(basis.members, basis.values, strict=True) if value]
            return Decision(None, tuple(m for m, _ in held), tuple(int(v) for _, v in held))
        gains = np.array(columns, dtype=object).reshape(len(columns), order).dot(u) if columns else np.zeros(0)
        best = int(np.argmax(gains)) if len(gains) else -1
        if best >= 0 and gains[best] > 0:
            basis.enter(columns[best], names[best])
            continue
        fresh = [name for name in violated(-u[:-1]) if name not in known]
        if not fresh:
            return Decision(-u[:-1])
        names += fresh
        known.update(fresh)
        columns += [column(name) for name in fresh]
