"""Weighted counts, means and spreads of each class, about an anchor near the data."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from separatrix._typing import Floats
from separatrix.design import Design
from separatrix.targets import Targets


@dataclass(frozen=True)
class ClassMoments:
    """Of class c: counts[c] = sum w_i, means[c] = sum w_i (x_i - anchor) / counts[c], and
    spreads[c] = sum w_i (x_i - anchor - means[c])² (None if not asked for).

    Means are kept about the anchor so that their differences lose no digit to a large common shift.
    A class without rows has count 0 and mean 0.
    """

    anchor: Floats
    counts: Floats
    means: Floats
    spreads: Floats | None

    def variances(self) -> Floats:
        """The variance of each column over all rows: within the classes, and of their means."""
        assert self.spreads is not None
        n = self.counts.sum()
        centre = self.counts @ self.means / n
        return np.asarray((self.spreads.sum(axis=0) + self.counts @ (self.means - centre) ** 2) / n)

    def merge(self, other: ClassMoments) -> ClassMoments:
        """The moments of both sets of rows: Chan, Golub and LeVeque's update."""
        counts = self.counts + other.counts
        share = (other.counts / np.where(counts > 0, counts, 1.0))[:, None]
        step = np.where(self.counts[:, None] > 0, other.means + (other.anchor - self.anchor) - self.means, 0.0)
        first = np.where(self.counts[:, None] > 0, self.means, other.means + (other.anchor - self.anchor))
        spreads = None
        if self.spreads is not None and other.spreads is not None:
            spreads = self.spreads + other.spreads + self.counts[:, None] * share * step**2
        return ClassMoments(self.anchor, counts, first + share * step, spreads)


def class_priors(counts: Floats, given: Floats | None) -> Floats:
    """P(c): as given, or the shares of the weight; of a class not seen yet the smallest number that has a logarithm."""
    return np.where(counts > 0, counts / counts.sum(), np.finfo(np.float64).tiny) if given is None else given


def bisectors(means: Floats, binary: bool) -> tuple[Floats, Floats]:
    """mu_1 - mu_0 and (mu_0 + mu_1) / 2; of more than two classes mu_c - m and (mu_c + m) / 2, m their mean."""
    if binary:
        return means[1:] - means[:1], 0.5 * (means[1:] + means[:1])
    centre = means.mean(axis=0)
    return means - centre, 0.5 * (means + centre)


def contrasts(k: int) -> Floats:
    """What takes scores of k classes to log-odds: of the second against the first, or of each against the mean."""
    return np.array([[-1.0, 1.0]]) if k == 2 else np.eye(k) - 1.0 / k


def class_moments(design: Design, targets: Targets, weight: Floats, *, spreads: bool) -> ClassMoments:
    """One pass over the rows for counts and means, a second one for spreads."""
    k = targets.n_classes
    anchored = replace(design, intercept=True).anchored()
    anchor = np.zeros(design.d) if anchored.offset is None else anchored.offset

    counts = np.asarray(np.bincount(targets.values, weight, k), dtype=np.float64)
    totals = anchored.class_sums(targets.values, weight, k)
    means = totals / np.where(counts > 0, counts, 1.0)[:, None]
    if not spreads:
        return ClassMoments(anchor, counts, means, None)

    about = anchored.class_sums(targets.values, weight, k, anchor + means)
    return ClassMoments(anchor, counts, means, about)
