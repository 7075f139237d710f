"""The hard margin: min over (w, b) of 1/2 ‖w‖² subject to y_i (w.x_i + b) >= 1, by an interior-point method.

Its steps factor a matrix as wide as the rows. Rows that are wider than many are known by their products instead, or
taken to the space they span, as w = sum_i alpha_i y_i x_i is in it. Of many rows, only those that may bind take part.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from separatrix._typing import Floats
from separatrix.certificates import MarginBracket
from separatrix.design import Design, as_design
from separatrix.design.row_space import RowSpace, by_products, narrowed, row_products
from separatrix.errors import UndecidedError
from separatrix.kernels import KernelRows, Linear
from separatrix.solvers.interior_point import LinearMargins, interior_point
from separatrix.solvers.newton import FACTORED_ORDER
from separatrix.solvers.soft_margin import balanced
from separatrix.svm.binding import MORE, Rows, binding, evenly
from separatrix.svm.kernel_margin import Touching, hard_margin_kernel
from separatrix.svm.linear.conditioning import typical_length
from separatrix.svm.linear.multipliers import feasible

ROUNDING = 1e-12  # of the margin, by which rows may be within it
NOTHING = 1e-18  # of the typical length of a row: a margin that may be none
LARGEST = 1e100  # multipliers, of rows of length about 1
MEASURED = 4  # steps of which one is measured, far from the answer
NEARBY = 1e-6  # relative gap from which on multipliers tell which rows bind; further off nearly all seem to
CLOSE = 1e-9  # of the squared margin: a gap from which on every step is measured
PATIENCE = 60  # iterations that bring the bounds no closer


@dataclass(frozen=True)
class Widest:
    """The hyperplane of maximum margin, and bounds on that margin from both sides."""

    w: Floats  # (d,), with y_i (w.x_i + b) >= 1 up to rounding
    b: float
    alpha: Floats  # multipliers (n,): sum_i alpha_i y_i x_i is close to w
    lower: float  # min_i y_i (w.x_i + b) / ‖w‖
    upper: float  # ‖sum_i alpha_i y_i x_i‖ / sum_i alpha_i
    n_iter: int

    @property
    def relative_gap(self) -> float:
        """How far the bounds are apart, relative to the upper one."""
        return (self.upper - self.lower) / self.upper if np.isfinite(self.upper) else np.inf


def widest(design: Design, y: Floats, tol: float, max_iter: int) -> Widest:
    """min 1/2 ‖w‖² subject to y_i (w.x_i + b) >= 1, of separable rows; until upper - lower <= tol * upper."""
    if design.p <= min(2 * design.n, FACTORED_ORDER):
        return _of_tall_rows(design, y, tol, max_iter)
    found = _by_products(design, y, tol)
    if found is not None and (found.upper - found.lower <= tol * found.upper or design.n > FACTORED_ORDER):
        return found
    narrow = in_row_space(design.anchored())  # products are squares of lengths: rows themselves have twice the digits
    inside = _interior(as_design(narrow.array(), design.intercept), y, tol, max_iter)
    V = np.append(inside.w, np.full(int(design.intercept), inside.b))[:, None]
    closer = _measured(design, y, narrow.user_units(V)[0][0], inside.alpha, inside.n_iter)
    return closer if found is None or closer.upper - closer.lower < found.upper - found.lower else found


def _of_tall_rows(design: Design, y: Floats, tol: float, max_iter: int) -> Widest:
    """Of some rows, which those that the answer leaves within the margin join, until none is left.

    At most one row for each column binds. If nothing separates some of the rows, nothing separates all.
    """
    chosen, n_iter = evenly(y, FACTORED_ORDER + 4 * design.p), 0  # fewer save less than one round more costs
    while True:
        found = _interior(design.take(chosen), y[chosen], tol, max_iter)
        n_iter += found.n_iter
        if len(chosen) == design.n:
            return replace(found, n_iter=n_iter)
        anchored = design.anchored()
        margins = y * anchored.dot(anchored.from_user_units(found.w[None], np.array([found.b])))[:, 0]
        inside = np.setdiff1d(np.flatnonzero(margins < 1 - ROUNDING), chosen) if found.lower > 0 else chosen[:0]
        if not len(inside):
            alpha = np.zeros(design.n)
            alpha[chosen] = found.alpha
            return _measured(design, y, found.w, alpha, n_iter)
        chosen = np.sort(np.concatenate([chosen, inside[np.argsort(margins[inside])[:MORE]]]))


def of_hull(design: Design, y: Floats, alpha: Floats, n_iter: int) -> Widest:
    """The hyperplane of w = sum_i alpha_i y_i x_i."""
    plain = design.centred(np.ones(design.n))
    w = plain.tdot((y * alpha)[:, None])[: design.d, 0]
    return _measured(design, y, w, alpha, n_iter, plain)


def proved(design: Design, y: Floats, found: Widest) -> Widest:
    """The same with the bounds that the checker proves, rounded outward."""
    codes, points = np.where(y > 0, 1, 0), np.flatnonzero(found.alpha)
    if not (len(points) and found.w.any()):
        return replace(found, lower=-np.inf, upper=np.inf)
    v = np.append(found.w, found.b) if design.intercept else found.w
    sides = np.array([0, 1]), 1, design.intercept
    draft = MarginBracket(*sides, 0.0, 0.0, v, points, found.alpha[points], space="input")
    bracket = design.lend(draft.stated, codes)
    return replace(found, lower=bracket.lower, upper=bracket.upper)


def in_row_space(design: Design) -> RowSpace:
    """Wide rows in coordinates of the space that they span: by X X' = Z Z' where an orthogonal basis is too large."""
    narrow = narrowed(design)
    if isinstance(narrow, RowSpace):
        return narrow
    x, G = row_products(design)
    quick = by_products(design, x, G)
    if quick is not None:
        return quick
    values, Q = linalg.eigh(G)
    seen = values > max(design.n * np.finfo(np.float64).eps * values[-1], 0.0)
    length = np.sqrt(values[seen])
    return RowSpace(Q[:, seen] * length, design.intercept, whole=design, span=x.T, root=Q[:, seen] / length)


def _by_products(design: Design, y: Floats, tol: float) -> Widest | None:
    """By inner products of rows, as with any kernel; None if these decide nothing."""
    X = design.csr().astype(np.float64) if design.sparse else design.array()
    try:
        found = hard_margin_kernel(KernelRows(Linear(), X), y, 0.5 * tol, intercept=design.intercept)
    except UndecidedError:
        return None
    if isinstance(found, Touching):
        return None
    plain = replace(design, offset=None, rest=None, scale=None)
    w = plain.tdot(found.expansion[:, None])[: design.d, 0]
    return _measured(design, y, w, found.alpha, found.n_iter)


def _interior(design: Design, y: Floats, tol: float, max_iter: int) -> Widest:
    """An interior-point method, and the rows that bind."""
    ones = np.ones(design.n)
    centred = design.centred(ones)
    scale = typical_length(centred, ones)
    rows = centred.scaled(np.full(design.d, 1.0 / scale))
    ridge = np.ones(design.p)
    ridge[design.d :] = 0.0
    problem = LinearMargins(rows, y, ridge)
    with np.errstate(all="ignore"):
        found = _approached(problem, design, scale, tol, max_iter)
    if not (0 < found.lower < np.inf and found.relative_gap <= NEARBY):
        return found
    alpha = binding(Rows(rows, y), y, found.alpha)
    w = rows.user_units(rows.tdot((y * alpha)[:, None]))[0][0]
    alpha = balanced(alpha, y, np.full(design.n, np.inf), design.intercept)
    exact = _measured(design, y, w, alpha, found.n_iter, replace(rows, scale=None))
    return exact if exact.upper - exact.lower < found.upper - found.lower else found


def _approached(problem: LinearMargins, design: Design, scale: float, tol: float, max_iter: int) -> Widest:
    best: Widest | None = None
    stuck = 0
    for n_iter, iterate in enumerate(interior_point(problem, np.full(design.n, np.inf))):
        if best is not None and (best.upper <= NOTHING * scale or not iterate.beta.max() < LARGEST):
            return best  # the hulls of the classes meet, up to rounding, and w grows without end
        far = design.n * iterate.complementarity > CLOSE * iterate.beta.sum()
        if far and n_iter % MEASURED and n_iter < max_iter:
            continue  # far from the answer, which a bracket, as dear as a step, would only confirm
        found = _widest(problem, iterate.state, iterate.beta, design, n_iter)
        gain = best is None or found.upper - found.lower < 0.9 * (best.upper - best.lower)
        stuck = 0 if gain else stuck + 1
        if best is None or not np.isfinite(best.upper) or found.upper - found.lower < best.upper - best.lower:
            best = found
        small = np.isfinite(best.upper) and best.upper - best.lower <= 1e-12 * best.upper
        if small or n_iter >= max_iter or (not gain and n_iter > 30 and best.upper - best.lower <= tol * best.upper):
            return best
        if stuck > PATIENCE:  # rounding, or rows that nothing separates
            return best
    raise AssertionError("an interior-point method does not end by itself")


def _widest(problem: LinearMargins, state: Floats, beta: Floats, design: Design, n_iter: int) -> Widest:
    rows, y = problem.design, problem.y
    w = rows.user_units(state[:, None])[0][0]
    inf = np.full(design.n, np.inf)
    alpha = feasible(problem, state, np.where(beta > 1e-9 * beta.max(), beta, 0.0), inf)
    alpha = balanced(alpha, y, inf, design.intercept)
    return _measured(design, y, w, alpha, n_iter, replace(rows, scale=None))


def _measured(design: Design, y: Floats, w: Floats, alpha: Floats, n_iter: int, plain: Design | None = None) -> Widest:
    """w with the intercept halfway between the classes, scaled to a smallest margin of 1, and its bracket."""
    plain = design.centred(np.ones(design.n)) if plain is None else plain
    scores = plain.dot(np.append(w, np.zeros(int(design.intercept)))[:, None])[:, 0]
    b = 0.0
    if design.intercept and (y > 0).any() and (y < 0).any():  # halfway between the classes
        b = -0.5 * float(scores[y > 0].min() + scores[y < 0].max())
    margin = float((y * (scores + b)).min())
    if margin > 0:  # so that the nearest points have y f = 1
        w, b = w / margin, b / margin
    w = design.rounded(w)
    b = float(design.rounded(np.array([b - float(plain.shift @ w)]))[0]) if design.intercept else 0.0
    scores = plain.dot(np.append(w, np.zeros(int(design.intercept)))[:, None])[:, 0] + (b + float(plain.shift @ w))
    lower = float((y * scores).min()) / _length(w) if w.any() else 0.0
    u = plain.tdot((y * alpha)[:, None])[: design.d, 0]
    total, length = float(alpha.sum()), _length(u)
    if not (total > 0 and length > 0):
        return Widest(w, b, alpha, lower, np.inf, n_iter)
    return Widest(w, b, alpha * (total / length / length), lower, max(length / total, lower), n_iter)


def _length(v: Floats) -> float:
    """‖v‖, of numbers whose squares overflow or vanish too."""
    with np.errstate(over="ignore"):
        length = float(np.linalg.norm(v))
    if 0.0 < length < np.inf or not v.any():
        return length
    largest = float(np.abs(v).max())
    return largest * float(np.linalg.norm(v / largest))
