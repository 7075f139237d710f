"""The rows z_ic as whole numbers, their signs without rounding, and elimination without fractions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import linalg

from separatrix._typing import Array, Floats, Integers
from separatrix.cached import cached_property
from separatrix.certificates._data import EPS, TINY
from separatrix.design import Block
from separatrix.design.reducing import Parts
from separatrix.separation.cone import Cone, leads

try:
    from flint import fmpz_mat
except ImportError:
    fmpz_mat = None

Pair = tuple[int, int]  # (i, c): row i against class c


class WholeRows:
    """Rows z_ic times powers of two, of columns that are multiplied by powers of two: all whole numbers.

    Neither kind of factor changes a sign. A row's is 2**`power`; the columns' are in ``scale``.
    """

    def __init__(self, cone: Cone) -> None:
        self.cone = cone
        scale = cone.design.scale
        self.scale = np.ones(cone.design.d) if scale is None else scale
        # the user's own entries: no shift, which would round
        self.plain = replace(cone, design=replace(cone.design, offset=None, rest=None))

    def entries(self, i: int) -> list[float]:
        """x_i as floats."""
        return self.cone.design.row(i).tolist()

    def point(self, i: int) -> tuple[list[int], int]:
        """(x_i * scale, 1) times 2**e as whole numbers, and e."""
        ratios = [entry.as_integer_ratio() for entry in self.entries(i)]
        powers = [1 - den.bit_length() + e for (_, den), e in zip(ratios, self.exponents, strict=True)]
        shift = max(0, -min((p for p, (num, _) in zip(powers, ratios, strict=True) if num), default=0))
        row = [num << power + shift if num else 0 for (num, _), power in zip(ratios, powers, strict=True)]
        return ([*row, 1 << shift] if self.cone.design.intercept else row), shift

    @cached_property
    def exponents(self) -> list[int]:
        """log2 of the columns' factors."""
        return (np.frexp(self.scale)[1] - 1).tolist()

    def row(self, pair: Pair) -> Array:
        """z_ic as an object array (q,) of integers."""
        i, c = pair
        x, _ = self.point(i)
        p, own = self.cone.design.p, int(self.cone.codes[i])
        z = np.zeros(self.cone.q, dtype=object)
        if own > 0:
            z[(own - 1) * p : own * p] = x
        if c > 0:
            z[(c - 1) * p : c * p] = [-entry for entry in x]
        return z

    def power(self, pair: Pair) -> int:
        """The exponent e for which `row` is 2**e z_ic."""
        return self.point(pair[0])[1]

    def signs(self, v: Array, skip: Array | None = None) -> tuple[Array, Floats]:
        """The sign of z_ic.v for whole numbers v, (n, k), +1 for own classes; and leads that order them.

        Float scores decide where they exceed their error; the others are computed without rounding. Entries
        where ``skip`` is true are left at +1.
        """
        n, k, p = self.plain.design.n, self.plain.k, self.plain.design.p
        largest = max(map(abs, v), default=0)
        if largest == 0:
            signs, order = np.ones((n, k), dtype=np.int8), np.full((n, k), np.inf)
            others = np.arange(k) != self.plain.codes[:, None]
            signs[others], order[others] = 0, 0.0
            return (signs, order) if skip is None else (np.where(skip, 1, signs), order)
        V = np.array([entry / largest for entry in v]).reshape(k - 1, p).T
        signs, order, doubt = self.plain.design.rows(_signs, self.plain.codes, args=(V, self.scale))
        if skip is not None:
            signs[skip] = 1
            doubt &= ~skip
        for i, c in zip(*np.nonzero(doubt), strict=True):
            value = self.dot((int(i), int(c)), v)
            signs[i, c] = (value > 0) - (value < 0)
        return signs, order

    def outside(self, normals: Array) -> Array:
        """Which z_ic are not in the span that the columns ``normals`` are orthogonal to, (n, k)."""
        off = np.zeros((self.cone.design.n, self.cone.k), dtype=bool)
        own = np.arange(self.cone.k) == self.cone.codes[:, None]
        for normal in normals.T:
            off |= self.signs(normal, skip=own)[0] != 0
        return off & ~own

    def dot(self, pair: Pair, v: Array) -> int:
        """z_ic.v without rounding, times a power of two."""
        i, c = pair
        p, d, own = self.cone.design.p, self.cone.design.d, int(self.cone.codes[i])
        u = np.zeros(p, dtype=object)  # the coefficients of (x_i, 1)
        for code, sign in ((own, 1), (c, -1)):
            if code > 0:
                u = u + sign * v[(code - 1) * p : code * p]
        terms = [(u[d], 0)] if self.cone.design.intercept else []
        for entry, coefficient, e in zip(self.entries(i), u, self.exponents, strict=False):
            if entry and coefficient:
                numerator, denominator = entry.as_integer_ratio()
                terms.append((numerator * coefficient, e + 1 - denominator.bit_length()))
        lowest = min((power for _, power in terms), default=0)
        return sum(term << power - lowest for term, power in terms)


def echelon(rows: Any) -> tuple[Array, list[int]]:
    """Reduced echelon form times one integer, without fractions, and the pivot columns: Bareiss with back steps.

    python-flint does it faster for many columns, if it is installed (the extra ``exact``).
    """
    A = np.array(rows, dtype=object)
    if fmpz_mat is not None and A.size:
        form, _, rank = fmpz_mat([[int(entry) for entry in row] for row in A]).rref()
        reduced = np.array([[int(entry) for entry in row] for row in form.tolist()[:rank]], dtype=object)
        return reduced.reshape(rank, A.shape[1]), [next(j for j, entry in enumerate(row) if entry) for row in reduced]
    pivots: list[int] = []
    last = 1
    for j in range(A.shape[1]):
        r = len(pivots)
        if r == len(A):
            break
        candidates = [i for i in range(r, len(A)) if A[i, j]]
        if not candidates:
            continue
        best = min(candidates, key=lambda i: abs(A[i, j]))
        A[[r, best]] = A[[best, r]]
        pivot, kept = A[r, j], A[r].copy()
        A = (A * pivot - np.multiply.outer(A[:, j], kept)) // last
        A[r] = kept
        pivots.append(j)
        last = pivot
    return A[: len(pivots)], pivots


def null_space(rows: Any, q: int) -> Array:
    """Whole vectors that span {v : z.v = 0 for all rows z}, as the columns of (q, m)."""
    E, pivots = echelon(rows)
    free = [j for j in range(q) if j not in pivots]
    N = np.zeros((q, len(free)), dtype=object)
    scale = E[-1, pivots[-1]] if pivots else 1  # all pivots of the reduced form are this number
    for m, j in enumerate(free):
        N[j, m] = scale
        for r, pivot in enumerate(pivots):
            N[pivot, m] = -E[r, j]
    return N


def combination(rows: Any, target: Any) -> list[Fraction] | None:
    """Coefficients c with sum c_j rows_j = target, or None if there are none."""
    if not len(rows):
        return None if any(target) else []
    system = np.column_stack([np.array(rows, dtype=object).T, np.array(target, dtype=object)])
    E, pivots = echelon(system)
    m = system.shape[1] - 1
    if pivots and pivots[-1] == m:
        return None
    coefficients = [Fraction(0)] * m
    for r, j in enumerate(pivots):
        coefficients[j] = Fraction(int(E[r, m]), int(E[r, j]))
    return coefficients


def independent(rows: Floats) -> Integers:
    """Positions of rows that span the rest as floats see it, the largest first."""
    _, R, order = linalg.qr(rows.T, mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    rank = int((size > 1e-10 * size[0]).sum()) if size.size else 0
    return np.asarray(order[:rank])


def _signs(block: Block, codes: Array, V: Floats, scale: Floats) -> Parts:
    """Signs of the leads, what orders them, and which of the signs float64 cannot tell."""
    d, p = block.design.d, block.design.p
    lead = leads(block, codes, V)
    size = np.asarray(abs(block.x) @ (scale[:, None] * np.abs(V[:d]))) + np.abs(V[d:]).sum(axis=0)
    size = 2 * size.max(axis=1, keepdims=True)  # of a lead: at least the sum of its |terms|
    with np.errstate(invalid="ignore"):
        doubt = ~(np.abs(lead) > (2 * p + 8) * (EPS * size + TINY))
    return np.sign(lead).astype(np.int8), lead / np.maximum(size, TINY), doubt
