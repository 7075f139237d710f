"""The centroid method: the bisector of the class means, which may be shrunken toward the mean of all rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix._typing import Floats
from separatrix.design.sample import Sample
from separatrix.errors import InvalidInputError
from separatrix.formulas.claims import stationarity
from separatrix.formulas.moments import ClassMoments, bisectors, class_moments
from separatrix.geometry import Hyperplanes
from separatrix.outcome import Fit, Status

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Settings:
    """By how many standard errors centroids are shrunken, and the priors of the classes if they are not equal."""

    shrink: float | None = None
    prior: Floats | None = None


def learn(sample: Sample, settings: Settings) -> Fit:
    """score_c(x) = (‖x - m‖² - ‖x - mu_c‖²) / 2 = (mu_c - m).(x - (mu_c + m) / 2), m the mean of the mu_c.

    For two classes, the difference of the two: (mu_1 - mu_0).(x - (mu_1 + mu_0) / 2). With priors, columns are in units
    of their standard deviation within the classes, and log P(c) is added: the log-odds of normal distributions.
    """
    design, targets = sample.design, sample.targets
    moments = class_moments(design, targets, sample.weight, spreads=True)
    deviation = _deviation(moments)
    if deviation is None and (settings.shrink is not None or settings.prior is not None):
        raise InvalidInputError(
            "shrink_threshold and priors need standard deviations within the classes, and so rows of more weight in "
            "all than there are classes."
        )
    standing, shrunken = _deviations(moments, deviation, settings.shrink)
    means, anchor = (moments.means if settings.shrink is None else shrunken), moments.anchor
    unit = np.ones(design.d)
    if settings.prior is not None and deviation is not None:
        unit = np.where(deviation > 0, deviation, 1.0)
    difference, middle = bisectors(means, targets.binary)
    coef = design.rounded(difference / unit**2)
    constant = -(coef * (middle + anchor)).sum(axis=1)
    if settings.prior is not None:
        logs = np.log(settings.prior)
        constant = constant + (logs[1:] - logs[:1] if targets.binary else logs)
    intercept = design.rounded(constant)
    if coef.any() and not (coef**2).any():
        raise InvalidInputError("The class means differ by less than 1e-150: multiply X by a large number.")
    centroids = design.rounded(means + anchor)
    witness: dict[str, Any] = {"centroids": centroids, "coef": coef, "intercept": intercept}
    if settings.shrink is not None or settings.prior is not None:
        witness |= {"threshold": settings.shrink, "prior": settings.prior, "deviation": deviation}
    problem = "centroids" if settings.shrink is None else "shrunken_centroids"
    certificate = stationarity(problem, design, targets, **witness)
    attributes = {
        "centroids_": centroids.astype(design.dtype),
        "within_class_std_dev_": deviation,
        "deviations_": standing,
        "_prior": settings.prior,
    }
    return Fit(Hyperplanes(coef, intercept), certificate, Status.FORMULA, attributes=attributes)


def _deviation(moments: ClassMoments) -> Floats | None:
    """sqrt(sum_i c_i (x_ij - mean)² / (n - k)), exactly 0 where rounding is all there is; None if n <= k."""
    assert moments.spreads is not None
    n, k = float(moments.counts.sum()), len(moments.counts)
    if n <= k:
        return None
    within = moments.spreads.sum(axis=0)
    return np.sqrt(np.where(within <= EPS * n * moments.variances(), 0.0, within / (n - k)))


def _deviations(moments: ClassMoments, deviation: Floats | None, shrink: float | None) -> tuple[Floats, Floats]:
    """How many standard errors the centroids are from the mean of all rows, and the centroids that are left.

    A standard error is sqrt(1/n_c - 1/n) (s_j + median of s). What is farther than ``shrink`` of them comes nearer by
    as much, the rest becomes the mean of all rows.
    """
    counts, n = moments.counts, moments.counts.sum()
    centre = counts @ moments.means / n
    off = moments.means - centre
    if deviation is None:
        return np.zeros_like(off), moments.means
    error = np.sqrt(1.0 / counts - 1.0 / n)[:, None] * (deviation + np.median(deviation))
    off = off if shrink is None else np.sign(off) * np.maximum(np.abs(off) - shrink * error, 0.0)
    standing = np.divide(off, error, out=np.where(off == 0, 0.0, np.sign(off) * np.inf), where=error > 0)
    return standing, centre + off
