"""The maximum margin with a kernel: min over w in feature space and b of 1/2 ‖w‖² subject to y_i f(x_i) >= 1.

Its dual is the distance between the convex hulls of the two classes. An interior-point method solves it for some of the
points; those that the answer leaves within the margin join them, until none is left. If the hulls of some of the points
meet, so do those of all.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from separatrix._typing import Floats
from separatrix.errors import InvalidInputError, UndecidedError
from separatrix.kernels import KernelRows
from separatrix.loops import threads
from separatrix.solvers.interior_point import KernelMargins, interior_point
from separatrix.solvers.kernel_columns import KernelColumns
from separatrix.solvers.soft_margin import EPS, balanced
from separatrix.svm.binding import MORE, START, KernelPoints, binding, evenly
from separatrix.svm.kernel_svm import MOST_ITERATIONS, is_semidefinite, scaled_matrix
from separatrix.svm.walked import Teller, halfway, of_hard_margin, require_small, walked

MOST = 4000  # points whose matrix is held in full


@dataclass(frozen=True)
class KernelWidest:
    """f(x) = sum_i expansion_i k(x_i, x) + b with y_i f(x_i) >= 1, and bounds on the maximum margin."""

    expansion: Floats
    alpha: Floats  # not negative, in balance
    b: float
    scores: Floats  # f(x_i)
    lower: float
    upper: float
    n_iter: int


@dataclass(frozen=True)
class Touching:
    """The hulls meet: ‖sum_i weights_i y_i phi(x_i)‖ is 0 up to rounding."""

    weights: Floats


def hard_margin_kernel(
    rows: KernelRows, y: Floats, tol: float, single: bool = False, intercept: bool = True
) -> KernelWidest | Touching:
    """The maximum margin in feature space within a relative tol, or the proof that there is none.

    Without an intercept, b = 0, and alpha need not balance: the hull is that of all y_i phi(x_i).
    """
    scale = float(np.abs(rows.diagonal()).max(initial=0.0)) or 1.0
    semidefinite = is_semidefinite(rows, None, scale)
    if not semidefinite:
        reason = "is not positive semidefinite" if semidefinite is False else "may not be positive semidefinite"
        raise InvalidInputError(f"A hard margin needs a feature space, but the kernel matrix {reason}: use SVC.")
    columns, root = KernelColumns.of(rows, scale, np.float64), float(np.sqrt(scale))
    n, n_iter = len(y), 0
    chosen = evenly(y, START)
    while True:
        found = _dense(scaled_matrix(rows.only(chosen), scale), y[chosen], intercept)
        n_iter += found.n_iter
        if found.touching:
            weights = np.zeros(n)
            weights[chosen] = found.alpha
            return Touching(weights)
        used = np.flatnonzero(found.alpha)
        c = found.alpha[used] * y[chosen[used]]
        f = columns.restricted(chosen[used]).dot(np.arange(n), c)
        margins = y * (f + halfway(f[chosen], y[chosen], intercept))
        outside = np.setdiff1d(np.flatnonzero(margins < float(margins[chosen].min()) * (1 - 0.1 * tol)), chosen)
        worst = outside[np.argsort(margins[outside])[:MORE]]
        b = halfway(f, y, intercept)
        margins = y * (f + b)
        length = float(np.sqrt(max(float(c @ f[chosen[used]]), 0.0)))
        lower = float(margins.min()) / length if length > 0 else -np.inf
        if lower >= (1 - tol) * found.upper or not len(outside):
            break
        chosen = np.sort(np.concatenate([chosen, worst]))
        if len(chosen) > MOST:
            raise UndecidedError(
                f"More than {MOST} points decide about the margin: too many for this method. Use SVC with a large C."
            )
    if not lower > 0:
        raise UndecidedError(
            f"Float64 cannot tell whether the kernel separates the classes: the margin is from {lower * root:.1e} "
            f"to {found.upper * root:.1e}. Use SVC with a large C, or remove points with equal features."
        )
    alpha = np.zeros(n)
    alpha[chosen[used]] = found.alpha[used]
    return _widest(columns, scale, y, alpha, f, found.upper, n_iter, single, intercept)


def told_margin_kernel(
    rows: KernelRows, y: Floats, tol: float, single: bool, intercept: bool, most: int, tell: Teller
) -> KernelWidest:
    """The same by single moves of pairs, each told; of points that a boundary in feature space separates."""
    require_small(len(y))
    scale = float(np.abs(rows.diagonal()).max(initial=0.0)) or 1.0
    K, U = scaled_matrix(rows, scale), np.full(len(y), np.inf)

    def describe(alpha: Floats, b: float) -> dict[str, Any]:
        return {"dual_coef": tell.spread(alpha * y / scale), "intercept": b}

    measure = of_hard_margin(y, intercept, 0.5 * tol, scale, describe)
    alpha, _, steps = walked(K, y, U, intercept, most, tell, measure)
    alpha = balanced(alpha, y, U, intercept)
    f = K @ (alpha * y)
    upper = float(np.sqrt(max(float((alpha * y) @ f), 0.0))) / float(alpha.sum())
    columns = KernelColumns.of(rows, scale, np.float64)
    return _widest(columns, scale, y, alpha, f, upper, steps, single, intercept)


def _widest(
    columns: KernelColumns, scale: float, y: Floats, alpha: Floats, f: Floats, upper: float, n_iter: int, single: bool,
    intercept: bool,
) -> KernelWidest:  # fmt: skip
    """sum_i alpha_i y_i k(x_i, x), which is f at the points, scaled to a smallest margin of 1 and rounded as asked."""
    used, root = np.flatnonzero(alpha), float(np.sqrt(scale))
    c, b = (alpha * y)[used], halfway(f, y, intercept)
    smallest = abs(float((y * (f + b)).min())) or 1.0  # negative while some point is still on the wrong side
    expansion, c, b = np.zeros(len(y)), c / smallest / scale, b / smallest
    if single:
        c, b = c.astype(np.float32).astype(np.float64), float(np.float32(b))
    f = columns.restricted(used).dot(np.arange(len(y)), c * scale) if single else f / smallest
    expansion[used] = c
    scores, length = f + b, float(np.sqrt((c * scale) @ f[used]))
    lower = float((y * scores).min()) / length
    return KernelWidest(expansion, alpha / scale, b, scores, lower * root, max(upper, lower) * root, n_iter)


@dataclass(frozen=True)
class _Hulls:
    alpha: Floats
    upper: float
    touching: bool
    n_iter: int


def _dense(K: Floats, y: Floats, intercept: bool) -> _Hulls:
    """The nearest points of the two hulls, as one alpha; K is held in full, and at most 1 in size."""
    unbounded = np.full(len(y), np.inf)
    best, count, waited = _Hulls(np.zeros(len(y)), np.inf, False, 1), 0, 0
    with np.errstate(all="ignore"), threads.single_threaded_blas():
        for iterate in islice(interior_point(KernelMargins(K, y, 1.0, intercept), unbounded), MOST_ITERATIONS):
            count += 1
            if not np.isfinite(iterate.beta).all():
                break
            now = _hulls(K, y, iterate.beta, count, intercept)
            waited = 0 if now.upper < 0.9 * best.upper else waited + 1
            if now.upper < best.upper or now.touching:
                best = now
            f = K @ (iterate.state[:-1] * y)
            inside = float((y * (f + iterate.state[-1])).min())
            length = float(np.sqrt(max(float(iterate.state[:-1] * y @ f), 0.0)))
            close = length > 0 and inside / length > (1 - 1e-9) * best.upper
            if best.touching or close or (waited > 12 and inside > 0.5) or waited > 60:
                break
        if best.touching:
            return best
        exact = _hulls(K, y, binding(KernelPoints(K, y, intercept), y, best.alpha), count, intercept)
    return exact if exact.touching or _margin(K, y, exact, intercept) > _margin(K, y, best, intercept) else best


def _margin(K: Floats, y: Floats, found: _Hulls, intercept: bool) -> float:
    """min_i y_i f(x_i) / ‖w‖ for w = sum_i alpha_i y_i phi(x_i)."""
    f = K @ (found.alpha * y)
    square = float((found.alpha * y) @ f)
    return float((y * (f + halfway(f, y, intercept))).min()) / float(np.sqrt(square)) if square > 0 else -np.inf


def _hulls(K: Floats, y: Floats, beta: Floats, count: int, intercept: bool) -> _Hulls:
    """beta in balance and without what is negligible, scaled so that sum_i alpha_i y_i phi(x_i) is the best w."""
    largest = float(beta.max(initial=0.0))
    if not largest > 0:
        return _Hulls(beta, np.inf, False, count)
    alpha = balanced(np.where(beta > 1e-9 * largest, beta, 0.0) / largest, y, np.full(len(y), np.inf), intercept)
    c, total = alpha * y, float(alpha.sum())
    if not total > 0:
        return _Hulls(alpha, np.inf, False, count)
    square = max(float(c @ (K @ c)), 0.0)
    noise = 8 * EPS * (len(y) + 4) * float(alpha @ (np.abs(K) @ alpha))
    if square <= noise:
        return _Hulls(alpha, float(np.sqrt(square + noise)) / total, True, count)
    return _Hulls(alpha * (total / square), float(np.sqrt(square)) / total, False, count)
