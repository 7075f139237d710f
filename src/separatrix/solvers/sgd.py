"""Stochastic gradient descent, one point at a time: w <- w - eta d/dw [C c_i loss(y_i, w.x_i + b) + 1/(2n) ‖w‖²].

The n terms in brackets add up to the objective. With e = t - p, the error of the probability p = sigma(w.x + b), the
step is eta C c_i e x_i for log, and eta C c_i 2 e p (1 - p) x_i for squared_error. Two classes are a loop of
`loops.sgd`, which has hinges as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.design import Design
from separatrix.design.block import row_squares
from separatrix.loops.rows import BUDGET
from separatrix.loops.sgd import sgd_csr, sgd_dense
from separatrix.solvers.online import Rows

DECAY = 10  # passes after which the step has halved


def shortened(number: int) -> float:
    """What the step of the pass of this number, from 1 on, is of that of the first."""
    return DECAY / (DECAY - 1 + number)


@dataclass(frozen=True)
class Points:
    """The rows to draw from, their targets t_i and the weights C c_i of their losses."""

    rows: Rows
    codes: Array  # 0 or 1 for two classes, else the number of the class
    weight: Floats  # C c_i
    ridge: float  # 1 with a penalty, else 0
    loss: int  # which it is: see `loops.sgd`; of more than two classes, the logarithm of the softmax
    frozen: bool  # whether the last of several classes keeps its weights 0

    def one_pass(self, W: Floats, rate: float, order: Integers, history: Floats) -> None:
        """Take the points in this order, and change W (k, d + 1) in place; FloatingPointError if a score overflows.

        `history` (len(order), k, d + 1), or of length 0, is filled with the weights after each point.
        """
        keep = 1.0 - rate * self.ridge / self.rows.n
        if not keep > 0:
            raise FloatingPointError("the penalty turns the weights round at every step")
        seen = (self._two_classes if len(W) == 1 else self._several)(W, rate, order, keep, history)
        if seen < len(order) or not np.isfinite(W).all():
            raise FloatingPointError(f"the score of row {order[min(seen, len(order) - 1)]} is not finite")

    def _two_classes(self, W: Floats, rate: float, order: Integers, keep: float, history: Floats) -> int:
        rows, end, t, common = self.rows, len(order), 0, np.ones(1)
        step, target = rate * self.weight, self.codes.astype(np.float64)
        w, past = W[0], history[:, 0] if len(history) else None
        loop: Any = sgd_csr if rows.sparse else sgd_dense
        factor = (common,) if rows.sparse else ()
        while 0 <= t < end:
            t = loop(
                *rows.arrays, rows.d, rows.one, order, t, end, target, step, keep, self.loss, w, *factor, past,
                BUDGET,
            )  # fmt: skip
        w[: rows.d] *= common[0]
        return t if t >= 0 else -1 - t

    def _several(self, W: Floats, rate: float, order: Integers, keep: float, history: Floats) -> int:
        """W <- W + eta C c_i (Y_i - P_i) (x_i, 1)', P_i = softmax(W (x_i, 1)), as NumPy does it."""
        d, free = self.rows.d, slice(None, -1) if self.frozen else slice(None)
        for t, i in enumerate(order):
            columns, x = self._row(int(i))
            with np.errstate(over="ignore", invalid="ignore"):
                scores = W[:, columns] @ x + self.rows.one * W[:, d]
                if not np.isfinite(scores).all():
                    return t
                P = np.exp(scores - scores.max())
                change = -rate * self.weight[i] * P / P.sum()
                change[self.codes[i]] += rate * self.weight[i]
                W[free, :d] *= keep
                W[free, columns] += np.outer(change[free], x)
                W[free, d] += self.rows.one * change[free]
            if len(history):
                history[t] = W
        return len(order)

    def _row(self, i: int) -> tuple[Any, Floats]:
        """Which columns row i has entries in, and the entries."""
        if not self.rows.sparse:
            return slice(0, self.rows.d), self.rows.arrays[0][i].astype(np.float64)
        data, indices, indptr = self.rows.arrays
        entries = slice(indptr[i], indptr[i + 1])
        return indices[entries].astype(np.intp), data[entries].astype(np.float64)


def steepest_point(design: Design, weight: Floats, steepest: float, ridge: float) -> float:
    """max_i C c_i steepest ‖(x_i, 1)‖² + ridge / n: the largest curvature of a single point's term."""
    (squares,) = design.rows(row_squares)
    return steepest * float((weight * (squares + design.intercept)).max()) + ridge / design.n
