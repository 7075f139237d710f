"""The soft margin by stochastic gradient descent, a step for each row: for rows that come a few at a time."""

from __future__ import annotations

import numpy as np

from separatrix._typing import Floats
from separatrix.design.sample import Sample
from separatrix.loops.sgd import HINGE, SQUARED_HINGE
from separatrix.solvers.online import Rows
from separatrix.solvers.sgd import Points, shortened, steepest_point


def one_pass(sample: Sample, C: float, loss: str, W: Floats, number: int) -> None:
    """w <- w - eta d/dw [C c_i xi_i + 1/(2n) ‖w‖²] for each row in turn, from W (tasks, d + 1), in place.

    xi_i = max(0, 1 - y_i (w.x_i + b)), or its square. eta is 10 / (9 + number) / L, L = max_i C c_i s ‖(x_i, 1)‖² + 1/n
    with s = 1, or 2 for a square: no step moves the score of its own row by more than 1, or beyond its margin.
    """
    design, targets = sample.design, sample.targets
    rows, weight, kind = Rows(design), C * sample.weight, HINGE if loss == "hinge" else SQUARED_HINGE
    rate = shortened(number) / steepest_point(design, weight, 1.0 if kind == HINGE else 2.0, 1.0)
    for task in range(targets.tasks):
        codes = (targets.values == targets.positive(task)).astype(np.int64)
        points = Points(rows, codes, weight, 1.0, kind, False)
        points.one_pass(W[task : task + 1], rate, np.arange(design.n), np.empty((0, 1, design.d + 1)))
