"""Medians: at most half of the weight of a class is below its centroid, and at most half is above."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.certificates._centroids import check_priors
from separatrix.certificates._data import EPS, Data
from separatrix.certificates._witness import compared, keys, number, shaped, worst_of
from separatrix.certificates.base import Check

PRIORS = ("prior", "absolute")  # fields of priors, and of the mean absolute differences that go with them


def check_medians(data: Data, certificate: Any) -> list[Check]:
    """In each class and column, the rows below a centroid have at most half of the weight, and so have those above.

    Shrunken ones count one row more, at the median of all rows, of the weight t sqrt(n_c (1 - n_c / n)).
    """
    witness, k, d = certificate.witness, len(certificate.classes), data.X.shape[1]
    shrunken, priors = certificate.problem == "shrunken_medians", "prior" in witness
    keys(witness, "centroids", *(("threshold", "centre") if shrunken else ()), *(PRIORS if priors else ()))
    centroids = shaped(witness["centroids"], "centroids", k, d)
    centre = shaped(witness["centre"], "centre", d) if shrunken else np.zeros(d)
    threshold = number(witness["threshold"], "threshold", 0.0) if shrunken else 0.0
    if data.values.ndim != 1:
        raise ValueError(f"y must be a column of {k} labels.")
    counts, below, above = np.zeros(k), np.zeros((k, d)), np.zeros((k, d))
    under, over, absolute = np.zeros(d), np.zeros(d), np.zeros(d)  # of all classes
    for x, codes, weight in data.blocks():
        x = np.asarray(x)
        for c in np.unique(codes):
            own, w = x[codes == c], weight[codes == c]
            counts[c] += w.sum()
            below[c] += w @ (own < centroids[c])
            above[c] += w @ (own > centroids[c])
            absolute += w @ np.abs(own - centroids[c])
        if shrunken:
            under += weight @ (x < centre)
            over += weight @ (x > centre)
    n, many = counts.sum(), 4 * (len(data.weight) + 8) * EPS
    pull = threshold * np.sqrt(np.maximum(counts * (1.0 - counts / n), 0.0))[:, None]
    below, above, half = below + pull * (centre < centroids), above + pull * (centre > centroids), 0.5 * counts[:, None]
    excess = np.maximum(np.maximum(below, above) - (half + 0.5 * pull), 0.0)
    checks = [
        Check("classes without rows", float((counts == 0).sum())),
        worst_of("weight on one side of a centroid, beyond half", excess, 0.0, many * (counts[:, None] + pull)),
    ]
    if shrunken:
        excess = np.maximum(np.maximum(under, over) - 0.5 * n, 0.0)
        checks.append(worst_of("weight on one side of all rows' median, beyond half", excess, 0.0, many * n))
    if priors:
        checks += check_priors(shaped(witness["prior"], "prior", k))
        stated, found = shaped(witness["absolute"], "absolute", d), absolute / n
        checks.append(compared("mean absolute differences within the classes", stated, found, 2 * many * found))
    return checks
