"""Sparse models for every C of an interval, each within tol of its optimum: see `certificates.path_gap`.

A C is fitted from where the last one ended, as far along as the bound between the two allows; where that was too far,
the fit is kept for later and one in between comes first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix._typing import Floats
from separatrix.certificates import PathGap
from separatrix.certificates._data import Data
from separatrix.certificates._frame import Frame
from separatrix.certificates.path_gap import Located, Point, between, cut, located, worst_gaps
from separatrix.design import Design
from separatrix.penalties import ElasticNet
from separatrix.solvers.claims import ROUNDED
from separatrix.sparse_models.columns import Columns
from separatrix.sparse_models.fit import losses_of
from separatrix.sparse_models.working_set import Known, Solution, solve
from separatrix.targets import Targets

PARTS = 4  # that the way from a C to the next is cut into: see `PathGap`
AT_A_NODE = 0.1  # of tol is the gap of a C that is fitted
BETWEEN = 0.8  # of tol is the gap to aim at between two of them
FIRST = 0.1  # of C is the first step
CLOSEST = 1e-9  # relative distance of neighbours below which there is no point in another between them


@dataclass(frozen=True)
class Node:
    """A C with its weights (K, d + 1), the intercept last, both sides with where they were taken, and how it ended."""

    C: float
    weights: Floats
    sides: Located
    end: Solution


@dataclass(frozen=True)
class Task:
    """What a path is traced of."""

    design: Design
    targets: Targets
    weight: Floats
    l1_ratio: float
    tol: float
    max_iter: int


def strongest(task: Task) -> float:
    """lambda_max = max_j |sum_i c_i (p0 - t_i) x_ij| at the best intercept: up to C = l1_ratio / lambda_max, w is 0."""
    columns = Columns(task.design)
    smooth = losses_of(task.targets, task.weight, "log", 1)
    scores = np.zeros((smooth.K, task.design.n))
    R = smooth.centred(scores)[2] if task.design.intercept else smooth.expand(scores)[1]
    return float(np.abs(columns.slopes(R)).max())


def traced(task: Task, C_min: float, C_max: float) -> tuple[PathGap, int]:
    """The path from C_min to C_max, and how many Newton steps it took."""
    walk = Walk(task)
    last, step = walk.node(C_min, None), FIRST
    ahead: list[Node] = []
    C, weights, points = [last.C], [last.weights], [last.sides.point]
    while C_max > last.C:
        if not ahead:
            next_C = last.C * (1.0 + step)
            ahead.append(walk.node(next_C if C_max * (1.0 - 0.1 * step) > next_C else C_max, last))
        following = ahead[-1]
        way = walk.between(last, following)
        reached = worst_of(cut([last.C, following.C], PARTS), way)
        room = max(BETWEEN - AT_A_NODE, 0.0) * task.tol / max(reached - AT_A_NODE * task.tol, 1e-300)
        factor = float(np.clip(np.sqrt(room), 0.2, 1.5))
        width = following.C / last.C - 1.0
        spent = walk.n_iter >= task.max_iter  # no steps are left: to the end as it is
        helpless = width <= CLOSEST or max(own_gap(last), own_gap(following)) > BETWEEN * task.tol
        if reached <= task.tol or spent or helpless:  # more of them between these two would not help
            C.append(following.C)
            weights.append(following.weights)
            points += way[1:]
            step = factor * width if reached <= task.tol else np.inf if spent else FIRST
            last = ahead.pop()
        else:
            ahead.append(walk.node(last.C * (1.0 + min(factor, 0.7) * width), last))
    return walk.certificate(C, weights, points), walk.n_iter


def worst_of(C: Floats, points: list[Point]) -> float:
    """The largest relative gap between neighbours."""
    return float(worst_gaps(C, *stated(points)).max())


def stated(points: list[Point]) -> tuple[Floats, Floats, Floats]:
    """Objectives rounded up, lower bounds rounded down, and the sums of the losses."""
    primal = np.array([point.primal + ROUNDED * point.primal_error for point in points])
    dual = np.array([point.dual - ROUNDED * point.dual_error for point in points])
    return primal, np.clip(dual, 0.0, primal), np.array([point.losses for point in points])


def own_gap(node: Node) -> float:
    """The relative gap of a C that was fitted."""
    primal, dual, _ = stated([node.sides.point])
    return float((primal[0] - dual[0]) / primal[0]) if primal[0] > 0 else 0.0


class Walk:
    """Fits of one C after another."""

    def __init__(self, task: Task) -> None:
        self.task, self.n_iter = task, 0
        self._columns, self._penalty = Columns(task.design), ElasticNet(task.l1_ratio)
        self._data = task.design.lend(Data, task.targets.values, task.weight)
        self._frame = Frame(self._data, task.design.intercept, several=True)

    def node(self, C: float, last: Node | None) -> Node:
        """The fit of C, from where the last one ended."""
        if last is None:
            K = 1 if self.task.targets.n_classes == 2 else self.task.targets.n_classes
            return self._fitted(C, (np.zeros((K, self.task.design.d)), np.zeros((K, 1))), None)
        known = Known(last.end.known.scores, last.sides.ends.moments).of_times(C / last.C)
        node = self._fitted(C, (last.end.w, last.end.b), known)
        if not own_gap(node) <= AT_A_NODE * self.task.tol:  # other columns are needed too
            node = self._fitted(C, (node.end.w, node.end.b), None)
        return node

    def _fitted(self, C: float, start: tuple[Floats, Floats], known: Known | None) -> Node:
        """The fit of C from a start, and what it proves."""
        task, design = self.task, self.task.design
        smooth = losses_of(task.targets, C * task.weight, "log", 1)
        target, most = 0.7 * AT_A_NODE * task.tol, max(task.max_iter - self.n_iter, 0)
        found = solve(self._columns, smooth, self._penalty, start, target, most, known, near=known is not None)
        self.n_iter += found.n_iter
        coef, intercept = self._columns.design.user_units(np.vstack([found.w.T, found.b.T])[: design.p])
        weights, unknown = np.column_stack([coef, intercept]), np.full(1, np.nan)
        claim = self._claim([C], [weights], (unknown, unknown, unknown)).part(0)
        with np.errstate(all="ignore"):
            return Node(C, weights, located(self._data, claim, self._frame), found)

    def between(self, first: Node, last: Node) -> list[Point]:
        """Both sides at two neighbours, and at their mixtures."""
        with np.errstate(all="ignore"):
            return [first.sides.point, *between(self._data, first.sides, last.sides, PARTS), last.sides.point]

    def certificate(self, C: list[float], weights: list[Floats], points: list[Point]) -> PathGap:
        """What the points prove, if that is as much as was asked for."""
        return self._claim(C, weights, stated(points))

    def _claim(self, C: list[float], weights: list[Floats], sides: tuple[Floats, Floats, Floats]) -> PathGap:
        task, W = self.task, np.array(weights)
        primal, dual, losses = sides
        return PathGap(
            C=np.array(C),
            l1_ratio=task.l1_ratio,
            classes=task.targets.classes,
            coef=W[:, :, :-1].reshape(-1, task.design.d),
            intercept=W[:, :, -1],
            fit_intercept=task.design.intercept,
            primal=primal,
            dual=dual,
            losses=losses,
            tol=task.tol,
        )
