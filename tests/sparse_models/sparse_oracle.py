"""Sparse models by a conic interior-point method (Clarabel), and their objective in 80-bit floats: nothing is shared.

Columns are shifted by their first entry and divided by their spread, so that neither shift nor units cost digits; the
penalty stays that of the user's weights.
"""

import clarabel
import numpy as np
from scipy import sparse

LONG = np.longdouble


def pointwise(S, Y, loss):
    """The loss of each row for scores (n, K) and indicators Y (n, K): K = 1 for two classes."""
    if S.shape[1] > 1:
        D = S - (S * Y).sum(axis=1, keepdims=True)
        top = D.max(axis=1, keepdims=True)
        return top[:, 0] + np.log(np.exp(D - top).sum(axis=1))
    m = ((2 * Y - 1) * S)[:, 0]
    if loss == "log":
        return np.maximum(-m, 0) + np.log1p(np.exp(-np.abs(m)))
    slack = np.maximum(0, 1 - m)
    return slack**2 if loss == "squared_hinge" else slack


def indicators(y):
    """(n, 1) for codes 0 and 1, else a column for each class."""
    y, K = np.asarray(y), int(np.max(y)) + 1
    return ((y == 1)[:, None] if K == 2 else y[:, None] == np.arange(K)).astype(LONG)


def objective(X, y, coef, intercept, C, r, weight=None, loss="log"):
    """C sum_i c_i loss_i + r ‖coef‖₁ + (1 - r)/2 ‖coef‖²."""
    X = X.toarray() if sparse.issparse(X) else X
    coef, intercept = np.asarray(coef, LONG), np.asarray(intercept, LONG)
    S = np.asarray(X, LONG) @ coef.T + intercept
    c = np.ones(len(S), LONG) if weight is None else np.asarray(weight, LONG)
    penalty = LONG(r) * np.abs(coef).sum() + (1 - LONG(r)) * (coef**2).sum() / 2
    return LONG(C) * (c @ pointwise(S, indicators(y), loss)) + penalty


def optimum(X, y, C, r, weight=None, fit_intercept=True, loss="log"):
    """(F, coef, intercept) close to the best: F is the objective at weights that were found, so not below the minimum.

    A column whose weight costs more than all slopes together could gain is left out: its weight is 0.
    """
    X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=float)
    c = np.ones(len(X)) if weight is None else np.asarray(weight, float)
    kept = np.ones(X.shape[1], dtype=bool)
    if loss != "squared_hinge":  # slopes of at most C c_i
        kept = C * (c @ np.abs(X - X.mean(axis=0) * fit_intercept)) >= r
    coef = np.zeros((indicators(y).shape[1], X.shape[1]))
    coef[:, kept], intercept = _solved(X[:, kept], y, C, r, weight, fit_intercept, loss)
    return objective(X, y, coef, intercept, C, r, weight, loss), coef, intercept


def _solved(X, y, C, r, weight, fit_intercept, loss):
    n, d = X.shape
    Y = indicators(y).astype(float)
    K = Y.shape[1]
    c = np.ones(n) if weight is None else np.asarray(weight, float)
    shift = X[0] if fit_intercept else np.zeros(d)
    Z = X - shift
    size = np.sqrt((Z**2).mean(axis=0))
    size = np.where(size > 0, size, 1.0)
    Z = Z / size
    # variables: V (K d), b (K), |V| bounds a (K d), losses t (n), and for exponential cones shares e (n, m)
    m = 2 if K == 1 else K
    cones = loss == "log"
    V, b, a, t, e = np.cumsum([0, K * d, K, K * d, n])
    total = e + (n * m if cones else 0)
    lin = np.zeros(total)
    lin[a:t] = np.tile(r / size, K)
    unit = C * c.max()  # the objective in units where it is moderate
    lin[t:e] = C * c
    quad = np.zeros(total)
    quad[:b] = np.tile((1 - r) / size**2, K)
    if loss == "squared_hinge":
        lin[t:e], quad[t:e] = 0.0, 2 * C * c
    rows, right, kinds = [], [], []

    def add(blocks, bound, cone):
        rows.append(sparse.hstack([sparse.csr_matrix(blocks.get(name, (len(bound), width))) for name, width in
                                   (("V", K * d), ("b", K), ("a", K * d), ("t", n), ("e", total - e))]))  # fmt: skip
        right.append(bound)
        kinds.append(cone)

    eye = sparse.identity(K * d)
    add({"V": eye, "a": -eye}, np.zeros(K * d), clarabel.NonnegativeConeT(K * d))
    add({"V": -eye, "a": -eye}, np.zeros(K * d), clarabel.NonnegativeConeT(K * d))
    if not fit_intercept:
        add({"b": sparse.identity(K)}, np.zeros(K), clarabel.ZeroConeT(K))
    elif K > 1:
        add({"b": sparse.csr_matrix(np.ones((1, K)))}, np.zeros(1), clarabel.ZeroConeT(1))
    if not cones:
        s = (2 * Y - 1)[:, 0]
        add(
            {"V": -s[:, None] * Z, "b": -s[:, None], "t": -sparse.identity(n)},
            -np.ones(n),
            clarabel.NonnegativeConeT(n),
        )
        add({"t": -sparse.identity(n)}, np.zeros(n), clarabel.NonnegativeConeT(n))
    else:
        add({"e": sparse.kron(sparse.identity(n), np.ones((1, m)))}, np.ones(n), clarabel.NonnegativeConeT(n))
        for i in range(n):  # exp(score_k - score_y - t) <= e_ik, and their sum is at most 1
            for k in range(m):
                v, w = np.zeros((3, K * d)), np.zeros((3, K))
                if K == 1:
                    sign = 2 * Y[i, 0] - 1
                    if k == 1:
                        v[0], w[0] = sign * Z[i], sign
                else:
                    own = int(Y[i].argmax())
                    if k != own:
                        v[0, k * d : (k + 1) * d], v[0, own * d : (own + 1) * d] = -Z[i], Z[i]
                        w[0, k], w[0, own] = -1, 1
                tt, ee = np.zeros((3, n)), np.zeros((3, n * m))
                tt[0, i], ee[2, i * m + k] = 1.0, -1.0
                add({"V": v, "b": w, "t": tt, "e": ee}, np.array([0.0, 1.0, 0.0]), clarabel.ExponentialConeT())
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    settings.max_iter = 300
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(sparse.diags(quad / unit)), lin / unit, sparse.csc_matrix(sparse.vstack(rows)),
        np.concatenate(right), kinds, settings,
    )  # fmt: skip
    x = np.array(solver.solve().x)
    coef = x[V:b].reshape(K, d) / size
    return coef, x[b:a] - coef @ shift
