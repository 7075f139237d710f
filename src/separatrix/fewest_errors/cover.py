"""The fewest rows whose removal leaves the rest separable: branch and cut over conflicts.

A conflict is a set of rows that no hyperplane gets all right: positive weights with sum lambda_i z_i = 0 on at most
p + 1 of them. Every hyperplane errs on one row of each conflict, so min sum c_i r_i over r in {0, 1} with
sum_{i in S} r_i >= 1 for the conflicts S known bounds the errors from below, without any large constant. A branch holds
some rows to be right (r = 0) and gives others up (r = 1). Its linear relaxation, 0 <= r <= 1, bounds it; conflicts that
the relaxed r violates are added; where there are none, r is a solution, or one of its fractional rows is branched on.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from separatrix._typing import Array, Floats, Integers
from separatrix.fewest_errors import conflicts
from separatrix.fewest_errors.budget import Budget
from separatrix.separation.cone import Cone

WHOLE = 1e-6  # r and bounds nearer than this to a whole number are meant to be one
AT_ONCE = 12  # conflicts that are looked for before the relaxation is solved again
FINEST = 1_000_000  # largest weight over the weights' common measure up to which bounds are rounded to multiples of it
ZERO = 1e-13  # |z.v| over the sum of |terms| that floats cannot tell from 0


@dataclass(order=True)
class Branch:
    """Rows held to be right (0), given up (1) or open (-1), and what no hyperplane of this branch goes below."""

    bound: float
    number: int
    rows: Array = field(compare=False)


@dataclass
class Cover:
    """Rows of a cone of two classes, their weights, and what is known of the fewest errors.

    Parameters
    ----------
    cone : Cone
    weight : array
    v, upper : array and float
        The best coefficients known and the weight of their errors.
    budget : Budget
    lower : float
        What no hyperplane goes below.
    """

    cone: Cone
    weight: Floats
    v: Floats
    upper: float
    budget: Budget
    lower: float = 0.0

    def __post_init__(self) -> None:
        n = self.cone.design.n
        self.Z = self.cone.dense(np.arange(n), 1 - self.cone.codes)
        self.measure = common_measure(self.weight)
        self.exact = False  # whether v comes from whole numbers
        self.second: Floats | None = None  # the best before that, should v not survive being rounded
        self.gave_up = False  # something could not be told, so the bounds may never meet
        self._conflicts: list[Integers] = []
        self._known: set[bytes] = set()
        self._open = [Branch(0.0, 0, np.full(n, -1, dtype=np.int8))]
        self._branches = 1

    @property
    def settled(self) -> bool:
        """Whether the bounds meet."""
        return met(self.lower, self.upper)

    def run(self) -> None:
        """Go on until the bounds meet, the budget is spent, or something cannot be told."""
        while self._open and not (self.settled or self.gave_up):
            if not self.budget.left:
                return
            branch = heapq.heappop(self._open)
            self._visit(branch)
            least = min((other.bound for other in self._open[:1]), default=self.upper)
            self.lower = max(self.lower, min(least, self.upper))

    # ------------------------------------------------------------------ one branch
    def _visit(self, branch: Branch) -> None:
        """Tighten the bound of a branch until it is settled, or split it in two."""
        while True:
            if met(branch.bound, self.upper):
                return
            if not self.budget.left or self.gave_up:
                heapq.heappush(self._open, branch)
                return
            relaxed = self._relaxed(branch.rows)
            if relaxed is None:
                return  # a conflict among rows held to be right: nothing lies in this branch
            r, bound = relaxed
            branch.bound = max(branch.bound, bound)
            if met(branch.bound, self.upper):
                return
            if not self._cut(r):
                break
        if self.gave_up or not self.budget.left:
            heapq.heappush(self._open, branch)
            return
        fractional = np.minimum(r, 1.0 - r)
        if fractional.max() <= WHOLE:
            return  # the rows that are left are separable: this is a solution, and has been offered
        i = int(np.argmax(fractional * self.weight))
        for choice in (0, 1):
            rows = branch.rows.copy()
            rows[i] = choice
            heapq.heappush(self._open, Branch(branch.bound, self._branches, rows))
            self._branches += 1

    def _relaxed(self, rows: Array) -> tuple[Floats, float] | None:
        """min sum c_i r_i over 0 <= r <= 1 that meet every conflict, and a bound; None if no r does.

        For any y >= 0, c.r >= sum y + (c - A'y).r: so the bound does not hang on how well HiGHS solved it.
        """
        low, high = np.where(rows == 1, 1.0, 0.0), np.where(rows == 0, 0.0, 1.0)
        if not self._conflicts:
            return low, float(self.weight @ low)
        columns = np.concatenate(self._conflicts)
        pointer = np.cumsum([0] + [len(conflict) for conflict in self._conflicts])
        shape = (len(self._conflicts), len(self.weight))
        A = sparse.csr_array((np.ones(len(columns)), columns, pointer), shape=shape)
        if (A @ high < 1).any():
            return None
        self.budget.program(2 * len(columns))
        cost = self.weight / self.weight.max()
        result = linprog(cost, A_ub=-A, b_ub=-np.ones(shape[0]), bounds=np.column_stack([low, high]), method="highs-ds")
        if result.status != 0:
            self.gave_up = True
            return low, float(self.weight @ low)
        y = np.maximum(-result.ineqlin.marginals, 0.0)
        rest = cost - A.T @ y
        bound = float(y.sum() + np.minimum(rest * low, rest * high).sum()) * float(self.weight.max())
        if self.measure:
            bound = float(np.ceil(bound / self.measure - WHOLE)) * self.measure
        else:
            bound *= 1.0 - 1e-9
        return np.clip(result.x, low, high), bound

    def _cut(self, r: Floats) -> bool:
        """Add conflicts that r violates; False if there are none, as far as can be seen (surely, if r is whole)."""
        kept, found = r < 1.0 - WHOLE, False
        for _ in range(AT_ONCE):
            rows = np.flatnonzero(kept)
            verdict = conflicts.find(self.cone, self.Z, rows, r + WHOLE, self.budget)
            if verdict.v is not None:
                self.offer(verdict.v, exact=True)
                break
            if verdict.conflict is None:
                self.gave_up = self.budget.left > 0
                break
            conflict = np.sort(verdict.conflict)
            if r[conflict].sum() >= 1.0 - WHOLE or conflict.tobytes() in self._known:
                break
            self._known.add(conflict.tobytes())
            self._conflicts.append(conflict)
            found = True
            if not self.budget.left:
                break
            lightest = r[conflict] - self.weight[conflict] / self.weight.max()  # given up most readily
            kept[conflict[np.argmax(lightest)]] = False
        return found

    # ------------------------------------------------------------------ the best so far
    def offer(self, v: Floats, *, exact: bool = False) -> None:
        """Keep v if it makes fewer errors than the best so far; exact if it comes from whole numbers."""
        errors = float(self.weight[~right(self.cone, self.Z, v, exact)].sum())
        if errors < self.upper and v.any():
            if exact and not self.exact:
                self.second = self.v
            self.v, self.upper, self.exact = v, errors, exact


def right(cone: Cone, Z: Floats, v: Floats, exact: bool) -> Array:
    """Which rows v gets right; on a hyperplane through the origin that is exact, positive rows may lie."""
    scores = Z @ v
    if cone.design.intercept or not exact:
        return np.asarray(scores > 0)
    on = np.abs(scores) <= ZERO * (np.abs(Z) @ np.abs(v))
    return np.asarray(np.where(on, cone.codes == 1, scores > 0))


def met(lower: float, upper: float) -> bool:
    """Whether two bounds are the same but for rounding."""
    return lower >= upper * (1.0 - 1e-9)


def common_measure(weight: Floats) -> float:
    """The largest number of which all weights are multiples, if that is not too small; else 0."""
    ratios = [Fraction(entry) for entry in np.unique(weight).tolist()]
    common = lcm(*(ratio.denominator for ratio in ratios))
    measure = Fraction(gcd(*(int(ratio * common) for ratio in ratios)), common)
    return float(measure) if max(ratios) <= FINEST * measure else 0.0
