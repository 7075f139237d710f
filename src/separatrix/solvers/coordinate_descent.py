"""Dual coordinate descent for the hinge loss and its square on sparse rows, with a free intercept.

    max over alpha of  sum_i alpha_i - 1/2 ‖sum_i alpha_i y_i x_i‖² - 1/2 sum_i r_i alpha_i²
    subject to  0 <= alpha_i <= U_i  and  sum_i alpha_i y_i = 0

with U_i = C_i and r_i = 0 for the hinge, and U_i = inf and r_i = 1 / (2 C_i) for its square.

One alpha_i at a time, keeping w = sum_i alpha_i y_i x_i: with the slope g_i = y_i (w.x_i + b) - 1 + r_i alpha_i, its exact
optimum is alpha_i - g_i / (‖x_i‖² + r_i), clipped to the bounds (Hsieh et al., 2008). The balance t = sum_i alpha_i y_i
is a constraint on all of them, so it goes into the objective as b t + rho t²/2, and b moves in proportion to t each time
the alphas have settled, by a secant step: the method of multipliers. At its end t = 0 and b is the intercept.

The order must be new each time, or the descent can be slow without end. But rows in random order come from memory one
by one, several times slower than in sequence. So runs of `RUN` rows are read straight through, and the order of
these runs is random: that takes no more passes than a random order of rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix._typing import Array, Floats
from separatrix.compiled import compiled

LIGHT = 0.1  # rho over the mean ‖x_i‖²: heavier, it couples all rows and slows them; b settles as fast either way
RUN = 64  # rows read straight through
FEW = 0.75  # of the rows in memory: when fewer are in play, they are copied next to each other


class CoordinateDescent:
    """The ascent of the dual from `alpha` and `b`; `alpha`, `w`, `b`, `t` and `epochs` say where it stands.

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
        squares = np.zeros(n)
        filled = np.flatnonzero(np.diff(X.indptr))
        if len(filled):
            squares[filled] = np.add.reduceat(np.square(X.data, dtype=np.float64), X.indptr[filled])
        self._rho = LIGHT * float(squares.mean()) if intercept else 0.0
        curvature = squares + ridge + self._rho
        curvature[curvature <= 0] = 1.0
        self._curvature = curvature
        self.alpha = alpha.copy()
        self.w = np.asarray(X.T @ (y * alpha), dtype=np.float64) if alpha.any() else np.zeros(d)
        self.b = b if intercept else 0.0
        self.t = float(y @ alpha)
        self.epochs = 0
        self._settled = (self.b, self.t)  # when the alphas last settled
        self._limits = np.array([np.inf, -np.inf])  # slopes beyond which a row at a bound is set aside
        self._seed = np.array([88172645463325252], dtype=np.uint64)
        self._loop = compiled(sweeps, 10.0 * X.nnz)
        self._play(np.arange(n))

    def descend(self, target: float, most: int) -> float:
        """Sweep until the estimated gap is within `target` of the objective, `most` times at most; the estimate reached.

        The gap of a row is taken when the sweep comes to it; rows set aside are taken to have none.
        """
        while True:
            value = float(self.alpha.sum()) - 0.5 * float(self.w @ self.w + self.ridge @ self.alpha**2)
            work = np.array([self.b, self.t, value - (self.b + 0.5 * self._rho * self.t) * self.t, 0.0])
            few = int(FEW * len(self._rows))
            self._active, epochs = self._loop(
                *self._packed, self._rho, self.w, work, self._order, self._active, few, self._limits, self._seed,
                target, most,
            )  # fmt: skip
            self.alpha[self._rows] = self._packed[-1]
            self.t = float(self.y @ self.alpha)
            self.epochs += epochs
            most -= epochs
            estimate = float(work[3] / max(work[2] + work[3], np.finfo(np.float64).tiny))
            if self._active > few or estimate <= target or most <= 0:
                return estimate
            self._play(self._rows[self._order[: self._active]])

    def check(self) -> float:
        """The gap relative to the objective, of all rows; those set aside that should not be come back, and b moves."""
        offset = self.b + self._rho * self.t
        slope = self.y * (self._X @ self.w + offset) - 1.0 + self.ridge * self.alpha
        firm = (self.alpha <= 0) & (slope > self._limits[0]) | (self.alpha >= self.bound) & (slope < self._limits[1])
        firm[self._rows[self._order[: self._active]]] = True  # these are in play
        if not firm.all():
            self._play(np.union1d(np.flatnonzero(~firm), self._rows[self._order[: self._active]]))
        gap = float(gaps(self.alpha, slope, self.bound, self.ridge).sum())
        value = float(self.alpha.sum()) - 0.5 * float(self.w @ self.w + self.ridge @ self.alpha**2) - offset * self.t
        if self.intercept:
            self._move()
        return gap / max(value + gap, float(np.finfo(np.float64).tiny))

    def _move(self) -> None:
        """b by a secant step towards t = 0."""
        (b, t), (before, t_before) = (self.b, self.t), self._settled
        rate = -(b - before) / (t - t_before) if t != t_before else 0.0
        self._settled = (b, t)
        self.b = b + max(rate, self._rho) * t

    def _play(self, rows: Array) -> None:
        """Continue with these rows, which are copied next to each other if they are few."""
        n = len(self.y)
        if len(rows) > FEW * n:
            self._rows, X, self._order = np.arange(n), self._X, rows.astype(np.uint32)
        else:
            self._rows, X, self._order = rows, self._X[rows], np.arange(len(rows), dtype=np.uint32)
        self._active = len(rows)
        columns = (self.y, self.bound, self.ridge, self._curvature, self.alpha)
        self._packed = (_unsigned(X.indptr), _unsigned(X.indices), X.data, *(c[self._rows] for c in columns))


def gaps(alpha: Floats, slope: Floats, bound: Floats, ridge: Floats) -> Floats:
    """What each row adds to the primal minus the dual: 0 where alpha_i is optimal, and never negative."""
    with np.errstate(invalid="ignore", divide="ignore"):
        beyond = alpha * (slope - 0.5 * ridge * alpha)
        within = np.where(ridge > 0, 0.5 * slope**2 / ridge, (alpha - bound) * slope)
    return np.where(slope > ridge * alpha, beyond, within)


def _unsigned(positions: Array) -> Array:
    """The same numbers, for which a compiled loop need not ask whether they count from the end."""
    return positions.view(f"u{positions.dtype.itemsize}")


def sweeps(
    indptr: Array,
    indices: Array,
    data: Array,
    y: Floats,
    bound: Floats,
    ridge: Floats,
    curvature: Floats,
    alpha: Floats,
    rho: float,
    w: Floats,
    work: Floats,
    order: Array,
    active: int,
    fewest: int,
    limits: Floats,
    seed: Array,
    target: float,
    most: int,
) -> tuple[int, int]:
    """Passes over the rows in play, order[:active]; rows that sit firmly at a bound are set aside.

    Until the gaps of the rows sum to `target` of the objective, or at most `fewest` rows are in play, or `most` times.
    """
    b, t, value = work[0], work[1], work[2]
    x = seed[0]
    done = 0
    while done < most:
        done += 1
        run = max(1, min(RUN, active // RUN))
        runs = (active + run - 1) // run
        turn = np.arange(runs)
        gap, high, low = 0.0, -np.inf, np.inf
        for r in range(runs):
            x ^= x << np.uint64(13)  # xorshift
            x ^= x >> np.uint64(7)
            x ^= x << np.uint64(17)
            j = r + np.int64(x % np.uint64(runs - r))
            first = turn[j]
            turn[j] = turn[r]
            for k in range(first * run, min(first * run + run, active)):
                i = order[k]
                start, stop = indptr[i], indptr[i + np.uint32(1)]
                score = b + rho * t
                for q in range(start, stop):
                    score += w[indices[q]] * data[q]
                old = alpha[i]
                g = y[i] * score - 1.0 + ridge[i] * old
                projected = g
                if old <= 0.0:
                    if g > limits[0]:
                        order[k] = len(y)
                        continue
                    projected = min(g, 0.0)
                elif old >= bound[i]:
                    if g < limits[1]:
                        order[k] = len(y)
                        continue
                    projected = max(g, 0.0)
                high = max(high, projected)
                low = min(low, projected)
                if g > ridge[i] * old:
                    gap += old * (g - 0.5 * ridge[i] * old)
                elif ridge[i] > 0.0:
                    gap += 0.5 * g * g / ridge[i]
                else:
                    gap += (old - bound[i]) * g
                if projected != 0.0:
                    new = min(max(old - g / curvature[i], 0.0), bound[i])
                    change = new - old
                    alpha[i] = new
                    value -= change * (g + 0.5 * curvature[i] * change)
                    change *= y[i]
                    t += change
                    for q in range(start, stop):
                        w[indices[q]] += change * data[q]
        kept = 0
        for k in range(active):
            order[kept] = order[k]
            kept += order[k] < len(y)
        active = kept
        limits[0] = high if high > 0 else np.inf
        limits[1] = low if low < 0 else -np.inf
        if gap <= target * (value + gap) or active <= fewest:
            break
    seed[0] = x
    work[1], work[2], work[3] = t, value, gap
    return active, done
