"""Answers by other means: linear programs of another form, and subsets tried one by one."""

from itertools import combinations

import numpy as np
from scipy.optimize import linprog


def homogeneous(X, y, fit_intercept=True):
    X = np.asarray(X, float)
    Z = np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
    return np.where(np.asarray(y) == 1, 1.0, -1.0)[:, None] * Z


def softmax_rows(X, y):
    """(e_y - e_c) ⊗ (x, 1) for every row and rival."""
    X1 = np.column_stack([np.asarray(X, float), np.ones(len(X))])
    k = int(max(y)) + 1
    rows = []
    for x, own in zip(X1, y, strict=True):
        for c in range(k):
            if c != own:
                z = np.zeros((k, len(x)))
                z[own], z[c] = x, -x
                rows.append(z.ravel())
    return np.array(rows)


def verdict(Z):
    """By two programs: is Z v >= 1 feasible; and is max sum Z v over Z v >= 0, |v| <= 1 positive."""
    if feasible(Z):
        return "separable"
    result = linprog(-Z.sum(axis=0), A_ub=-Z, b_ub=np.zeros(len(Z)), bounds=(-1, 1))
    assert result.status == 0
    return "quasi-separable" if -result.fun > 1e-7 else "overlapping"


def feasible(Z):
    return len(Z) == 0 or linprog(np.zeros(Z.shape[1]), A_ub=-Z, b_ub=-np.ones(len(Z)), bounds=(None, None)).status == 0


def fewest_errors(X, y, weight=None, fit_intercept=True):
    """The lightest set of rows whose removal leaves the rest separable, by trying sets in the order of their weight."""
    Z = homogeneous(X, y, fit_intercept)
    n = len(Z)
    weight = np.ones(n) if weight is None else np.asarray(weight, float)
    subsets = sorted((weight[list(S)].sum(), S) for r in range(n + 1) for S in combinations(range(n), r))
    return next(c for c, S in subsets if feasible(np.delete(Z, S, axis=0)))


def parity(d):
    corners = np.array(np.meshgrid(*[[0, 1]] * d)).reshape(d, -1).T
    return corners, corners.sum(axis=1) % 2


def fewest_errors_through_the_origin(X, y, weight=None):
    """The same over w != 0 and b = 0, where a score of 0 predicts +: positive rows may lie on the hyperplane."""
    X, positive = np.asarray(X, float), np.asarray(y) == 1
    n, d = X.shape
    weight = np.ones(n) if weight is None else np.asarray(weight, float)

    def possible(right):
        plus, minus = X[right & positive], X[right & ~positive]
        if len(minus):  # w.x <= -1 there keeps w from 0
            A, b = np.vstack([-plus, minus]), np.append(np.zeros(len(plus)), -np.ones(len(minus)))
            return linprog(np.zeros(d), A_ub=A, b_ub=b, bounds=(None, None)).status == 0
        if not len(plus):
            return True
        programs = (linprog(sign * np.eye(d)[j], A_ub=-plus, b_ub=np.zeros(len(plus)), bounds=(-1, 1))
                    for j in range(d) for sign in (1, -1))  # fmt: skip
        return any(-program.fun > 1e-7 for program in programs)

    subsets = sorted((weight[list(S)].sum(), S) for r in range(n + 1) for S in combinations(range(n), r))
    return next(c for c, S in subsets if possible(~np.isin(np.arange(n), S)))
