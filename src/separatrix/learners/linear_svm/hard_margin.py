"""The hard margin: min over (w, b) of 1/2 ‖w‖² subject to y_i (w.x_i + b) >= 1, by an interior-point method."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from separatrix._typing import Floats
from separatrix.design import Design
from separatrix.learners.linear_svm.conditioning import typical_length
from separatrix.learners.linear_svm.multipliers import feasible
from separatrix.learners.svm import balanced
from separatrix.solvers.interior_point import LinearMargins, interior_point


@dataclass(frozen=True)
class Widest:
    """The hyperplane of maximum margin, and bounds on that margin from both sides.

    Parameters
    ----------
    w, b : array of shape (d,), float
        y_i (w.x_i + b) >= 1, up to rounding.
    alpha : array of shape (n,)
        Multipliers: sum_i alpha_i y_i x_i is close to w.
    lower, upper : float
        min_i y_i (w.x_i + b) / ‖w‖, and ‖sum_i alpha_i y_i x_i‖ / sum_i alpha_i.
    n_iter : int
    """

    w: Floats
    b: float
    alpha: Floats
    lower: float
    upper: float
    n_iter: int


def widest(design: Design, y: Floats, tol: float, max_iter: int) -> Widest:
    """min 1/2 ‖w‖² subject to y_i (w.x_i + b) >= 1, of separable rows; until upper - lower <= tol * upper."""
    ones = np.ones(design.n)
    centred = design.centred(ones)
    scale = typical_length(centred, ones)
    rows = centred.scaled(np.full(design.d, 1.0 / scale))
    ridge = np.ones(design.p)
    ridge[design.d :] = 0.0
    problem = LinearMargins(rows, y, ridge)
    best: Widest | None = None
    for n_iter, iterate in enumerate(interior_point(problem, np.full(design.n, np.inf))):
        found = _widest(problem, iterate.state, iterate.beta, design, n_iter)
        gain = best is None or found.upper - found.lower < 0.9 * (best.upper - best.lower)
        if best is None or not np.isfinite(best.upper) or found.upper - found.lower < best.upper - best.lower:
            best = found
        small = np.isfinite(best.upper) and best.upper - best.lower <= 1e-12 * best.upper
        if small or n_iter >= max_iter or (not gain and n_iter > 30 and best.upper - best.lower <= tol * best.upper):
            return best
    raise AssertionError("an interior-point method does not end by itself")


def _widest(problem: LinearMargins, state: Floats, beta: Floats, design: Design, n_iter: int) -> Widest:
    rows, y = problem.design, problem.y
    plain = replace(rows, scale=None)
    w = rows.user_units(state[:, None])[0][0]
    V = np.append(w, np.zeros(int(design.intercept)))[:, None]
    scores = plain.dot(V)[:, 0]
    b = 0.0
    if design.intercept:  # halfway between the classes
        b = -0.5 * float(scores[y > 0].min() + scores[y < 0].max()) if (y > 0).any() and (y < 0).any() else 0.0
    margin = float((y * (scores + b)).min())
    if margin > 0:  # so that the nearest points have y f = 1
        w, b, scores = w / margin, b / margin, scores / margin
    w = design.rounded(w)
    b = float(design.rounded(np.array([b - float(plain.shift @ w)]))[0]) if design.intercept else 0.0
    scores = plain.dot(np.append(w, np.zeros(int(design.intercept)))[:, None])[:, 0] + (b + float(plain.shift @ w))
    lower = float((y * scores).min()) / float(np.linalg.norm(w)) if w.any() else 0.0
    inf = np.full(design.n, np.inf)
    alpha = feasible(problem, state, np.where(beta > 1e-9 * beta.max(), beta, 0.0), inf)
    alpha = balanced(alpha, y, inf) if design.intercept else alpha
    u = plain.tdot((y * alpha)[:, None])[: design.d, 0]
    total, length = float(alpha.sum()), float(np.linalg.norm(u))
    if not (total > 0 and length > 0):
        return Widest(w, b, alpha, lower, np.inf, n_iter)
    return Widest(w, b, alpha * (total / length / length), lower, max(length / total, lower), n_iter)
