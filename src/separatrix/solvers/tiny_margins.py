"""Many soft margins of a few points each: what takes a step for one takes a step for all.

Each is  max over alpha of  sum_i alpha_i - 1/2 sum_ij alpha_i alpha_j y_i y_j K_ij,  0 <= alpha_i <= U_i, and, with an
intercept, sum_i alpha_i y_i = 0. First sequential minimal optimisation, in every problem the pair (without an
intercept, the point) that gains most; then the points inside their bounds from a linear system, as in `active_set`.
Arrays have one more axis in front: K (B, m, m), y, U, alpha and the residuals F = y - K (alpha y) (B, m).
"""

from __future__ import annotations

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.loops.working_set import optimised
from separatrix.solvers.soft_margin import EPS, TINY

NEAR = 1e-2  # of a margin, by which a problem may be wrong when its free points are first guessed
STEPS = 4  # for each point, before that
ROUNDS = 4  # guesses


def tiny_margins(K: Floats, y: Floats, U: Floats, intercept: bool) -> tuple[Floats, Floats, Floats]:
    """alpha, the intercepts (B,) and the relative gaps (B,), as good as a few rounds make them."""
    alpha, F = approached_all(K, y, U, intercept)
    b, gap = weighed(alpha, F, y, U, intercept)
    best, best_b, best_gap = alpha, b, gap
    curvature = np.maximum(np.diagonal(K, axis1=1, axis2=2), EPS)
    for _ in range(ROUNDS):
        trial = alpha + y * (F - b[:, None]) / curvature
        alpha = in_balance(free_points(K, y, U, trial, b, intercept), y, intercept)
        F = y - (K @ (alpha * y)[:, :, None])[:, :, 0]
        b, gap = weighed(alpha, F, y, U, intercept)
        better = gap < best_gap
        best = np.where(better[:, None], alpha, best)
        best_b, best_gap = np.where(better, b, best_b), np.where(better, gap, best_gap)
        if (best_gap < 4 * EPS * y.shape[1]).all():
            break
    return best, best_b, best_gap


def approached_all(K: Floats, y: Floats, U: Floats, intercept: bool) -> tuple[Floats, Floats]:
    """alpha from 0 and its residuals, each problem until it is near, or out of steps."""
    alpha, F = np.zeros_like(y), y.copy()
    diagonal = np.ascontiguousarray(np.diagonal(K, axis1=1, axis2=2))
    for k in range(len(y)):
        optimised(K[k], diagonal[k], y[k], U[k], alpha[k], F[k], NEAR, STEPS * y.shape[1], intercept)
    return alpha, F


def free_points(K: Floats, y: Floats, U: Floats, trial: Floats, b: Floats, intercept: bool) -> Floats:
    """alpha with trial_i <= 0 at 0 and trial_i >= U_i at U_i, of which the others follow: K c + b = y, sum c = 0."""
    B, m = y.shape
    free: Array = np.asarray((trial > 0) & (trial < U))
    fixed = np.where(trial >= U, U * y, 0.0)
    size = m + int(intercept)
    A, right = np.zeros((B, size, size)), np.zeros((B, size))
    A[:, :m, :m] = np.where(free[:, :, None], K, np.eye(m))
    mean = np.maximum(np.diagonal(K, axis1=1, axis2=2).mean(axis=1), TINY)
    A[:, np.arange(m), np.arange(m)] += np.where(free, 1e-14 * mean[:, None], 0.0)  # of many solutions, one
    right[:, :m] = np.where(free, y, fixed)
    if intercept:
        some = np.asarray(free.any(axis=1))
        A[:, :m, m] = free
        A[:, m, :m] = some[:, None]
        A[:, m, m] = ~some
        right[:, m] = np.where(some, 0.0, b)
    try:
        c = np.linalg.solve(A, right[:, :, None])
        c += np.linalg.solve(A, right[:, :, None] - A @ c)
    except np.linalg.LinAlgError:
        return np.clip(trial, 0.0, U)
    alpha = np.where(free, y * c[:, :m, 0], np.abs(fixed))
    return np.where(np.isfinite(alpha.sum(axis=1))[:, None], np.clip(alpha, 0.0, U), 0.0)


def in_balance(alpha: Floats, y: Floats, intercept: bool) -> Floats:
    """The heavier class scaled down to the other, if b is free."""
    if not intercept:
        return alpha
    plus, minus = np.where(y > 0, alpha, 0.0).sum(axis=1), np.where(y < 0, alpha, 0.0).sum(axis=1)
    least = np.minimum(plus, minus)
    share = np.where(y > 0, (least / np.maximum(plus, TINY))[:, None], (least / np.maximum(minus, TINY))[:, None])
    return alpha * np.minimum(share, 1.0)


def weighed(alpha: Floats, F: Floats, y: Floats, U: Floats, intercept: bool) -> tuple[Floats, Floats]:
    """The best intercept of each problem, and its relative gap there."""
    b = best_intercepts(F, y, U) if intercept else np.zeros(len(y))
    s = y * (F - b[:, None])
    gap = (np.where(s > 0, U - alpha, -alpha) * s).sum(axis=1)
    value = 0.5 * (alpha * (1.0 + y * F)).sum(axis=1)
    return b, gap / np.maximum(value + gap, TINY)


def best_intercepts(F: Floats, y: Floats, U: Floats) -> Floats:
    """`best_intercept` of each line: where sum_i U_i max(0, y_i (F_i - b)) is least, the midpoint of an interval."""
    order: Integers = np.argsort(F, axis=1)
    passed = np.cumsum(np.take_along_axis(U, order, axis=1), axis=1)
    balance, level = np.where(y > 0, U, 0.0).sum(axis=1), y.shape[1] * EPS * passed[:, -1]
    ends = []
    for reached in (passed >= (balance - level)[:, None], passed > (balance + level)[:, None]):
        at: Array = np.where(reached.any(axis=1), reached.argmax(axis=1), y.shape[1] - 1)
        ends.append(np.take_along_axis(F, np.take_along_axis(order, at[:, None], axis=1), axis=1)[:, 0])
    return np.asarray(0.5 * ends[0] + 0.5 * ends[1])
