"""Firth's equations: sum_i [c_i (t_i - p_i) + h_i (1/2 - p_i)] z_i = 0, h_i = c_i p_i (1 - p_i) z_i' I⁻¹ z_i."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.certificates._data import EPS, Data, shaped
from separatrix.certificates._sigmoid import centred_rows, column_targets, mean_row
from separatrix.certificates.base import Check


def check_firth(data: Data, certificate: Any) -> list[Check]:
    """The modified score in the norm of the inverse information: a distance in standard errors."""
    witness, d = certificate.witness, data.X.shape[1]
    w, b = shaped(witness, "coef", 1, d)[0], float(shaped(witness, "intercept", 1)[0])
    free, tol = bool(witness["fit_intercept"]), float(witness["tol"])
    if not 0 <= tol < 1:
        raise ValueError(f"tol has no meaning: {tol!r}.")
    centre = mean_row(data) if free else np.zeros(d)
    p = d + free
    R: Any = np.zeros((0, p))  # R'R = I, without forming I, which would square the condition of the rows
    for x, _, c in data.blocks():
        z, (_, spread) = centred_rows(x, centre, free), _probabilities(x @ w + b)
        R = np.linalg.qr(np.vstack([R, np.sqrt(c * spread)[:, None] * z]), mode="r")
    score, noise, leverages = np.zeros(p), 0.0, 0.0
    for x, values, c in data.blocks():
        t = column_targets(values, certificate, witness["task"])
        z = np.linalg.solve(
            R.T, centred_rows(x, centre, free).T
        ).T  # rows of length z' I⁻¹ z; fails for dependent columns
        probability, spread = _probabilities(x @ w + b)
        length2 = (z**2).sum(axis=1)
        h = c * spread * length2
        pull = c * (t - probability) + h * (0.5 - probability)
        score += z.T @ pull
        error = (certificate.unit + (d + 8) * EPS) * (np.abs(x) @ np.abs(w) + abs(b))  # of a row's score
        noise += float(((0.25 * c + 2 * h) * error + len(data.weight) * EPS * np.abs(pull)) @ np.sqrt(length2))
        leverages += float(h.sum())
    checks = [
        Check("modified score, in standard errors", float(np.linalg.norm(score)), tol, noise),
        Check("leverages do not add up to the number of weights, but are off by", abs(leverages - p), 1e-3),
    ]
    if not free:
        checks.append(Check("intercept, which is not free", abs(b)))
    return checks


def _probabilities(score: Any) -> tuple[Any, Any]:
    """p = sigma(score), and p (1 - p)."""
    small = np.exp(-np.abs(score))
    return np.where(score >= 0, 1.0, small) / (1.0 + small), small / (1.0 + small) ** 2
