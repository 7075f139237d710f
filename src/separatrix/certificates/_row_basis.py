"""Coordinates in which the rows are about orthonormal, on the space that they span.

A direction v may be left out only if every row has z.v = 0 exactly: a column that repeats another up to rounding has an
effect of its own, however small, and without a penalty the best weights follow it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import frexp, lcm
from typing import Any

import numpy as np

from separatrix.certificates._blocks import elsewhere
from separatrix.certificates._data import EPS, TINY, Data
from separatrix.certificates._exact import exact_signs
from separatrix.certificates._held import dense

SUSPECT = 1e-9  # of its length is what a column has beside the others, if it may be a combination of them
APART = 1e-3  # of its length is what a column has beside the others, if they are well apart
SIMPLE = 1000  # largest denominator of a combination that is tried
BY_HAND = 200_000  # entries that rational arithmetic looks at
DOUBTS = 20  # columns without a proof after which none is looked for
ENTRIES = 250_000  # of a piece of the data, and of what is made of it


def over(data: Data, fn: Callable[..., Any], width: int, *args: Any) -> Iterator[Any]:
    """fn(x, values, weight, *args) of some rows after the others, where these are; fn has a name in a module."""
    source = elsewhere(data.X)
    if source is None:
        return (fn(*piece, *args) for piece in data.blocks(ENTRIES, width))
    step = max(1, ENTRIES // max(data.X.shape[1], width))
    return (found for _, found in source.each(_dense_first, (data.values, data.weight), (fn, *args), step))


def _dense_first(x: Any, values: Any, weight: Any, fn: Callable[..., Any], *args: Any) -> Any:
    return fn(dense(x), values, weight, *args)


@dataclass(frozen=True)
class RowBasis:
    """q_i = ((x_i - centre) T, one) for each row, with sum_i c_i q_i q_i' about 1.

    Parameters
    ----------
    centre : array of shape (d,)
        0 if there is no intercept.
    T : array of shape (d, r)
        Upper triangular with a diagonal that is not 0 in the rows ``live``, and 0 in the others.
    live : integer array of shape (r,)
        The columns that are no proven combination of those before them.
    null : array of shape (d, d - r)
        For each other column a direction v with (x_i - x_1).v = 0 for every row, exactly before it was rounded.
    unproved : tuple of (int, tuple of int)
        Columns that equal a combination of others up to rounding, but not exactly as far as could be proved.
    one : float or None
        The last coordinate of every row; None if there is no intercept.
    """

    centre: Any
    T: Any
    live: Any
    null: Any
    unproved: tuple[tuple[int, tuple[int, ...]], ...]
    one: float | None

    @property
    def order(self) -> int:
        """Number of coordinates."""
        return self.T.shape[1] + (self.one is not None)

    def rows(self, x: Any) -> tuple[Any, Any]:
        """q (m, r + 1), and a bound (m,) on the length of its error: rounding of x - centre and of the product."""
        z, T = x, self.T
        if len(self.live) < len(T):
            z, T = x[:, self.live], T[self.live]
        z = z - self.centre[self.live]
        q = np.empty((len(x), self.order))
        q[:, : len(T)] = z @ T
        # |z| |T| is in length at most the sum of |z_j| times the length of row j of T
        size = np.abs(z, out=z) @ np.sqrt((T**2).sum(axis=1))
        error = (len(T) + 4) * (EPS * size + TINY * (1.0 + np.abs(T).sum()))
        if self.one is not None:
            q[:, -1] = self.one
            error += EPS * self.one
        return q, error


def row_basis(data: Data, intercept: bool, C: float = np.inf) -> RowBasis:
    """The basis of the rows; with C < inf, of C/4 times the rows together with those of the penalty 1/2 ‖w‖²."""
    d = data.X.shape[1]
    sums, low, high, total = np.zeros(d), np.full(d, np.inf), np.full(d, -np.inf), float(data.weight.sum())
    for x, _, weight in data.blocks():
        sums += weight @ x
        low, high = np.minimum(low, x.min(axis=0)), np.maximum(high, x.max(axis=0))
    centre = np.clip(sums / total, low, high) if intercept else np.zeros(d)  # of a constant column, the constant
    largest = np.maximum(high - centre, centre - low)
    scale = np.ldexp(1.0, -np.frexp(np.where(largest > 0, largest, 1.0))[1])
    factor = 1.0 if np.isinf(C) else 0.25 * C
    R = _triangle(data, centre, scale, factor, np.zeros((0, d)) if np.isinf(C) else np.diag(scale))
    live, combinations, unproved = _independent(data, R, scale, intercept) if np.isinf(C) else (range(d), {}, ())
    at = np.asarray(live, dtype=np.intp)
    T = np.zeros((d, len(at)))
    if len(at):
        triangle: Any = np.linalg.qr(R[:, at], mode="r")
        regular = triangle.shape == (len(at), len(at)) and np.diag(triangle).all()
        T[at] = scale[at][:, None] * np.triu(np.linalg.inv(triangle)) if regular else np.nan
    null = np.zeros((d, len(combinations)))
    for m, (j, combination) in enumerate(combinations.items()):
        null[j, m] = 1.0
        for column, share in combination.items():
            null[column, m] = -float(share)
    return RowBasis(centre, T, at, null, unproved, 1.0 / np.sqrt(factor * total) if intercept else None)


def _triangle(data: Data, centre: Any, scale: Any, factor: float, R: Any) -> Any:
    """R'R + the sum of factor c_i z_i z_i' for the rows z_i = (x_i - centre) scale, as the square of a triangle.

    By Cholesky's factor if the columns are well apart, as it doubles the digits lost; else by orthogonal rotations.
    """
    G = R.T @ R
    for x, _, weight in data.blocks():
        z = (x - centre) * scale
        G += (z * (factor * weight)[:, None]).T @ z
    size = np.sqrt(np.diag(G))
    if np.isfinite(G).all() and size.all():
        try:
            L = np.linalg.cholesky(G / np.outer(size, size))
        except np.linalg.LinAlgError:
            L = np.zeros_like(G)
        if np.diag(L).min(initial=1.0) > APART:
            return L.T * size
    for x, _, weight in data.blocks():
        z = np.sqrt(factor * weight)[:, None] * ((x - centre) * scale)
        R = np.linalg.qr(np.vstack([R, z]), mode="r") if R.shape[1] else R
    return R


def _independent(data: Data, R: Any, scale: Any, intercept: bool) -> Any:
    """Columns of no proven combination of earlier ones; the combinations of the others; and the suspects among them."""
    d = R.shape[1]
    size = np.linalg.norm(R, axis=0)
    beside = np.zeros(d)  # the triangle's diagonal: what a column has beside all before it
    beside[: len(R)] = np.abs(R.diagonal())
    first = int(np.argmin(np.append(beside > SUSPECT * size, False)))  # that may be a combination of those before it
    Q = np.eye(len(R), d, order="F")
    rank, live = first, list(range(first))
    combinations: dict[int, dict[int, Fraction]] = {}
    unproved: list[tuple[int, tuple[int, ...]]] = []
    for j in range(first, d):
        column, before = R[:, j], Q[:, :rank]
        left = column - before @ (before.T @ column)
        left -= before @ (before.T @ left)
        length = float(np.linalg.norm(left))
        if not length > SUSPECT * size[j]:
            if len(unproved) == DOUBTS:  # the objective has no basis that could be proved to be one: enough is known
                return [*live, *range(j, d)], combinations, tuple(unproved)
            shares = np.linalg.lstsq(R[:, live], column, rcond=None)[0] * scale[live] / scale[j] if live else []
            combination = _combination(dict(zip(live, shares, strict=True)))
            if combination is not None and _equal(data, j, combination, intercept):
                combinations[j] = combination
                continue
            unproved.append((j, tuple(c for c, s in zip(live, shares, strict=True) if abs(s) > 1e-6)))
        live.append(j)
        if length > 0 and rank < len(R):
            Q[:, rank] = left / length
            rank += 1
    return live, combinations, tuple(unproved)


def _combination(shares: dict[int, float]) -> dict[int, Fraction] | None:
    """The shares as simple fractions, those that are 0 left out; None if one is not simple."""
    found = {}
    for column, share in shares.items():
        if not np.isfinite(share):
            return None
        simple = Fraction(float(share)).limit_denominator(SIMPLE)
        if abs(float(simple) - share) > 1e-6 * max(1.0, abs(share)):
            return None
        if simple:
            found[column] = simple
    return found


def _equal(data: Data, j: int, combination: dict[int, Fraction], intercept: bool) -> bool:
    """Whether x_ij = sum_l combination_l x_il + constant for every row i, exactly; no intercept, no constant."""
    columns = [*combination, j]
    factors = [*combination.values(), Fraction(-1)]
    constant: Fraction | None = None if intercept else Fraction(0)
    looked_at = 0
    for block, _, _ in data.blocks():
        x = block[:, columns]
        if constant is None:
            first = [Fraction(float(entry)) for entry in x[0]]
            constant = -sum((f * e for f, e in zip(factors, first, strict=True)), Fraction(0))
        common = lcm(*(f.denominator for f in factors))
        whole = [int(f * common) for f in factors]
        exact = _zero_in_floats(x, whole, constant * common)
        if exact is None:  # float64 cannot tell
            looked_at += x.size
            if looked_at > BY_HAND:
                return False
            exact = all(
                not exact_signs(x[first : first + 64], factors, constant).any() for first in range(0, len(x), 64)
            )
        if not exact:
            return False
    return True


def _zero_in_floats(x: Any, whole: list[int], constant: Fraction) -> bool | None:
    """Whether x whole + constant = 0 for each row, where float64 computes that without any rounding; None elsewhere."""
    terms = [f for f in whole if f]
    if constant == 0 and len(terms) == 2 and all(abs(f) & (abs(f) - 1) == 0 for f in terms) and abs(x).max() < 1e300:
        a, b = (x[:, [m for m, f in enumerate(whole) if f]] * terms).T  # times powers of two
        return bool((a == -b).all())
    if len(terms) == 1:
        return bool((x[:, next(m for m, f in enumerate(whole) if f)] == float(-constant / terms[0])).all())
    size = float(np.abs(x).max(axis=0) @ np.abs(np.array(whole, dtype=np.float64))) + abs(float(constant))
    if not size < 1e300:
        return None
    unit = frexp(size)[1] - 52  # sums of multiples of 2**unit up to this size are exact
    multiples = np.ldexp(x, -unit)
    shifted = constant / Fraction(2) ** unit
    if shifted.denominator != 1 or not (multiples == np.rint(multiples)).all():
        return None
    return not (multiples @ np.array(whole, dtype=np.float64) + float(shifted)).any()
