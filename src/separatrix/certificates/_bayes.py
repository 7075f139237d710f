"""Naive Bayes: the likelihood equations E_theta[t | c] = mean of t in class c, and the log-odds that follow."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.certificates._data import EPS, Data, shaped, worst
from separatrix.certificates.base import Check


def check_naive_bayes(data: Data, certificate: Any) -> list[Check]:
    """Priors, parameters and variances against the data, then coef and intercept against these."""
    witness, n = certificate.witness, len(data.weight)
    k, d = len(certificate.classes), data.X.shape[1]
    families = np.array(witness["families"], dtype=str)
    if families.shape != (d,):
        raise ValueError(f"The certificate has families for {families.size} columns, but X has {d}.")
    theta, prior = shaped(witness, "parameters", k, d), shaped(witness, "prior", k)
    alpha = float(witness["alpha"])
    counts, means, size = _means(data, len(prior))
    expected, slack = means.copy(), 4 * n * EPS * size
    expected[:, families == "bernoulli"] = _bernoulli(counts, means[:, families == "bernoulli"], alpha)
    expected[:, families == "multinomial"] = _multinomial(counts, means[:, families == "multinomial"], alpha)
    poisson = families == "poisson"
    expected[:, poisson] = np.maximum(means[:, poisson], EPS * means[:, poisson].mean(axis=0))
    off, rounding = worst(np.abs(theta - expected), slack + 64 * EPS * np.abs(expected))
    checks = [Check("parameters against the means in the classes", off, 0.0, rounding)]
    if not witness["priors_given"]:
        off_prior = float(np.abs(prior - counts / counts.sum()).max())
        checks.insert(0, Check("priors against the class frequencies", off_prior, 0.0, 4 * n * EPS))
    gaussian = families == "gaussian"
    if gaussian.any():
        checks.append(_check_variances(data, witness, counts, means, gaussian))
    if witness["coef"] is not None:
        checks += _check_hyperplanes(witness, certificate.unit, k, d)
    return checks


def _means(data: Data, k: int) -> tuple[Any, Any, Any]:
    """Weight of each class, its mean, and its mean absolute value, summed about the first row."""
    first = data.X[:1]
    origin = np.asarray(first.toarray() if hasattr(first, "toarray") else first, dtype=np.float64)[0]
    counts, sums, sizes = np.zeros(k), np.zeros((k, len(origin))), np.zeros((k, len(origin)))
    for x, codes, weight in data.blocks():
        for c in np.unique(codes):
            w, about = weight[codes == c], x[codes == c] - origin
            counts[c] += w.sum()
            sums[c] += w @ about
            sizes[c] += w @ np.abs(about)
    n = np.where(counts > 0, counts, 1.0)[:, None]
    # about the first row sums are small; the origin itself is exact, adding it rounds once
    return counts, origin + sums / n, sizes / n + np.abs(origin) / len(data.weight)


def _bernoulli(counts: Any, means: Any, alpha: float) -> Any:
    return (counts[:, None] * means + alpha) / (counts[:, None] + 2 * alpha)


def _multinomial(counts: Any, means: Any, alpha: float) -> Any:
    smoothed = counts[:, None] * means + alpha
    total = smoothed.sum(axis=1, keepdims=True)
    return smoothed / np.where(total > 0, total, 1.0)


def _check_variances(data: Data, witness: Any, counts: Any, means: Any, gaussian: Any) -> Check:
    spreads, sizes = np.zeros_like(means), np.zeros_like(means)
    for x, codes, weight in data.blocks():
        for c in np.unique(codes):
            rows = codes == c
            about = x[rows] - means[c]
            spreads[c] += weight[rows] @ about**2
            sizes[c] += weight[rows] @ (np.abs(about) * np.abs(x[rows]))  # x - mean is off by eps |x|
    total = counts.sum()
    grand = counts @ means / total
    within, noise = spreads.sum(axis=0) / total, sizes.sum(axis=0) / total
    floor = EPS * (within + counts @ (means - grand) ** 2 / total)
    given = shaped(witness, "variances", *(means.shape[1:] if witness["shared_variance"] else means.shape))
    if witness["shared_variance"]:
        expected, size = np.maximum(within, floor), noise
    else:
        each = np.where(counts > 0, counts, 1.0)[:, None]
        expected, size = np.maximum(spreads / each, floor), sizes / each
    allowed = 8 * len(data.weight) * EPS * np.maximum(expected, floor) + 8 * EPS * size
    allowed = allowed + (8 * EPS * np.abs(means).max(axis=0)) ** 2
    off, rounding = worst(np.abs(given - expected)[..., gaussian], np.broadcast_to(allowed, given.shape)[..., gaussian])
    return Check("variances against the spread in the classes", off, 0.0, rounding)


def _check_hyperplanes(witness: Any, unit: float, k: int, d: int) -> list[Check]:
    """Log-odds from the parameters: contrasts of log p(x | c) = theta x - a(theta), family by family."""
    families = np.array(witness["families"], dtype=str)
    mean = shaped(witness, "parameters", k, d)
    natural, partition = (shaped(witness, key, k, d).copy() for key in ("natural", "log_partition"))
    bernoulli, multinomial = families == "bernoulli", families == "multinomial"
    p = mean[:, bernoulli]
    natural[:, bernoulli], partition[:, bernoulli] = np.log(p) - np.log1p(-p), -np.log1p(-p)
    natural[:, multinomial], partition[:, multinomial] = np.log(mean[:, multinomial]), 0.0
    poisson = (families == "poisson") & (mean > 0).all(axis=0)
    natural[:, poisson], partition[:, poisson] = np.log(mean[:, poisson]), mean[:, poisson]
    gaussian = np.zeros(d, dtype=bool)
    if witness["variances"] is not None:
        variance = shaped(witness, "variances", d)
        gaussian = (families == "gaussian") & (variance > 0)
        natural[:, gaussian] = mean[:, gaussian] / variance[gaussian]
    contrast = np.array([[-1.0, 1.0]]) if k == 2 else np.eye(k) - 1.0 / k
    rows = len(contrast)
    coef, intercept = shaped(witness, "coef", rows, d), shaped(witness, "intercept", rows)
    error = 16 * np.abs(contrast) @ np.abs(natural)
    off, rounding = worst(np.abs(coef - contrast @ natural), unit * np.abs(coef) + EPS * error + EPS)
    # the Gaussian constant is -coef.(middle of the means): about that point the score loses no digits
    constant = contrast @ (np.log(np.asarray(witness["prior"], float)) - partition.sum(axis=1))
    size = np.abs(contrast) @ (np.abs(np.log(np.asarray(witness["prior"], float))) + np.abs(partition).sum(axis=1))
    if gaussian.any():
        mu, s2 = mean[:, gaussian], np.asarray(witness["variances"], float)[gaussian]
        if k == 2:
            pull = -((mu[1:] - mu[:1]) * (mu[1:] + mu[:1]) / (2 * s2)).sum(axis=1)
        else:
            centre = mu.mean(axis=0)
            pull = -((mu - centre) * (mu + centre) / (2 * s2)).sum(axis=1)
            pull = pull - pull.mean()
        constant = constant + pull
        size = size + (mu**2 / s2).max(axis=0).sum()
    off_b, b_rounding = worst(np.abs(intercept - constant), unit * np.abs(intercept) + 16 * (d + 4) * EPS * (size + 1))
    return [
        Check("coef against the log-odds of the parameters", off, 0.0, rounding),
        Check("intercept against the log-odds of the parameters", off_b, 0.0, b_rounding),
    ]
