"""Weights, means and spreads of the classes, each with a bound on what rounding did to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.certificates._centred import dense_row
from separatrix.certificates._data import EPS, Data

FEW = 64  # roundings of numbers as large as a column's range, on the way to a mean by whatever road


@dataclass(frozen=True)
class Moments:
    """Of class c: weight counts[c], mean origins[c] + means[c], and sum of c_i (x_i - mean)² spreads[c].

    An origin is the heaviest row of the class, or 0 where that was asked for: about a row, columns far from 0 keep
    their digits; about 0, numbers of one sign are summed with a small relative error.

    Parameters
    ----------
    error : array of shape (k, d)
        How far a mean, as computed here and as computed elsewhere, may be off.
    relative : float
        How far a sum of numbers of one sign may be off, of itself.
    """

    counts: Any
    origins: Any
    means: Any
    spreads: Any
    error: Any
    relative: float

    def difference(self, c: int, other: int) -> Any:
        """The mean of class c minus that of another."""
        return (self.origins[c] - self.origins[other]) + (self.means[c] - self.means[other])

    @property
    def absolute(self) -> Any:
        """The means themselves."""
        return self.origins + self.means


def class_moments(data: Data, k: int, about_zero: Any) -> Moments:
    """Three passes over the rows; ``about_zero`` says in which columns the origin is 0."""
    d, counts = data.X.shape[1], np.bincount(data.values, weights=data.weight, minlength=k)
    if len(counts) != k or data.values.ndim != 1:
        raise ValueError(f"y must be a column of {k} labels.")
    origins = np.zeros((k, d))
    for c in np.flatnonzero(counts):
        origins[c] = dense_row(data, int(np.argmax(np.where(data.values == c, data.weight, 0.0))))
    origins[:, about_zero] = 0.0
    sums, sizes, spreads = np.zeros((k, d)), np.zeros((k, d)), np.zeros((k, d))
    low, high, lengths = np.full(d, np.inf), np.full(d, -np.inf), []
    for x, codes, weight in data.blocks():
        lengths.append(len(weight))
        low, high = np.minimum(low, x.min(axis=0)), np.maximum(high, x.max(axis=0))
        for c in np.unique(codes):
            w, about = weight[codes == c], x[codes == c] - origins[c]
            sums[c] += w @ about
            sizes[c] += w @ np.abs(about)
    n = np.where(counts > 0, counts, 1.0)[:, None]
    means, depth = sums / n, max(lengths) + len(lengths) + 8
    for x, codes, weight in data.blocks():
        for c in np.unique(codes):
            spreads[c] += weight[codes == c] @ ((x[codes == c] - origins[c]) - means[c]) ** 2
    error = depth * EPS * sizes / n + (FEW + np.sqrt(depth)) * EPS * (high - low)
    return Moments(counts, origins, means, spreads, error, depth * EPS)
