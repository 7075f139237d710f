"""Numbers of 60 digits whose exponent neither overflows nor vanishes, and the little algebra that the oracles need.

Floats are read exactly (a float is a decimal fraction), so a value computed here is the value of the formula at the
very numbers that are stored.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

D = decimal.Decimal
DIGITS = 60
CONTEXT = decimal.Context(prec=DIGITS, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[decimal.InvalidOperation])
ZERO, ONE = D(0), D(1)


def more_digits() -> Any:
    """Twenty times as many, for what 60 do not settle."""
    return decimal.localcontext(CONTEXT, prec=20 * DIGITS)


def precisely(function: Callable[..., Any]) -> Callable[..., Any]:
    """Run the function with 60 digits."""

    @wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with decimal.localcontext(CONTEXT):
            return function(*args, **kwargs)

    return wrapped


def tiny(share: float) -> D:
    """10 to minus this share of the digits in use."""
    return D(10) ** -int(share * decimal.getcontext().prec)


def exactly(value: Any) -> D:
    """A float, whole number or Fraction, rounded to 60 digits."""
    if isinstance(value, D):
        return value
    if hasattr(value, "denominator") and hasattr(value, "numerator") and not isinstance(value, (int, np.integer)):
        return D(int(value.numerator)) / D(int(value.denominator))
    return +D(value.item() if isinstance(value, np.generic) else value)


def vector(values: Any) -> list[D]:
    return [exactly(value) for value in np.asarray(values, dtype=object).ravel().tolist()]


def matrix(X: Any) -> list[list[D]]:
    """The rows of a dense or sparse matrix."""
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    return [[exactly(value) for value in row] for row in X.tolist()]


def dot(a: Sequence[D], b: Sequence[D]) -> D:
    return sum((p * q for p, q in zip(a, b, strict=True) if p and q), ZERO)


def log1p(t: D) -> D:
    """log(1 + t) for t >= 0, with all its digits where t is tiny."""
    return t * (ONE - t / 2 + t * t / 3) if t < D("1e-20") else (ONE + t).ln()


def softplus(u: D) -> D:
    """log(1 + exp(u))."""
    return (u if u > 0 else ZERO) + log1p((-abs(u)).exp())


def sigma(u: D) -> D:
    """1 / (1 + exp(-u)), with all its digits where it is tiny."""
    e = (-abs(u)).exp()
    return (ONE if u >= 0 else e) / (ONE + e)


def solve(A: Sequence[Sequence[D]], b: Sequence[D], dependent: D | None = None) -> list[D]:
    """Some x with A x = b for a symmetric positive semidefinite A: pivots below `dependent` of their row count as 0."""
    n = len(b)
    dependent = tiny(0.75) if dependent is None else dependent
    rows = [[*row, rhs] for row, rhs in zip(A, b, strict=True)]
    size = [abs(A[i][i]) for i in range(n)]
    left, used = set(range(n)), []
    while left:
        i = max(left, key=lambda j: rows[j][j] / size[j] if size[j] else ZERO)
        if not size[i] or rows[i][i] <= dependent * size[i]:
            break
        left.remove(i)
        used.append(i)
        for j in left:
            if rows[j][i]:
                factor = rows[j][i] / rows[i][i]
                rows[j] = [p - factor * q if q else p for p, q in zip(rows[j], rows[i], strict=True)]
    x = [ZERO] * n
    for i in reversed(used):
        x[i] = (rows[i][n] - dot(rows[i][:n], x)) / rows[i][i]
    return x


def factor(K: Sequence[Sequence[D]], dependent: D | None = None) -> tuple[list[list[D]], D]:
    """L with L L' = K, a column a rank; and how far below 0 what is left of K goes, relative to its largest."""
    n = len(K)
    dependent = tiny(0.75) if dependent is None else dependent
    rest = [list(row) for row in K]
    size = [abs(K[i][i]) for i in range(n)]
    L: list[list[D]] = [[] for _ in range(n)]
    left = set(range(n))
    while left:
        live = [j for j in left if rest[j][j] > dependent * size[j]]
        if not live:
            break
        i = max(live, key=lambda j: rest[j][j])
        root = rest[i][i].sqrt()
        column = [rest[j][i] / root if j in left else ZERO for j in range(n)]
        left.remove(i)
        for j in range(n):
            L[j].append(column[j])
        for j in left:
            for k in left:
                rest[j][k] -= column[j] * column[k]
    largest = max(size, default=ZERO) or ONE
    across = max((abs(rest[j][k]) for j in left for k in left if j != k), default=ZERO)
    lowest = min((rest[j][j] for j in left), default=ZERO)
    return L, min(lowest, -across, ZERO) / largest


def norm(v: Sequence[D]) -> D:
    return dot(v, v).sqrt()
