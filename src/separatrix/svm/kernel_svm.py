"""The soft margin with a kernel: min over w in feature space and b of 1/2 ‖w‖² + sum_i C_i max(0, 1 - y_i f(x_i)).

Large problems are solved by sequential minimal optimisation on rows of the kernel matrix. Where that is held in full,
pairs of multipliers are moved until it can be guessed which points are free, and solving for these gives the last
digits; what is not solved by that goes to an interior-point method.
Kernel values are divided by the largest k(x, x) first, and C multiplied by it: the problem is the same, at any scale.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from separatrix._typing import Floats
from separatrix.certificates._data import ALLOWED
from separatrix.certificates._kernels import LARGEST_TESTED, semidefinite
from separatrix.errors import InvalidInputError
from separatrix.kernels import KernelRows, Precomputed
from separatrix.loops import threads
from separatrix.loops.working_set import optimised
from separatrix.outcome import Trace
from separatrix.solvers.active_set import polished
from separatrix.solvers.interior_point import KernelMargins, interior_point
from separatrix.solvers.kernel_columns import KernelColumns
from separatrix.solvers.smo import Descent, Smo
from separatrix.solvers.soft_margin import balanced, best_intercept, dual, relative_gap, sums
from separatrix.svm.choose import held_in_full
from separatrix.svm.claims import Bracketed
from separatrix.svm.walked import Teller, of_hinge, require_small, walked

EASY = 4  # pairs to move for each point, in which 360 points of digits are done: .7 ms, with guesses 1.2
EXACT = 1e-11  # of a margin, by which a pair may be wrong at the end
PATIENT = 100  # pairs to move for each point, before the interior-point method has its turn
LARGEST_BOUND = 1e200  # of C_i k(x_i, x_i): beyond it sums overflow
SOLVED = 1e-10  # relative gap from which on only rounding is left
NEAR = (1e-2, 1e-5)  # of a margin, by which a pair may be wrong when the free points are guessed, and guessed again
MOST_ITERATIONS = 200  # of the interior-point method; it takes 10 to 60


@dataclass(frozen=True)
class Settings:
    """What a support vector machine is told, apart from the data."""

    loss: ClassVar[str] = "hinge"
    C: float = 1.0
    tol: float = 1e-4
    max_iter: int = 20_000_000
    cache_bytes: float = 200 * 2.0**20
    single: bool = False  # whether the model is to be float32
    fit_intercept: bool = True  # whether b is free, or 0
    starts: Mapping[tuple[int, int], Floats] = field(default_factory=dict)  # multipliers of an earlier fit, by pair
    trace: Trace | None = None  # filled by single moves, if there is one


@dataclass(frozen=True)
class Machine(Bracketed):
    """f(x) = sum_i expansion_i k(x_i, x) + b, with multipliers that bound its distance from the best."""

    alpha: Floats  # the dual point (n,)
    expansion: Floats  # alpha_i y_i as the model has it: rounded, or stretched to lift margins over 1
    b: float
    scores: Floats  # f(x_i)
    square: float  # ‖w‖²
    primal: float
    dual: float
    n_iter: int
    semidefinite: bool | None  # whether the kernel matrix is positive semidefinite; None if that is not known
    pulls: Floats  # sum_j alpha_j y_j k(x_j, x_i)
    summed: float  # the sum of |alpha_j| in the sums above, each as often as it was added or taken off
    doubt: float = 0.0  # the relative gap that rounding alone makes of the claim


def soft_margin(
    rows: KernelRows,
    y: Floats,
    bound: Floats,
    settings: Settings,
    start: Floats | None = None,
    matrix: Callable[[], Floats] | None = None,
    tell: Teller | None = None,
) -> Machine:
    """Solve one task, from multipliers of an earlier fit if there are any.

    ``matrix`` gives the kernel matrix of the rows, if there is a better way than theirs. With a trace to fill, by
    single moves of pairs.
    """
    scale = float(np.abs(rows.diagonal()).max(initial=0.0)) or 1.0
    with np.errstate(over="ignore"):
        U = bound * scale
    if not float(U.sum()) < LARGEST_BOUND:
        raise InvalidInputError(
            f"C times the kernel values is {float(U.max()):.1e}: scale the columns of X, or lower C.", "C"
        )
    if tell is not None:
        require_small(len(y))
    K = scaled_matrix(rows, scale, matrix) if held_in_full(len(y)) else None
    definite = is_semidefinite(rows, K, scale)
    start = None if start is None else np.minimum(start * scale, U)
    if tell is not None and K is not None:
        found = _told(K, y, U, settings, tell, scale)
    else:
        found = _optimum(rows, scale, K if definite else None, y, U, settings, start)
    alpha = balanced(np.clip(found.alpha, 0.0, U), y, U, settings.fit_intercept)
    if not np.array_equal(alpha, found.alpha):
        found = replace(found, alpha=alpha, F=None, summed=0.0)
    return _machine(Problem(rows, scale, K, y, bound), found, settings, definite)


@dataclass(frozen=True)
class Problem:
    """One task: its points, what kernel values are divided by, their matrix if it is held, signs and bounds."""

    rows: KernelRows
    scale: float
    K: Floats | None
    y: Floats
    bound: Floats

    def sums(self, coef: Floats) -> Floats:
        """sum_j K_ij coef_j / scale for every point i, in float64."""
        if self.K is not None:
            return sums(self.K, coef)
        used = np.flatnonzero(coef)
        columns = KernelColumns.of(self.rows, self.scale, np.float64).restricted(used)
        return columns.dot(np.arange(len(coef)), coef[used])


def _told(K: Floats, y: Floats, U: Floats, settings: Settings, tell: Teller, scale: float) -> Descent:
    """The dual point by single moves; what is recorded of the weights are alpha_i y_i."""

    def describe(alpha: Floats, b: float) -> dict[str, Any]:
        return {"dual_coef": tell.spread(alpha * y / scale), "intercept": b}

    tol, free = 0.5 * (1.0 - ALLOWED) * settings.tol, settings.fit_intercept
    measure = of_hinge(y, U, free, tol, scale, describe)
    alpha, F, steps = walked(K, y, U, free, settings.max_iter, tell, measure)
    return Descent(alpha, F, steps)


def _optimum(
    rows: KernelRows, scale: float, K: Floats | None, y: Floats, U: Floats, settings: Settings, start: Floats | None
) -> Descent:
    """The dual point; K, if it is at hand and positive semidefinite, gives the last digits."""
    free = settings.fit_intercept
    if K is None:
        tol = (1.0 - ALLOWED) * settings.tol  # the rest is for rounding, which the claim has to cover
        return Smo(rows, scale, y, U, settings.cache_bytes, start, free).solve(tol, settings.max_iter)
    alpha = np.zeros(len(y)) if start is None else start
    F, diagonal, steps = y - sums(K, alpha * y), K.diagonal().copy(), 0
    steps += optimised(K, diagonal, y, U, alpha, F, EXACT, min(settings.max_iter, EASY * len(y)), free)[0]
    F = y - sums(K, alpha * y)
    if relative_gap(alpha, F, y, U, free)[1] < SOLVED:  # most problems are that easy
        return Descent(alpha, F, steps)
    for violation in NEAR:
        most = min(settings.max_iter, PATIENT * len(y)) - steps
        steps += optimised(K, diagonal, y, U, alpha, F, violation, most, free)[0]
        near = polished(K, y, U, alpha, intercept=free)
        if near.distance < SOLVED:
            return Descent(near.alpha, near.F, steps)
    alpha, more = interior_optimum(K, y, U, free)
    F = y - sums(K, alpha * y)
    closer = relative_gap(alpha, F, y, U, free)[1] < near.distance
    return Descent(alpha, F, steps + more) if closer else Descent(near.alpha, near.F, steps + more)


def interior_optimum(K: Floats, y: Floats, U: Floats, intercept: bool) -> tuple[Floats, int]:
    """alpha to the last digits by the interior-point method, and the number of its iterations."""
    largest = float(U.max())
    best, reached, waited, count = np.zeros(len(y)), 1.0, 0, 0
    with np.errstate(all="ignore"), threads.single_threaded_blas():
        iterates = interior_point(KernelMargins(K, y, 1.0 / largest, intercept), U / largest)
        for iterate in islice(iterates, MOST_ITERATIONS):
            if not np.isfinite(iterate.beta).all():
                break
            alpha = balanced(np.minimum(largest * iterate.beta, U), y, U, intercept)
            F = y - K @ (alpha * y)
            now = relative_gap(alpha, F, y, U, intercept)[1]
            waited = 0 if now < 0.5 * reached else waited + 1
            if now < reached:
                best, reached = alpha, now
            count += 1
            if reached < SOLVED or (waited > 8 and reached < 1e-3) or waited > 40:
                break
        return polished(K, y, U, best, intercept=intercept).alpha, count


def scaled_matrix(rows: KernelRows, scale: float, matrix: Callable[[], Floats] | None = None) -> Floats:
    """K / scale in float64, symmetric to the last digit."""
    K = rows.square() if matrix is None else matrix()
    if scale != 1.0:
        K /= scale
    return K


def is_semidefinite(rows: KernelRows, K: Floats | None, scale: float) -> bool | None:
    """Whether K is positive semidefinite up to rounding: by the kernel's mathematics, or by a Cholesky factor."""
    if rows.kernel.positive_semidefinite:
        return True
    if rows.n > LARGEST_TESTED:
        return None
    K = scaled_matrix(rows, scale) if K is None else K
    return semidefinite(K, isinstance(rows.kernel, Precomputed) and rows.dtype == np.float32)[0] == 0.0


def _machine(problem: Problem, found: Descent, settings: Settings, definite: bool | None) -> Machine:
    """The model of a dual point, rounded as asked, in the user's units, with its objective in float64."""
    y, scale, alpha = problem.y, problem.scale, found.alpha
    U, c = problem.bound * scale, alpha * y
    F = y - problem.sums(c) if found.F is None else found.F
    f = pulls = y - F
    value, b, expansion = dual(alpha, F, y), best_intercept(F, y, U) if settings.fit_intercept else 0.0, c / scale
    if settings.single:
        expansion, b = expansion.astype(np.float32).astype(np.float64), float(np.float32(b))
        f = problem.sums(expansion * scale)
    square = max(float((expansion * scale) @ f), 0.0)
    primal = 0.5 * square + float(U @ np.maximum(0.0, 1.0 - y * (f + b)))
    return Machine(
        alpha=alpha / scale,
        expansion=expansion,
        b=b,
        scores=f + b,
        square=square / scale,
        primal=primal / scale,
        dual=min(value, primal) / scale,
        n_iter=max(1, found.steps),
        semidefinite=definite,
        pulls=pulls,
        summed=max(found.summed, float(alpha.sum())) / scale,
    )
