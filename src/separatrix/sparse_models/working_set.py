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
STEEP = 2  # or, of sparse columns, one of so many whose slopes are beyond r at first
WITHIN = 0.3  # of the target is what to reach on the working set
EARLY = 0.5  # of the gap is what to reach while columns may be missing, if that is more
STEPS = 50  # Newton steps on a working set, at most


@dataclass
class Solution:
    """Weights (K, d) about the anchor, intercepts (K, 1) there, the objective and a bound on what is missing.

    ``known`` has the scores of these weights, and the slopes that were computed last.
    """

    w: Floats
    b: Floats
    value: float
    gap: float
    n_iter: int
    stalled: bool
    known: Known


@dataclass(frozen=True)
class Known:
    """The scores of all rows (K, n) and the slopes of all columns (K, d), of the weights that go with them."""

    scores: Floats
    slopes: Floats

    def of_times(self, factor: float) -> Known:
        """The same for losses so many times as large."""
        return Known(self.scores, factor * self.slopes)


def solve(
    columns: Columns,
    smooth: Smooth,
    penalty: ElasticNet,
    start: tuple[Floats, Floats],
    target: float,
    max_iter: int,
    known: Known | None = None,
    near: bool = False,
) -> Solution:
    """min over (w, b) of the losses plus the penalty, until gap <= target * objective; ``max_iter`` Newton steps.

    What is known of the start saves two passes, and of one near the optimum all: its slopes tell which columns are
    needed, and the weights found on these are returned as they are, for the caller to check.
    """
    lengths = columns.lengths(smooth.u)
    w, b = start
    if known is not None:
        scores = known.scores
    else:
        w, b, scores = begun(columns, smooth, penalty, w, b)
    point = Point(w, b, scores)
    n_iter, size, before, ended, most = 0, FIRST, np.inf, False, columns.at_once(smooth.K)
    while True:
        value, R, _ = point.expand(smooth, columns.free)
        G = columns.slopes(R) if known is None else known.slopes
        known = None
        objective = value + penalty.value(w)
        gap = objective - dual_value(smooth, penalty, R, G, w)
        del R, _  # of all rows, and not needed while others like them are made
        stalled = gap <= ROUNDING * objective or (ended and gap > 0.5 * before)
        if gap <= target * objective or n_iter >= max_iter or stalled:
            ended = stalled and gap > target * objective
            return Solution(w, point.b, objective, gap, n_iter, ended, Known(point.scores, G))
        steep = np.abs(G).max(axis=0)
        if before == np.inf and columns.design.sparse:
            size = max(FIRST, int(np.count_nonzero(steep > penalty.r)) // STEEP)
        used = np.asarray(w.any(axis=0))
        count = int(np.count_nonzero(used))
        size = min(most, max(size, 2 * count))
        size = max(size, min(count + 1, columns.d))  # all in use and not enough: more than `most`, which is refused
        chosen = columns.widened(chosen_columns(penalty, steep, used, lengths, size))
        size = min(most, 2 * size if before <= 2.0 * gap else size)
        part = columns.take(chosen, smooth.K)
        point = Point(np.ascontiguousarray(w[:, chosen]), point.b, point.scores)
        missing = not near and len(chosen) < columns.d
        goal = WITHIN * max(target * objective, min(gap, before) * EARLY if missing else 0.0)
        reached = descend(part, smooth, penalty, point, columns.free, goal, min(STEPS, max_iter - n_iter))
        w = np.zeros_like(w)
        w[:, chosen] = point.w
        n_iter += max(reached.steps, 1)
        if near:
            return Solution(w, point.b, objective, reached.gap, n_iter, False, Known(point.scores, G))
        before, ended = gap, reached.stalled and len(chosen) == columns.d


def begun(columns: Columns, smooth: Smooth, penalty: ElasticNet, w: Floats, b: Floats) -> tuple[Floats, Floats, Floats]:
    """The start with its scores; weights of 0 if it is worse than these, or no numbers."""
    zero = np.zeros((smooth.K, columns.n))
    if not (w.any() or b.any()):
        return w, b, zero
    with np.errstate(all="ignore"):
        scores = columns.scores(w) + b if w.any() else zero + b
        better = smooth.value(scores) + penalty.value(w) <= smooth.value(zero)
    return (w, b, scores) if better else (np.zeros_like(w), np.zeros_like(b), zero)


def chosen_columns(penalty: ElasticNet, slopes: Floats, used: Array, lengths: Floats, size: int) -> Integers:
    """The columns in use, and those whose slopes |G_j| are the closest to making them used, in order."""
    d = len(slopes)
    if size >= d or d <= NARROW:
        return np.arange(d)
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.where(lengths > 0, (penalty.r - slopes) / lengths, np.inf)
    distance[used] = -np.inf
    return np.sort(np.argpartition(distance, size - 1)[:size])
