"""Centroids: sum over the rows of class c of c_i (x_i - mu_c) = 0, and the hyperplanes bisect them."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.certificates._data import EPS, Data
from separatrix.certificates._moments import Moments, class_moments
from separatrix.certificates._witness import compared, keys, number, shaped
from separatrix.certificates.base import Check

FURTHER = ("threshold", "prior", "deviation")  # fields of shrunken centroids, and of priors


def check_centroids(data: Data, certificate: Any) -> list[Check]:
    """The centroids are the means, up to rounding to the model's precision; coef and intercept are their bisectors'.

    With a threshold, the means shrunken by so many standard errors. With priors, the bisectors are those of columns in
    units of their standard deviation within the classes, moved by the logarithms of the priors.
    """
    unit, witness = certificate.unit, certificate.witness
    shrunken = certificate.problem == "shrunken_centroids"
    more = shrunken or "deviation" in witness
    keys(witness, "centroids", "coef", "intercept", *(FURTHER if more else ()))
    k, d = len(certificate.classes), data.X.shape[1]
    rows = 1 if k == 2 else k
    mu, coef = shaped(witness["centroids"], "centroids", k, d), shaped(witness["coef"], "coef", rows, d)
    intercept = shaped(witness["intercept"], "intercept", rows)
    moments = class_moments(data, k, np.zeros(d, dtype=bool), more)
    checks = [Check("classes without rows", float((moments.counts == 0).sum()))]
    if not checks[0]:
        return checks
    about, error = moments.about_first, np.broadcast_to(moments.error, (k, d))
    base = moments.absolute[0]
    scale, of_scale, constant = np.ones(d), np.zeros(d), np.zeros(rows)
    if more:
        stated = shaped(witness["deviation"], "deviation", d)
        found, off = _deviation(moments)
        checks.append(compared("standard deviations within the classes", stated, found, off))
        if shrunken:
            threshold = number(witness["threshold"], "threshold", 0.0)
            about, error = _shrunken(moments, about, error, found, off, threshold)
        elif witness["threshold"] is not None:
            raise ValueError("The field 'threshold' belongs to shrunken centroids.")
        if witness["prior"] is not None:
            prior = shaped(witness["prior"], "prior", k)
            checks += check_priors(prior)
            if not all(checks):
                return checks
            scale = np.where(found > 0, found, 1.0)
            of_scale = np.where(found > 0, 2 * off / scale + 8 * EPS, 0.0)  # relative, of the square
            logs = np.log(prior)
            constant = logs[1:] - logs[:1] if k == 2 else logs
    means = base + about
    if k == 2:
        normal, middle = about[1:] - about[:1], 0.5 * (means[1:] + means[:1])
    else:
        normal, middle = about - about.mean(axis=0), 0.5 * (means + means.mean(axis=0))
    normal = normal / scale**2
    of_normal = (2 * error.max(axis=0) / scale**2 + 8 * EPS * np.abs(normal)) * (1 + of_scale)
    of_normal = of_normal + of_scale * np.abs(normal) + unit * np.abs(normal)
    b = -(coef * middle).sum(axis=1) + constant
    of_b = (np.abs(coef) * (error.max(axis=0) + (d + 8) * EPS * np.abs(middle))).sum(axis=1)
    of_b = of_b + 8 * EPS * np.abs(constant) + unit * np.abs(b)
    return [
        *checks,
        compared("centroids against the means", mu, means, error + (unit + 4 * EPS) * np.abs(means)),
        compared("coef against the difference of the centroids", coef, normal, of_normal),
        compared("intercept against the bisector's", intercept, b, of_b),
    ]


def check_priors(prior: Any) -> list[Check]:
    """P(c) > 0, and their sum is 1."""
    return [
        Check("priors that are not above 0", float((prior <= 0).sum())),
        Check("priors add up to 1, but for", abs(float(prior.sum()) - 1.0), 0.0, 8 * len(prior) * EPS),
    ]


def _deviation(moments: Moments) -> tuple[Any, Any]:
    """The standard deviations within the classes, 0 where rounding is all there is, and how far they may be off."""
    counts, k = moments.counts, len(moments.counts)
    n = counts.sum()
    if not n > k:
        raise ValueError("There are no standard deviations: the rows have no more weight than there are classes.")
    about = moments.about_first
    within = moments.spreads.sum(axis=0)
    whole = within + counts @ (about - counts @ about / n) ** 2
    variance = np.where(within <= EPS * whole, 0.0, within / (n - k))
    shift = (moments.error + 8 * EPS * np.abs(moments.absolute)) ** 2
    root, off = np.sqrt(variance), 16 * moments.relative * variance + n / (n - k) * shift.max(axis=0)
    off = np.divide(off, root, out=np.zeros_like(root), where=root > 0)
    # where rounding begins to be all, one may call it 0 and the other not
    near = (within > 0.5 * EPS * whole) & (within <= 2 * EPS * whole)
    return root, np.where(near, np.sqrt(2 * EPS * whole / (n - k)), off)


def _shrunken(moments: Moments, about: Any, error: Any, deviation: Any, off: Any, threshold: float) -> tuple[Any, Any]:
    """The centroids, as far from the first mean, after shrinking; and how far they may be off."""
    counts, n = moments.counts, moments.counts.sum()
    centre = counts @ about / n
    factor = np.sqrt(1.0 / counts - 1.0 / n)[:, None]
    room = threshold * factor * (deviation + np.median(deviation))
    of_room = threshold * factor * (off + off.max()) + 16 * EPS * room
    from_centre = about - centre
    left = np.sign(from_centre) * np.maximum(np.abs(from_centre) - room, 0.0)
    return centre + left, 4 * error.max(axis=0) + of_room + 16 * EPS * np.abs(about).max(axis=0)
