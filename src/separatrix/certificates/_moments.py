"""Weights, means and spreads of the classes, each with a bound on what rounding did to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.certificates._data import EPS, Data
from separatrix.certificates._held import dense

PAIRS = 64  # roundings on the way to a sum by halves; and one a block, and what another order may add


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

    @property
    def about_first(self) -> Any:
        """The means less that of the first class, (k, d)."""
        return (self.origins - self.origins[0]) + (self.means - self.means[0])

    @property
    def absolute(self) -> Any:
        """The means themselves."""
        return self.origins + self.means


def class_moments(
    data: Data, k: int, about_zero: Any, spread: bool, look: Callable[[Any], object] | None = None
) -> Moments:
    """One pass over the rows, and another for the spreads, if they are asked for; they are 0 if not.

    ``about_zero`` says in which columns the origin is 0; ``look`` is called with the rows of each block.
    """
    if data.values.ndim != 1:
        raise ValueError(f"y must be a column of {k} labels.")
    d = data.X.shape[1]
    origins = np.zeros((k, d))
    if not np.all(about_zero):
        there = np.unique(data.values)
        heaviest = [int(np.argmax(np.where(data.values == c, data.weight, 0.0))) for c in there]
        origins[there] = dense(data.X[heaviest])
        origins[:, about_zero] = 0.0
    counts, sums, sizes, spreads = np.zeros(k), np.zeros((k, d)), np.zeros((k, d)), np.zeros((k, d))
    low, high, blocks = np.full(d, np.inf), np.full(d, -np.inf), 0
    for x, codes, weight in data.blocks():
        blocks += 1
        if look is not None:
            look(x)
        low, high = np.minimum(low, x.min(axis=0)), np.maximum(high, x.max(axis=0))
        for c in np.unique(codes):
            w, about = weight[codes == c], x[codes == c] - origins[c]
            counts[c] += w.sum()
            sums[c] += _sum(w, about)
            sizes[c] += _sum(w, np.abs(about))
    n = np.where(counts > 0, counts, 1.0)[:, None]
    means = sums / n
    for x, codes, weight in data.blocks() if spread else ():
        for c in np.unique(codes):
            spreads[c] += _sum(weight[codes == c], ((x[codes == c] - origins[c]) - means[c]) ** 2)
    relative = (PAIRS + blocks + np.sqrt(len(data.weight))) * EPS
    return Moments(counts, origins, means, spreads, relative * (sizes / n + (high - low)), relative)


def _sum(weight: Any, x: Any) -> Any:
    """sum_i weight_i x_ij by halves, as NumPy adds what lies side by side: few roundings, however many rows."""
    return np.ascontiguousarray((weight[:, None] * x).T).sum(axis=1)
