"""Logistic regression by plain Newton steps in 80-bit floats: slow, short, and sharing nothing with the package.

Columns are shifted by their first entry and divided by their spread, so that neither shift nor units cost digits; the
penalty stays that of the user's weights.
"""

import numpy as np

LONG = np.longdouble


def losses(S, Y):
    """-log softmax(S)[y] for scores (n, K) and indicators Y; exact where it is tiny, as a difference would not be."""
    D = S - (S * Y).sum(axis=1, keepdims=True)
    top = D.max(axis=1)
    others = (np.exp(D - top[:, None]) * (1 - Y)).sum(axis=1)
    return np.where(top > 0, top + np.log(others + np.exp(-top)), np.log1p(others))


def indicators(y, K):
    return (np.asarray(y)[:, None] == np.arange(K)).astype(LONG)


def objective(X, y, coef, intercept, C, weight=None):
    """C sum_i c_i loss_i + 1/2 ‖coef‖² (the sum alone for C = inf) of weights in the user's units, codes y = 0..K-1."""
    coef, intercept = np.asarray(coef, LONG), np.asarray(intercept, LONG)
    S = np.asarray(X, LONG) @ coef.T + intercept
    if len(coef) == 1:
        S = np.hstack([np.zeros_like(S), S])
    c = np.ones(len(S), LONG) if weight is None else np.asarray(weight, LONG)
    total = c @ losses(S, indicators(y, S.shape[1]))
    return total if np.isinf(C) else LONG(C) * total + (coef**2).sum() / 2


def optimum(X, y, C, weight=None, fit_intercept=True, reference=False, steps=200):
    """The least objective, and the weights that reach it: coef (1, d) or (K, d), intercept (1,) or (K,)."""
    X = np.asarray(X, LONG)
    n, d = X.shape
    K = int(np.max(y)) + 1
    c = np.ones(n, LONG) if weight is None else np.asarray(weight, LONG)
    shift = X[0] if fit_intercept else np.zeros(d, LONG)
    Z = X - shift
    size = np.sqrt((Z**2).mean(axis=0))
    size = np.where(size > 0, size, LONG(1))
    Z = np.hstack([Z / size, np.ones((n, 1), LONG)]) if fit_intercept else Z / size
    p = Z.shape[1]
    # B: the scores of the classes from the free columns of V. Two classes or a reference leave one out; else columns of
    # length 1 that sum to 0, as the best weights do, keep the penalty as it is
    B = np.eye(K, dtype=LONG)
    B = B[:, 1:] if K == 2 else B[:, :-1] if reference else contrasts(K)
    k = B.shape[1]
    factor = LONG(1) if np.isinf(C) else LONG(C)
    ridge = np.zeros((p, k), LONG)
    if not np.isinf(C):
        ridge[:d] = (1 / size**2)[:, None]
    Y, V = indicators(y, K), np.zeros((p, k), LONG)

    def value(V):
        return factor * (c @ losses(Z @ V @ B.T, Y)) + (ridge * V**2).sum() / 2

    best = value(V)
    for _ in range(steps):
        S = Z @ V @ B.T
        P = np.exp(S - S.max(axis=1, keepdims=True))
        P /= P.sum(axis=1, keepdims=True)
        g = factor * Z.T @ (c[:, None] * ((P - Y) @ B)) + ridge * V
        H = np.zeros((k, p, k, p), LONG)
        for a in range(k):
            for b in range(a + 1):
                h = (P * B[:, a] * B[:, b]).sum(axis=1) - (P @ B[:, a]) * (P @ B[:, b])
                H[a, :, b] = factor * Z.T @ ((c * h)[:, None] * Z)
                H[b, :, a] = H[a, :, b].T
        H = H.reshape(k * p, k * p)
        H[np.diag_indices(k * p)] += ridge.T.ravel()
        step = solve(H, -g.T.ravel()).reshape(k, p).T
        promise = -(g * step).sum()
        t = LONG(1)
        while value(V + t * step) > best - t * promise / 10 and t > 1e-12 and promise > 1e-17 * abs(best):
            t /= 2
        V, before = V + t * step, best
        best = min(best, value(V))
        if promise <= 1e-18 * abs(best) or (best == before and promise <= 1e-14 * abs(best)):
            break
    else:
        raise ArithmeticError("The oracle did not converge.")
    W = V[:d] / size[:, None]
    b = V[d] - shift @ W if fit_intercept else np.zeros(k, LONG)
    if K == 2:
        return best, W.T, b
    return best, (W @ B.T).T, b @ B.T


def contrasts(K):
    """Columns a (1, .., 1, -j, 0, .., 0) of length 1."""
    B = np.zeros((K, K - 1), LONG)
    for j in range(1, K):
        B[:j, j - 1], B[j, j - 1] = 1, -j
    return B / np.sqrt((B**2).sum(axis=0))


def solve(H, g):
    """H⁻¹ g by Cholesky's factors in 80 bits, H scaled to unit diagonal; a zero row has the solution 0."""
    size = np.sqrt(np.where(np.diag(H) > 0, np.diag(H), LONG(1)))
    L = H / np.outer(size, size)
    dead = np.diag(H) <= 0
    L[dead, dead] = 1
    m = len(L)
    for j in range(m):
        L[j, j] = np.sqrt(L[j, j] - L[j, :j] @ L[j, :j])
        L[j + 1 :, j] = (L[j + 1 :, j] - L[j + 1 :, :j] @ L[j, :j]) / L[j, j]
    u = g / size
    for j in range(m):
        u[j] = (u[j] - L[j, :j] @ u[:j]) / L[j, j]
    for j in reversed(range(m)):
        u[j] = (u[j] - L[j + 1 :, j] @ u[j + 1 :]) / L[j, j]
    return u / size


def rounding(X, coef, intercept, C, weight=None):
    """How far float64 weights and scores, each off by some units in the last place, can take the objective."""
    X, coef = np.abs(np.asarray(X, float)), np.abs(np.asarray(coef, float))
    each = 1.0 + (X @ coef.T + np.abs(intercept)).max(axis=1)
    c = np.ones(len(X)) if weight is None else np.asarray(weight, float)
    return 16 * np.finfo(float).eps * (1.0 if np.isinf(C) else C) * float(c @ each)
