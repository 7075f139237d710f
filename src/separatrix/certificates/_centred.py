"""Rows about their weighted mean, and the scores w.x + b there, each with a bound on what rounding did to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.certificates._data import EPS, Data
from separatrix.certificates._exact import BASE, exact_sums
from separatrix.certificates._held import dense


@dataclass(frozen=True)
class Centred:
    """z = (x - origin) - mean, and then a 1; x itself if there is no intercept to absorb a shift.

    The origin is the heaviest row: x - origin is exact where x and origin are close, so that columns far from 0 keep
    their digits, and a constant column becomes exactly 0.

    Parameters
    ----------
    origin, mean : arrays of shape (d,)
        A row, and the weighted mean of x - origin.
    free : bool
        Whether there is an intercept.
    depth : int
        A sum over all rows is off by at most depth * EPS of the sum of its terms' sizes.
    reach : array of shape (d,)
        The largest |x - origin| of each column.
    """

    origin: Any
    mean: Any
    free: bool
    depth: int
    reach: Any

    def rows(self, x: Any) -> Any:
        """z, (m, p)."""
        z = (x - self.origin) - self.mean
        return np.column_stack([z, np.ones(len(x))]) if self.free else z

    def sizes(self, x: Any) -> Any:
        """|x - origin| + |mean| and 1, (m, p): an entry of z is off by at most EPS times this."""
        size = np.abs(x - self.origin) + np.abs(self.mean)
        return np.column_stack([size, np.ones(len(x))]) if self.free else size

    def weights(self, W: Any, b: Any) -> Any:
        """(k, p): W and the score of the mean row, b + (origin + mean).W, which only the last step rounds."""
        if not self.free:
            return W
        factors = np.concatenate([self.origin, self.mean, [1.0]])[:, None]
        sums = exact_sums(np.vstack([W.T, W.T, b[None]]), factors)[:, 0]
        return np.column_stack([W, [int(total) / (1 << BASE) for total in sums]])

    def scores(self, x: Any, V: Any) -> tuple[Any, Any]:
        """Of weights as `weights` gives them: the scores (m, k), and bounds on their rounding errors."""
        return self.rows(x) @ V.T, (V.shape[1] + 8) * EPS * (self.sizes(x) @ np.abs(V).T)


def centred(data: Data, free: bool) -> Centred:
    """About the mean of the data if there is an intercept, else about 0."""
    d = data.X.shape[1]
    origin, total, reach, lengths = np.zeros(d), np.zeros(d), np.zeros(d), []
    if free:
        origin = dense(data.X[[int(np.argmax(data.weight))]])[0]
    for x, _, c in data.blocks():
        lengths.append(len(c))
        about = x - origin
        reach = np.maximum(reach, np.maximum(about.max(axis=0), -about.min(axis=0)))
        if free:
            total += c @ about
    mean = total / data.weight.sum() if free else total
    return Centred(origin, mean, free, max(lengths) + len(lengths) + 8, reach)


def units(frame: Centred) -> Any:
    """(p,) the largest |z_ij| of each column within a factor of 2: in these units no square overflows or vanishes.

    0 for a constant column, all of which equals the origin. As the origin is a row, |x - origin| is at most twice the
    largest |z|, and the other way round.
    """
    return np.append(frame.reach, 1.0) if frame.free else frame.reach
