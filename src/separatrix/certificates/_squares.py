"""Least squares: sum_i c_i (y_i - w.x_i - b) (x_i, 1) = (alpha w, 0), the normal equations; a ridge has alpha > 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.certificates._centred import centred, units
from separatrix.certificates._data import ALLOWED, EPS, Data
from separatrix.certificates._witness import flag, keys, number, shaped, worst_of
from separatrix.certificates.base import Check

COARSEST = 1e-3  # a tol beyond this would say little


def check_least_squares(data: Data, certificate: Any) -> list[Check]:
    """|sum_i c_i r_i z_ij - alpha w_j| <= tol ‖z_j‖ ‖y‖, r the residuals and z the columns about their means.

    Without a ridge, a cosine with y. The scale is one of the data alone, as ‖y‖² = sum_i c_i: no weights, however
    large, make their own residuals small. With a ridge, the weight of a constant column is 0.
    """
    witness, d, n_classes = certificate.witness, data.X.shape[1], len(certificate.classes)
    ridge = certificate.problem == "ridge"
    keys(witness, "coef", "intercept", "fit_intercept", "multilabel", "tol", *(["alpha"] if ridge else []))
    alpha = number(witness["alpha"], "alpha", 0.0) / float(data.weight.max()) if ridge else 0.0
    multilabel, free = flag(witness["multilabel"], "multilabel"), flag(witness["fit_intercept"], "fit_intercept")
    tol = number(witness["tol"], "tol", 0.0, 2 * COARSEST)
    if data.values.shape[1:] != ((n_classes,) if multilabel else ()):
        raise ValueError(f"y must be {f'a 0/1 matrix of {n_classes} columns' if multilabel else 'a column of labels'}.")
    k = 1 if n_classes == 2 and not multilabel else n_classes
    W, b = shaped(witness["coef"], "coef", k, d), shaped(witness["intercept"], "intercept", k)
    frame = centred(data, free)
    V, unit = frame.weights(W, b), units(frame)
    unit = np.where(unit > 0, unit, 1.0)
    target, c = _signs(data.values, k), data.weight / data.weight.max()
    gradient, errors = np.zeros((d + free, k)), np.zeros(k)
    columns, spans, squares = np.zeros(d + free), np.zeros(d + free), np.zeros(k)
    for part, x in data.rows():
        score, off = frame.scores(x, V)
        residual, z, size = target[part] - score, frame.rows(x) / unit, frame.sizes(x) / unit
        gradient += z.T @ (c[part, None] * residual)
        errors += c[part] @ (off + EPS + frame.depth * EPS * np.abs(residual)) ** 2
        squares += c[part] @ residual**2
        columns += c[part] @ z**2
        spans += c[part] @ size**2
    pull = alpha * W.T / unit[:d, None]
    gradient[:d] -= pull
    columns, spans = np.sqrt(columns)[:, None], np.sqrt(spans)[:, None]
    length, live = np.sqrt(c.sum()), columns > 0  # a constant column has no equation
    scale = np.where(live, length * columns, 1.0)
    # by Cauchy and Schwarz: what rounding did to the residuals, and to the rows
    noise = np.sqrt(errors) / length
    noise = noise + 2 * frame.depth * EPS * spans / np.where(live, columns, 1.0) * np.sqrt(squares) / length
    noise[:d] += 4 * EPS * np.abs(pull) / scale[:d]
    noise = np.where(live, noise, 0.0)
    gradient = np.where(live, gradient, 0.0)
    checks = [
        worst_of("equation of a column, relative to its length and that of y", np.abs(gradient) / scale, tol, noise),
        worst_of("rounding of that", noise, ALLOWED * tol, 0.0),
    ]
    if ridge:
        checks.append(Check("weights of columns that never vary", float(np.abs(W[:, ~live[:d, 0]]).sum())))
    if not free:
        checks.append(Check("intercept, which is not free", float(np.abs(b).max())))
    return checks


def _signs(values: Any, k: int) -> Any:
    """y_i = ±1 of each task, (n, k), of class codes or of a 0/1 matrix."""
    if values.ndim == 1 and k > 1:
        values = values[:, None] == np.arange(k)
    return 2.0 * values.reshape(len(values), k) - 1.0
