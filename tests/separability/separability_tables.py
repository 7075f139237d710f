"""Small tables on which floats mislead, and their verdicts by a plain simplex method in fractions."""

from fractions import Fraction

import numpy as np


def exact_rows(X, y, fit_intercept=True):
    """The rows z_ic of (x, 1) as fractions: (e_y - e_c) ⊗ (x, 1) without the block of class 0."""
    k = int(max(y)) + 1
    rows = []
    for x, own in zip(X, y, strict=True):
        x = [Fraction(entry) for entry in x] + [Fraction(1)] * fit_intercept
        for c in range(k):
            if c != own:
                z = [[Fraction(0)] * len(x) for _ in range(k)]
                z[own], z[c] = x, [-entry for entry in x]
                rows.append([entry for part in z[1:] for entry in part])
    return rows


def exact_verdict(rows):
    """Gordan: is there lambda >= 0 with sum 1 and sum lambda z = 0? Stiemke: one with every lambda >= 1?"""
    columns = list(zip(*rows, strict=True))
    if not feasible([*columns, (Fraction(1),) * len(rows)], [Fraction(0)] * len(columns) + [Fraction(1)]):
        return "separable"
    # lambda = 1 + mu, mu >= 0
    return "overlapping" if feasible(columns, [-sum(column) for column in columns]) else "quasi-separable"


def feasible(A, b):
    """Whether A x = b has a solution x >= 0: phase one of the simplex method with Bland's rule, in fractions."""
    table = []
    for row, right in zip(A, b, strict=True):
        size = max((abs(entry) for entry in row), default=Fraction(0))
        if size == 0:
            if right != 0:
                return False
            continue
        sign = (-1 if right < 0 else 1) / size  # the method does not mind the length of a row, but fractions grow
        table.append([entry * sign for entry in row] + [right * sign])
    n = len(A[0])
    basis = [n + r for r in range(len(table))]  # artificial variables, whose columns need not be kept
    cost = [sum(row[j] for row in table) for j in range(n + 1)]
    while cost[n] > 0:
        entering = next((j for j in range(n) if cost[j] > 0), None)
        if entering is None:
            return False
        rows = [r for r in range(len(table)) if table[r][entering] > 0]
        leaving = min(rows, key=lambda r: (table[r][n] / table[r][entering], basis[r]))
        pivot = table[leaving][entering]
        table[leaving] = [entry / pivot for entry in table[leaving]]
        for row in (*(row for r, row in enumerate(table) if r != leaving), cost):
            factor = row[entering]
            if factor:
                row[:] = [a - factor * b for a, b in zip(row, table[leaving], strict=True)]
        basis[leaving] = entering
    return True


KINDS = (
    "integers",
    "dyadics",
    "nearly collinear",
    "nearly separable",
    "offset",
    "denormal",
    "huge and tiny units",
    "duplicates and constants",
    "outlier",
    "wide",
    "last bit",
)


def table(kind, random):
    """A table of one kind: X, y with every class from 0 to k - 1, and whether there is an intercept."""
    n, d, k = int(random.integers(2, 13)), int(random.integers(1, 4)), int(random.choice([2, 2, 3]))
    n = max(n, k)
    X = random.integers(-3, 4, size=(n, d)).astype(float)
    y = random.integers(0, k, size=n)
    y[:k] = np.arange(k)
    if random.random() < 0.5:  # labels by a score with few errors: the interesting border
        score = X @ random.normal(size=d) + 0.5 * random.normal() + random.choice([0, 0.3]) * random.normal(size=n)
        y = np.searchsorted(np.quantile(score, np.arange(1, k) / k), score)
        y[:k] = np.arange(k)
    if kind == "dyadics":
        X = X / 2.0 ** random.integers(0, 30, size=(n, d))
    elif kind == "nearly collinear":
        gap = 10.0 ** -random.integers(6, 17)
        X = np.column_stack([X, X @ random.integers(-2, 3, size=d) * (1 + gap * random.integers(-1, 2, size=n))])
    elif kind == "nearly separable":
        gap = random.choice([1e-7, 3e-8, 1e-10, 1e-12, 1e-15])
        t = random.normal(size=n)
        X = np.column_stack([t, t + gap * (2 * (y % 2) - 1)])
        if random.random() < 0.3:
            X[0, 1] = X[0, 0]
    elif kind == "offset":
        X = X * 2.0 ** -random.integers(0, 27, size=d) + 10.0 ** random.integers(3, 13, size=d)
    elif kind == "denormal":
        X = X * random.choice([5e-324, 1e-310, 1e-320, 1.0], size=d)
    elif kind == "huge and tiny units":
        X = X * 10.0 ** random.choice([-300, -200, -20, 0, 20, 140, 149], size=d)
    elif kind == "duplicates and constants":
        X = np.column_stack([X, X[:, :1], np.full(n, random.choice([0.0, 1.0, 0.1, 1e9]))])
        X = np.vstack([X, X[:3]])
        y = np.append(y, random.permutation(y[:3]) if len(y) > 2 else y[:3])
    elif kind == "outlier":
        X[random.integers(n), random.integers(d)] = 10.0 ** random.choice([16, 30, 50, 100, 149])
    elif kind == "wide":
        X = np.hstack([X, random.integers(-2, 3, size=(n, n)) * 0.1])
    elif kind == "last bit":
        X = 1.0 + X * 2.0**-52
    return X, y, bool(random.random() < 0.7)
