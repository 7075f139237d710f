"""The point of the convex hull of z_i = y_i (x_i, 1) nearest to the origin: its length is the best margin.

For x in the hull, min_i z_i.x / ‖x‖ <= max over ‖v‖ = 1 of min_i z_i.v <= ‖x‖, with equality at the nearest point.
Wolfe's method on a working set of rows: keep affinely independent rows, go to the nearest point of their affine hull,
drop a row when that leaves the convex hull, and add the row that x sees least. Passes over all rows renew the set.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from separatrix._typing import Array, Floats, Integers
from separatrix.design import Block, Design, homogeneous
from separatrix.design.block import row_squares
from separatrix.design.reducing import Parts
from separatrix.svm.linear.hard_margin import widest

PASSES = 200
STEPS = 20_000  # of Wolfe's method in all
ADDED = 200  # rows a pass
WIDE_ITERATIONS = 200
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class NearestPoint:
    """sum alpha_i z_i over `rows`, and the bracket it gives.

    Parameters
    ----------
    direction : array of shape (p,)
        v, the direction of the lower bound.
    rows : integer array
    alpha : array
        Positive, of sum 1.
    lower, upper : float
        min_i z_i.v / ‖v‖ over all rows, and ‖sum alpha_i z_i‖.
    radius : float
        max_i ‖z_i‖.
    rounding : float
        What the lower bound may be off by.
    """

    direction: Floats
    rows: Integers
    alpha: Floats
    lower: float
    upper: float
    radius: float
    rounding: float


def nearest_point(design: Design, signs: Floats, tol: float) -> NearestPoint:
    """Bracket the best margin until upper - lower <= tol * upper, or rounding or the limit on passes stops it."""
    plain = replace(design, offset=None, rest=None, scale=None)
    lengths = _lengths(plain)
    radius = float(lengths.max())
    if radius == 0.0:  # all rows are 0, and so is every margin
        return NearestPoint(np.ones(plain.p), np.zeros(1, dtype=np.intp), np.ones(1), 0.0, 0.0, 0.0, 0.0)
    if plain.p > 2 * plain.n:
        return _of_wide_rows(plain, signs, tol, radius)
    first = int(np.argmin(lengths))
    rows = np.array([first], dtype=np.intp)
    corral = Corral(_rows(plain, signs, rows) / radius, rows)
    best: NearestPoint | None = None
    for _ in range(PASSES):
        upper = float(np.linalg.norm(corral.point))
        x = corral.direction
        i, lead, size = _least(plain, signs, x / radius)
        length = float(np.linalg.norm(x))
        lower, rounding = float(lead[0]) / length, (plain.p + 8) * EPS * size / length
        if best is None or lower * radius > best.lower:
            found = corral.rows, corral.alpha
            best = NearestPoint(x, *found, lower * radius, upper * radius, radius, rounding * radius)
        if upper - lower <= tol * upper or upper <= 16 * EPS:
            break
        fresh = i[~np.isin(i, rows)]
        if not len(fresh) or corral.steps > STEPS:
            break
        rows = np.concatenate([rows, fresh])
        corral.extend(_rows(plain, signs, fresh) / radius, fresh)
        corral.solve(tol / 10)
        kept = corral.trim()
        rows = rows[kept]
    assert best is not None
    return best


def _of_wide_rows(design: Design, signs: Floats, tol: float, radius: float) -> NearestPoint:
    """The same as a hard margin through the origin, which is found in the space that the rows span."""
    found = widest(homogeneous(design), signs, tol, WIDE_ITERATIONS)
    v = found.w if found.w.any() else np.ones(design.p)
    rows = np.flatnonzero(found.alpha) if found.alpha.any() else np.array([0])
    alpha = found.alpha[rows] if found.alpha.any() else np.ones(1)
    rounding = (design.p + 8) * EPS * radius
    return NearestPoint(v, rows, alpha / alpha.sum(), found.lower, found.upper, radius, rounding)


class Corral:
    """Wolfe's method on the rows Z: `active` positions with weights alpha > 0 and affinely independent rows."""

    def __init__(self, Z: Floats, rows: Integers) -> None:
        self.Z, self.names = Z, rows
        self.active = [0]
        self.alpha = np.ones(1)
        self.steps = 0

    @property
    def point(self) -> Floats:
        """sum alpha_i z_i."""
        return np.asarray(self.alpha @ self.Z[self.active])

    @property
    def direction(self) -> Floats:
        """The shortest v with z_i.v = 1 on the active rows: the direction of `point`, less rounded."""
        v, *_ = np.linalg.lstsq(self.Z[self.active], np.ones(len(self.active)), rcond=None)
        return np.asarray(v) if v.any() else np.ones_like(v)

    @property
    def rows(self) -> Integers:
        """The active rows by name."""
        return self.names[self.active]

    def extend(self, Z: Floats, rows: Integers) -> None:
        """More rows to choose from."""
        self.Z, self.names = np.vstack([self.Z, Z]), np.concatenate([self.names, rows])

    def trim(self) -> Array:
        """Forget the rows far from the boundary, so that the working set stays small; returns those kept."""
        lead = self.Z @ self.point
        keep = lead <= np.sort(lead)[min(len(lead), 4 * ADDED + 2 * self.Z.shape[1]) - 1]
        keep[self.active] = True
        place = np.cumsum(keep) - 1
        self.active = [int(place[a]) for a in self.active]
        self.Z, self.names = self.Z[keep], self.names[keep]
        return keep

    def solve(self, tol: float) -> None:
        """Approach the nearest point of the convex hull of the rows known."""
        while self.steps <= STEPS:
            self.steps += 1
            x = self.point
            lead = self.Z @ x
            lead[self.active] = np.inf  # equal to ‖x‖² but for rounding
            j, square = int(np.argmin(lead)), float(x @ x)
            if square - lead[j] <= tol * square or square <= (8 * EPS) ** 2:
                return
            before = self.active[:], self.alpha
            self.active.append(j)
            self.alpha = np.append(self.alpha, 0.0)
            self._to_affine_hull()
            if float(np.linalg.norm(self.point)) >= np.sqrt(square):  # rounding: no progress
                self.active, self.alpha = before
                return

    def _to_affine_hull(self) -> None:
        """Move to the nearest point of the affine hull of the active rows, dropping rows whose weight becomes 0."""
        while len(self.active) > 1:
            Z = self.Z[self.active]
            goal = _nearest_affine(Z)
            falling = goal <= EPS
            if not falling.any():
                self.alpha = goal
                return
            ratio = np.full(len(goal), np.inf)
            ratio[falling] = self.alpha[falling] / np.maximum(self.alpha[falling] - goal[falling], 1e-300)
            theta = min(1.0, float(ratio.min()))
            moved = (1 - theta) * self.alpha + theta * goal
            drop = falling & (ratio <= theta)
            drop[np.argmin(ratio)] = True
            keep = ~drop
            self.active = [a for a, kept in zip(self.active, keep, strict=True) if kept]
            moved = np.maximum(moved[keep], 0.0)
            self.alpha = moved / moved.sum()
        self.alpha = np.ones(1)


def _nearest_affine(Z: Floats) -> Floats:
    """Weights of sum 1 for which sum alpha_i z_i is nearest to the origin, refined against rounding."""
    Q, R = linalg.qr((Z[1:] - Z[0]).T, mode="economic")
    diagonal = np.abs(np.diag(R))
    if len(R) < Z.shape[0] - 1 or diagonal.min() <= 1e-14 * diagonal.max():  # dependent: of minimum norm
        beta = np.linalg.lstsq((Z[1:] - Z[0]).T, -Z[0], rcond=None)[0]
        return np.append(1 - beta.sum(), beta)
    alpha = np.zeros(len(Z))
    alpha[0] = 1.0
    for _ in range(3):
        step = linalg.solve_triangular(R, -(Q.T @ (alpha @ Z)))
        alpha += np.append(-step.sum(), step)
    return alpha


def _lengths(design: Design) -> Floats:
    """‖z_i‖ for each row."""
    (squares,) = design.rows(row_squares)
    return np.sqrt(squares + design.intercept)


def _rows(design: Design, signs: Floats, rows: Integers) -> Floats:
    """The rows z_i as a dense array."""
    x = design.array(rows)
    return signs[rows, None] * (np.column_stack([x, np.ones(len(x))]) if design.intercept else x)


def _least(design: Design, signs: Floats, v: Floats) -> tuple[Integers, Floats, float]:
    """The rows with the smallest z_i.v, in order, their values, and the largest sum of |terms|."""
    i, lead, size = design.reduce(_least_of_block, signs, args=(v,), rules=("rows", "rows", "max"))
    order = np.lexsort((i, lead))[:ADDED]
    return i[order], lead[order], float(size)


def _least_of_block(block: Block, y: Floats, v: Floats) -> Parts:
    lead = y * block.dot(v[:, None])[:, 0]
    some = min(ADDED, len(lead))
    at = np.argpartition(lead, some - 1)[:some]
    size = np.asarray(abs(block.x) @ np.abs(v[: block.design.d])).max() + abs(v[block.design.d :]).sum()
    return block.rows.start + at, lead[at], float(size)
