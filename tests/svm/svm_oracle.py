"""The soft margin by a general QP solver, and its objective by the definition."""

import clarabel
import numpy as np
from scipy import sparse


def dual_optimum(K, y, U):
    """max sum alpha - 1/2 alpha'YKY alpha over 0 <= alpha <= U, y'alpha = 0: clarabel, in units of the largest U."""
    n, unit = len(y), U.max()
    values, V = np.linalg.eigh(K)
    keep = values > 1e-13 * max(values[-1], 1e-300)
    L = V[:, keep] * np.sqrt(values[keep] * unit)  # K unit = L L'
    m = L.shape[1]
    # variables (beta, z), z = L'Y beta: 1/2 z'z - sum beta
    P = sparse.block_diag([sparse.csc_matrix((n, n)), sparse.eye(m)], format="csc")
    q = np.r_[-np.ones(n), np.zeros(m)]
    A = sparse.vstack(
        [
            sparse.hstack([sparse.csr_matrix(y[None]), sparse.csr_matrix((1, m))]),
            sparse.hstack([sparse.csr_matrix((L * y[:, None]).T), -sparse.eye(m)]),
            sparse.hstack([-sparse.eye(n), sparse.csr_matrix((n, m))]),
            sparse.hstack([sparse.eye(n), sparse.csr_matrix((n, m))]),
        ],
        format="csc",
    )
    b = np.r_[0.0, np.zeros(m), np.zeros(n), U / unit]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    cones = [clarabel.ZeroConeT(1 + m), clarabel.NonnegativeConeT(2 * n)]
    solution = clarabel.DefaultSolver(P, q, A, b, cones, settings).solve()
    return -solution.obj_val * unit, "Solved" in str(solution.status)


def objective(model, K, y, U):
    """1/2 ‖w‖² + sum_i U_i max(0, 1 - y_i f(x_i)) of a fitted model of two classes, K being that of all points."""
    coef = np.zeros(len(y))
    coef[model.support_] = model.dual_coef_[0]
    f = K @ coef + model.intercept_[0]
    return 0.5 * coef @ K @ coef + U @ np.maximum(0.0, 1.0 - y * f)
