"""Proximal Newton steps: coordinate descent on a quadratic model of the loss, plus the penalty as it is.

    w+ = argmin over w of  G.(w - w0) + 1/2 (w - w0)'H(w - w0) + r ‖w‖₁ + (1 - r)/2 ‖w‖²

with the intercept at its best for each w; then a step that lowers the objective itself (Lee, Sun and Saunders, 2014).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix._typing import Floats
from separatrix.penalties import ElasticNet
from separatrix.sparse_models.columns import Part
from separatrix.sparse_models.smooth import EPS, ROUNDING, Smooth

SUFFICIENT = 0.01  # of the decrease that the slopes promise
SHORTEST = 1e-10  # step that is tried
INEXACT = 1e-3  # of the gap that the last sweep of a model may gain
FALLING, PATIENCE = 0.7, 5  # steps that may leave more than this share of the gap, one after the other,
WORTH = 1e-3  # of which lower the objective by less than this share of it
FAR, LONGER = 1e-6, 30  # of the objective is more gap than rounding leaves: there, so many such steps
BENT = 0.1  # of the curvature that may have changed since a dear model was made, for it to be used again,
SLOW = 0.25  # of the gap being left by the last step at most


@dataclass
class Point:
    """Weights (K, m) of some columns, intercepts (K, 1), and the scores (K, n) of all rows."""

    w: Floats
    b: Floats
    scores: Floats

    def expand(self, smooth: Smooth, free: bool) -> tuple[float, Floats, Floats]:
        """The losses here, with their slopes and bends, once the intercepts are at their best."""
        if not free:
            return smooth.expand(self.scores)
        shift, value, R, bends = smooth.centred(self.scores)
        self.b, self.scores = self.b + shift, self.scores + shift
        return value, R, bends


@dataclass(frozen=True)
class Reached:
    """How far a point is from the best one on its columns, and whether rounding allows no better."""

    gap: float
    steps: int
    stalled: bool


def dual_value(smooth: Smooth, penalty: ElasticNet, R: Floats, G: Floats, w: Floats) -> float:
    """What slopes R of the rows that sum to 0, of the moments G, prove: the better one of two multiples; at least 0."""
    with np.errstate(all="ignore"):
        held = float(np.min(penalty.room(w) / np.abs(G), initial=1.0))
    found = smooth.dual(R, held) - (penalty.conjugate(held * (1.0 - 4 * EPS) * G) if penalty.ridge > 0 else 0.0)
    if penalty.ridge > 0 and held < 1.0:
        found = max(found, smooth.dual(R, 1.0) - penalty.conjugate(G))
    return max(found, 0.0)


def descend(
    part: Part, smooth: Smooth, penalty: ElasticNet, point: Point, free: bool, goal: float, most: int
) -> Reached:
    """Newton steps, in place, until the gap on these columns is within the goal, or there were ``most``."""
    steps, stale, best, lowest = 0, 0, np.inf, np.inf
    model, seen, before = None, np.zeros(1), np.inf
    while True:
        if smooth.K > 1:  # what all classes have in common changes the penalty alone, and the scores not in effect
            common = penalty.shared(point.w) - point.w
            if common.any():
                point.w = point.w + common
                point.scores = point.scores + part.scores(common)
        value, R, bends = point.expand(smooth, free)
        objective = value + penalty.value(point.w)
        G = part.slopes(R)
        gap = objective - dual_value(smooth, penalty, R, G, point.w)
        if gap <= goal or steps >= most:
            return Reached(gap, steps, False)
        stale = 0 if gap <= FALLING * best or lowest - objective > WORTH * gap else stale + 1
        if gap <= ROUNDING * objective or stale > (LONGER if gap > FAR * objective else PATIENCE):
            return Reached(gap, steps, True)
        best, lowest = min(best, gap), min(lowest, objective)
        steps += 1
        if model is None or not part.dear or gap > SLOW * before or smooth.moved(bends, seen) > BENT:
            model, seen = part.model(smooth, bends), bends
        before = gap
        w = model.solve(G, point.w, penalty, INEXACT * gap)
        change = w - point.w
        levels = model.levels(change)
        along = part.scores(change) + levels
        promised = float(np.vdot(G, change)) + penalty.value(w) - penalty.value(point.w)
        t = _step(smooth, penalty, point, change, along, objective, promised)
        if t == 0.0:
            return Reached(gap, steps, True)
        point.w = w if t == 1.0 else point.w + t * change
        point.b = point.b + t * levels
        point.scores = point.scores + t * along


def _step(
    smooth: Smooth, penalty: ElasticNet, point: Point, change: Floats, along: Floats, objective: float, promised: float
) -> float:
    """A step length that gains a share of what is promised; 0 if none does."""
    t = 1.0
    if abs(promised) <= ROUNDING * abs(objective):  # the objective cannot tell, but slopes may still get closer to 0
        return t
    while t > SHORTEST:
        there = smooth.value(point.scores + t * along) + penalty.value(point.w + t * change)
        if there <= objective + SUFFICIENT * t * promised + ROUNDING * abs(objective):
            return t
        t *= 0.5
    return 0.0
