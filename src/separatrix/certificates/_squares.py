"""Least squares: sum_i c_i (y_i - w.x_i - b) (x_i, 1) = 0, the normal equations."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.certificates._data import EPS, Data, shaped, worst
from separatrix.certificates.base import Check


def check_least_squares(data: Data, certificate: Any) -> list[Check]:
    """The normal equations, column by column, against what rounding the model and the scores can add."""
    unit, witness, multilabel = certificate.unit, certificate.witness, bool(certificate.witness["multilabel"])
    d, n_classes = data.X.shape[1], len(certificate.classes)
    if multilabel and data.values.shape[1:] != (n_classes,):
        raise ValueError(f"y must be a 0/1 matrix of {n_classes} columns.")
    k = 1 if n_classes == 2 and not multilabel else n_classes
    W, b = shaped(witness, "coef", k, d), shaped(witness, "intercept", k)
    free = bool(witness["fit_intercept"])
    centre = np.zeros(d)
    if free:  # about the mean, the columns' equations do not repeat the intercept's
        total = sum(data.weight)
        centre = sum((w @ x for x, _, w in data.blocks()), np.zeros(d)) / total
    columns, sizes = np.zeros((d, k)), np.zeros((d, k))
    ones, one_sizes, squares = np.zeros(k), np.zeros(k), np.zeros(d)
    for x, values, weight in data.blocks():
        target = _signs(values, k, multilabel)
        residual = target - (x @ W.T + b)
        noise = unit * (np.abs(x) @ np.abs(W).T + np.abs(b)) + (d + 4) * EPS * (np.abs(x) @ np.abs(W).T + np.abs(b) + 1)
        wr, wn = weight[:, None] * residual, weight[:, None] * noise
        about = x - centre
        columns += about.T @ wr
        sizes += np.abs(about).T @ (wn + len(data.weight) * EPS * np.abs(wr))
        ones += wr.sum(axis=0)
        one_sizes += wn.sum(axis=0) + len(data.weight) * EPS * np.abs(wr).sum(axis=0)
        squares += weight @ about**2
    # as a cosine between column and residual target, so that units do not matter
    scale = np.sqrt(squares * data.weight.sum())[:, None]
    scale = np.where(scale > 0, scale, 1.0)
    cosine, rounding = worst(np.abs(columns) / scale, sizes / scale + 1e-8)
    checks = [Check("cosine between a column and the residual", cosine, 1e-8, max(rounding - 1e-8, 0.0))]
    if free:
        mean, mean_rounding = worst(np.abs(ones) / data.weight.sum(), one_sizes / data.weight.sum() + 1e-8)
        checks.append(Check("mean residual", mean, 1e-8, max(mean_rounding - 1e-8, 0.0)))
    else:
        checks.append(Check("intercept, which is not free", float(np.abs(b).max())))
    return checks


def _signs(values: Any, k: int, multilabel: bool) -> Any:
    if multilabel:
        return 2.0 * values - 1.0
    if k == 1:
        return 2.0 * values[:, None] - 1.0
    return np.where(values[:, None] == np.arange(k), 1.0, -1.0)
