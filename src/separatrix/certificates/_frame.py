"""The rows of sparse models about a centre: scores and moments, each with a bound on what rounding can do to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.certificates._blocks import elsewhere
from separatrix.certificates._data import EPS, TINY, Data
from separatrix.certificates._held import blocks_of, dense
from separatrix.certificates._logistic import levels, roundings, tall_product
from separatrix.certificates._row_basis import ENTRIES

FEW = 1 << 16  # entries of dense rows that are worked on together: what is made of them is in cache, and no new memory


class Frame:
    """Rows about a centre: a row amid them if they are dense and b is free, which costs nothing and keeps digits.

    The entries of sparse rows stay as they are: a column that is mostly 0 is not far from 0. A frame of several claims
    has them as one part, which it keeps: it costs as much to make as to use. It also keeps what the first claim needed
    to know of the columns, which bounds the rounding of all: ``negligible`` says how much of that does not matter.
    """

    def __init__(self, data: Data, free: bool, several: bool = False) -> None:
        self.data, self.d, self.several = data, data.X.shape[1], several
        self._kept: list[tuple[slice, Any]] | None = None
        self.sparse = hasattr(data.X, "indptr") or bool(getattr(data.X, "sparse", False))  # a matrix, or rows in blocks
        self.total = float(data.weight.sum())
        self.centre = np.zeros(self.d)
        self._columns: ColumnSums | None = None
        if free and not self.sparse:
            self.centre = data.amid()
        if several and hasattr(data.X, "indptr"):  # not of rows in a file
            rows = slice(0, data.X.shape[0])
            self._kept = [(rows, _cut(data.X, rows))]

    def parts(self, width: int) -> Iterator[tuple[slice, Any]]:
        """Where some rows are, and the rows about the centre: an array, or a CSR matrix of float64."""
        if self._kept is not None:
            return iter(self._kept)
        if not self.sparse:
            return ((rows, x - self.centre) for rows, x in self.data.rows(FEW, width))
        X = self.data.X
        step = max(1, int(ENTRIES * X.shape[0] / max(X.nnz, 1)))
        return ((rows, _cut(X, rows)) for rows in blocks_of(X.shape[0], 1, step))

    def scores(self, W: Any, b: Any, negligible: float) -> tuple[Any, Any]:
        """W x_i + b (n, K) and bounds on their errors (n,), inf where they overflow."""
        n, K = len(self.data.weight), len(W)
        used = np.flatnonzero(W.any(axis=0))
        level = b if self.sparse else levels(self.centre[used], W[:, used], b)
        few = not self.sparse and len(used) < self.d  # sparse rows are slow to cut
        w = W[:, used] if few else W
        terms = np.inf
        if self.several and self._columns is not None:
            terms = float((np.abs(W) @ self._columns.largest + np.abs(level)).max())
        coarse = (self.d + 6) * (EPS * terms + TINY)
        bounded = coarse <= negligible
        S, errors = np.empty((n, K)), np.full(n, coarse)
        for rows, (scores, error) in self._over(_scores, K, (), w, level, used if few else None, bounded):
            S[rows] = scores
            if not bounded:
                errors[rows] = error
        sure = np.isfinite(S).all(axis=1) & np.isfinite(errors)
        return np.where(sure[:, None], S, 0.0), np.where(sure, errors, np.inf)

    def moments(self, A: Any, steepest: float, negligible: float) -> Moments:
        """Of slopes A (n, K), in one pass over the rows; those of row i are at most ``steepest`` c_i."""
        K, weight, known = A.shape[1], self.data.weight, self._columns
        M, sizes, found = np.zeros((self.d, K)), np.zeros((self.d, K)), np.zeros((4, self.d if known is None else 0))
        bounded = known is not None and known.rounding * steepest * float(known.spread.max()) <= negligible
        longest = count = 0
        asked = (known is None, self.several, not bounded)
        for rows, (moment, size, other) in self._over(_moments, K, (A, weight), *asked):
            M += moment
            if not bounded:
                sizes += size
            if known is None:
                found[:3] += other[:3]
                np.maximum(found[3], other[3], out=found[3])
            longest, count = max(longest, rows.stop - rows.start), count + 1
        depth = longest if self.sparse else roundings(longest)
        rounding, summing = (depth + count + K + 16) * EPS, (longest + count + 16) * EPS
        if known is None:
            self._columns = known = ColumnSums(found[0], found[1], found[2], found[3], rounding, summing)
        if bounded:
            sizes = np.repeat(steepest * known.spread[:, None], K, axis=1)
        return Moments(M.T, sizes.T, known)

    def _over(self, fn: Callable[..., Any], width: int, arrays: Any, *args: Any) -> Iterator[tuple[slice, Any]]:
        """Where some rows are, and fn(rows about the centre, *arrays of these rows, *args), found where they are."""
        source = elsewhere(self.data.X)
        if source is None:
            for rows, z in self.parts(width):
                yield rows, fn(z, *(array[rows] for array in arrays), *args)
            return
        per_row = max(width, self.data.X.nnz / self.data.X.shape[0] if self.sparse else self.d)
        centre = None if self.sparse else self.centre
        yield from source.each(_centred, arrays, ((fn, centre, args),), max(1, int(ENTRIES / per_row)))


def _centred(x: Any, *given: Any) -> Any:
    """fn of some rows about the centre, with their arrays; sparse ones stay as they are."""
    *arrays, (fn, centre, args) = given
    z = x.tocsr().astype(np.float64) if centre is None else dense(x) - centre
    return fn(z, *arrays, *args)


def _cut(X: Any, rows: slice) -> Any:
    """Some rows of a CSR matrix as float64, which share its entries, or of one in a file."""
    if not hasattr(X, "indptr"):
        return X[rows].tocsr().astype(np.float64, copy=False)
    entries = slice(int(X.indptr[rows.start]), int(X.indptr[rows.stop]))
    starts = X.indptr[rows.start : rows.stop + 1] - X.indptr[rows.start]
    data = X.data[entries].astype(np.float64, copy=False)
    return type(X)((data, X.indices[entries], starts), shape=(rows.stop - rows.start, X.shape[1]))


def _filled(z: Any, change: Any) -> Any:
    """The same rows with each entry changed, 0 into 0."""
    return type(z)((change(z.data), z.indices, z.indptr), shape=z.shape) if hasattr(z, "indptr") else change(z)


def _sizes(z: Any) -> Any:
    """The same rows with |z_ij|: themselves, if they are counts, say."""
    sparse = hasattr(z, "indptr")
    return z if sparse and not z.data.min(initial=0.0) < 0.0 else _filled(z, np.abs)


def _scores(z: Any, w: Any, level: Any, used: Any, bounded: bool) -> tuple[Any, Any]:
    """w z_i + level of some rows, and bounds on their errors; of the columns that are used, if not all are."""
    z = z if used is None else z[:, used]
    if bounded:
        return z @ w.T + level, None
    terms = 0.5 * EPS * (_sizes(z) @ np.abs(w).T + np.abs(level)) + TINY
    longest = int(np.diff(z.indptr).max(initial=0)) if hasattr(z, "indptr") else w.shape[1]
    return z @ w.T + level, (longest + 6) * terms.max(axis=1)


def _moments(z: Any, a: Any, c: Any, first: bool, several: bool, sized: bool) -> tuple[Any, Any, Any]:
    """a'z and, if asked for, |a|'|z| of some rows and what has no a in it."""
    sparse = hasattr(z, "indptr")
    M = z.T @ a if sparse else tall_product(a, z).T
    if not (first or sized):
        return M, None, None
    size, other = _sizes(z), None
    sizes = size.T @ np.abs(a) if sized else None
    if first:
        largest, sums = np.zeros(z.shape[1]), z.T @ c
        if several:
            largest = size.max(axis=0).toarray().ravel() if sparse else size.max(axis=0, initial=0.0)
        spread = sums if size is z else size.T @ c
        if size is z:
            size = _filled(z, np.square)
        else:  # in place: new memory costs more than the squares
            entries = size.data if sparse else size
            np.square(entries, out=entries)
        other = np.array([spread, sums, size.T @ c, largest])
    return M, sizes, other


@dataclass(frozen=True)
class ColumnSums:
    """Sums over the rows of c_i |z_ij|, c_i z_ij and c_i z_ij² (d,), and of several claims the largest |z_ij|.

    ``rounding`` and ``summing`` bound the errors of moments, and of these sums, in parts of the terms' sizes.
    """

    spread: Any
    first: Any
    second: Any
    largest: Any
    rounding: float
    summing: float


@dataclass(frozen=True)
class Moments:
    """A'z (K, d) and |A|'|z|, or more than that, and what is known of the columns."""

    M: Any
    sizes: Any
    columns: ColumnSums

    def lengths(self, total: float, free: bool) -> Any:
        """(sum_i c_i (z_ij - mean_j)²)^(1/2) at least, (d,); about 0 if b is not free."""
        known = self.columns
        square = np.maximum(known.second - known.first**2 / total, 0.0) if free else known.second
        return np.sqrt(square + 4.0 * known.summing * known.second) * (1.0 + 8 * EPS)
