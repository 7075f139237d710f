"""Dual coordinate descent for logistic regression on sparse rows, with a free intercept.

    max over alpha of  sum_i c_i entropy(alpha_i / c_i) - 1/2 ‖sum_i alpha_i y_i x_i‖²
    subject to  0 <= alpha_i <= c_i  and  sum_i alpha_i y_i = 0

where entropy(p) = -p log p - (1 - p) log(1 - p) (Yu, Huang and Lin, 2011). One alpha_i at a time, keeping
w = sum_i alpha_i y_i x_i. In the log-odds u_i, with alpha_i = c_i sigma(u_i) and the margin m_i = y_i (w.x_i + b), the
optimum has

    u + m_i + ‖x_i‖² (c_i sigma(u) - alpha_i) = 0

whose left side rises at a rate between 1 and 1 + ‖x_i‖² c_i / 4: of rows that are not long, one Newton step is enough.
The balance t = sum_i alpha_i y_i and runs of rows in random order are as for the hinge, in `coordinate_descent`.

Where the penalty is mild, alphas hardly feel each other, and a sweep over the rows leaves a tenth of the gap. Where
they do feel each other, sweeps are slow without end, and another solver goes on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TypeAlias

import numpy as np

from separatrix._typing import Array, Floats
from separatrix.loops.csr_rows import csr_squares
from separatrix.loops.hinge_descent import LONG, SHORT
from separatrix.loops.logistic_descent import logistic_sweep
from separatrix.loops.rows import BUDGET, csr_arrays
from separatrix.problems.risk import Risk
from separatrix.solvers.coordinate_descent import STILL
from separatrix.solvers.driver import State

SLOW = 0.5  # of the gap is what a sweep must leave in the mean, or another solver goes on
LAST, LAST_FREE = 3, 6  # sweeps in this mean; more with a free intercept, which makes the gap jump when it moves
LIGHT = 0.02  # rho over the mean curvature of the dual in an alpha: see `coordinate_descent`
SEEN = 0.5  # of the gaps of the rows as a sweep met them: about the most that it leaves as a gap of the weights
TINY = float(np.finfo(np.float64).tiny)

Solver: TypeAlias = Callable[[Risk, Floats], Iterator[State]]


def logistic_descent(risk: Risk, within: Callable[[Floats, float], bool], otherwise: Solver) -> Iterator[State]:
    """A state after each sweep, from alpha = 0; when sweeps get slow, those of the solver ``otherwise`` from there.

    The rows' gaps, taken as a sweep comes to them, tell how long to expect the gradient to be. The gradient itself
    would cost a pass, and once it is ``within`` what is asked for, the caller looks at all rows anyway.
    """
    design, descent = risk.design, _Descent(risk)
    start = State(np.zeros((design.p, 1)), float(risk.weight.sum()) * math.log(2.0), np.full((1, 1), np.inf))
    yield start
    last = LAST_FREE if design.intercept else LAST
    gaps: list[float] = []
    while True:
        gaps.append(descent.sweep())
        V, value = descent.weights(), start.value
        gradient = np.full((1, 1), math.sqrt(2.0 * SEEN * gaps[-1]))
        if within(gradient, value):  # then it is worth knowing better what F is, and the best intercept
            value = descent.dual()
            if design.intercept and within(gradient, value):
                shift, cost = _shift(risk, V)
                V[-1] += shift
                gradient[:] = math.sqrt(2.0 * (SEEN * gaps[-1] + cost))
        yield State(V, value, gradient)
        if len(gaps) > last and not gaps[-1] <= SLOW**last * gaps[-1 - last]:  # so too if they overflow or are rounding
            break
    if not risk.value_and_gradient(V)[0] < start.value:
        V = start.V
    yield from islice(otherwise(risk, V), 1, None)


class _Descent:
    """Where the ascent of the dual stands: alpha and its log-odds u (in `_state`), w, b, and the balance t."""

    def __init__(self, risk: Risk) -> None:
        n, d, c = risk.design.n, risk.design.d, risk.weight
        self.y, self.c = 2.0 * risk.targets.values - 1.0, c
        data, indices, indptr = risk.design.lend(csr_arrays)
        squares = risk.design.lend(csr_squares)
        self._rows = indptr, indices, data, np.column_stack([self.y, c, squares])
        self._state, self.w = np.zeros((n, 2)), np.zeros(d)
        self.b = self.t = self._rho = 0.0
        self._free = risk.design.intercept
        if self._free:
            positive = float(c[self.y > 0].sum())
            self.b = math.log(positive / (float(c.sum()) - positive))
            self._rho = LIGHT * (float(squares.mean()) + 4.0 / float(c.mean()))  # 4 / c_i bends the entropy
        self._settled = self.b, self.t, self._rho  # b and t before b last moved, and at what rate it did
        self._run = max(1, min(SHORT if self._free else LONG, n // LONG))
        self._random = np.random.default_rng(0)

    def sweep(self) -> float:
        """All rows once, and b if t stands still; the gaps of the rows as they were met."""
        before = self.t
        order, sums, k = self._order(), np.array([0.0, before]), 0
        while k < len(order):
            k = logistic_sweep(*self._rows, order, k, len(order), self._rho, self.b, self._state, self.w, sums, BUDGET)
        gap, self.t = float(sums[0]), float(sums[1])
        if self._free and abs(self.t - before) <= STILL * abs(self.t):
            b, t, rate = self._settled
            secant = (b - self.b) / (self.t - t) if self.t != t else 0.0
            rate = min(max(secant, self._rho), 4.0 * rate)
            self._settled = self.b, self.t, rate
            self.b += rate * self.t
        return gap

    def weights(self) -> Floats:
        """w, and the intercept that the next row would see."""
        intercept = [self.b + self._rho * self.t] * self._free
        return np.concatenate([self.w, intercept])[:, None]

    def dual(self) -> float:
        """sum_i c_i log(1 + exp(u_i)) - alpha_i u_i, which are the entropies, minus 1/2 ‖w‖²; 0 if that is negative."""
        u, alpha = self._state.T
        entropy = float(self.c @ np.logaddexp(0.0, u) - alpha @ u)
        return max(0.0, entropy - 0.5 * float(self.w @ self.w))

    def _order(self) -> Array:
        """All rows, in runs of consecutive ones, which come in random order."""
        n, run = len(self.y), self._run
        starts = run * self._random.permutation(-(-n // run))
        order = (starts[:, None] + np.arange(run)).ravel()
        return order[order < n]


def _shift(risk: Risk, V: Floats) -> tuple[float, float]:
    """Newton's step s for the intercept alone, and the gap that it makes of rows without one: 1/2 s² sum_i c_i h_i."""
    values, scores = risk.targets.values, risk.design.dot(V)
    slope, curvature = risk.loss.pointwise(values, scores)[1][:, 0], risk.loss.own_curvature(values, scores)[:, 0]
    total = max(float(risk.weight @ curvature), TINY)
    shift = -float(risk.weight @ slope) / total
    return shift, 0.5 * shift**2 * total
