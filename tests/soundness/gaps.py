"""dual <= min F <= F at the weights = primal: the objective at the stored weights, and a search for lower points."""

from __future__ import annotations

from typing import Any

import numpy as np
from soundness import exact, objectives
from soundness.data import Table
from soundness.decimals import ZERO, D, dot, exactly, matrix, vector
from soundness.parts import TINY, features, frozen, sides

SHARE = D("0.2")  # of tol: twice what a check may allow for rounding


def logistic_gap(gap: Any, table: Table) -> list[str]:
    k, task = len(gap.coef), gap.task
    free, C = bool(gap.fit_intercept), None if np.isinf(gap.C) else exactly(gap.C)
    labelled = task is None
    c = table.weights(gap.classes, gap.class_weight if labelled else None)
    targets = table.codes(gap.classes) if labelled else [int(v) for v in table.labels()[:, task]]
    z, origin = table.remembered(("about", free), lambda: table.about(table.rows, free))
    objective = objectives.logistic(z, targets, c, C, k, free, bool(gap.reference))
    W, b = matrix(gap.coef), vector(gap.intercept)
    if not free and any(b):
        return ["an intercept, though there is none"]
    V = [[*w, bias + dot(w, origin)] if free else w for w, bias in zip(W, b, strict=True)]
    true = objective.value(V)
    if gap.reference and k > 1 and (any(W[-1]) or b[-1]):
        return ["weights of the reference class"]
    room = SHARE * exactly(gap.tol) * max(abs(true), TINY)
    out = _primal(gap, true, room)
    below = exactly(gap.dual) - room
    if below <= 0:
        return out  # losses are never negative
    found, converged = _polish(objective, V, below, exactly(gap.tol))
    if found >= below and not converged:
        key = ("logistic", str(gap.C), k, free, bool(gap.reference), task, frozen(gap.class_weight))
        found = table.remembered(key, lambda: _lowest_logistic(objective, table, targets, c, C, k, free, z))
    if found < below:
        out.append(f"dual {gap.dual!r} above the minimum, which is at most {float(found):.17g}")
    return out


def _polish(objective: Any, V: Any, below: D, tol: D) -> tuple[D, bool]:
    """Newton's method from the weights: the lowest value, and whether it came to rest, seeing every direction."""
    last = None
    for _ in range(8):
        F, step, decrement = objective.newton(V)
        moved = max(abs(value) for row in objective.scores(step) for value in row)
        if below > F:
            return F, True
        if last is not None and moved < D("1e-2") and (decrement <= D("1e-3") * last or decrement < D("1e-30") * F):
            return F, objective.seen and decrement <= D("1e-3") * tol * F
        if moved > 4:
            return F, False
        last = decrement
        V = [[a + b for a, b in zip(v, s, strict=True)] for v, s in zip(V, step, strict=True)]
    return F, False


def _lowest_logistic(objective: Any, table: Table, targets: Any, c: Any, C: D | None, k: int, free: bool, z: Any) -> D:
    if C is not None:
        return objective.descend(objectives.zeros(objective), D("1e-10"))[0]
    if k == 1:
        vectors = exact.signed(table.dense, [1 if t else -1 for t in targets], free)
    else:
        vectors, _ = exact.softmax_rows(table.dense, targets, k, free)
    return objectives.likelihood_infimum(z, targets, c, k, free, vectors, D("1e-10"))


def hinge_gap(gap: Any, table: Table) -> list[str]:
    squared, free = gap.loss == "squared_hinge", bool(gap.fit_intercept)
    inside, signs = sides(gap, table)
    c = table.weights(gap.classes, gap.class_weight)
    bound = [exactly(gap.C) * c[i] for i in inside]
    place = {int(row): i for i, row in enumerate(table.kept)}  # points are counted in the data as given
    at = {i: n for n, i in enumerate(inside)}
    alpha, expansion = [ZERO] * len(inside), [ZERO] * len(inside)
    for j, (point, value) in enumerate(zip(np.asarray(gap.points).tolist(), vector(gap.alpha), strict=True)):
        n = at.get(place.get(int(point), -1))
        if n is None:
            if value:
                return ["a multiplier of a row that plays no part"]
            continue
        alpha[n] = value
        if gap.expansion is not None:
            expansion[n] = exactly(np.asarray(gap.expansion)[j])
    if not free and gap.intercept:
        return ["an intercept, though there is none"]
    b = exactly(gap.intercept)
    if gap.kernel is None:
        rows, w = [table.rows[i] for i in inside], vector(gap.coef)
    else:
        rows, lowest = features(gap.kernel, table, inside)
        if lowest < -D("1e-9"):
            return ["a kernel matrix that is not positive semidefinite"]
        w = [dot(expansion, column) for column in zip(*rows, strict=True)] if rows[0] else []
        if not rows[0]:
            rows, w = [[ZERO] for _ in inside], [ZERO]
    scores = [dot(row, w) + b for row in rows]
    true = dot(w, w) / 2 + objectives.hinge_value(scores, signs, bound, squared)
    room = SHARE * exactly(gap.tol) * max(abs(true), TINY)
    out = _primal(gap, true, room)
    below = exactly(gap.dual) - room
    origin = rows[0] if free else [ZERO] * len(w)
    about = [[p - q for p, q in zip(row, origin, strict=True)] for row in rows]
    known = table.remembered(
        ("hinge", gap.loss, gap.C, free, repr(gap.kernel), gap.positive, gap.negative, frozen(gap.class_weight)),
        lambda: [ZERO, true],  # a lower and an upper bound on the minimum, as good as any certificate gave
    )
    known[0] = max(known[0], objectives.hinge_dual(about, signs, bound, alpha, free, squared))
    known[1] = min(known[1], true)
    if known[0] < below <= known[1]:
        start = [*w, b + dot(w, origin)] if free else w
        for v in (start, [ZERO] * len(start)):
            if known[1] >= below:
                known[1] = min(known[1], objectives.lowest_hinge(about, signs, bound, free, squared, v, below))
    if known[1] < below:
        out.append(f"dual {gap.dual!r} above the minimum, which is at most {float(known[1]):.17g}")
    return out


def _primal(gap: Any, true: D, room: D) -> list[str]:
    stated = exactly(gap.primal)
    return [f"primal {gap.primal!r}, but the objective is {float(true):.17g}"] if abs(stated - true) > room else []
