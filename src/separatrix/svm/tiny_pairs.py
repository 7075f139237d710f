"""The soft margins of many pairs of classes of a few points each, all at once; what that leaves open is None.

A machine of six points takes microseconds, and what surrounds it a hundred times as long: with 200 classes there are
19,900 of them. So their kernel values are taken from one matrix, and solved, scored and rounded outward together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix._typing import Array, Floats
from separatrix.certificates._data import ALLOWED, EPS
from separatrix.certificates._hinge import CLOSE, TINY
from separatrix.kernels import KernelRows, Linear
from separatrix.solvers.tiny_margins import tiny_margins
from separatrix.svm.choose import TOGETHER, held_in_full
from separatrix.svm.kernel_claims import CLEAR, kernel_unit
from separatrix.svm.kernel_svm import Settings
from separatrix.svm.one_vs_one import Pair
from separatrix.svm.pair_matrices import symmetric

ENTRIES = 1 << 21  # of the matrices of the pairs solved together


@dataclass(frozen=True)
class Tiny:
    """One machine: w or the expansion, b, alpha and scores of its points; primal rounded up, dual down."""

    alpha: Floats
    w: Floats | None
    scores: Floats
    b: float
    square: float
    primal: float
    dual: float
    relative_gap: float


def tiny_pairs(
    rows: KernelRows, points: Array, weight: Floats, pairs: list[Pair], settings: Settings
) -> list[Tiny | None]:
    """A machine for each pair that is small and comes out within tol; ``points`` are dense rows if k is linear."""
    found: list[Tiny | None] = [None] * len(pairs)
    if not held_in_full(rows.n) or settings.single or not rows.kernel.positive_semidefinite:
        return found
    linear = isinstance(rows.kernel, Linear)
    if linear and not isinstance(points, np.ndarray):
        return found
    sizes = np.array([len(pair.rows) for pair in pairs])
    if not (sizes <= TOGETHER).any():
        return found
    K, unit = symmetric(rows), kernel_unit(rows)
    for m in np.unique(sizes[sizes <= TOGETHER]):
        numbers = np.flatnonzero(sizes == m)
        step = max(1, ENTRIES // (m * max(m, points.shape[1] if linear else m)))
        for first in range(0, len(numbers), step):
            some = numbers[first : first + step]
            index = np.array([pairs[k].rows for k in some])
            y = np.array([pairs[k].y for k in some])
            x = np.asarray(points[index], dtype=np.float64) if linear else None
            batch = _solved(K[index[:, :, None], index[:, None, :]], unit, x, y, settings.C * weight[index], settings)
            for k, tiny in zip(some, batch, strict=True):
                found[k] = tiny
    return found


def _solved(
    K: Floats, unit: float, x: Floats | None, y: Floats, bound: Floats, settings: Settings
) -> list[Tiny | None]:
    """The pairs of one size: (B, m, m) kernel values, off by ``unit`` at most, or points x (B, m, d) themselves."""
    scale = np.maximum(np.diagonal(K, axis1=1, axis2=2).max(axis=1), TINY)
    with np.errstate(all="ignore"):
        alpha, b, left = tiny_margins(K / scale[:, None, None], y, bound * scale[:, None], settings.fit_intercept)
        alpha = np.minimum(alpha / scale[:, None], bound)
        c = alpha * y
        if x is None:
            terms = _kernel_terms(K, unit, c)
            W: list[Floats | None] = [None] * len(y)
        else:
            w = (c[:, None, :] @ x)[:, 0]
            terms, W = _linear_terms(x, c, w), list(w)
        primal, dual, doubt = _outward(terms, b, y, bound, alpha, settings.fit_intercept)
        gap = np.maximum((primal - dual) / primal, doubt)
    scores = terms.scores + b[:, None]
    good = np.isfinite(gap) & (gap <= settings.tol) & (left <= CLEAR) & (dual > 0)  # others are solved more closely
    figures = zip(b.tolist(), terms.square.tolist(), primal.tolist(), dual.tolist(), gap.tolist(), strict=True)
    return [Tiny(alpha[k], W[k], scores[k], *numbers) if good[k] else None for k, numbers in enumerate(figures)]


@dataclass(frozen=True)
class _Terms:
    """f_i - b and ‖w‖² = ‖u‖² with their errors, and how far a unit of alpha out of balance can move u."""

    scores: Floats
    errors: Floats
    square: Floats
    square_error: Floats
    reach: Floats


def _kernel_terms(K: Floats, unit: float, c: Floats) -> _Terms:
    m = c.shape[1]
    scores = (K @ c[:, :, None])[:, :, 0]
    errors = (m + 4) * EPS * (np.abs(K) @ np.abs(c)[:, :, None])[:, :, 0] + (unit * np.abs(c).sum(axis=1) + TINY)[
        :, None
    ]
    square = (c * scores).sum(axis=1)
    error = (np.abs(c) * (errors + (m + 2) * EPS * np.abs(scores))).sum(axis=1)
    return _Terms(scores, errors, square, error, np.sqrt(np.diagonal(K, axis1=1, axis2=2).max(axis=1)))


def _linear_terms(x: Floats, c: Floats, w: Floats) -> _Terms:
    m, d = x.shape[1:]
    scores = (x @ w[:, :, None])[:, :, 0]
    size = np.abs(x)
    errors = (d + 4) * (EPS * (size @ np.abs(w)[:, :, None])[:, :, 0] + TINY)
    off = (m + 4) * EPS * (np.abs(c)[:, None, :] @ size)[:, 0]
    square = (w * w).sum(axis=1)
    error = (off * (2 * np.abs(w) + off)).sum(axis=1) + (d + 4) * EPS * square
    return _Terms(scores, errors, square, error, np.sqrt((size**2).sum(axis=2).max(axis=1)) * (1 + 1e-9))


def _outward(
    terms: _Terms, b: Floats, y: Floats, bound: Floats, alpha: Floats, intercept: bool
) -> tuple[Floats, Floats, Floats]:
    """P rounded up, D rounded down, and the relative gap that rounding alone makes: `certificates._hinge`, for all."""
    m = y.shape[1]
    f = terms.scores + b[:, None]
    slack = np.maximum(0.0, 1.0 - y * f)
    errors = terms.errors + EPS * (np.abs(b)[:, None] + np.abs(f) + slack)
    primal = 0.5 * terms.square + (bound * slack).sum(axis=1)
    near = np.where(y * f - errors < 1.0, bound, 0.0)
    primal_error = (near * errors).sum(axis=1) * (1 + 1e-9) + 0.5 * terms.square_error + (m + 8) * EPS * primal
    total = alpha.sum(axis=1)
    dual = total - 0.5 * terms.square
    off = (np.abs((alpha * y).sum(axis=1)) + m * EPS * total) if intercept else np.zeros(len(y))
    move = off * terms.reach
    dual_error = 0.5 * (terms.square_error + move * (2 * np.sqrt(terms.square + terms.square_error) + move))
    dual_error += off + (m + 4) * EPS * (total + terms.square) + 2 * CLOSE * np.abs(dual)
    doubt = 2 * (primal_error + dual_error) / (ALLOWED * primal)
    return np.nextafter(primal + primal_error, np.inf), np.nextafter(dual - dual_error, -np.inf), doubt
