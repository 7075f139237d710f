"""Dual coordinate descent for the hinge loss and its square on sparse rows, with a free intercept.

    max over alpha of  sum_i alpha_i - 1/2 ‖sum_i alpha_i y_i x_i‖² - 1/2 sum_i r_i alpha_i²
    subject to  0 <= alpha_i <= U_i  and  sum_i alpha_i y_i = 0

with U_i = C_i and r_i = 0 for the hinge, and U_i = inf and r_i = 1 / (2 C_i) for its square.

One alpha_i at a time, keeping w = sum_i alpha_i y_i x_i: with the slope g_i = y_i (w.x_i + b) - 1 + r_i alpha_i, the
optimum is alpha_i - g_i / (‖x_i‖² + r_i), clipped to the bounds (Hsieh et al., 2008); a step goes somewhat beyond that,
because the rows after it will take some of it back (over-relaxation: Cryer, 1971). The balance t = sum_i alpha_i y_i
is a constraint on all of them, so it goes into the objective as b t + rho t²/2, and b moves in proportion to t whenever
t stands still, by a secant step: the method of multipliers. At its end t = 0 and b is the intercept.

The order must be new each time, or the descent can be slow without end. But rows in random order come from memory one
by one, several times slower than in sequence. So runs of some rows are read straight through, and the order of these
runs is random: that takes about as many passes as a random order of rows, at first. Where few rows are left, which the
cache holds, each is a run of its own: neighbours that stay neighbours take several times as many passes then.

Where some rows are much alike, their alphas move slowly and for long when all others are nearly at rest. These few are
told by how far they went in the last sweeps, and are swept alone for a while, which costs next to nothing. Where many
rows are alike the descent is slow, but it soon finds which alphas are at a bound. The others solve a linear system
then: a leap.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix._typing import Array, Floats
from separatrix.loops.csr_rows import csr_rows, csr_squares
from separatrix.loops.hinge_descent import ACTIVE, DONE, GAP, VALUE, B, at_start, hinge_sweeps
from separatrix.loops.rows import BUDGET, csr_arrays

LIGHT = 0.1  # rho over the mean ‖x_i‖²: heavier, it couples all rows and slows them; b settles as fast either way
ROUND = 4  # sweeps over all rows in play after which it is seen which of them move
FAR = 24  # rows in play for each of those that moved farthest
MOST = 0.5  # of all squared movement: when theirs is more they are swept alone; of rows not alike it is a third
DWELL, LEFT = 100, 0.01  # sweeps over these rows, or until their gap is so much of the gap of all
STILL, NEVER = 0.2, -1.0  # change of t in a pass, relative to t, from which on it is b that has to move
LEAP = 0.03  # residual left by conjugate gradients, relative to the first
FEW = 0.6  # of the rows in memory: when fewer are in play, they are copied next to each other
TINY = float(np.finfo(np.float64).tiny)


class CoordinateDescent:
    """The ascent of the dual from `alpha` and `b`.

    `alpha`, `w`, `b` and `t` say where it stands, `epochs` after how many passes; `in_play` rows are not set aside.

    Parameters
    ----------
    X : CSR matrix of shape (n, d)
    y : array of shape (n,)
        Signs.
    bound, ridge : arrays of shape (n,)
        U_i and r_i.
    intercept : bool
        Whether b is free.
    alpha, b : array of shape (n,), float
        Where to begin.
    """

    def __init__(self, X: Any, y: Floats, bound: Floats, ridge: Floats, intercept: bool, alpha: Floats, b: float):
        n, d = X.shape
        self.y, self.bound, self.ridge, self.intercept = y, bound, ridge, intercept
        self._X = X
        squares = csr_squares(X)
        self._rho = LIGHT * float(squares.mean()) if intercept else 0.0
        curvature = squares + ridge + self._rho
        curvature[curvature <= 0] = TINY  # of an empty row, whose alpha goes to its bound at once
        self._table = np.column_stack([y, bound, ridge, curvature])
        self.alpha = alpha.copy()
        self.w = np.asarray(X.T @ (y * alpha), dtype=np.float64) if alpha.any() else np.zeros(d)
        self.b = b if intercept else 0.0
        self.t = float(y @ alpha)
        self._value = self._lagrangian(self.w, alpha, self.b)
        self.epochs, self.in_play = 0, n
        self._packed: tuple[Any, ...] = ()
        self._settled = np.array([self.b, self.t, self._rho])  # b and t before b last moved, and at what rate it did
        self._limits = np.array([np.inf, -np.inf])  # slopes beyond which a row at a bound is set aside
        self._seed = np.array([88172645463325252], dtype=np.uint64)
        self._play(np.arange(n))

    def descend(self, target: float, most: int) -> float:
        """Sweep until the estimated gap, which is returned, is within `target` of the objective; `most` times at most.

        The gap of a row is taken when the sweep comes to it; rows set aside are taken to have none. Without a sweep
        nothing is known of it.
        """
        if most <= 0:
            return np.inf
        while True:
            before = self._packed[-1].copy()
            few = int(FEW * len(self._rows))
            self.in_play, epochs, estimate = self._sweep(
                self._order, self.in_play, few, self._limits, STILL, target, min(most, ROUND)
            )
            self.epochs += epochs
            most -= epochs
            if estimate <= target or most <= 0:
                return estimate
            if self.in_play <= few:
                self._play(self._rows[self._order[: self.in_play]])
            elif epochs == ROUND and most > 1 and self._dwell(self._packed[-1] - before, LEFT * estimate):
                self.epochs += 1
                most -= 1

    def _dwell(self, moved: Floats, target: float) -> bool:
        """Sweep over the rows in memory that `moved` farthest, if they did most of the moving: whether they did."""
        squares, rows, count = np.square(moved), np.flatnonzero(moved), self.in_play // FAR
        if len(rows) > count:  # of the others all are equal, which a partition takes long to see
            rows = rows[np.argpartition(squares[rows], -count)[-count:]] if count else rows[:0]
        if squares[rows].sum() <= MOST * squares.sum():
            return False
        order, limits = np.sort(rows).astype(np.int64, copy=False), np.array([np.inf, -np.inf])
        self._sweep(order, len(order), 0, limits, NEVER, target, DWELL)  # b is for all rows: it waits
        return True

    def _sweep(
        self, order: Array, active: int, few: int, limits: Floats, still: float, target: float, most: int
    ) -> tuple[int, int, float]:
        """Sweep over these of the rows in memory: how many stay in play, how many sweeps, the estimated gap."""
        place, work = at_start(active, self.b, self.t, self._value)
        rest = (self._rho, self.w, order, np.empty_like(order), limits, self._settled, self._seed, work, place)
        sweeps: Any = hinge_sweeps
        while not sweeps(*self._packed, *rest, few, still, target, most, BUDGET):
            pass
        self.alpha[self._rows] = self._packed[-1]
        self.b, self.t, self._value = float(work[B]), float(self.y @ self.alpha), float(work[VALUE])
        gap = float(work[GAP]) / max(self._value + float(work[GAP]), TINY)
        return int(place[ACTIVE]), int(place[DONE]), gap

    def check(self) -> float:
        """The gap relative to the objective, of all rows; those set aside that should not be come back."""
        offset = self.b + self._rho * self.t
        slope = self.y * (self._X @ self.w + offset) - 1.0 + self.ridge * self.alpha
        firm = (self.alpha <= 0) & (slope > self._limits[0]) | (self.alpha >= self.bound) & (slope < self._limits[1])
        playing = np.zeros(len(firm), dtype=bool)
        playing[self._rows[self._order[: self.in_play]]] = True
        if not (firm | playing).all():
            self._play(np.flatnonzero(~firm | playing))
        # what the balance will still cost: t times what b has to move
        gap = float(gaps(self.alpha, slope, self.bound, self.ridge).sum()) + self._settled[2] * self.t**2
        value = float(self.alpha.sum()) - 0.5 * float(self.w @ self.w + self.ridge @ self.alpha**2) - offset * self.t
        return gap / max(value + gap, TINY)

    def leap(self, most: int) -> None:
        """Solve for the alphas inside their bounds, as if they had none.

        With F these rows, and Q_ij = y_i y_j x_i.x_j + r_i [i = j]: the step d has Q_FF d + g_F = 0, b being such that
        sum_F d_i y_i = -t. It is that of at most `most` steps of conjugate gradients. What leaves its bounds is
        clipped; if that lowers the dual, the step goes as far as the first bound instead.
        """
        free = np.flatnonzero((self.alpha > 0) & (self.alpha < self.bound))
        if not len(free):
            return
        X, y, alpha, ridge, bound = self._X[free], self.y[free], self.alpha[free], self.ridge[free], self.bound[free]
        centre = y / len(free) if self.intercept else np.zeros(len(free))

        def residual(d: Floats) -> tuple[float, Floats]:
            """The best b for alpha + d, and -g_F."""
            lack = 1.0 - y * (X @ (self.w + X.T @ (y * d))) - ridge * (alpha + d)
            b = float(centre @ lack)
            return b, lack - b * y * self.intercept

        d = -self.t * centre
        b, r = residual(d)
        d += self._conjugate(X, y, ridge, r, centre, most)
        b, _ = residual(d)
        with np.errstate(divide="ignore", invalid="ignore"):
            limit = np.where(d > 0, (bound - alpha) / d, np.where(d < 0, -alpha / d, np.inf))
        before = self._lagrangian(self.w, self.alpha, b)
        for length in (1.0, float(limit.min(initial=1.0))):
            trial = self.alpha.copy()
            trial[free] = np.clip(alpha + length * d, 0.0, bound)
            w = self.w + X.T @ (y * (trial[free] - alpha))
            value = self._lagrangian(w, trial, b)
            if value > before:
                self.w, self.alpha, self.b, self.t, self._value = w, trial, b, float(self.y @ trial), value
                self._settled[:2] = self.b, self.t
                self._packed = (*self._packed[:-1], trial[self._rows])
                return

    def _conjugate(self, X: Any, y: Floats, ridge: Floats, r: Floats, centre: Floats, most: int) -> Floats:
        """Q_FF d = r by conjugate gradients, in the plane sum_F d_i y_i = 0 if b is free."""
        d, p, square = np.zeros(len(y)), r.copy(), float(r @ r)
        goal = LEAP**2 * square
        while square > goal and most > 0:
            most -= 1
            self.epochs += 1
            image = y * (X @ (X.T @ (y * p))) + ridge * p
            image -= y * float(centre @ image)
            rate = square / max(float(p @ image), TINY)
            d += rate * p
            r = r - rate * image
            square, last = float(r @ r), square
            p = r + (square / last) * p
        return d

    def _lagrangian(self, w: Floats, alpha: Floats, b: float) -> float:
        """The dual with the balance in it: what the sweeps ascend."""
        t = float(self.y @ alpha)
        quadratic = float(w @ w + self.ridge @ alpha**2) + self._rho * t * t
        return float(alpha.sum()) - 0.5 * quadratic - b * t

    def _play(self, rows: Array) -> None:
        """Continue with these rows, which are copied next to each other if they are few."""
        n, table = len(self.y), self._table
        if len(rows) > FEW * n:
            self._rows, self._order = np.arange(n), rows.astype(np.int64, copy=False)
            data, indices, indptr = csr_arrays(self._X)
        else:
            self._rows, self._order, table = rows, np.arange(len(rows)), table[rows]
            indptr, indices, data = csr_rows(self._X, rows)
        self.in_play = len(rows)
        self._packed = (indptr, indices, data, len(self._rows), table, self.alpha[self._rows])


def gaps(alpha: Floats, slope: Floats, bound: Floats, ridge: Floats) -> Floats:
    """What each row adds to the primal minus the dual: 0 where alpha_i is optimal, and never negative."""
    with np.errstate(invalid="ignore", divide="ignore"):
        beyond = alpha * (slope - 0.5 * ridge * alpha)
        within = np.where(ridge > 0, 0.5 * slope**2 / ridge, (alpha - bound) * slope)
    return np.where(slope > ridge * alpha, beyond, within)
