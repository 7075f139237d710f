"""The hinge with an L1 penalty, min over (w, b) of ‖w‖₁ + sum_i u_i max(0, 1 - y_i (w.x_i + b)): a linear program.

    min  sum_j (w+_j + w-_j) + sum_i u_i xi_i    subject to    y_i (x_i.(w+ - w-) + b) + xi_i >= 1,  all but b >= 0
    max  sum_i a_i    subject to    0 <= a_i <= u_i,  sum_i a_i y_i = 0,  |sum_i a_i y_i x_ij| <= 1

The first has a row for each row of the data, the second one for each column: whichever are fewer, for that is what a
step of the simplex method costs (20,000 x 20: 0.8 s in place of 35). The multipliers of one are the solution of the
other. Solved by HiGHS, in units where columns and costs are about 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from separatrix._typing import Floats
from separatrix.design import Design
from separatrix.errors import InvalidInputError
from separatrix.sparse_models.columns import Columns

CLOSE = 1e-9  # how far HiGHS may be off feasibility, in these units
TINY = float(np.finfo(np.float64).tiny)
MOST = 2**31 - 1  # steps that HiGHS can be told to take at most


@dataclass(frozen=True)
class Solved:
    """Weights (1, d) and intercept (1,) in the user's units, multipliers (n,), the steps of HiGHS, and if it ended."""

    coef: Floats
    intercept: Floats
    multipliers: Floats
    n_iter: int
    ended: bool


@dataclass(frozen=True)
class Program:
    """min over (v, b) of sum_j price_j |v_j| + sum_i cost_i max(0, 1 - y_i (v.z_i + b)), at most so many steps."""

    Z: sparse.csc_array
    y: Floats
    price: Floats
    cost: Floats
    free: bool
    steps: int

    def by_rows(self) -> tuple[Any, Floats, Floats]:
        """What HiGHS says, and (v, b) and the multipliers, of the first program."""
        n, d = self.Z.shape
        signed = sparse.csc_array(self.Z.multiply(self.y[:, None]))
        level = [sparse.csc_array(self.y[:, None])] * self.free
        found = self._solved(
            np.concatenate([self.price, self.price, np.zeros(int(self.free)), self.cost]),
            A_ub=-sparse.hstack([signed, -signed, *level, sparse.identity(n)], format="csc"),
            b_ub=-np.ones(n),
            bounds=[(0, None)] * (2 * d) + [(None, None)] * self.free + [(0, None)] * n,
        )
        if found.status != 0:
            return found, np.zeros(d + 1), np.zeros(n)
        v = found.x[:d] - found.x[d : 2 * d]
        return found, np.append(v, found.x[2 * d] if self.free else 0.0), -found.ineqlin.marginals

    def by_columns(self) -> tuple[Any, Floats, Floats]:
        """The same of the second program: sum_i a_i y_i z_ij + s_j = 0 with |s_j| <= price_j."""
        n, d = self.Z.shape
        moments = sparse.hstack([sparse.csc_array(self.Z.multiply(self.y[:, None])).T, sparse.identity(d)])
        level = [sparse.hstack([sparse.csr_array(self.y[None]), sparse.csr_array((1, d))])] * self.free
        low, high = np.concatenate([np.zeros(n), -self.price]), np.concatenate([self.cost, self.price])
        found = self._solved(
            np.concatenate([-np.ones(n), np.zeros(d)]),
            A_eq=sparse.vstack([moments, *level], format="csc"),
            b_eq=np.zeros(d + self.free),
            bounds=np.column_stack([low, high]),
        )
        if found.status != 0:
            return found, np.zeros(d + 1), np.zeros(n)
        v = -found.eqlin.marginals
        return found, v if self.free else np.append(v, 0.0), found.x[:n]

    def _solved(self, costs: Floats, **program: Any) -> Any:
        options = {"primal_feasibility_tolerance": CLOSE, "dual_feasibility_tolerance": CLOSE, "maxiter": self.steps}
        return linprog(costs, **program, method="highs", options=options)


def sparse_hinge(design: Design, y: Floats, u: Floats, max_iter: int) -> Solved:
    """Where HiGHS ends without a solution, weights and multipliers of 0, which prove that no objective is below 0.

    An iteration is as many of its steps as the table has rows and columns.
    """
    if not design.in_memory:
        raise InvalidInputError(
            "The hinge with an L1 penalty is a linear program of all rows at once, and these are not in memory: use "
            "loss='squared_hinge', or fit to a sample, such as X[::10].",
            "loss",
        )
    columns = Columns(design)
    n, d, unit = design.n, design.d, max(float(u.max()), TINY)
    X = columns.csc()
    size = np.maximum(abs(X).max(axis=0).toarray().ravel(), TINY)
    program = Program(
        Z=sparse.csc_array(X.multiply(1.0 / size)),
        y=y,
        price=np.minimum(1.0 / size / unit, 1e20),  # HiGHS takes more for infinite
        cost=u / unit,
        free=design.intercept,
        steps=min(max_iter * (n + d), MOST),
    )
    found, v, a = program.by_columns() if n > d else program.by_rows()
    coef, intercept = columns.design.user_units(np.append(v[:d] / size, v[d])[: design.p, None])
    return Solved(coef, intercept, np.clip(a * unit, 0.0, u), max(int(found.nit or 0), 1), found.status != 1)
