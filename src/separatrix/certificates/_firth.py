"""Firth's equations: sum_i [c_i (t_i - p_i) + h_i (1/2 - p_i)] z_i = 0, h_i = c_i p_i (1 - p_i) z_i' I⁻¹ z_i.

In coordinates B'z, whatever the matrix B, the information is M = B'IB; with B near I^(-1/2), M is near 1, and a product
with its inverse rounds little. So B may come from a factorisation that rounds: what is checked follows from M.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.certificates._centred import Centred, centred
from separatrix.certificates._data import ALLOWED, EPS, Data
from separatrix.certificates._sigmoid import WIDEST, column_targets, linear
from separatrix.certificates._witness import keys
from separatrix.certificates.base import Check


def check_firth(data: Data, certificate: Any) -> list[Check]:
    """The modified score in the norm of the inverse information: a distance in standard errors."""
    witness, (n, d) = certificate.witness, data.X.shape
    keys(witness, "coef", "intercept", "fit_intercept", "task", "tol")
    w, b, free, tol = linear(witness, d)
    p, t = d + free, column_targets(data.values, certificate, witness["task"])
    if n < p:
        return [Check("weights beyond the number of rows, which leave no information", float(p - n))]
    if p > WIDEST:
        raise ValueError(f"The information of {p} weights is too large to check.")
    frame = centred(data, free)
    V = frame.weights(w, b)
    B = _root(data, frame, V)
    M, off_by = np.zeros((p, p)), 0.0
    for part, x in data.rows():
        rows, error, length = _in_coordinates(x, frame, B)
        _, spread, off = _probabilities(x, frame, V)
        h = data.weight[part] * spread
        M += rows.T @ (h[:, None] * rows)
        off_by += float(h @ (2 * error * length + (np.expm1(off) + frame.depth * EPS) * length**2))
    inverse, least = np.linalg.inv(M), float(np.linalg.eigvalsh(M)[0])
    score, noise = np.zeros(p), 0.0
    for part, x in data.rows():
        rows, error, length = _in_coordinates(x, frame, B)
        probability, spread, off = _probabilities(x, frame, V)
        c = data.weight[part]
        h = c * spread * ((rows @ inverse) * rows).sum(axis=1)
        pull = c * (t[part] - probability) + h * (0.5 - probability)
        score += rows.T @ pull
        of_h = np.expm1(off) + 4 * error / np.where(length > 0, length, 1.0) + 4 * off_by + frame.depth * EPS
        of_pull = 0.25 * c * off + h * (0.25 * off + 0.5 * of_h) + frame.depth * EPS * np.abs(pull)
        noise += float(of_pull @ length + np.abs(pull) @ error)
    figure, noise = float(np.sqrt(score @ inverse @ score)), 2 * noise
    checks = [
        Check("information off 1 in its own coordinates, by", max(1.0 - least, off_by), 0.5),
        Check("modified score, in standard errors", figure, tol, noise if np.isfinite(noise) else float("nan")),
        Check("rounding of that", noise, ALLOWED * tol),
    ]
    if not free:
        checks.append(Check("intercept, which is not free", abs(float(b[0]))))
    return checks


def _root(data: Data, frame: Centred, V: Any) -> Any:
    """R⁻¹ with R'R = I, of the rows themselves: forming I would square their condition."""
    R: Any = np.zeros((0, V.shape[1]))
    for part, x in data.rows():
        spread = _probabilities(x, frame, V)[1]
        R = np.linalg.qr(np.vstack([R, np.sqrt(data.weight[part] * spread)[:, None] * frame.rows(x)]), mode="r")
    return np.linalg.inv(R)  # fails for dependent columns


def _in_coordinates(x: Any, frame: Centred, B: Any) -> tuple[Any, Any, Any]:
    """B'z, a bound on the length of its rounding error, and its length."""
    rows = frame.rows(x) @ B
    error = (len(B) + 4) * EPS * (frame.sizes(x) @ np.abs(B))
    return rows, np.sqrt((error**2).sum(axis=1)), np.sqrt((rows**2).sum(axis=1))


def _probabilities(x: Any, frame: Centred, V: Any) -> tuple[Any, Any, Any]:
    """p = sigma(score), p (1 - p), and a bound on the rounding error of the score."""
    score, off = (part[:, 0] for part in frame.scores(x, V))
    small = np.exp(-np.abs(score))
    return np.where(score >= 0, 1.0, small) / (1.0 + small), small / (1.0 + small) ** 2, off
