"""The point of the convex hull of z_i = y_i (x_i, 1) nearest to the origin: its length is the best margin.

For x in the hull, min_i z_i.x / ‖x‖ <= max over ‖v‖ = 1 of min_i z_i.v <= ‖x‖, with equality at the nearest point. The
same v is that of a hard margin through the origin, whose multipliers, made to sum to 1, give the point.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from separatrix._typing import Floats, Integers
from separatrix.design import Design, homogeneous
from separatrix.design.block import row_squares
from separatrix.svm.linear.hard_margin import widest

ITERATIONS = 200
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class NearestPoint:
    """sum alpha_i z_i over `rows`, and the bracket it gives."""

    direction: Floats  # v (p,), the direction of the lower bound
    rows: Integers
    alpha: Floats  # positive, of sum 1
    lower: float  # min_i z_i.v / ‖v‖ over all rows
    rounding: float  # what that may be off by


def nearest_point(design: Design, signs: Floats, tol: float) -> NearestPoint:
    """Bracket the best margin until upper - lower <= tol * upper, or rounding stops it."""
    plain = replace(design, offset=None, rest=None, scale=None)
    (squares,) = plain.rows(row_squares)
    radius = float(np.sqrt(squares.max() + plain.intercept))
    if radius == 0.0:  # all rows are 0, and so is every margin
        return NearestPoint(np.ones(plain.p), np.zeros(1, dtype=np.intp), np.ones(1), 0.0, 0.0)
    found = widest(homogeneous(plain), signs, tol, ITERATIONS)
    v = found.w if found.w.any() else np.ones(plain.p)
    rows = np.flatnonzero(found.alpha) if found.alpha.any() else np.array([0])
    alpha = found.alpha[rows] if found.alpha.any() else np.ones(1)
    return NearestPoint(v, rows, alpha / alpha.sum(), found.lower, (plain.p + 8) * EPS * radius)
