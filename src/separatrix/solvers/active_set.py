"""The last digits of a soft margin: guess which alpha are at a bound, and solve for the others exactly.

If Z are the points with alpha_i = 0, B those with alpha_i = U_i and R the rest, then with c_i = alpha_i y_i the optimum
has  K_RR c_R + b = y_R - K_RB c_B  and  sum_R c_i = -sum_B c_i,  a linear system. The guess is that of a step along the
gradient: a point is in Z or B if alpha_i + s_i / k(x_i, x_i) is outside [0, U_i]. From a nearby point the guess is soon
right, and then the answer is exact up to rounding; a wrong guess costs nothing, for only what lowers the gap is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from separatrix._typing import Floats, Integers
from separatrix.solvers.soft_margin import EPS, TINY, balanced, relative_gap, sums

ROUNDS = 25


@dataclass(frozen=True)
class Candidate:
    """alpha, F = y - K (alpha y), b, and the distance: the relative gap, plus how far alpha is out of balance."""

    alpha: Floats
    F: Floats
    b: float
    distance: float


def polished(K: Floats, y: Floats, U: Floats, alpha: Floats, intercept: bool = True) -> Candidate:
    """alpha, or one near it that is closer to the optimum; K is held in full, and U is finite.

    Without ``intercept``, b is 0 and sum_i alpha_i y_i is whatever it is.
    """
    with np.errstate(all="ignore"):
        return _polished(K, y, U, alpha, intercept)


def _polished(K: Floats, y: Floats, U: Floats, alpha: Floats, intercept: bool) -> Candidate:
    diagonal = K.diagonal()
    curvature = np.maximum(diagonal, EPS * float(diagonal.max(initial=0.0)) + TINY)
    seen: set[bytes] = set()
    c = alpha * y
    F = y - sums(K, c)
    best = _candidate(y, U, alpha, F, intercept)
    b = best.b
    for _ in range(ROUNDS):
        trial = c * y + y * (F - b) / curvature
        bound, free = trial >= U, (trial > 0) & (trial < U)
        guess = np.packbits(np.concatenate([bound, free])).tobytes()
        if guess in seen or not free.any():
            break
        seen.add(guess)
        c = np.where(bound, U * y, np.where(free, c, 0.0))
        b = _solve_free(K, y, c, np.flatnonzero(free), intercept)
        if not np.isfinite(c).all():
            break
        F = y - sums(K, c)
        exact = c * y
        inside = np.clip(exact, 0.0, U)
        now = _candidate(y, U, inside, F if np.array_equal(inside, exact) else y - sums(K, inside * y), intercept)
        fewer = np.count_nonzero(inside) < np.count_nonzero(best.alpha)  # an interior-point method leaves no alpha at 0
        if now.distance < (2.0 if fewer else 1.0) * best.distance:
            best = now
        if best.distance <= 4 * EPS:
            break
    return _snapped(K, y, U, best, curvature, intercept)


def _snapped(K: Floats, y: Floats, U: Floats, best: Candidate, curvature: Floats, intercept: bool) -> Candidate:
    """alpha with 0 and U_i for what is next to them, unless that costs accuracy: this tells the support vectors.

    Points beyond the margin by more than alpha_i k(x_i, x_i) are taken to have alpha_i = 0; likewise for U_i.
    """
    alpha = best.alpha
    trial = alpha + y * (best.F - best.b) / curvature
    near = np.where(trial <= 0, 0.0, np.where(trial >= U, U, alpha))
    if np.array_equal(near, alpha):
        return best
    near = balanced(near, y, U, intercept)
    snapped = _candidate(y, U, near, y - sums(K, near * y), intercept)
    return snapped if snapped.distance <= max(2.0 * best.distance, 1e-12) else best


def _solve_free(K: Floats, y: Floats, c: Floats, free: Integers, intercept: bool) -> float:
    """Change c on the free points so that their residuals are one number, which is returned, and sum c = 0.

    Without an intercept that number is 0, and the sum is free.
    """
    rows = K[free]
    matrix = rows[:, free]
    # a singular matrix (equal points, more points than dimensions) has many solutions: stay close to the present one
    mean = float(matrix.diagonal().mean())
    if intercept:
        matrix += mean  # times 1 1', which changes nothing but b, as sum c = 0, and helps where K_RR is singular
    np.einsum("ii->i", matrix)[:] += 1e-14 * mean + TINY  # a view of the diagonal, whatever the order in memory
    factor, failed = linalg.lapack.dpotrf(matrix.T, lower=True, overwrite_a=True)
    if failed:
        c[free] = np.nan
        return 0.0

    def solve(right: Floats) -> Floats:
        return np.asarray(linalg.lapack.dpotrs(factor, right, lower=True)[0])

    if not intercept:
        for _ in range(3):
            c[free] += solve(y[free] - rows @ c)
        return 0.0
    ones = solve(np.ones(len(free)))
    b = 0.0
    for _ in range(3):  # the second and third time for what rounding and the small diagonal left
        step = solve(y[free] - rows @ c)
        shifted = float((step.sum() + c.sum()) / ones.sum())
        b = shifted - mean * float(c.sum())
        c[free] += step - shifted * ones
    return b


def _candidate(y: Floats, U: Floats, alpha: Floats, F: Floats, intercept: bool) -> Candidate:
    """Weigh alpha, whose residuals are F."""
    balance = abs(float(alpha @ y)) / max(float(alpha.sum()), TINY) if intercept else 0.0
    b, gap = relative_gap(alpha, F, y, U, intercept)
    return Candidate(alpha, F, b, gap + balance)
