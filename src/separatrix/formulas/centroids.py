"""The centroid method: the bisector of the class means."""

from __future__ import annotations

from separatrix.design.sample import Sample
from separatrix.errors import InvalidInputError
from separatrix.formulas.claims import stationarity
from separatrix.formulas.moments import class_moments
from separatrix.geometry import Hyperplanes
from separatrix.outcome import Fit, Status


def learn(sample: Sample) -> Fit:
    """score_c(x) = (‖x - m‖² - ‖x - mu_c‖²) / 2 = (mu_c - m).(x - (mu_c + m) / 2), m the mean of the mu_c.

    For two classes, the difference of the two: (mu_1 - mu_0).(x - (mu_1 + mu_0) / 2).
    """
    design, targets = sample.design, sample.targets
    moments = class_moments(design, targets, sample.weight, spreads=False)
    means, anchor = moments.means, moments.anchor
    if targets.binary:
        coef, middle = means[1:] - means[:1], 0.5 * (means[1:] + means[:1])
    else:
        centre = means.mean(axis=0)
        coef, middle = means - centre, 0.5 * (means + centre)
    coef = design.rounded(coef)
    intercept = design.rounded(-(coef * (middle + anchor)).sum(axis=1))
    if coef.any() and not (coef**2).any():
        raise InvalidInputError("The class means differ by less than 1e-150: multiply X by a large number.")
    centroids = design.rounded(means + anchor)
    certificate = stationarity("centroids", design, targets, centroids=centroids, coef=coef, intercept=intercept)
    attributes = {"centroids_": centroids.astype(design.dtype)}
    return Fit(Hyperplanes(coef, intercept), certificate, Status.FORMULA, attributes=attributes)
