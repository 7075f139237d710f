"""What many machines at once come to, rounded outward: lines of arrays (B, m), each with a point in every column.

The same bounds as `certificates._hinge` has, a little wider; w is u = sum_i alpha_i y_i phi(x_i) but for rounding,
unless the terms say what ‖w‖² is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix._typing import Floats
from separatrix.certificates._data import ALLOWED, EPS, TINY
from separatrix.certificates._hinge import CLOSE

SURE = 1e-3  # of tol, for the claim: the check may take a tenth for rounding, and bounds it some times as generously


@dataclass(frozen=True)
class Terms:
    """f_i - b and ‖u‖² with their errors, how far a unit of alpha out of balance can move u, and ‖w‖² if w is not u."""

    scores: Floats
    errors: Floats
    square: Floats
    square_error: Floats
    reach: Any
    apart: tuple[Floats, Floats] | None = None


def kernel_terms(scores: Floats, sizes: Floats, c: Floats, unit: float, largest: float) -> Terms:
    """Of kernel values that are off by ``unit`` at most; ``sizes`` are sum_j |k(x_i, x_j) c_j|."""
    m, alpha = c.shape[1], np.abs(c)
    errors = (m + 4) * EPS * sizes + (unit * alpha.sum(axis=1) + TINY)[:, None]
    error = (alpha * (errors + (m + 2) * EPS * np.abs(scores))).sum(axis=1)
    return Terms(scores, errors, (c * scores).sum(axis=1), error, np.sqrt(largest))


def linear_terms(x: Floats, c: Floats, w: Floats) -> Terms:
    """Of the points x (B, m, d), or (1, m, d) if all have the same, and w = c x."""
    m, d = x.shape[1:]
    scores = (x @ w[:, :, None])[:, :, 0]
    size = np.abs(x)
    errors = (d + 4) * (EPS * (size @ np.abs(w)[:, :, None])[:, :, 0] + TINY)
    off = (m + 4) * EPS * (np.abs(c)[:, None, :] @ size)[:, 0]
    square = (w * w).sum(axis=1)
    error = (off * (2 * np.abs(w) + off)).sum(axis=1) + (d + 4) * (EPS * square + TINY)
    return Terms(scores, errors, square, error, np.sqrt((size**2).sum(axis=2).max(axis=1)) * (1 + 1e-9))


def stated(
    terms: Terms, y: Floats, bound: Floats, alpha: Floats, b: Floats, intercept: bool, squared: bool = False
) -> tuple[Floats, Floats, Floats]:
    """P rounded up, D rounded down, and the tol that a claim of these needs for rounding alone."""
    m = y.shape[1]
    f = terms.scores + b[:, None]
    slack = np.maximum(0.0, 1.0 - y * f)
    errors = terms.errors + EPS * (np.abs(b)[:, None] + np.abs(f) + slack)
    square, square_error = terms.apart or (terms.square, terms.square_error)
    primal = 0.5 * square + (bound * (slack**2 if squared else slack)).sum(axis=1)
    near = np.where(y * f - errors < 1.0, bound, 0.0)
    moved = (near * (errors * (2 * slack + errors) if squared else errors)).sum(axis=1) * (1 + 1e-9)
    primal_error = moved + 0.5 * square_error + (m + 8) * EPS * primal
    total = alpha.sum(axis=1)
    dual = total - 0.5 * terms.square
    off = (np.abs((alpha * y).sum(axis=1)) + m * EPS * total) if intercept else np.zeros(len(y))
    move = off * terms.reach
    dual_error = 0.5 * (terms.square_error + move * (2 * np.sqrt(terms.square + terms.square_error) + move))
    if squared:
        ridge = (alpha * (alpha / (4 * bound))).sum(axis=1)  # of tiny C, alpha² would be 0
        dual, dual_error = dual - ridge, dual_error + (m + 8) * EPS * ridge
    dual_error += off + (m + 4) * EPS * (total + terms.square) + 2 * CLOSE * np.abs(dual)
    doubt = 2 * (primal_error + dual_error) / (ALLOWED * primal)
    return np.nextafter(primal + primal_error, np.inf), np.nextafter(dual - dual_error, -np.inf), doubt
