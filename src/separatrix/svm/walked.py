"""Support vector machines by single moves of sequential minimal optimisation, each of them told: a fit for study.

The move is that of `loops.working_set`: of the points whose alpha y may rise, i with the largest residual F = y - f(x),
and of those that may fall the j with which it gains most; without an intercept, the one point that gains most. The hard
margin has no upper bounds on alpha. Nor has the squared hinge, whose dual is that of a hard margin with 1 / (2 C_i)
added to k(x_i, x_i).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix._typing import Floats, Integers
from separatrix.design import Design
from separatrix.errors import InvalidInputError
from separatrix.loops.working_set import optimised
from separatrix.outcome import Trace
from separatrix.solvers.soft_margin import balanced, best_intercept, best_squared_intercept, dual, gap
from separatrix.svm.choose import held_in_full

MOST_TOLD = 100_000  # moves of a machine, if max_iter is not given: a trace has the weights after each


@dataclass(frozen=True)
class Teller:
    """Writes one row of a trace for each move of a machine."""

    trace: Trace
    rows: Integers  # the positions of its points among those given
    n: int  # how many were given
    task: int | None  # the number of the machine, if there are several

    def __call__(self, moved: tuple[int, int], figures: dict[str, Any]) -> None:
        """Points of this machine that rose and fell (-1: none), and what there is to say after it."""
        head: dict[str, Any] = {} if self.task is None else {"task": self.task}
        point, other = (int(self.rows[i]) if i >= 0 else -1 for i in moved)
        self.trace.record(**head, step=figures.pop("step"), point=point, other=other, **figures)

    def spread(self, values: Floats) -> Floats:
        """A number for each point of this machine among those of all points given, which have 0."""
        whole = np.zeros(self.n)
        whole[self.rows] = values
        return whole


Describe = Callable[[Floats, float], dict[str, Any]]  # from alpha and b to the weights, by name
Measure = Callable[[Floats, Floats], tuple[dict[str, Any], bool]]  # from alpha and F to what is told; is it enough?


def walked(
    K: Floats, y: Floats, U: Floats, intercept: bool, most: int, tell: Teller, measure: Measure
) -> tuple[Floats, Floats, int]:
    """alpha, its residuals and the number of moves; from 0 until what is measured is enough, or ``most`` moves."""
    alpha, F, steps = np.zeros(len(y)), y.astype(np.float64), 0
    diagonal, moved = K.diagonal().copy(), (-1, -1)
    while True:
        figures, enough = measure(alpha, F)
        tell(moved, {"step": steps, **figures})
        if enough or steps >= most:
            return alpha, F, steps
        before = alpha.copy()
        optimised(K, diagonal, y, U, alpha, F, 0.0, 1, intercept)
        change = (alpha - before) * y
        if not change.any():  # rounding allows no more
            return alpha, F, steps
        up, down = int(np.argmax(change)), int(np.argmin(change))
        moved = (up if change[up] > 0 else down, down if change[up] > 0 and change[down] < 0 else -1)
        steps += 1


def of_hinge(y: Floats, U: Floats, intercept: bool, tol: float, scale: float, describe: Describe) -> Measure:
    """The objective of the soft margin and its gap, within tol of it at the end. K is over ``scale``, U times it."""

    def measure(alpha: Floats, F: Floats) -> tuple[dict[str, Any], bool]:
        b = best_intercept(F, y, U) if intercept else 0.0
        left, value = gap(alpha, F, y, U, b), dual(alpha, F, y)
        figures = {"objective": (value + left) / scale, "gap": left / scale, "mistakes": _mistakes(y - F + b, y)}
        return figures | describe(alpha, b), left <= tol * (value + left)

    return measure


def of_squared_hinge(y: Floats, C: Floats, intercept: bool, tol: float, describe: Describe) -> Measure:
    """The same of 1/2 ‖w‖² + sum_i C_i max(0, 1 - y_i f(x_i))², with 1 / (2 C_i) in the diagonal of K."""

    def measure(alpha: Floats, F: Floats) -> tuple[dict[str, Any], bool]:
        lacking = F + 0.5 * alpha * y / C  # y - f(x), where F counts the diagonal
        b = best_squared_intercept(lacking, y, C) if intercept else 0.0
        f = y - lacking
        slack = np.maximum(0.0, y * (lacking - b))
        primal, value = 0.5 * float((alpha * y) @ f) + float(C @ slack**2), dual(alpha, F, y)
        figures = {"objective": primal, "gap": primal - value, "mistakes": _mistakes(f + b, y)}
        return figures | describe(alpha, b), primal - value <= tol * primal

    return measure


def of_hard_margin(y: Floats, intercept: bool, tol: float, scale: float, describe: Describe) -> Measure:
    """The margin of w = sum_i alpha_i y_i phi(x_i), and ‖w‖ / sum_i alpha_i, which no margin is above."""

    def measure(alpha: Floats, F: Floats) -> tuple[dict[str, Any], bool]:
        f = y - F
        b = halfway(f, y, intercept)
        length, total = float(np.sqrt(max(float((alpha * y) @ f), 0.0))), float(alpha.sum())
        margin = float((y * (f + b)).min()) / length if length > 0 else 0.0  # nothing is a boundary yet
        bound = length / total if total > 0 else np.inf
        root = float(np.sqrt(scale))
        figures = {"margin": margin * root, "bound": bound * root, "mistakes": _mistakes(f + b, y)}
        return figures | describe(alpha, b), 0 < (1 - tol) * bound <= margin

    return measure


def halfway(f: Floats, y: Floats, intercept: bool) -> float:
    """The intercept that puts the boundary halfway between the classes; 0 if there is to be none."""
    return -0.5 * float(f[y > 0].min() + f[y < 0].max()) if intercept else 0.0


def _mistakes(f: Floats, y: Floats) -> int:
    return int(((f >= 0) != (y > 0)).sum())


def require_small(n: int) -> None:
    """Refuse a trace of more points than their kernel matrix is held for."""
    if not held_in_full(n):
        raise InvalidInputError(
            f"trace=True moves pairs of points one by one, which is for study: {n} points are too many. Leave it out.",
            "trace",
        )


def walked_linear(
    design: Design, y: Floats, bound: Floats | None, tol: float, most: int, tell: Teller, squared: bool = False
) -> tuple[Floats, int]:
    """The multipliers of a linear machine, in balance, and the number of moves; of a hard margin without a bound.

    Weights are recorded with the intercept last. Rows are taken about their mean if it is free: only b changes.
    """
    require_small(design.n)
    X, free = design.array(), design.intercept
    centre = X.mean(axis=0) if free else np.zeros(design.d)
    Z = X - centre
    K, U = Z @ Z.T, np.full(design.n, np.inf)

    def describe(alpha: Floats, b: float) -> dict[str, Any]:
        w = (alpha * y) @ Z
        return {"weights": np.append(w, b - centre @ w)}

    if bound is None:
        measure = of_hard_margin(y, free, tol, 1.0, describe)
    elif squared:
        K[np.diag_indices(design.n)] += 0.5 / bound
        measure = of_squared_hinge(y, bound, free, tol, describe)
    else:
        U, measure = bound, of_hinge(y, bound, free, tol, 1.0, describe)
    alpha, _, steps = walked(K, y, U, free, most, tell, measure)
    return balanced(alpha, y, U, free), steps
