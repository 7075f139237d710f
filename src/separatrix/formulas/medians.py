"""The centroid method with absolute differences: the nearest of the class medians, which may be pulled together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix._typing import Array, Floats
from separatrix.certificates._held import dense
from separatrix.design.sample import Sample
from separatrix.errors import InvalidInputError
from separatrix.formulas.centroids import EPS, Settings
from separatrix.formulas.claims import stationarity
from separatrix.formulas.scores import ENTRIES, by_blocks, log_odds
from separatrix.outcome import Fit, Status


@dataclass(frozen=True)
class Medians:
    """score_c(x) = log P(c) - sum_j |x_j - m_cj| / b_j, or the difference of the two for two classes.

    Parameters
    ----------
    centroids : array of shape (k, d)
        The m_c.
    deviation : array of shape (d,), optional
        The b_j; 1 where it is 0, or without it.
    prior : array of shape (k,), optional
        P(c); all alike without it.
    """

    centroids: Floats
    deviation: Floats | None = None
    prior: Floats | None = None

    def scores(self, X: Any) -> Floats:
        """(n, k) scores, or (n, 1)."""
        found = by_blocks(X, X.shape[1], self._block)
        lost = np.flatnonzero(~np.isfinite(found).all(axis=1))
        if len(lost):
            raise InvalidInputError(f"The score of row {lost[0]} overflows: its entries are too large.")
        return log_odds(found)

    def _block(self, x: Floats, first: int) -> Floats:
        scores = np.empty((len(x), len(self.centroids)))
        for c, m in enumerate(self.centroids):
            off = x - m
            np.abs(off, out=off)
            if self.deviation is not None:
                off /= np.where(self.deviation > 0, self.deviation, 1.0)
            scores[:, c] = -off.sum(axis=1)
        return scores if self.prior is None else scores + np.log(self.prior)


def learn(sample: Sample, settings: Settings) -> Fit:
    """m_cj minimises sum_i c_i |x_ij - m| + t e_c |m - m_j| over the rows i of class c, m_j the median of all rows.

    That is a weighted median, or the middle of an interval of them. Signs of n_c rows that are drawn from all add up to
    0 with a standard error of e_c = sqrt(n_c (1 - n_c / n)): a class whose rows lie on both sides of m_j, but for t of
    these, has m_cj = m_j, and the column has no say in it. With priors, b_j = sum_i c_i |x_ij - m_j(y_i)| / n: the
    scores are log-odds of Laplace distributions.
    """
    design, targets = sample.design, sample.targets
    if not design.in_memory:
        raise InvalidInputError(
            "Medians need all rows in memory: fit to rows that are there, or use metric='euclidean'.", "metric"
        )
    k, codes, weight = targets.n_classes, targets.values, sample.weight
    rows = design.csr() if design.sparse else design.array()
    counts = np.bincount(codes, weight, k)
    n = float(counts.sum())
    pull, centre = np.zeros(k), np.zeros(design.d)
    if settings.shrink is not None:
        pull = settings.shrink * np.sqrt(counts * (1.0 - counts / n))
        for first, x in _columns(rows):
            centre[first : first + x.shape[1]] = design.rounded(_median(x, weight))
    centroids, deviation = np.zeros((k, design.d)), np.zeros(design.d)
    for first, x in _columns(rows):
        part = slice(first, first + x.shape[1])
        for c in range(k):
            own, w = x[codes == c], weight[codes == c]
            if settings.shrink is not None:  # the pull is that of one row more
                own, w = np.vstack([own, centre[part]]), np.append(w, pull[c])
            centroids[c, part] = design.rounded(_median(own, w))
        deviation[part] = weight @ np.abs(x - centroids[codes, part]) / n
    witness: dict[str, Any] = {"centroids": centroids}
    if settings.shrink is not None:
        witness |= {"threshold": settings.shrink, "centre": centre}
    if settings.prior is not None:
        witness |= {"prior": settings.prior, "absolute": deviation}
    problem = "medians" if settings.shrink is None else "shrunken_medians"
    certificate = stationarity(problem, design, targets, **witness)
    attributes = {
        "centroids_": centroids.astype(design.dtype),
        "within_class_abs_dev_": deviation,
        "_prior": settings.prior,
    }
    model = Medians(centroids, *(() if settings.prior is None else (deviation, settings.prior)))
    return Fit(model, certificate, Status.FORMULA, attributes=attributes)


def _columns(X: Any) -> Iterator[tuple[int, Floats]]:
    """Some columns at a time, with the place of the first."""
    n, d = X.shape
    columns = X.tocsc() if hasattr(X, "tocsc") else X
    step = max(1, 2 * ENTRIES // max(n, 1))
    for first in range(0, d, step):
        yield first, dense(columns[:, first : first + step])


def _median(x: Array, weight: Floats) -> Floats:
    """Of each column, the middle of all m that have at most half of the weight on either side."""
    order = np.argsort(x, axis=0, kind="stable")
    total = np.cumsum(weight[order], axis=0)
    half = 0.5 * total[-1]
    slack = len(weight) * EPS * half  # what adding up the weights rounds
    at = np.arange(x.shape[1])
    ends = [(total >= half - slack).argmax(axis=0), (total > half + slack).argmax(axis=0)]
    low, high = (x[order[end, at], at] for end in ends)
    return np.asarray(0.5 * low + 0.5 * high)
