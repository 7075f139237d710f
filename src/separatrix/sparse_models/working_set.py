"""Working sets: the columns that the optimum may need, a few more each time, until the dual point of all agrees.

The slopes X'R of all columns say which constraints |x_j.a| <= r of the dual are the closest to being violated: those
columns join the ones whose weights are not 0 (Johnson and Guestrin, 2015; Massias, Gramfort and Salmon, 2018).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.penalties import ElasticNet
from separatrix.sparse_models.columns import NARROW, Columns
from separatrix.sparse_models.newton import Point, descend, dual_value
from separatrix.sparse_models.smooth import ROUNDING, Smooth

FIRST = 64  # columns of the first working set, at least
WITHIN = 0.3  # of the target is what to reach on the working set
FULL, FULLER = 0.8, 4  # a working set of which more is in use than this share grows to so many times what is in use
STEPS = 50  # Newton steps on a working set, at most


@dataclass
class Solution:
    """Weights (K, d) about the anchor, intercepts (K, 1) there, the objective and a bound on what is missing."""

    w: Floats
    b: Floats
    value: float
    gap: float
    n_iter: int
    stalled: bool


def solve(
    columns: Columns, smooth: Smooth, penalty: ElasticNet, start: tuple[Floats, Floats], target: float, max_iter: int
) -> Solution:
    """min over (w, b) of the losses plus the penalty, until gap <= target * objective; ``max_iter`` Newton steps."""
    lengths = columns.lengths(smooth.u)
    w, b = start
    point = Point(w, b, columns.scores(w) + b if w.any() else np.repeat(b, columns.n, axis=1))
    n_iter, size, taken, before, ended = 0, FIRST, FIRST, np.inf, False
    while True:
        value, R, _ = point.expand(smooth, columns.free)
        G = columns.slopes(R)
        objective = value + penalty.value(w)
        gap = objective - dual_value(smooth, penalty, R, G, w)
        stalled = gap <= ROUNDING * objective or (ended and gap > 0.5 * before)
        if gap <= target * objective or n_iter >= max_iter or stalled:
            return Solution(w, point.b, objective, gap, n_iter, stalled and gap > target * objective)
        used = np.asarray(w.any(axis=0))
        count = int(np.count_nonzero(used))
        size = min(columns.d, max(size, (FULLER if count > FULL * taken else 2) * count))
        chosen = chosen_columns(penalty, np.abs(G).max(axis=0), used, lengths, size)
        size = min(columns.d, 2 * size if before <= 2.0 * gap else size)
        part = columns.take(chosen, smooth.K)
        point = Point(np.ascontiguousarray(w[:, chosen]), point.b, point.scores)
        goal = WITHIN * max(target * objective, min(gap, before) * 0.1 if len(chosen) < columns.d else 0.0)
        reached = descend(part, smooth, penalty, point, columns.free, goal, min(STEPS, max_iter - n_iter))
        w = np.zeros_like(w)
        w[:, chosen] = point.w
        n_iter += max(reached.steps, 1)
        taken, before, ended = len(chosen), gap, reached.stalled and len(chosen) == columns.d


def chosen_columns(penalty: ElasticNet, slopes: Floats, used: Array, lengths: Floats, size: int) -> Integers:
    """The columns in use, and those whose slopes |G_j| are the closest to making them used, in order."""
    d = len(slopes)
    if size >= d or d <= NARROW:
        return np.arange(d)
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.where(lengths > 0, (penalty.r - slopes) / lengths, np.inf)
    distance[used] = -np.inf
    return np.sort(np.argpartition(distance, size - 1)[:size])
