"""Verdicts in whole numbers: which linear inequalities some (w, b) satisfies, by the simplex method without rounding.

For vectors z_i exactly one holds for each i (Farkas): some v has z_j.v >= 0 for all j and z_i.v > 0; or some
lambda >= 0 with lambda_i > 0 has sum_j lambda_j z_j = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import count
from math import gcd, lcm
from typing import Any

import numpy as np

Ints = list[int]
NODES = 2000


def fractions(X: Any) -> list[list[Fraction]]:
    """The rows of a matrix of floats or whole numbers, exactly."""
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    return [[Fraction(value) for value in row] for row in X.tolist()]


def whole(rows: Sequence[Sequence[Fraction]]) -> list[Ints]:
    """Each column times a positive number that makes it whole: no sign of any v.z changes its meaning."""
    columns = []
    for column in zip(*rows, strict=True):
        scale = lcm(*(value.denominator for value in column))
        ints = [int(value * scale) for value in column]
        common = gcd(*ints) or 1
        columns.append([value // common for value in ints])
    return [list(row) for row in zip(*columns, strict=True)]


def points(X: Any, intercept: bool) -> list[list[Fraction]]:
    """x, or (x, 1)."""
    return [[*row, Fraction(1)] if intercept else row for row in fractions(X)]


def signed(X: Any, y: Sequence[int], intercept: bool) -> list[Ints]:
    """y_i (x_i, 1) in whole numbers, for labels y of +1 and -1."""
    return [[int(sign) * value for value in row] for row, sign in zip(whole(points(X, intercept)), y, strict=True)]


def softmax_rows(X: Any, codes: Sequence[int], k: int, intercept: bool) -> tuple[list[Ints], list[int]]:
    """(e_y - e_c) ⊗ (x_i, 1) for every class c but the row's own, the last class's block left out; and i of each."""
    rows, owner = [], []
    for i, (x, own) in enumerate(zip(whole(points(X, intercept)), codes, strict=True)):
        for c in range(k):
            if c != own:
                blocks = [[(int(own == a) - int(c == a)) * value for value in x] for a in range(k - 1)]
                rows.append([value for block in blocks for value in block])
                owner.append(i)
    return rows, owner


def combination(vectors: Sequence[Ints], target: Ints) -> tuple[list[Fraction] | None, list[Fraction] | None]:
    """lambda >= 0 with sum_j lambda_j v_j = target, and None; or None, and u with u.v_j >= 0 > u.target.

    Phase one of the simplex method with Bland's rule, which cannot cycle; one common denominator for all entries.
    """
    p, m = len(target), len(vectors)
    flip = [-1 if value < 0 else 1 for value in target]
    T = [[flip[r] * v[r] for v in vectors] + [int(r == s) for s in range(p)] + [flip[r] * target[r]] for r in range(p)]
    cost = [-sum(T[r][j] for r in range(p)) for j in range(m + p + 1)]
    for s in range(p):
        cost[m + s] = 0
    basis, scale = list(range(m, m + p)), 1
    while True:
        q = next((j for j in range(m) if cost[j] < 0), None)
        if q is None:
            break
        r = min(
            (r for r in range(p) if T[r][q] > 0),
            key=lambda r: (Fraction(T[r][-1], T[r][q]), basis[r]),
        )
        pivot, chosen = T[r][q], T[r]
        for other in range(p):
            if other != r:
                a, row = T[other][q], T[other]
                T[other] = [(pivot * x - a * y) // scale for x, y in zip(row, chosen, strict=True)]
        a = cost[q]
        cost = [(pivot * x - a * y) // scale for x, y in zip(cost, chosen, strict=True)]
        basis[r], scale = q, pivot
    if cost[-1] == 0:
        found = [Fraction(0)] * m
        for r, j in enumerate(basis):
            if j < m:
                found[j] = Fraction(T[r][-1], scale)
        return found, None
    # reduced costs of the artificial columns: 1 - dual value
    return None, [flip[s] * (Fraction(cost[m + s], scale) - 1) for s in range(p)]


def strict_rows(vectors: Sequence[Ints]) -> list[bool]:
    """For each i, whether some v has v.z_j >= 0 for all j and v.z_i > 0."""
    known: list[bool | None] = [None] * len(vectors)
    for i, z in enumerate(vectors):
        if known[i] is not None:
            continue
        if not any(z):
            known[i] = False
            continue
        weights, v = combination(vectors, [-value for value in z])
        if v is None:
            known[i] = False
            for j, weight in enumerate(weights or ()):
                if weight:
                    known[j] = False
        else:
            for j, other in enumerate(vectors):
                if sum(a * b for a, b in zip(v, other, strict=True)) > 0:
                    known[j] = True
    return [bool(value) for value in known]


def verdict(vectors: Sequence[Ints]) -> str:
    """ "separable" if some v has v.z_i > 0 for all i; "overlapping" if v.z >= 0 has v.z = 0 only; else quasi."""
    strict = strict_rows(vectors)
    return "separable" if all(strict) else "quasi-separable" if any(strict) else "overlapping"


def satisfiable(at_least: Sequence[Ints], above: Sequence[Ints]) -> bool:
    """Whether some v != 0 has a.v >= 0 for the first and b.v > 0 for the second vectors."""
    if not above:
        if not at_least:
            return True
        if rank(at_least) < len(at_least[0]):
            return True
        return any(strict_rows(at_least))
    # Motzkin: not so if and only if sum lambda a + sum mu b = 0 with lambda, mu >= 0 and sum mu = 1
    columns = [[*a, 0] for a in at_least] + [[*b, 1] for b in above]
    weights, _ = combination(columns, [0] * (len(columns[0]) - 1) + [1])
    return weights is None


def rank(rows: Sequence[Sequence[int]]) -> int:
    return len(independent_columns(rows))


def independent_columns(rows: Sequence[Sequence[int | Fraction]]) -> list[int]:
    """Columns that span all others, the first of each kind."""
    reduced: list[tuple[int, list[Fraction]]] = []
    kept = []
    for j, column in enumerate(zip(*rows, strict=True)):
        rest = [Fraction(value) for value in column]
        for place, other in reduced:
            if rest[place]:
                factor = rest[place] / other[place]
                rest = [a - factor * b for a, b in zip(rest, other, strict=True)]
        place = next((i for i, value in enumerate(rest) if value), None)
        if place is not None:
            kept.append(j)
            reduced.append((place, rest))
    return kept


def beats(vectors: Sequence[Ints], positive: Sequence[bool], weights: Sequence[Fraction], below: Fraction) -> bool:
    """Whether some v != 0 errs by a weight under `below`, where v.x >= 0 predicts the positive class.

    False too if NODES steps of the search find none.
    """
    steps = count()
    rows = sorted(zip(vectors, positive, weights, strict=True), key=lambda row: -row[2])

    def search(i: int, cost: Fraction, at_least: list[Ints], above: list[Ints]) -> bool:
        if cost >= below or next(steps) > NODES or not satisfiable(at_least, above):
            return False
        if i == len(rows):
            return True
        x, label, weight = rows[i]
        minus = [-value for value in x]
        right, wrong = (
            (([*at_least, x], above), (at_least, [*above, minus]))
            if label
            else ((at_least, [*above, minus]), ([*at_least, x], above))
        )
        return search(i + 1, cost, *right) or search(i + 1, cost + weight, *wrong)

    return search(0, Fraction(0), [], [])
