"""Naive Bayes of categories, and of complements: shares of weights in the classes, recounted from the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.certificates._bayes import check_priors
from separatrix.certificates._data import EPS, Data
from separatrix.certificates._moments import PAIRS, class_moments
from separatrix.certificates._witness import compared, flag, keys, number, shaped
from separatrix.certificates.base import Check


def check_categories(data: Data, certificate: Any) -> list[Check]:
    """P(x_j = v | c) = (weight of v in c + alpha) / (weight of c + alpha n_j), the tables of all columns in a row."""
    witness, k, d = certificate.witness, len(certificate.classes), data.X.shape[1]
    keys(witness, "alpha", "n_categories", "prior", "parameters", "priors_given")
    alpha = number(witness["alpha"], "alpha", -np.nextafter(0, 1), np.inf)
    n = shaped(witness["n_categories"], "n_categories", d).astype(np.int64)
    if (n < 1).any() or (n != witness["n_categories"]).any() or float(n.astype(float).sum()) > 1e12:
        raise ValueError("The field 'n_categories' must hold a whole number above 0 for each column.")
    size = int(n.sum())
    theta, prior = shaped(witness["parameters"], "parameters", k, size), shaped(witness["prior"], "prior", k)
    if data.values.ndim != 1:
        raise ValueError(f"y must be a column of {k} labels.")
    first, counts, table = np.concatenate([[0], np.cumsum(n)[:-1]]), np.zeros(k), np.zeros((k, size))
    strange = blocks = 0
    for x, codes, weight in data.blocks():
        blocks += 1
        known = (x >= 0) & (x < n) & (x == np.floor(x))
        strange += int((~known).sum())
        places = np.where(known, x, 0.0).astype(np.int64) + first + size * codes.astype(np.int64)[:, None]
        weights = np.where(known, weight[:, None], 0.0)
        table += np.bincount(places.ravel(), weights.ravel(), k * size).reshape(k, size)
        counts += np.bincount(codes, weight, k)
    # weights are added one after another here, and in whatever order there: as many roundings as rows, each way
    relative = (2 * len(data.weight) + blocks + PAIRS) * EPS
    expected = (table + alpha) / (np.where(counts > 0, counts, 1.0)[:, None] + np.repeat(alpha * n, n))
    return [
        Check("classes without rows", float((counts == 0).sum())),
        Check("entries that are none of the categories", float(strange)),
        Check("probabilities that are not above 0", float((theta <= 0).sum() + (prior <= 0).sum())),
        *check_priors(prior, counts, relative, flag(witness["priors_given"], "priors_given")),
        compared("probabilities against the shares", theta, expected, 2 * relative * expected),
    ]


def check_complement(data: Data, certificate: Any) -> list[Check]:
    """theta_cj = (weight of j outside c + alpha) / their sum over j; coef contrasts -log theta, or its shares."""
    unit, witness, k, d = certificate.unit, certificate.witness, len(certificate.classes), data.X.shape[1]
    keys(witness, "alpha", "norm", "parameters", "coef", "intercept", "prior", "priors_given")
    alpha = number(witness["alpha"], "alpha", -np.nextafter(0, 1), np.inf)
    norm, theta = flag(witness["norm"], "norm"), shaped(witness["parameters"], "parameters", k, d)
    rows, prior = 1 if k == 2 else k, shaped(witness["prior"], "prior", k)
    coef, intercept = shaped(witness["coef"], "coef", rows, d), shaped(witness["intercept"], "intercept", rows)
    below: list[int] = []
    moments = class_moments(data, k, np.ones(d, dtype=bool), False, lambda x: below.append(int((x < 0).sum())))
    totals = moments.counts[:, None] * moments.absolute
    others = (1.0 - np.eye(k)) @ totals + alpha
    whole = others.sum(axis=1, keepdims=True)
    expected = others / np.where(whole > 0, whole, 1.0)
    relative = 4 * moments.relative + 2 * (d + k) * EPS
    checks = [
        Check("classes without rows", float((moments.counts == 0).sum())),
        Check("entries below 0", float(sum(below))),
        *check_priors(prior, moments.counts, moments.relative, flag(witness["priors_given"], "priors_given")),
        compared("shares outside of the classes", theta, expected, relative * expected),
        Check("intercepts, of which there are none", float(np.abs(intercept).max())),
        Check("shares that are not above 0", float((theta <= 0).sum())),
    ]
    if not checks[-1] or (norm and d == 1):
        return checks
    weights = -np.log(theta)
    error = 2 * EPS * (weights + 1)
    if norm:
        length = weights.sum(axis=1, keepdims=True)
        error = error / length + weights * (error.sum(axis=1, keepdims=True) + d * EPS * length) / length**2
        weights = weights / length
    contrast = np.array([[-1.0, 1.0]]) if k == 2 else np.eye(k) - 1.0 / k
    slopes = contrast @ weights
    off = np.abs(contrast) @ (2 * error + 4 * (k + 4) * EPS * np.abs(weights).max(axis=0))
    checks.append(compared("coef against the shares", coef, slopes, off + unit * np.abs(slopes)))
    return checks
