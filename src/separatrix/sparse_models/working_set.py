"""Working sets: the columns that the optimum may need, a few more each time, until the dual point of all agrees.

The slopes X'R of all columns say which constraints |x_j.a| <= r of the dual are the closest to being violated: those
columns join the ones whose weights are not 0 (Johnson and Guestrin, 2015; Massias, Gramfort and Salmon, 2018).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix._typing import Floats, Integers
from separatrix.penalties import ElasticNet
from separatrix.sparse_models.columns import NARROW, Columns
from separatrix.sparse_models.newton import ROUNDING, Point, descend, dual_value
from separatrix.sparse_models.smooth import Smooth

FIRST = 64  # columns of the first working set, at least
WITHIN = 0.3  # of the gap on all columns, or of the target, is what to reach on the working set
STEPS = 50  # Newton steps on a working set, at most


@dataclass
class Solution:
    """Weights of all columns about the anchor, the intercept there, the objective and a bound on what is missing."""

    w: Floats
    b: float
    value: float
    gap: float
    n_iter: int
    stalled: bool


def solve(
    columns: Columns, smooth: Smooth, penalty: ElasticNet, start: tuple[Floats, float], target: float, max_iter: int
) -> Solution:
    """min over (w, b) of the losses plus the penalty, until gap <= target * objective; ``max_iter`` Newton steps."""
    lengths = columns.lengths(smooth.u)
    w, b = start[0].copy(), start[1]
    free = columns.free
    scores = columns.scores(w) + b if w.any() else np.full(columns.n, b)
    found = Solution(w, b, np.inf, np.inf, 0, False)
    size, before = FIRST, np.inf
    while True:
        if free:
            shift, value, R, _ = smooth.centred(scores)
            b, scores = b + shift, scores + shift
        else:
            value, R, _ = smooth.expand(scores)
        G = columns.slopes(R)
        objective = value + penalty.value(w)
        gap = objective - dual_value(smooth, penalty, R, G, w)
        found = Solution(w, b, objective, gap, found.n_iter, False)
        if gap <= target * objective or found.n_iter >= max_iter:
            return found
        if gap <= ROUNDING * objective or (before <= gap and size >= columns.d):
            found.stalled = True
            return found
        size = min(columns.d, max(size, 2 * np.count_nonzero(w)))
        chosen = _chosen(columns, penalty, G, w, lengths, size)
        size = min(columns.d, 2 * size if before <= 0.5 * gap else size)
        part = columns.take(chosen)
        point = Point(w[chosen], b, scores)
        goal = WITHIN * max(target * objective, min(gap, before) * 0.1 if len(chosen) < columns.d else 0.0)
        reached = descend(part, smooth, penalty, point, free, goal, min(STEPS, max_iter - found.n_iter))
        w = w.copy()
        w[chosen] = point.w
        b, scores = point.b, point.scores
        found.n_iter += max(reached.steps, 1)
        before = gap


def _chosen(
    columns: Columns, penalty: ElasticNet, G: Floats, w: Floats, lengths: Floats, size: int
) -> Integers:
    """The columns in use, and those whose slopes are the closest to making them used, in order."""
    if size >= columns.d or columns.d <= NARROW:
        return np.arange(columns.d)
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.where(lengths > 0, (penalty.r - np.abs(G)) / lengths, np.inf)
    distance[w != 0] = -np.inf
    return np.sort(np.argpartition(distance, size - 1)[:size])
