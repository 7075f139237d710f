"""The hinge with an L1 penalty, min over (w, b) of ‖w‖₁ + sum_i u_i max(0, 1 - y_i (w.x_i + b)): a linear program.

    min  sum_j (w+_j + w-_j) + sum_i u_i xi_i    subject to    y_i (x_i.(w+ - w-) + b) + xi_i >= 1,  all but b >= 0

The multipliers of its rows are the dual point: 0 <= a_i <= u_i, sum_i a_i y_i = 0 and |sum_i a_i y_i x_ij| <= 1, of the
value sum_i a_i. Solved by HiGHS, in units where columns and costs are about 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from separatrix._typing import Floats
from separatrix.design import Design
from separatrix.sparse_models.columns import Columns

CLOSE = 1e-9  # how far HiGHS may be off feasibility, in these units
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Solved:
    """Weights (1, d) and intercept (1,) in the user's units, multipliers (n,), and how many steps HiGHS took."""

    coef: Floats
    intercept: Floats
    multipliers: Floats
    n_iter: int


def sparse_hinge(design: Design, y: Floats, u: Floats) -> Solved:
    """Where HiGHS ends without a solution, weights and multipliers of 0, which prove that no objective is below 0."""
    columns = Columns(design)
    n, d, cost = design.n, design.d, max(float(u.max()), TINY)
    X = columns.csc()
    size = np.maximum(abs(X).max(axis=0).toarray().ravel(), TINY)
    signed = sparse.csc_array(X.multiply(y[:, None]).multiply(1.0 / size))
    level = [sparse.csc_array(y[:, None])] * design.intercept
    price = np.minimum(1.0 / size / cost, 1e20)  # HiGHS takes more for infinite
    found = linprog(
        np.concatenate([price, price, np.zeros(int(design.intercept)), u / cost]),
        A_ub=-sparse.hstack([signed, -signed, *level, sparse.identity(n)], format="csc"),
        b_ub=-np.ones(n),
        bounds=[(0, None)] * (2 * d) + [(None, None)] * design.intercept + [(0, None)] * n,
        method="highs",
        options={"primal_feasibility_tolerance": CLOSE, "dual_feasibility_tolerance": CLOSE},
    )
    w, b, multipliers = np.zeros(d), 0.0, np.zeros(n)
    if found.x is not None and found.status == 0:
        w = (found.x[:d] - found.x[d : 2 * d]) / size
        b = float(found.x[2 * d]) if design.intercept else 0.0
        multipliers = np.clip(-found.ineqlin.marginals * cost, 0.0, u)
    coef, intercept = columns.design.user_units(np.append(w, b)[: design.p, None])
    return Solved(coef, intercept, multipliers, max(int(found.nit), 1))
