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
from separatrix.sparse_models.smooth import Smooth

EPS = float(np.finfo(np.float64).eps)
SUFFICIENT = 0.01  # of the decrease that the slopes promise
SHORTEST = 1e-10  # step that is tried
INEXACT = 1e-3  # of the gap that the last sweep of a model may gain, less if the gap is linear in what is violated
FALLING, PATIENCE = 0.7, 5  # steps that may leave more than this share of the gap, one after the other
ROUNDING = 4 * EPS  # of the objective that its differences are not known to
FLOOR = 1e-12  # of a row's weight that its curvature is taken to be at least, where the loss is flat


@dataclass
class Point:
    """Weights of some columns, the intercept, and the scores of all rows."""

    w: Floats
    b: float
    scores: Floats


@dataclass(frozen=True)
class Reached:
    """How far a point is from the best one on its columns: by a dual point, or as nothing more can be gained."""

    value: float
    gap: float
    steps: int
    stalled: bool


def dual_value(smooth: Smooth, penalty: ElasticNet, R: Floats, G: Floats, w: Floats) -> float:
    """What slopes R of the rows that sum to 0, X'R = G, prove: the better one of two multiples; at least 0."""
    with np.errstate(divide="ignore"):
        held = float(np.min(penalty.room(w) / np.abs(G), initial=1.0))
    found = smooth.dual(R, held) - (penalty.conjugate(held * (1.0 - 4 * EPS) * G) if penalty.ridge > 0 else 0.0)
    if penalty.ridge > 0 and held < 1.0:
        found = max(found, smooth.dual(R, 1.0) - penalty.conjugate(G))
    return max(found, 0.0)


def descend(
    part: Part, smooth: Smooth, penalty: ElasticNet, point: Point, free: bool, goal: float, most: int
) -> Reached:
    """Newton steps, in place, until the gap on these columns is within the goal, or there were ``most``."""
    steps, stale, best = 0, 0, np.inf
    while True:
        value, R, h = _expanded(smooth, point, free)
        objective = value + penalty.value(point.w)
        G = part.slopes(R)
        gap = objective - dual_value(smooth, penalty, R, G, point.w)
        if gap <= goal or steps >= most:
            return Reached(objective, gap, steps, False)
        stale = 0 if gap <= FALLING * best else stale + 1
        if gap <= ROUNDING * objective or stale > PATIENCE:
            return Reached(objective, gap, steps, True)
        best = min(best, gap)
        steps += 1
        model = part.model(np.maximum(h, FLOOR * smooth.u))
        w = model.solve(G, point.w, penalty, INEXACT * gap * max(gap / objective, penalty.ridge))
        change = w - point.w
        level = model.level(change) if free else 0.0
        along = part.scores(change) + level
        promised = float(G @ change) + penalty.value(w) - penalty.value(point.w)
        t = _step(smooth, penalty, point, change, along, objective, promised)
        if t == 0.0:
            return Reached(objective, gap, steps, True)
        point.w = w if t == 1.0 else point.w + t * change
        point.b += t * level
        point.scores = point.scores + t * along


def _expanded(smooth: Smooth, point: Point, free: bool) -> tuple[float, Floats, Floats]:
    """The losses at the point, with its intercept at its best."""
    if not free:
        return smooth.expand(point.scores)
    shift, value, R, h = smooth.centred(point.scores)
    point.b += shift
    point.scores = point.scores + shift
    return value, R, h


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
