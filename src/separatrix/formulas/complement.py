"""Complement naive Bayes: each class is scored by how little a row looks like the other classes.

score_c(x) = - sum_j x_j log theta_cj, where theta_cj is the share of feature j in all rows that are not of class c.
"""

from __future__ import annotations

import numpy as np

from separatrix._typing import Floats
from separatrix.design.sample import Sample
from separatrix.errors import InvalidInputError
from separatrix.formulas.claims import stationarity
from separatrix.formulas.moments import ClassMoments, class_priors, contrasts
from separatrix.formulas.naive_bayes import Settings, observe
from separatrix.geometry import Hyperplanes
from separatrix.outcome import Fit, Status


def complement_weights(theta: Floats, norm: bool) -> Floats:
    """-log theta, or the same divided by its sum in each class: (k, d)."""
    logs = -np.log(theta)
    return np.asarray(logs / logs.sum(axis=1, keepdims=True) if norm else logs)


def learn(sample: Sample, settings: Settings, norm: bool, before: ClassMoments | None = None) -> Fit:
    """theta_cj = (alpha + total of j outside c) / (their sum over j), and the hyperplanes that follow."""
    design, targets, moments = sample.design, sample.targets, observe(sample, settings)
    moments = moments if before is None else before.merge(moments)
    counts, k = moments.counts, len(moments.counts)
    totals = counts[:, None] * (moments.anchor + moments.means)
    others = (1.0 - np.eye(k)) @ totals + settings.alpha  # not all minus own, which would cancel
    whole = others.sum(axis=1, keepdims=True)
    theta = others / np.where(whole > 0, whole, 1.0)
    if not theta.all():
        c, j = np.argwhere(theta == 0)[0].tolist()
        name = targets.classes.tolist()[c]
        raise InvalidInputError(
            f"Outside of class {name!r}, {design.column(j)} counts nothing: its weight is infinite. Use alpha > 0.",
            "alpha",
        )
    if norm and theta.shape[1] == 1:
        raise InvalidInputError(
            "norm=True has no meaning for one column (n_features = 1): all weights would be 0/0.", "norm"
        )
    weights = complement_weights(theta, norm)
    coef = design.rounded(contrasts(k) @ (weights - weights[0]))
    intercept = np.zeros(len(coef))
    prior = class_priors(counts, settings.priors)
    certificate = stationarity(
        "complement", design, targets, alpha=settings.alpha, norm=norm, parameters=theta, coef=coef,
        intercept=intercept, prior=prior, priors_given=settings.priors is not None,
    )  # fmt: skip
    seen = bool((counts > 0).all())
    attributes = {
        "class_count_": counts,
        "class_prior_": prior,
        "parameters_": theta,
        "_moments": moments,
        "_norm": norm,
    }
    status = Status.FORMULA if seen else Status.UNCHECKED
    return Fit(Hyperplanes(coef, intercept), certificate if seen else None, status, attributes=attributes)
