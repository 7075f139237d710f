"""dual <= min F <= F at the weights = primal for a penalty with ‖w‖₁, and weights that are 0 in every optimum.

F is evaluated in 60 digits; lower points are looked for by proximal Newton steps in 60 digits and, for the hinge, by a
linear program in floats. A point below a claimed bound refutes it, however it was found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import linprog
from soundness import objectives
from soundness.data import Table
from soundness.decimals import ONE, ZERO, D, dot, exactly, matrix, solve, vector
from soundness.gaps import SHARE, _primal
from soundness.parts import TINY, frozen

Weights = list[list[D]]
SWEEPS, STEPS = 60, 60
REST = D("1e-24")  # of F: what a step promises at the end
CLEARLY = D("1e-9")  # of F: the penalty of a weight that is not 0


def elastic_net_gap(gap: Any, table: Table) -> list[str]:
    k, task, free = len(gap.coef), gap.task, bool(gap.fit_intercept)
    C, r = exactly(gap.C), exactly(gap.l1_ratio)
    c = table.weights(gap.classes, gap.class_weight if task is None else None)
    targets = table.codes(gap.classes) if task is None else [int(v) for v in table.labels()[:, task]]
    if gap.positive is not None:
        targets = [int(code == gap.positive) for code in targets]
    W, b = matrix(gap.coef), vector(gap.intercept)
    if not free and any(b):
        return ["an intercept, though there is none"]
    z, origin = table.remembered(("about", free), lambda: table.about(table.rows, free))
    penalised = len(z[0]) - free
    smooth = _smooth(gap.loss, z, targets, c, C, k, free)

    def penalty(V: Weights) -> D:
        return sum((r * abs(w) + (ONE - r) / 2 * w * w for v in V for w in v[:penalised]), ZERO)

    V = [[*w, bias + dot(w, origin)] if free else w for w, bias in zip(W, b, strict=True)]
    true = smooth.value(V) + penalty(V)
    room = SHARE * exactly(gap.tol) * max(abs(true), TINY)
    out = _primal(gap, true, room)
    below = exactly(gap.dual) - room
    key = ("sparse", gap.loss, gap.C, gap.l1_ratio, k, free, task, gap.positive, frozen(gap.class_weight))

    def search() -> tuple[D, Weights, bool]:
        if gap.loss == "hinge":
            found = _program(z, targets, smooth.c, free, r)
            return smooth.value(found) + penalty(found), found, False
        return _descend(smooth, V, penalised, r, penalty)

    if (below <= 0 or true < below) and not np.any(gap.zeros):
        return out if true >= below else [*out, f"dual {gap.dual!r} above the objective here, {float(true):.17g}"]
    lowest, best, at_rest = table.remembered(key, search)
    lowest = min(lowest, true)
    if lowest < below:
        out.append(f"dual {gap.dual!r} above the minimum, which is at most {float(lowest):.17g}")
    for a, j in zip(*np.nonzero(np.asarray(gap.zeros)), strict=True):
        if at_rest and r * abs(best[a][j]) > CLEARLY * lowest:
            out.append(f"weight ({a}, {j}) is not 0 in the optimum, but {float(best[a][j]):.3g}")
    return out


def _smooth(loss: str, z: Weights, targets: list[int], c: list[D], C: D, k: int, free: bool) -> Any:
    """The losses as an `Objective` without a penalty."""
    objective = objectives.logistic(z, targets, c, C, k, free, False)

    def squared(i: int, s: Sequence[D]) -> tuple[D, list[D], list[list[D]]]:
        sign = 1 if targets[i] else -1
        slack = max(ZERO, ONE - sign * s[0])
        return slack * slack, [-2 * sign * slack], [[D(2) if slack else ZERO]]

    def plain(i: int, s: Sequence[D]) -> tuple[D, list[D], list[list[D]]]:
        return max(ZERO, ONE - (1 if targets[i] else -1) * s[0]), [ZERO], [[ZERO]]

    losses = {"log": objective.losses, "squared_hinge": squared, "hinge": plain}[loss]
    everywhere = [(a, j) for a in range(k) for j in range(len(z[0]))]
    return replace(objective, losses=losses, penalised=[[False] * len(z[0])] * k, free=everywhere)


def _descend(smooth: Any, V: Weights, penalised: int, r: D, penalty: Callable[[Weights], D]) -> tuple[D, Weights, bool]:
    """Proximal Newton steps from V, and from 0 if that is lower: the lowest F, where, and whether nothing was left."""
    zero = [[ZERO] * len(v) for v in V]
    F, start = smooth.value(V) + penalty(V), smooth.value(zero) + penalty(zero)
    if start < F:
        V, F = zero, start
    for _ in range(STEPS):
        _, g, H = smooth.expand(V)
        new = _model(smooth.free, g, H, V, penalised, r)
        step = [[b - a for a, b in zip(v, w, strict=True)] for v, w in zip(V, new, strict=True)]
        slope = sum((gn * step[a][j] for gn, (a, j) in zip(g, smooth.free, strict=True)), ZERO)
        promised = slope + penalty(new) - penalty(V)
        if promised >= -REST * F:
            return F, V, True
        t = ONE
        for _ in range(60):
            trial = [[a + t * b for a, b in zip(v, s, strict=True)] for v, s in zip(V, step, strict=True)]
            G = smooth.value(trial) + penalty(trial)
            if F + promised * t / 100 >= G:
                break
            t /= 4
        else:
            return F, V, False
        V, F = trial, G
    return F, V, False


def _model(free: list[tuple[int, int]], g: list[D], H: list[list[D]], V: Weights, penalised: int, r: D) -> Weights:
    """About the minimum of g.s + 1/2 s'Hs + penalty(V + s): sweeps, then the support at once if no sign changes."""
    at = [V[a][j] for a, j in free]
    x, slope = list(at), list(g)
    for _ in range(SWEEPS):
        gained = ZERO
        for n, (_, j) in enumerate(free):
            share, ridge = (r, ONE - r) if j < penalised else (ZERO, ZERO)
            bend = H[n][n] + ridge
            if not bend:
                continue
            pull = H[n][n] * x[n] - slope[n]
            new = (pull - share) / bend if pull > share else (pull + share) / bend if pull < -share else ZERO
            if new != x[n]:
                change = new - x[n]
                gained += bend * change * change
                x[n] = new
                slope = [s + change * h if h else s for s, h in zip(slope, H[n], strict=True)]
        if not gained:
            break
    used = [n for n, (_, j) in enumerate(free) if x[n] or j >= penalised]
    signs = [(1 if x[n] > 0 else -1) if free[n][1] < penalised else 0 for n in used]
    ridges = [ONE - r if free[n][1] < penalised else ZERO for n in used]
    A = [[H[n][m] + (ridges[i] if n == m else ZERO) for m in used] for i, n in enumerate(used)]
    right = [-slope[n] - ridges[i] * x[n] - r * signs[i] for i, n in enumerate(used)]
    moved = [x[n] + s for n, s in zip(used, solve(A, right), strict=True)]
    if all(not sign or sign * value > 0 for sign, value in zip(signs, moved, strict=True)):
        for n, value in zip(used, moved, strict=True):
            x[n] = value
    new = [[ZERO] * len(v) for v in V]
    for n, (a, j) in enumerate(free):
        new[a][j] = x[n]
    return new


def _program(z: Weights, targets: list[int], u: list[D], free: bool, r: D) -> Weights:
    """The hinge as a linear program in floats, columns and costs in units of their largest; 0 if it is not solved."""
    n, p = len(z), len(z[0])
    d = p - free
    size = [max(abs(row[j]) for row in z) or ONE for j in range(p)]
    cost = max(u)
    X = np.array([[float(value / s) for value, s in zip(row, size, strict=True)] for row in z])
    y = np.where(np.array(targets) > 0, 1.0, -1.0)[:, None]
    price = np.array([min(float(r / size[j] / cost), 1e20) for j in range(d)])
    weights = np.array([float(value / cost) for value in u])
    found = linprog(
        np.concatenate([price, price, np.zeros(int(free)), weights]),
        A_ub=-np.hstack([y * X[:, :d], -y * X[:, :d], y * X[:, d:], np.eye(n)]),
        b_ub=-np.ones(n),
        bounds=[(0, None)] * (2 * d) + [(None, None)] * int(free) + [(0, None)] * n,
    )
    if found.x is None:
        return [[ZERO] * p]
    x = found.x
    w = [exactly(float(x[j] - x[d + j])) / size[j] for j in range(d)]
    return [[*w, exactly(float(x[2 * d])) / size[d]] if free else w]
