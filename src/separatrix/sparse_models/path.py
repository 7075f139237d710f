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
from separatrix.certificates._elastic_net import both_sides
from separatrix.certificates.elastic_net_gap import ElasticNetGap
from separatrix.certificates.path_gap import worst_gaps
from separatrix.design import Design
from separatrix.penalties import ElasticNet
from separatrix.sparse_models.columns import Columns
from separatrix.sparse_models.fit import ROUNDED, losses_of
from separatrix.sparse_models.working_set import solve
from separatrix.targets import Targets

AT_A_NODE = 0.1  # of tol is the gap of a C that is fitted
BETWEEN = 0.8  # of tol is the gap to aim at between two of them
FIRST = 0.1  # of C is the first step
CLOSEST = 1e-9  # relative distance of neighbours below which there is no point in another between them


@dataclass(frozen=True)
class Node:
    """A C with its weights (K, d + 1), the intercept last, the objective, a bound on its minimum, and the losses."""

    C: float
    weights: Floats
    primal: float
    dual: float
    losses: float


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
    ahead: list[Node] = []
    nodes, step = [walk.node(C_min, None)], FIRST
    while C_max > nodes[-1].C:
        last = nodes[-1]
        if not ahead:
            C = last.C * (1.0 + step)
            ahead.append(walk.node(C if C_max * (1.0 - 0.1 * step) > C else C_max, last))
        following = ahead[-1]
        reached = gap_of(last, following)
        room = max(BETWEEN * task.tol - AT_A_NODE * task.tol, 0.0) / max(reached - AT_A_NODE * task.tol, 1e-300)
        factor = float(np.clip(np.sqrt(room), 0.2, 1.5))
        width = following.C / last.C - 1.0
        if walk.n_iter >= task.max_iter:  # no steps are left: the end as it is
            nodes += [*ahead[::-1], *([walk.node(C_max, last)] if C_max > ahead[0].C else [])]
        elif reached <= task.tol:
            nodes.append(ahead.pop())
            step = factor * width
        elif width <= CLOSEST or max(own_gap(last), own_gap(following)) > BETWEEN * task.tol:
            nodes.append(ahead.pop())  # more of them between these two would not help
            step = FIRST
        else:
            ahead.append(walk.node(last.C * (1.0 + min(factor, 0.7) * width), last))
    return walk.certificate(nodes), walk.n_iter


def gap_of(first: Node, last: Node) -> float:
    """The largest relative gap between two neighbours."""
    columns = ([getattr(node, name) for node in (first, last)] for name in ("C", "primal", "dual", "losses"))
    return float(worst_gaps(*columns)[0])


def own_gap(node: Node) -> float:
    """The relative gap of a C that was fitted."""
    return (node.primal - node.dual) / node.primal if node.primal > node.dual else 0.0


class Walk:
    """Fits of one C after another."""

    def __init__(self, task: Task) -> None:
        self.task, self.n_iter = task, 0
        self._columns, self._penalty = Columns(task.design), ElasticNet(task.l1_ratio)
        self._data = task.design.lend(Data, task.targets.values, task.weight)

    def node(self, C: float, last: Node | None) -> Node:
        """The fit of C, from where the last one ended."""
        task, design = self.task, self.task.design
        smooth = losses_of(task.targets, C * task.weight, "log", 1)
        w, b = np.zeros((smooth.K, design.d)), np.zeros((smooth.K, 1))
        if last is not None:
            V = self._columns.design.from_user_units(last.weights[:, :-1], last.weights[:, -1])
            w, b = np.ascontiguousarray(V[: design.d].T), V[design.d :].T if design.intercept else b
        target, most = 0.7 * AT_A_NODE * task.tol, max(task.max_iter - self.n_iter, 0)
        found = solve(self._columns, smooth, self._penalty, (w, b), target, most)
        self.n_iter += found.n_iter
        coef, intercept = self._columns.design.user_units(np.vstack([found.w.T, found.b.T])[: design.p])
        weights = np.column_stack([coef, intercept])
        with np.errstate(all="ignore"):
            sides = both_sides(self._data, self._claim(C, weights)).bounds
        losses = (sides.primal - self._penalty.value(coef)) / C
        primal = sides.primal + ROUNDED * sides.primal_error
        return Node(C, weights, primal, min(max(sides.dual - ROUNDED * sides.dual_error, 0.0), primal), losses)

    def _claim(self, C: float, weights: Floats) -> ElasticNetGap:
        return self.certificate([Node(C, weights, np.nan, np.nan, np.nan)]).part(0)

    def certificate(self, nodes: list[Node]) -> PathGap:
        """What the nodes prove, if that is as much as was asked for."""
        task = self.task
        weights = np.array([node.weights for node in nodes])
        return PathGap(
            C=np.array([node.C for node in nodes]),
            l1_ratio=task.l1_ratio,
            classes=task.targets.classes,
            coef=weights[:, :, :-1].reshape(-1, task.design.d),
            intercept=weights[:, :, -1],
            fit_intercept=task.design.intercept,
            primal=np.array([node.primal for node in nodes]),
            dual=np.array([node.dual for node in nodes]),
            losses=np.array([node.losses for node in nodes]),
            tol=task.tol,
        )
