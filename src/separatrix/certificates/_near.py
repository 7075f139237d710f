"""Do weights near lambda, all above 0, make sum_i ±lambda_i (x_i, 1) exactly 0? A bound that proves it in floats."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from separatrix.certificates._balance import UPWARD, Balance
from separatrix.certificates._data import EPS
from separatrix.certificates._exact import rational

MIDDLE = 1000  # rows whose mean is taken for the middle of the data
FAINT = 1e-90  # of a column, next to its largest entry: beyond it, what underflows might count
LARGEST_FACTOR = 60  # by which a relation between columns is multiplied to make it one of whole numbers
LEVEL = 1e-9  # an eigenvalue, or an entry of its vector, that may stand for 0
WHOLE = 2.0**52  # float64 adds whole numbers up to this without rounding, and twice that


def change(balance: Balance, sums: list[list[Fraction]], coordinates: Coordinates) -> float:
    """At most this share of a weight must change to make all sums exactly 0; infinite if that is not sure.

    Write u for (x, 1) moved to a middle and scaled, without columns that others determine; r for the sums in these
    coordinates; and G_c for the sum of lambda u u' over the rows of class c against a class of reference and of
    that against c. Coefficients V that are 0 for the reference have sum_ic lambda_ic (lead_ic of V)² = V'GV >= mu ‖V‖²,
    mu being the least eigenvalue of all G_c. So G V = r has a solution with ‖V‖ <= ‖r‖ / mu, and the weights
    lambda_ic (1 - lead_ic) have the sums r - G V = 0, with |lead_ic| <= sqrt(2) max ‖u‖ ‖r‖ / mu. The reference's
    sum is less all others.
    """
    middle, scale, varies = coordinates.found()
    grams, terms = _grams(balance, middle, scale)
    grams = grams[:, varies][:, :, varies]
    unit = np.sqrt(np.diagonal(grams, axis1=1, axis2=2).min(axis=0))
    if not (np.isfinite(grams).all() and (unit > FAINT).all() and balance.weights.max() < 1 / FAINT):
        return np.inf
    unit = np.ldexp(1.0, -np.frexp(unit)[1])  # now the diagonal of each G_c is 1/4 or more
    grams = grams * np.outer(unit, unit)
    least = min(_least_eigenvalue(G, terms) for G in grams)
    kept = np.ones(len(unit), dtype=bool)
    if not least > 0:
        kept = _independent(balance, grams.sum(axis=0), unit, middle, scale, varies)
        least = min((_least_eigenvalue(G[kept][:, kept], terms) for G in grams), default=0.0)
    if not least > 0:
        return np.inf
    at, unit = np.flatnonzero(varies)[kept], unit[kept]
    d = len(middle)
    square = Fraction(0)
    for row in sums:
        for j, factor in zip(at.tolist(), unit.tolist(), strict=True):
            r = rational(scale[j]) * (row[j] - rational(middle[j]) * row[d]) if j < d else row[d]
            square += (rational(factor) * r) ** 2
    return UPWARD * float(np.sqrt(2.0) * np.linalg.norm(unit) * np.sqrt(float(square)) / least)


class Coordinates:
    """A middle of the columns, 0 without intercept; powers of two that bring |x - middle| to at most 1; what varies.

    A column that is its middle in every row is exactly 0 in these coordinates, and so is its sum.
    """

    def __init__(self, balance: Balance) -> None:
        d = balance.data.X.shape[1]
        self._intercept = balance.intercept
        self._middle, self._low, self._high = np.zeros(d), np.full(d, np.inf), np.full(d, -np.inf)

    def add(self, rows: slice, x: Any, codes: Any) -> None:
        """Further rows."""
        if rows.start == 0 and self._intercept:
            self._middle = x[:MIDDLE].mean(axis=0)
        self._low, self._high = np.minimum(self._low, x.min(axis=0)), np.maximum(self._high, x.max(axis=0))

    def found(self) -> tuple[Any, Any, Any]:
        """(middle, scale, varies) of all rows."""
        middle, low, high = self._middle, self._low, self._high
        if self._intercept:
            middle = np.where(low == high, low, middle)
        largest = np.maximum(high - middle, middle - low)  # as rounded as the largest |x - middle| itself
        exponent = np.frexp(np.where(largest > 0, largest, 1.0))[1]
        varies = np.append(largest > 0, True)[: len(middle) + self._intercept]
        return middle, np.ldexp(1.0, np.clip(-exponent, -1020, 1020)), varies


def _grams(balance: Balance, middle: Any, scale: Any) -> tuple[Any, int]:
    """The matrices G_c, of the class with most rows as reference; and how many roundings an entry has at most."""
    p = len(middle) + balance.intercept
    reference = int(np.argmax(np.bincount(balance.data.values, minlength=balance.k)))
    others = [c for c in range(balance.k) if c != reference] if balance.positive is None else [0]
    grams, pieces, rows_at_once = np.zeros((len(others), p, p)), 0, 0
    for rows, x, own in balance.pieces():
        u = (x - middle) * scale
        u = np.column_stack([u, np.ones(len(u))]) if balance.intercept else u
        pieces, rows_at_once = pieces + 1, max(rows_at_once, len(u))
        lam = balance.weights[rows]
        for at, c in enumerate(others):
            if balance.positive is not None:
                grams[at] += u.T @ (lam[:, None] * u)
                continue
            for a, rival in ((reference, c), (c, reference)):
                mine = own == a
                grams[at] += u[mine].T @ (lam[mine, rival][:, None] * u[mine])
    return grams, rows_at_once + 2 * pieces + 10


def _least_eigenvalue(G: Any, terms: int) -> float:
    """A lower bound on the least eigenvalue of sum lambda u u', of which G is the rounded value; 0 if unknown.

    An entry of G is off by at most terms EPS sqrt(G_jj G_ll), so G by terms EPS tr(G) in norm. If Cholesky's method
    runs through for G - s, then G - s has no eigenvalue below -(p + 2) EPS tr(G) (Rump, 2006).
    """
    p, trace = len(G), float(np.trace(G))
    shift = 0.5 * float(np.linalg.eigvalsh(G)[0])
    try:
        np.linalg.cholesky(G - shift * np.eye(p))
    except np.linalg.LinAlgError:
        return 0.0
    return max(0.0, shift - (2 * terms + 2 * p + 10) * EPS * trace)


def _independent(balance: Balance, G: Any, unit: Any, middle: Any, scale: Any, varies: Any) -> Any:
    """Which coordinates are left without those that others determine in every row, as the last of a group of dummies.

    Null vectors of G, each reduced to a coordinate of its own and some that all share, are relations between columns.
    Rounded to whole numbers, one counts only if every row obeys it without a rounding error.
    """
    kept = np.ones(len(G), dtype=bool)
    values, vectors = np.linalg.eigh(G)
    d, at = len(middle), np.flatnonzero(varies)
    inner = at < d  # the 1 of (x, 1) always stays
    relations, pivots = _reduced(vectors[:, values < LEVEL * values[-1]].T, int(inner.sum()))
    if not len(pivots):
        return kept
    relations = np.where(np.abs(relations) > LEVEL, relations, 0.0)
    N = np.zeros((len(pivots), d + 1))
    N[:, at[inner]] = (relations * unit)[:, inner] * scale[at[inner]]
    if balance.intercept:
        N[:, d] = (relations * unit)[:, -1] - N[:, :d] @ middle
    N /= N[np.arange(len(pivots)), at[pivots]][:, None]
    whole = _whole_multiples(N)
    own = whole[:, at[pivots]]
    true = (np.count_nonzero(own, axis=1) == 1) & (np.diagonal(own) != 0)  # in terms of columns that stay
    pair = (np.count_nonzero(whole, axis=1) == 2) & (np.abs(whole).max(axis=1) == 1) & (whole[:, d] == 0)
    for _, x, _ in balance.pieces():
        x1 = np.column_stack([x, np.ones(len(x))])
        exact = (np.rint(x1) == x1).all(axis=0)  # sums of whole numbers, or of a number and another's opposite
        size = (np.abs(x1) @ np.abs(whole).T).max(axis=0)
        true &= pair | ((size < WHOLE) & ~(whole[:, ~exact] != 0).any(axis=1))
        true &= ~(x1 @ whole.T != 0).any(axis=0)
    kept[pivots[true]] = False
    return kept


def _whole_multiples(N: Any) -> Any:
    """The least multiple of each row that is whole up to rounding; 0 for a row without a small one."""
    whole, found = np.zeros_like(N), ~np.isfinite(N).all(axis=1)
    for factor in range(1, LARGEST_FACTOR + 1):
        near = np.rint(factor * N)
        good = ~found & (np.abs(near - factor * N).max(axis=1) < 1e-6)
        whole[good], found = near[good], found | good
    return whole


def _reduced(rows: Any, first: int) -> tuple[Any, Any]:
    """The rows combined so that each has a 1 where the others have 0, and these places, among the first few columns."""
    rows, pivots = rows.copy(), np.zeros(len(rows), dtype=np.intp)
    for r in range(len(rows)):  # Gauss with full pivoting
        i, j = divmod(int(np.argmax(np.abs(rows[r:, :first]))), first)
        rows[[r, r + i]] = rows[[r + i, r]]
        rows[r] /= rows[r, j]
        others = np.arange(len(rows)) != r
        rows[others] -= np.outer(rows[others, j], rows[r])
        pivots[r] = j
    return rows, pivots
