"""The last digits of a soft margin: guess which alpha are at a bound, and solve for the others exactly.

If Z are the points with alpha_i = 0, B those with alpha_i = U_i and R the rest, then with c_i = alpha_i y_i the optimum
has  K_RR c_R + b = y_R - K_RB c_B  and  sum_R c_i = -sum_B c_i,  a linear system. The guess is that of a step along the
gradient: a point is in Z or B if alpha_i + s_i / k(x_i, x_i) is outside [0, U_i]. From a nearby point the guess is soon
right, and then the answer is exact up to rounding; a wrong guess costs nothing, for only what lowers the gap is kept.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from separatrix._typing import Array, Floats
from separatrix.solvers.soft_margin import EPS, best_intercept, relative_gap

ROUNDS = 25


def approached(K: Floats, y: Floats, U: Floats, violation: float, steps: int) -> tuple[Floats, int]:
    """alpha from 0 by so many steps of sequential minimal optimisation, and how many it took.

    With c_i = alpha_i y_i, move c_i up and c_j down by the t >= 0 that is best for F_i - F_j: i has the largest F of
    those that may rise, and j promises the largest gain (F_i - F_j)² / ‖phi(x_i) - phi(x_j)‖². No such pair is left
    when F_i - F_j <= violation for all: then f is as close to its optimum as that.
    """
    low, high = np.minimum(0.0, U * y), np.maximum(0.0, U * y)
    c, F, diagonal = np.zeros(len(y)), y.copy(), K.diagonal()
    for step in range(steps):
        i = int(np.where(c < high, F, -np.inf).argmax())
        ahead = np.where(c > low, F[i] - F, 0.0)
        if ahead.max() <= violation:
            return c * y, step
        apart = np.maximum(diagonal[i] + diagonal - 2.0 * K[i], EPS)  # K is scaled: its largest entry is 1
        j = int((np.maximum(ahead, 0.0) ** 2 / apart).argmax())
        t = min(ahead[j] / apart[j], high[i] - c[i], c[j] - low[j])
        c[i], c[j] = min(c[i] + t, high[i]), max(c[j] - t, low[j])
        F -= t * (K[i] - K[j])
    return c * y, steps


def polished(K: Floats, y: Floats, U: Floats, alpha: Floats, rounds: int = ROUNDS) -> Floats:
    """alpha, or one near it that is closer to the optimum; K is held in full. U_i may be infinite."""
    with np.errstate(all="ignore"):
        return _polished(K, y, U, alpha, rounds)


def _polished(K: Floats, y: Floats, U: Floats, alpha: Floats, rounds: int) -> Floats:
    best, reached = alpha, _distance(K, y, U, alpha)
    curvature = np.maximum(np.diag(K), EPS * float(np.diag(K).max(initial=0.0)) + np.finfo(np.float64).tiny)
    seen: set[bytes] = set()
    c = alpha * y
    F = y - K @ c
    b = best_intercept(F, y, np.minimum(U, np.finfo(np.float64).max / len(y)))
    for _ in range(rounds):
        trial = c * y + y * (F - b) / curvature
        bound, free = trial >= U, (trial > 0) & (trial < U)
        guess = np.packbits(np.concatenate([bound, free])).tobytes()
        if guess in seen or not free.any():
            break
        seen.add(guess)
        c = np.where(bound, U * y, np.where(free, c, 0.0))
        b = _solve_free(K, y, c, free)
        if not np.isfinite(c).all():
            break
        inside = np.clip(c * y, 0.0, U)
        distance = _distance(K, y, U, inside)
        if distance < reached:
            best, reached = inside, distance
        if reached <= 4 * EPS:
            break
        F = y - K @ c
    return _snapped(K, y, U, best, reached, curvature)


def _snapped(K: Floats, y: Floats, U: Floats, alpha: Floats, reached: float, curvature: Floats) -> Floats:
    """alpha with 0 and U_i for what is next to them, unless that costs accuracy: this tells the support vectors.

    Points beyond the margin by more than alpha_i k(x_i, x_i) are taken to have alpha_i = 0; likewise for U_i.
    """
    F = y - K @ (alpha * y)
    hard = not np.isfinite(U).all()
    f = y - F
    b = -0.5 * float(f[y > 0].min() + f[y < 0].max()) if hard else best_intercept(F, y, U)
    trial = alpha + y * (F - b) / curvature
    near = np.where(trial <= 0, 0.0, np.where(trial >= U, U, alpha))
    excess = float(near @ y)
    free = (near > 0) & (near < U)
    room = np.where(y * excess > 0, near, np.minimum(U - near, near)) * free
    if room.sum() > 2.0 * abs(excess):
        near = near - y * excess * room / room.sum()
    return near if _distance(K, y, U, near) <= max(2.0 * reached, 1e-12) else alpha


def _solve_free(K: Floats, y: Floats, c: Floats, free: Array) -> float:
    """Change c on the free points so that their residuals are one number, which is returned, and sum c = 0."""
    matrix = K[np.ix_(free, free)]
    # a singular matrix (equal points, more points than dimensions) has many solutions: stay close to the present one
    mean = float(np.diag(matrix).mean())
    matrix += mean  # times 1 1', which changes nothing but b, as sum c = 0, and helps where K_RR is singular
    matrix[np.diag_indices_from(matrix)] += 1e-14 * mean + np.finfo(np.float64).tiny
    try:
        factor = linalg.cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        c[free] = np.nan
        return 0.0
    ones = linalg.cho_solve(factor, np.ones(int(free.sum())), check_finite=False)
    b = 0.0
    for _ in range(3):  # the second and third time for what rounding and the small diagonal left
        residual = (y - K @ c)[free]
        step = linalg.cho_solve(factor, residual, check_finite=False)
        shifted = float((step.sum() + c.sum()) / ones.sum())
        b = shifted - mean * float(c.sum())
        c[free] += step - shifted * ones
    return b


def _distance(K: Floats, y: Floats, U: Floats, alpha: Floats) -> float:
    """The relative gap, plus how far alpha is out of balance; of a hard margin, relative to its dual."""
    F = y - K @ (alpha * y)
    balance = abs(float(alpha @ y)) / max(float(alpha.sum()), np.finfo(np.float64).tiny)
    if np.isfinite(U).all():
        return relative_gap(alpha, F, y, U) + balance
    f = y - F
    b = -0.5 * float(f[y > 0].min() + f[y < 0].max())
    margin, square = float((y * (f + b)).min()), float(alpha @ (y * f))
    # w / margin has all margins at least 1, and half its square is the primal
    primal = 0.5 * square / margin**2 if margin > 0 else np.inf
    value = float(alpha.sum()) - 0.5 * square
    return (primal - value) / primal + balance if np.isfinite(primal) and primal > 0 else np.inf
