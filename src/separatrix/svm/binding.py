"""The last digits of a hard margin: find the points that bind, and solve for them exactly.

With alpha_i > 0 on the points S alone, y_i f(x_i) = 1 on S is a linear system (with sum_i alpha_i y_i = 0 for b).
If its solution is positive, the point that it leaves furthest inside the margin joins S; if not, go towards it until a
weight is 0, and that point leaves S. From the answer of an interior-point method S is nearly right at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import linalg

from separatrix._typing import Floats, Integers
from separatrix.design import Design

START, MORE = 800, 400  # points to begin with where there are many, and points to add at a time
ROUNDS = 60  # beside one for each point to begin with, as long as their systems are small:
FEWEST = 20  # of any systems, however large: from nearby 1 to 9 do
WORK = 1e10  # multiplications that systems of more rounds than that may take
BEGIN = 1e-6  # of the largest weight: points that are in S at first
INDEPENDENT = 1e-10  # of the first pivot


class Points(Protocol):
    """phi(x_i) as far as it matters: what c on S makes all residuals y_i - f(x_i) on S equal, and f everywhere."""

    def independent(self, S: Integers) -> Integers:
        """Some of S that span no less."""

    def solve(self, S: Integers) -> tuple[Floats, float]:
        """c and b with <w, phi(x_i)> + b = y_i on S, w = sum_S c_i phi(x_i) (and sum c = 0, or else b = 0)."""

    def scores(self, S: Integers, c: Floats) -> Floats:
        """<w, phi(x_i)> for all i."""


def rounds(m: int) -> int:
    """How many systems of order m may be solved: an answer that needs more was not nearby."""
    return min(ROUNDS + m, max(FEWEST, int(WORK // max(m, 1) ** 3)))


@np.errstate(all="ignore")
def binding(points: Points, y: Floats, alpha: Floats) -> Floats:
    """min over alpha >= 0 of 1/2 ‖sum_i alpha_i y_i phi(x_i)‖² - sum_i alpha_i, from nearby; the best on the way."""
    active = points.independent(np.flatnonzero(alpha > BEGIN * alpha.max(initial=0.0))).tolist()
    now, best, highest = alpha[active], alpha, -np.inf
    for _ in range(rounds(len(active))):
        S = np.array(active, dtype=np.intp)
        c, b = points.solve(S)
        goal = c * y[S]
        if not len(S) or not np.isfinite(goal).all():
            break
        if (goal <= 0).any():
            down = np.flatnonzero(goal <= 0)
            ratio = now[down] / (now[down] - goal[down])
            out = int(down[np.argmin(ratio)])
            now = np.delete(np.maximum(now + float(ratio.min()) * (goal - now), 0.0), out)
            del active[out]
            continue
        now = goal
        margins = y * (points.scores(S, c) + b)
        worst, margin = int(np.argmin(margins)), float(margins.min()) / float(np.sqrt(goal.sum()))  # ‖w‖² = sum alpha
        if margin > highest:
            highest, best = margin, np.zeros(len(y))
            best[S] = goal
        if margins[worst] >= 1 - 1e-13 or worst in active:
            break
        active.append(worst)
        now = np.append(now, 0.0)
    return best


@dataclass(frozen=True)
class KernelPoints:
    """By inner products, held in full."""

    K: Floats
    y: Floats
    intercept: bool

    def independent(self, S: Integers) -> Integers:
        return S

    def solve(self, S: Integers) -> tuple[Floats, float]:
        m = len(S)
        K = self.K[np.ix_(S, S)]
        size = float(K.diagonal().mean()) if m else 1.0  # the border in the size of the rest
        matrix = np.zeros((m + self.intercept, m + self.intercept))
        matrix[:m, :m] = K
        if self.intercept:
            matrix[m, :m] = matrix[:m, m] = size
        goal = np.append(self.y[S], np.zeros(int(self.intercept)))
        factor, pivots, failed = linalg.lapack.dgetrf(matrix)
        if failed:
            return np.full(m, np.nan), 0.0
        found = np.zeros(len(goal))
        for _ in range(3):  # the second and third time for what rounding left
            found = found + linalg.lapack.dgetrs(factor, pivots, goal - matrix @ found)[0]
        return found[:m], float(found[m]) * size if self.intercept else 0.0

    def scores(self, S: Integers, c: Floats) -> Floats:
        return self.K[:, S] @ c


@dataclass(frozen=True)
class Rows:
    """By the rows of a design themselves, which costs half the digits that their inner products do."""

    design: Design
    y: Floats

    def rows(self, S: Integers) -> Floats:
        """The rows without the 1 of the intercept."""
        return self.design.take(S).dot(np.eye(self.design.p))[:, : self.design.d]

    def independent(self, S: Integers) -> Integers:
        Z = self.rows(S)
        Z = np.column_stack([Z, np.ones(len(Z))]) if self.design.intercept else Z
        R, order = linalg.qr(Z.T, mode="r", pivoting=True)
        size = np.abs(R.diagonal())
        return np.sort(S[order[: int((size > INDEPENDENT * size[0]).sum())]])

    def solve(self, S: Integers) -> tuple[Floats, float]:
        Z, m = self.rows(S), len(S)
        if not 1 + self.design.intercept <= m <= self.design.p:
            return np.full(m, np.nan), 0.0
        if not self.design.intercept:
            R = linalg.qr(Z.T, mode="r")[0][:m]
            return _refined(R, Z, self.y[S]), 0.0
        # with sum c = 0, <w, z> is the same about any centre; c = N t for an orthonormal N with columns of sum 0
        N = linalg.qr(np.ones((m, 1)))[0][:, 1:]
        U = N.T @ Z
        R = linalg.qr(U.T, mode="r")[0][: m - 1]
        c = N @ _refined(R, U, N.T @ self.y[S])
        return c, float((self.y[S] - Z @ (Z.T @ c)).mean())

    def scores(self, S: Integers, c: Floats) -> Floats:
        w = np.append(c @ self.rows(S), np.zeros(int(self.design.intercept)))
        return self.design.dot(w[:, None])[:, 0]


def _refined(R: Floats, Z: Floats, goal: Floats) -> Floats:
    """c with Z Z'c = goal, where Z' = Q R."""
    diagonal = np.abs(R.diagonal())
    if len(R) < len(goal) or not diagonal.min(initial=np.inf) > 0:
        return np.full(len(goal), np.nan)
    c = np.zeros(len(goal))
    for _ in range(3):
        rest = goal - Z @ (Z.T @ c)
        if not np.isfinite(rest).all():  # of rows whose squares underflow, c is beyond all floats
            return rest
        c = c + linalg.solve_triangular(R, linalg.solve_triangular(R, rest, trans=1))
    return c


def evenly(y: Floats, count: int) -> Integers:
    """About so many points, of both classes, evenly spaced."""
    if len(y) <= 2 * count:
        return np.arange(len(y))
    sides = [np.flatnonzero(y > 0), np.flatnonzero(y < 0)]
    return np.sort(np.concatenate([side[:: max(1, 2 * len(side) // count)] for side in sides]))
