"""Centroids: sum over the rows of class c of c_i (x_i - mu_c) = 0, and the hyperplanes bisect them."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.certificates._data import EPS, Data, shaped, worst
from separatrix.certificates.base import Check


def check_centroids(data: Data, certificate: Any) -> list[Check]:
    """The gradient at the centroids, and the formula of the bisectors."""
    unit, witness = certificate.unit, certificate.witness
    k, d = len(certificate.classes), data.X.shape[1]
    rows = 1 if k == 2 else k
    mu, coef = shaped(witness, "centroids", k, d), shaped(witness, "coef", rows, d)
    intercept = shaped(witness, "intercept", rows)
    total, size, count = np.zeros((k, d)), np.zeros((k, d)), np.zeros(k)
    for x, codes, weight in data.blocks():
        deviation = x - mu[codes]
        for c in np.unique(codes):
            of_class = codes == c
            w = weight[of_class]
            total[c] += w @ deviation[of_class]
            size[c] += w @ np.abs(deviation[of_class])
            count[c] += w.sum()
    # mu is rounded to the model's precision; each x - mu rounds; so does a sum of n terms
    allowed = count[:, None] * (unit * np.abs(mu) + np.finfo(np.float64).tiny) + len(data.weight) * EPS * size
    allowed += 4 * EPS * count[:, None] * np.abs(mu)
    gradient, rounding = worst(np.abs(total), allowed)

    if k == 2:
        normal, middle = mu[1:] - mu[:1], 0.5 * (mu[1:] + mu[:1])
    else:
        centre = mu.mean(axis=0)
        normal, middle = mu - centre, 0.5 * (mu + centre)
    error = 4 * unit * np.abs(mu).max(axis=0)
    off_normal, normal_rounding = worst(np.abs(coef - normal), error + unit * np.abs(normal))
    b = -(coef * middle).sum(axis=1)
    off_b, b_rounding = worst(
        np.abs(intercept - b), (d + 8) * unit * (np.abs(coef) * np.abs(mu).max(axis=0)).sum(axis=1)
    )
    return [
        Check("sum of c_i (x_i - mu) over a class", gradient, 0.0, rounding),
        Check("coef against the difference of the centroids", off_normal, 0.0, normal_rounding),
        Check("intercept against the bisector's", off_b, 0.0, b_rounding),
    ]
