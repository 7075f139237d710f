"""Centroids: sum over the rows of class c of c_i (x_i - mu_c) = 0, and the hyperplanes bisect them."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.certificates._data import EPS, Data
from separatrix.certificates._moments import class_moments
from separatrix.certificates._witness import keys, shaped, worst_of
from separatrix.certificates.base import Check


def check_centroids(data: Data, certificate: Any) -> list[Check]:
    """The centroids are the means, up to rounding to the model's precision; coef and intercept are their bisectors'."""
    unit, witness = certificate.unit, certificate.witness
    keys(witness, "centroids", "coef", "intercept")
    k, d = len(certificate.classes), data.X.shape[1]
    rows = 1 if k == 2 else k
    mu, coef = shaped(witness["centroids"], "centroids", k, d), shaped(witness["coef"], "coef", rows, d)
    intercept = shaped(witness["intercept"], "intercept", rows)
    moments = class_moments(data, k, np.zeros(d, dtype=bool))
    means, error = moments.absolute, moments.error
    if k == 2:
        normal, middle = moments.difference(1, 0)[None], 0.5 * (means[1:] + means[:1])
    else:
        about = np.array([moments.difference(c, 0) for c in range(k)])
        normal, middle = about - about.mean(axis=0), 0.5 * (means + means.mean(axis=0))
    of_normal = 2 * error.max(axis=0) + 8 * EPS * np.abs(normal)
    b = -(coef * middle).sum(axis=1)
    of_b = (np.abs(coef) * (error.max(axis=0) + (d + 8) * EPS * np.abs(middle))).sum(axis=1)
    return [
        Check("classes without rows", float((moments.counts == 0).sum())),
        worst_of("centroids against the means", np.abs(mu - means), 0.0, error + (unit + 4 * EPS) * np.abs(means)),
        worst_of(
            "coef against the difference of the centroids",
            np.abs(coef - normal),
            0.0,
            of_normal + unit * np.abs(normal),
        ),
        worst_of("intercept against the bisector's", np.abs(intercept - b), 0.0, of_b + unit * np.abs(b)),
    ]
