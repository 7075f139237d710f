"""Stochastic gradient descent, one point at a time: w <- w - eta d/dw [C c_i loss(y_i, w.x_i + b) + 1/(2n) ‖w‖²].

The n terms in brackets add up to the objective. With e = t - p, the error of the probability p = sigma(w.x + b), the
step is eta C c_i e x_i for log, and eta C c_i 2 e p (1 - p) x_i for squared_error. The loop is written for dense rows
and for CSR rows; it runs compiled, or, while there is little work, by Python on lists.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import Any

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.compiled import Loop, compiled
from separatrix.design import Block, Design
from separatrix.design.base import Parts
from separatrix.learners.online import ELEMENTS, LIST_ENTRIES, Rows

SMALLEST = 1e-100  # a common factor of the weights below this is multiplied in


def sgd_dense(
    x: Any, one: Any, order: Any, target: Any, step: Any, keep: Any, squared: Any, w: Any, history: Any
) -> Any:
    """The points of ``order`` among the dense rows x; see `Points.one_pass`."""
    d = len(w) - 1
    for t in range(len(order)):
        i = order[t]
        row = x[i]
        score = one * w[d]
        for j in range(d):
            score += row[j] * w[j]
        if not abs(score) < np.inf:
            return t
        small = exp(-abs(score))
        p = 1.0 / (1.0 + small) if score >= 0.0 else small / (1.0 + small)
        change = step[i] * (target[i] - p)
        if squared:
            change *= 2.0 * small / (1.0 + small) ** 2
        for j in range(d):
            w[j] = keep * w[j] + change * row[j]
        w[d] += change * one
        if len(history) > 0:
            for j in range(d + 1):
                history[t, j] = w[j]
    return len(order)


def sgd_csr(
    data: Any, indices: Any, indptr: Any, one: Any, order: Any, target: Any, step: Any, keep: Any, squared: Any, w: Any,
    history: Any,
) -> Any:  # fmt: skip
    """The points of ``order`` among the CSR rows; the weights are held as a common factor times w."""
    d = len(w) - 1
    factor = 1.0
    for t in range(len(order)):
        i = order[t]
        first, last = indptr[i], indptr[i + 1]
        score = 0.0
        for k in range(first, last):
            score += data[k] * w[indices[k]]
        score = factor * score + one * w[d]
        if not abs(score) < np.inf:
            return t
        small = exp(-abs(score))
        p = 1.0 / (1.0 + small) if score >= 0.0 else small / (1.0 + small)
        change = step[i] * (target[i] - p)
        if squared:
            change *= 2.0 * small / (1.0 + small) ** 2
        factor *= keep
        if factor < SMALLEST:
            for j in range(d):
                w[j] *= factor
            factor = 1.0
        for k in range(first, last):
            w[indices[k]] += change / factor * data[k]
        w[d] += change * one
        if len(history) > 0:
            for j in range(d):
                history[t, j] = factor * w[j]
            history[t, d] = w[d]
    for j in range(d):
        w[j] *= factor
    return len(order)


@dataclass(frozen=True)
class Points:
    """The rows to draw from, their targets t_i and the weights C c_i of their losses.

    Parameters
    ----------
    rows : Rows
    codes : array of shape (n,)
        0 or 1 for two classes, else the number of the class.
    weight : array of shape (n,)
        C c_i.
    ridge : float
        1 with a penalty, else 0.
    squared : bool
        Whether the loss is the squared error.
    frozen : bool
        Whether the last of several classes keeps its weights 0.
    """

    rows: Rows
    codes: Array
    weight: Floats
    ridge: float
    squared: bool
    frozen: bool

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
        rows = self.rows
        loop: Loop = sgd_csr if rows.sparse else sgd_dense
        work = (rows.arrays[0].size / rows.n + 10) * len(order) / ELEMENTS
        step, target, past = rate * self.weight, self.codes.astype(np.float64), history[:, 0]
        if rows.arrays[0].size > LIST_ENTRIES or rows.effort.pays(work):
            run = compiled(loop, np.inf)
            return int(run(*rows.arrays, rows.one, order, target, step, keep, self.squared, W[0], past))
        w = W[0].tolist()
        plain = (order.tolist(), target.tolist(), step.tolist())
        seen = int(loop(*rows._lists, rows.one, *plain, keep, self.squared, w, past))
        W[0] = w
        return seen

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
    largest: list[float] = []

    def sweep(block: Block, c: Floats) -> Parts:
        x = block.x
        squares = x.multiply(x).sum(axis=1) if hasattr(x, "multiply") else (x * x).sum(axis=1)
        largest.append(float((c * (squares + design.intercept)).max()))
        return ()

    design.reduce(sweep, weight)
    return steepest * max(largest) + ridge / design.n
