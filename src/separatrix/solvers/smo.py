"""Sequential minimal optimisation over working sets of many points.

    max over alpha of  sum_i alpha_i - 1/2 sum_ij alpha_i alpha_j y_i y_j k(x_i, x_j)
    subject to  0 <= alpha_i <= U_i  and  sum_i alpha_i y_i = 0

1. Of the points whose alpha_i y_i may rise, those of largest residual F_i = y_i - f(x_i), and of those that may fall,
   those of smallest: moving alpha from the second to the first gains most. They join what is left of the last set.
2. Within the set, whose kernel matrix fits into the cache, pairs are moved one by one: the worst i, and the j with
   which it gains most (to second order), until the set is nearly optimal by itself.
3. Rows of the kernel matrix, in float32, carry the moves to the residuals of all other points.
   Without an intercept there is no sum to keep, and points are moved one by one: that which gains most.
4. Points at a bound that no violation reaches are left aside (shrinking): rows are then computed for the others only.

Rows in float32 spoil residuals as they add up. So they only have to find the way: once the gap of what is left seems
small enough, the residuals of all points are computed from scratch in float64. If the gap, now true, is too large, the
descent goes on from there with smaller moves, whose rounding is smaller by as much.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.kernels import KernelRows
from separatrix.loops import threads
from separatrix.loops.working_set import add_rows, gather, optimised
from separatrix.solvers.kernel_columns import WORTH_THREADS, KernelColumns
from separatrix.solvers.row_cache import RowCache
from separatrix.solvers.soft_margin import balanced, dual, gap, may_fall, may_rise, relative_gap

WORKING_SET = 1024
SHRINK_EVERY = 4  # working sets
MOVES_A_POINT = 1000  # of a working set, after which the gap is looked at again
PATIENCE = 30  # working sets without a gap that is a tenth smaller
PIECE = 4096  # residuals brought up to date by a thread at a time, however many threads there are


@dataclass(frozen=True)
class Descent:
    """Where it ended: alpha, its residuals in float64 if they are known, the steps, and the sum of |terms| in F."""

    alpha: Floats
    F: Floats | None
    steps: int
    summed: float = 0.0


class Smo:
    """One problem: all its points, and those that are still moving (`active`).

    Parameters
    ----------
    rows : KernelRows
    scale : float
        Kernel values are divided by it; alpha and U are those of the kernel so scaled.
    y, U : arrays of shape (n,)
    cache_bytes : float
        For rows of the kernel matrix.
    start : array of shape (n,) or None
        alpha to go on from, within its bounds.
    intercept : bool
        Whether b is free; if not, sum_i alpha_i y_i is free instead, and points are moved one by one.
    """

    def __init__(
        self,
        rows: KernelRows,
        scale: float,
        y: Floats,
        U: Floats,
        cache_bytes: float,
        start: Floats | None = None,
        intercept: bool = True,
    ) -> None:
        self.y, self.U, self.intercept = y, U, intercept
        self.single = KernelColumns.of(rows, scale, np.float32)
        self.double = KernelColumns.of(rows, scale, np.float64)
        self.diagonal = np.asarray(rows.diagonal(), dtype=np.float64) / scale
        self.cache = RowCache(self.single, cache_bytes)
        self.size = max(2, min(WORKING_SET, len(y), self.cache.room))
        self.alpha, self.F = np.zeros(len(y)), y.astype(np.float64)
        self._exact_alpha, self._exact_F = self.alpha.copy(), self.F.copy()
        self.steps = 0
        self.summed = 0.0  # |alpha_i| that went into F since it was last computed from scratch: rounding grows with it
        if start is not None:
            self.alpha = start
            self._refresh()

    def solve(self, tol: float, max_steps: int) -> Descent:
        """Descend until the gap in float64 is within tol, no longer falls, or the steps are used up."""
        reached, failures = np.inf, 0
        while True:
            # a little below tol, for the gap is estimated, and never far below what this descent can see
            self._descend(max(0.5 * tol, 1e-7 * reached if np.isfinite(reached) else 0.0), max_steps)
            self._refresh()
            now = relative_gap(self.alpha, self.F, self.y, self.U, self.intercept)[1]
            failures = failures + 1 if now > 0.5 * reached else 0
            reached = min(reached, now)
            if now <= tol or self.steps >= max_steps or failures >= 3:
                return Descent(self.alpha, self.F, self.steps, self.summed)

    def _refresh(self) -> None:
        """Residuals of all points in float64: from what has changed since last time, or from all if that is less."""
        self.alpha = balanced(self.alpha, self.y, self.U, self.intercept)
        change = (self.alpha - self._exact_alpha) * self.y
        moved, used = np.flatnonzero(change), np.flatnonzero(self.alpha)
        everyone = np.arange(len(self.y))
        if len(moved) < len(used):
            self.F = self._exact_F - self.double.restricted(moved).dot(everyone, change[moved])
            self.summed += float(np.abs(change).sum())
        else:
            self.summed = float(self.alpha.sum())
            self.F = self.y - self.double.restricted(used).dot(everyone, (self.alpha * self.y)[used])
        self._exact_alpha, self._exact_F = self.alpha.copy(), self.F.copy()

    def _descend(self, target: float, max_steps: int) -> None:
        """Move alpha until the gap of the active points, as float32 rows have it, is within the target."""
        self._activate(np.arange(len(self.y)))
        value, best, waited, rounds = dual(self.alpha, self.F, self.y), np.inf, 0, 0
        last: Integers = np.zeros(0, dtype=np.intp)
        while self.steps < max_steps:
            a, F, y, U = self.alpha[self.active], self.F[self.active], self.y[self.active], self.U[self.active]
            rise, fall = may_rise(a, y, U), may_fall(a, y, U)
            top, bottom = F[rise].max(initial=-np.inf), F[fall].min(initial=np.inf)
            if not self.intercept:
                top, bottom = max(top, 0.0), min(bottom, 0.0)
            if not top > bottom:
                return
            free, b = rise & fall, 0.0
            if self.intercept:
                b = float(np.clip(F[free].mean(), bottom, top)) if free.any() else 0.5 * (top + bottom)
            left = gap(a, F, y, U, b)
            relative = left / max(value + left, float(np.finfo(np.float64).tiny))
            if relative <= target:
                return
            waited = 0 if relative < 0.9 * best else waited + 1
            best = min(best, relative)
            if waited > PATIENCE:
                return
            rounds += 1
            if rounds % SHRINK_EVERY == 0 and self._shrink(F, rise, fall, top, bottom):
                last = np.zeros(0, dtype=np.intp)
                continue
            last = self._working_set(last, F, rise, fall)
            gained = self._optimise(last, top - bottom, max_steps)
            value += gained
            if not gained > 0.0:
                return

    def _activate(self, active: Integers) -> None:
        self.active = active
        self.cache.use(active)

    def _shrink(self, F: Floats, rise: Array, fall: Array, top: float, bottom: float) -> bool:
        """Leave aside the points at a bound that could only move the wrong way; whether that was worth it."""
        settled = (~rise & np.greater(F, top)) | (~fall & np.less(F, bottom))
        if settled.sum() < 0.2 * len(F):
            return False
        self._activate(self.active[~settled])
        return True

    def _working_set(self, last: Integers, F: Floats, rise: Array, fall: Array) -> Integers:
        """Positions among the active points: the worst of either kind, and of the last set, the free ones first."""
        size = min(self.size, len(F))
        quarter = max(1, size // (4 if len(last) else 2))
        chosen = np.zeros(len(F), dtype=bool)
        for key, allowed in ((-F, rise), (F, fall)):
            candidates = np.flatnonzero(allowed & ~chosen)
            if len(candidates) > quarter:
                candidates = candidates[np.argpartition(key[candidates], quarter - 1)[:quarter]]
            chosen[candidates] = True
        new = np.flatnonzero(chosen)
        kept = last[~chosen[last]]
        free = (rise & fall)[kept]
        kept = np.concatenate([kept[free], kept[~free]])[: size - len(new)]
        return np.concatenate([new, kept])

    def _optimise(self, chosen: Integers, violation: float, max_steps: int) -> float:
        """Nearly solve the problem of a working set, and carry its moves to all active residuals."""
        slots = self.cache.slots(chosen)
        points = self.active[chosen]
        before, F, y, U = self.alpha[points], self.F[points], self.y[points], self.U[points]
        # a kernel that is not positive semidefinite may never be done: `_descend` looks at the gap now and then
        enough, most = 0.1 * violation, min(max_steps - self.steps, MOVES_A_POINT * len(chosen))
        m, diagonal, alpha = len(chosen), self.diagonal[points], before.copy()
        K = np.empty((m, m), dtype=np.float32)
        gather(self.cache.table, len(self.active), slots, chosen, diagonal, m, K)
        steps, gained = optimised(K, diagonal, y, U, alpha, F, enough, most, self.intercept)
        change = (alpha - before) * y
        self.steps += steps
        moved = np.flatnonzero(change)
        self.alpha[points] = alpha
        if len(moved):
            self._carry(slots[moved], change[moved])
        return gained

    def _carry(self, slots: Integers, change: Floats) -> None:
        """F -= sum_i change_i K_i over the active points, by all threads."""
        width = len(self.active)
        moves = np.zeros(width)

        def part(first: int) -> None:
            last = min(first + PIECE, width)
            add_rows(self.cache.table, width, slots, change, len(slots), moves, first, last)

        pieces = range(0, width, PIECE)
        if width * len(slots) < WORTH_THREADS:
            for first in pieces:
                part(first)
        else:
            threads.over(pieces, part)
        self.F[self.active] -= moves
