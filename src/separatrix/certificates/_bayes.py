"""Naive Bayes: the likelihood equations E_theta[t | c] = mean of t in class c, and the log-odds that follow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from separatrix.certificates._data import EPS, Data
from separatrix.certificates._moments import Moments, class_moments
from separatrix.certificates._witness import compared, flag, keys, number, shaped, worst_of
from separatrix.certificates.base import Check

FAMILIES = ("bernoulli", "gaussian", "multinomial", "poisson")
FAINT = 1e-4  # the largest rounding error of a log-odds that still counts as one


def check_naive_bayes(data: Data, certificate: Any) -> list[Check]:
    """Priors, parameters and variances against the data, then coef and intercept against these.

    With "binarize", the rows are the truth values of X > binarize; with "smoothing", that share of the largest variance
    is added to all.
    """
    witness, k, d = certificate.witness, len(certificate.classes), data.X.shape[1]
    keys(
        witness, "families", "shared_variance", "alpha", "priors_given", "prior", "parameters", "variances", "coef",
        "intercept", *(name for name in ("smoothing", "binarize") if name in witness),
    )  # fmt: skip
    if "binarize" in witness:
        threshold = number(witness["binarize"], "binarize")
        if getattr(data.X, "sparse", hasattr(data.X, "toarray")) and threshold < 0:
            raise ValueError("The witness 'binarize' is below 0, but X is sparse.")
        data = replace(data, X=_Above(data.X, threshold))
    families = np.array(witness["families"], dtype=str)
    if families.shape != (d,) or not np.isin(families, FAMILIES).all():
        raise ValueError(f"The witness 'families' must name one of {FAMILIES} for each of {d} columns.")
    theta, prior = shaped(witness["parameters"], "parameters", k, d), shaped(witness["prior"], "prior", k)
    alpha = number(witness["alpha"], "alpha", -np.nextafter(0, 1), np.inf)
    gaussian = families == "gaussian"
    unlikely: list[int] = []
    moments = class_moments(
        data, k, ~gaussian, bool(gaussian.any()), lambda x: unlikely.append(_unsupported(x, families))
    )
    checks = [
        Check("classes without rows", float((moments.counts == 0).sum())),
        Check("entries that their family gives no probability to", float(sum(unlikely))),
        Check("priors that are not above 0", float((prior <= 0).sum())),
        *check_priors(prior, moments.counts, moments.relative, flag(witness["priors_given"], "priors_given")),
        *_check_parameters(theta, families, moments, alpha),
    ]
    variances = None
    if gaussian.any():
        shared = flag(witness["shared_variance"], "shared_variance")
        variances = shaped(witness["variances"], "variances", *((d,) if shared else (k, d)))
        smoothing = number(witness["smoothing"], "smoothing", 0.0) if "smoothing" in witness else 0.0
        checks += _check_variances(variances, gaussian, moments, shared, smoothing)
    elif witness["variances"] is not None:
        raise ValueError("The witness 'variances' is given, but no column is gaussian.")
    linear = (variances is None or variances.ndim == 1) and "binarize" not in witness
    if linear != (witness["coef"] is not None) or linear != (witness["intercept"] is not None):
        raise ValueError("The witness 'coef' and 'intercept' belong to log-odds that are linear, and only to those.")
    if linear:
        checks += _check_hyperplanes(witness, certificate.unit, theta, variances, families, moments)
    return checks


class _Above:
    """The truth values of X > threshold, of the rows that are asked for."""

    def __init__(self, X: Any, threshold: float) -> None:
        self.X, self.threshold, self.shape = X, threshold, X.shape

    def __getitem__(self, rows: Any) -> Any:
        return self.threshold < self.X[rows]


def _unsupported(x: Any, families: Any) -> int:
    """How many entries are not 0 or 1 (bernoulli), or are below 0 (poisson, multinomial)."""
    binary, counts = families == "bernoulli", (families == "poisson") | (families == "multinomial")
    return int((~np.isin(x[:, binary], (0.0, 1.0))).sum()) + int((~(x[:, counts] >= 0)).sum())


def check_priors(prior: Any, counts: Any, relative: float, given: bool) -> list[Check]:
    """That priors are the shares of the weights, which are known up to ``relative`` of themselves, or add up to 1."""
    if given:
        return [Check("priors add up to 1, but for", abs(float(prior.sum()) - 1.0), 0.0, 8 * len(prior) * EPS)]
    share = counts / counts.sum()
    return [compared("priors against the class frequencies", prior, share, 4 * relative * share)]


def _check_parameters(theta: Any, families: Any, moments: Moments, alpha: float) -> list[Check]:
    """The parameters that match the moments: means for gaussian, otherwise ratios of sums of one sign."""
    counts, expected = moments.counts[:, None], moments.absolute
    gaussian, bernoulli = families == "gaussian", families == "bernoulli"
    poisson, multinomial = families == "poisson", families == "multinomial"
    total = counts * expected
    expected[:, bernoulli] = (total[:, bernoulli] + alpha) / (counts + 2 * alpha)
    smoothed = total[:, multinomial] + alpha
    whole = smoothed.sum(axis=1, keepdims=True)
    expected[:, multinomial] = smoothed / np.where(whole > 0, whole, 1.0)
    expected[:, poisson] = np.maximum(expected[:, poisson], EPS * expected[:, poisson].mean(axis=0))
    relative = 4 * moments.relative + 2 * theta.shape[1] * EPS
    rounding = np.where(gaussian, moments.error + 4 * EPS * np.abs(expected), relative * np.abs(expected))
    p = expected[:, bernoulli]
    odds = relative / np.where(p < 1, 1 - p, 0.0)  # an error of p is one of log p / (1 - p)
    return [
        compared("parameters against the means in the classes", theta, expected, rounding),
        worst_of("rounding of a log-odds", odds, FAINT, 0.0),
    ]


def _check_variances(given: Any, gaussian: Any, moments: Moments, shared: bool, smoothing: float) -> list[Check]:
    """Pooled or own variances, smoothed, at least eps times that of the column; exactly 0 for a constant column."""
    counts, total = moments.counts, moments.counts.sum()
    about = moments.about_first
    between = counts @ (about - counts @ about / total) ** 2 / total
    within = moments.spreads.sum(axis=0) / total
    floor = EPS * (within + between)
    each = within if shared else moments.spreads / np.where(counts > 0, counts, 1.0)[:, None]
    expected = np.maximum(each + smoothing * (within + between)[gaussian].max(), floor)
    # a mean that is off by e adds e² to the spread about it; so does one that is rounded
    shift = (moments.error + 8 * EPS * np.abs(moments.absolute)) ** 2
    allowed = 16 * moments.relative * expected + (shift.max(axis=0) if shared else shift)
    allowed = np.where(expected > 0, allowed, 0.0)
    outside = Check("variances of columns that are not gaussian", float(np.abs(given[..., ~gaussian]).sum()))
    low = ((given <= 0) & (expected > 0))[..., gaussian]
    return [
        outside,
        Check("variances that are not above 0", float(low.sum())),
        compared(
            "variances against the spread in the classes",
            given[..., gaussian],
            expected[..., gaussian],
            allowed[..., gaussian],
        ),
    ]


def _check_hyperplanes(
    witness: Any, unit: float, theta: Any, variances: Any, families: Any, moments: Moments
) -> list[Check]:
    """Log-odds from the parameters: contrasts of log p(x | c) = theta x - a(theta), family by family."""
    k, d = theta.shape
    natural, partition = np.zeros((k, d)), np.zeros((k, d))
    bernoulli, multinomial = families == "bernoulli", families == "multinomial"
    p = theta[:, bernoulli]
    natural[:, bernoulli], partition[:, bernoulli] = np.log(p) - np.log1p(-p), -np.log1p(-p)
    natural[:, multinomial] = np.log(theta[:, multinomial])
    poisson = (families == "poisson") & (theta > 0).any(axis=0)  # one that never counts says nothing
    natural[:, poisson], partition[:, poisson] = np.log(theta[:, poisson]), theta[:, poisson]
    contrast = np.array([[-1.0, 1.0]]) if k == 2 else np.eye(k) - 1.0 / k
    expected = contrast @ natural
    error = 16 * EPS * (np.abs(contrast) @ (np.abs(natural) + (natural != 0)))
    log_prior = np.log(np.asarray(witness["prior"], dtype=np.float64))
    constant = contrast @ (log_prior - partition.sum(axis=1))
    of_constant = 16 * (d + 4) * EPS * (np.abs(contrast) @ (1 + np.abs(log_prior) + np.abs(partition).sum(axis=1)))
    if variances is not None:  # (mu_c - m).(x - (mu_c + m) / 2) / sigma²: no mu² that a large shift would round
        precision = np.divide(1.0, variances, out=np.zeros(d), where=variances > 0)
        about, means = moments.about_first, moments.absolute
        slope = (about[1:] if k == 2 else about - about.mean(axis=0)) * precision
        middle = 0.5 * (means[1:] + means[:1]) if k == 2 else 0.5 * (means + means.mean(axis=0))
        of_mean = moments.error.max(axis=0)
        of_slope = 2 * of_mean * precision + 16 * EPS * np.abs(slope)
        offset = -(slope * middle).sum(axis=1)
        of_offset = (of_slope * np.abs(middle) + np.abs(slope) * (of_mean + (d + 8) * EPS * np.abs(middle))).sum(axis=1)
        expected, error = expected + slope, error + of_slope
        constant = constant + (offset if k == 2 else offset - offset.mean())
        of_constant = of_constant + of_offset + (0.0 if k == 2 else of_offset.mean())
    coef = shaped(witness["coef"], "coef", len(contrast), d)
    intercept = shaped(witness["intercept"], "intercept", len(contrast))
    error, of_constant = error + unit * np.abs(expected), of_constant + unit * np.abs(constant)
    return [
        compared("coef against the log-odds of the parameters", coef, expected, error),
        compared("intercept against the log-odds of the parameters", intercept, constant, of_constant),
    ]
