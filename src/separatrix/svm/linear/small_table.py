"""The hinge and its square of a small table: its rows are written out once, and each machine is one compiled loop.

Newton's method goes to machine precision there in less time than anything else takes to begin. Where there are fewer
rows than columns, it is in the space of the rows: the optimum is a sum of rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from separatrix._typing import Floats
from separatrix.design import Design
from separatrix.loops.margin_newton import STEPS, margin_newton, room
from separatrix.loops.rows import BUDGET
from separatrix.solvers.soft_margin import balanced, best_intercepts, best_squared_intercept
from separatrix.svm.linear.choose import Shape
from separatrix.svm.linear.machine import Machine, of_multipliers
from separatrix.svm.stated import SURE, linear_terms, stated

PRECISE = 1e-10  # relative gap, where it costs next to nothing; what is left is mostly rounding
GOAL = 1e-12  # the same, as the loop knows it: what is left is for rounding
WIDE, NARROWER = 4.0, 0.5  # of the margin: where the hinge is first made smooth; and over the last
MOST = 300  # steps after which an interior-point method would have been better
PATIENCE = 50  # steps in which the gap becomes no smaller: it is rounding


@dataclass(frozen=True)
class SmallTable:
    """min over (w, b) of 1/2 ‖w‖² + sum_i C_i max(0, 1 - y_i z_i.(w, b)), or of squares of max, for any signs y."""

    design: Design
    bound: Floats  # the C_i
    X: Floats  # the rows (n, d)
    Z: Floats  # the rows about their mean, which the intercept absorbs, and 1: (n, p)
    Q: Floats | None  # if these are rotated, what turns weights back: (d, n)

    def machine(self, y: Floats, tol: float, max_iter: int, squared: bool) -> Machine | None:
        """The machine of these signs; None if that is not precise, for a surer method to go on."""
        alpha, v, n_iter = self._solved(y, max_iter, squared)
        enough = PRECISE if self.design.dtype == np.float64 else tol  # weights rounded to float32 are not that precise
        if not np.isfinite(alpha).all():
            return None
        with np.errstate(all="ignore"):
            machine = of_multipliers(self.design, y, alpha, self.bound, n_iter, squared=squared)  # w is a sum of rows
            if not machine.relative_gap <= enough:  # of long rows that sum is known to fewer digits than w
                w = v[: self.Z.shape[1] - self.design.intercept]
                w = w if self.Q is None else self.Q @ w
                machine = of_multipliers(self.design, y, alpha, self.bound, n_iter, w, squared)
        return machine if machine.relative_gap <= enough else None

    def machines(self, signs: Floats, tol: float, max_iter: int, squared: bool) -> list[Machine | None]:
        """Those of each line of signs (B, n), as their certificates state them; None where that takes a closer look."""
        if self.design.dtype != np.float64:
            return [None] * len(signs)
        found = [self._solved(y, max_iter, squared) for y in signs]
        A, steps = np.array([alpha for alpha, _, _ in found]), [n_iter for _, _, n_iter in found]
        with np.errstate(all="ignore"):
            C = A * signs
            W = C @ self.X
            terms, b = linear_terms(self.X[None], C, W), np.zeros(len(signs))
            bounds = np.broadcast_to(self.bound, signs.shape)
            if self.design.intercept and squared:
                lines = zip(signs - terms.scores, signs, strict=True)
                b = np.array([best_squared_intercept(F, y, self.bound) for F, y in lines])
            elif self.design.intercept:
                b = best_intercepts(signs - terms.scores, signs, bounds)
            primal, dual, doubt = stated(terms, signs, bounds, A, b, self.design.intercept, squared)
            gap = np.maximum((primal - dual) / primal, doubt)
        good = (gap <= SURE * tol) & (dual > 0)
        return [
            Machine(W[k], float(b[k]), A[k], float(primal[k]), float(dual[k]), steps[k], float(gap[k]), summed=True)
            if good[k]
            else None
            for k in range(len(signs))
        ]

    def _solved(self, y: Floats, max_iter: int, squared: bool) -> tuple[Floats, Floats, int]:
        """alpha in balance, weights of the written rows, and the number of steps."""
        n, p = self.Z.shape
        y, c = np.ascontiguousarray(y), self.bound
        ridge = np.ones(p)
        ridge[p - self.design.intercept :] = 0.0
        v, m, alpha, place = np.zeros(p), np.zeros(n), np.zeros(n), np.zeros(2, dtype=np.int64)
        a, cap, width = (np.zeros(n), np.full(n, np.inf), 0.5) if squared else (0.5 * c, c, WIDE)
        at, work = np.array([width, np.inf]), room(n, p)
        how = (int(squared), NARROWER, GOAL, PATIENCE, min(max_iter, MOST))
        while not margin_newton(self.Z, n, p, y, c, cap, ridge, *how, v, a, m, alpha, at, place, *work, BUDGET):
            pass
        with np.errstate(all="ignore"):
            return balanced(alpha, y, cap, self.design.intercept), v, int(place[STEPS])


def small_table(design: Design, bound: Floats) -> SmallTable | None:
    """The table written out, or None if it is not small."""
    if not Shape.of(design).small:
        return None
    X = rows = np.ascontiguousarray(design.array())  # the order of sums is that of the rows, however they are stored
    with np.errstate(all="ignore"):
        if design.intercept:
            X = X - X.mean(axis=0)
        if not np.isfinite(X).all():
            return None
        Q = None
        if design.d > design.n:
            Q, R = linalg.qr(X.T, mode="economic")
            X = R.T
        if design.intercept:
            X = np.column_stack([X, np.ones(design.n)])
    return SmallTable(design, np.ascontiguousarray(bound, dtype=np.float64), rows, np.ascontiguousarray(X), Q)
