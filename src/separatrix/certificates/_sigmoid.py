"""The squared error of probabilities: the gradient of C sum_i c_i (t_i - sigma(w.x_i + b))² + 1/2 ‖w‖², its Hessian."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.certificates._data import EPS, Data, shaped, worst
from separatrix.certificates.base import Check

STEEPEST = 0.1544  # no curvature of (t - sigma(z))² is larger in size
ZERO = 1e-8  # of the largest eigenvalue: a smaller one counts as 0
STILL = 0.1  # a Newton step that moves no score by more stays at the same point
KINDS = ("local minimum", "saddle", "flat", "unsettled", "unexamined")


def check_squared_error(data: Data, certificate: Any) -> list[Check]:
    """The gradient is zero relative to slopes and columns, and the Hessian is of the stated kind."""
    witness, d = certificate.witness, data.X.shape[1]
    w, b = shaped(witness, "coef", 1, d)[0], float(shaped(witness, "intercept", 1)[0])
    free, C, kind, tol = bool(witness["fit_intercept"]), float(witness["C"]), witness["kind"], float(witness["tol"])
    if not C > 0 or kind not in KINDS or not 0 <= tol < 1:
        raise ValueError(f"C, kind or tol has no meaning: {C!r}, {kind!r}, {tol!r}.")
    ridge = np.append(np.zeros(d) if np.isinf(C) else np.ones(d), [0.0] * free)
    factor = 1.0 if np.isinf(C) else C
    centre = mean_row(data) if free else np.zeros(d)  # about it, the columns' equations do not repeat the intercept's
    p = d + free
    gradient, noise, columns = np.zeros(p), np.zeros(p), np.zeros(p)
    slopes = curved = 0.0
    H = np.zeros((p, p)) if kind != "unexamined" else None
    for x, values, weight in data.blocks():
        c = factor * weight
        z = centred_rows(x, centre, free)
        slope, curvature = _derivatives(x @ w + b, column_targets(values, certificate, witness["task"]))
        off = (certificate.unit + (d + 8) * EPS) * (np.abs(x) @ np.abs(w) + abs(b))  # a score, by rounding
        error = np.minimum(STEEPEST * off, np.expm1(2 * off) * np.abs(slope))  # |d log slope / dz| <= 2
        gradient += z.T @ (c * slope)
        noise += np.abs(z).T @ (c * (error + len(data.weight) * EPS * np.abs(slope)))
        columns += c @ z**2
        largest = max(float(np.abs(slope).max()), np.finfo(np.float64).tiny)  # whose square may vanish
        slopes = np.hypot(slopes, largest * np.sqrt(c @ (slope / largest) ** 2))
        curved += float(c @ np.abs(curvature))
        if H is not None:
            H += z.T @ ((c * curvature)[:, None] * z)
    pull = ridge * np.append(w, [0.0] * free)
    gradient += pull
    noise += 4 * (certificate.unit + EPS) * ridge * np.linalg.norm(pull)
    scale = slopes * np.sqrt(columns) + np.abs(pull)
    scale = np.where(scale > 0, scale, 1.0)
    figure, allowed = worst(np.abs(gradient) / scale, tol + noise / scale)
    checks = [Check("gradient relative to slopes and columns", figure, tol, max(allowed - tol, 0.0))]
    if not free:
        checks.append(Check("intercept, which is not free", abs(b)))
    if H is not None:
        mean = curved / (factor * float(data.weight.sum()))
        checks += _kind(data, kind, H + np.diag(ridge), mean * columns + ridge, gradient, centre, free)
    return checks


def _kind(data: Data, kind: str, H: Any, D: Any, gradient: Any, centre: Any, free: bool) -> list[Check]:
    """Eigenvalues of the Hessian in units of D, the mean curvature times the columns' squares, plus the penalty."""
    size = np.sqrt(np.where(D > 0, D, 1.0))
    values, Q = np.linalg.eigh(H / np.outer(size, size))
    zero = ZERO * max(1.0, float(values[-1]))
    rounding = 16 * len(D) * EPS * max(1.0, float(np.abs(values).max()))
    lowest = float(values[0])
    if kind == "saddle":
        return [Check("smallest eigenvalue of the Hessian", lowest, -zero, rounding)]
    if kind == "flat":
        return [Check("smallest eigenvalue below 0, by", -lowest, 4 * zero, rounding)]
    definite = Check("smallest eigenvalue below what a minimum needs, by", zero - lowest, 0.0, rounding)
    if kind == "unsettled":
        return [definite]
    step = Q @ ((Q.T @ (gradient / size)) / values) / size
    moved = max(float(np.abs(centred_rows(x, centre, free) @ step).max()) for x, _, _ in data.blocks())
    return [definite, Check("change of a score by the next Newton step", moved, STILL)]


def mean_row(data: Data) -> Any:
    """The weighted mean of the rows."""
    return sum((c @ x for x, _, c in data.blocks()), np.zeros(data.X.shape[1])) / data.weight.sum()


def centred_rows(x: Any, centre: Any, free: bool) -> Any:
    """(x - centre, 1), or x if there is no intercept."""
    return np.column_stack([x - centre, np.ones(len(x))]) if free else x


def column_targets(values: Any, certificate: Any, task: int | None) -> Any:
    """t_i = 0 or 1: the class codes of two classes, or a column of a 0/1 matrix."""
    if values.ndim != (1 if task is None else 2) or (task is None and len(certificate.classes) != 2):
        raise ValueError("y must have two classes, or be a 0/1 matrix for a certificate of one of its columns.")
    return np.asarray(values if task is None else values[:, task], dtype=np.float64)


def _derivatives(score: Any, t: Any) -> tuple[Any, Any]:
    """-2 e p (1 - p), and 2 p (1 - p) (p (1 - p) + e (2p - 1)), with e = t - p."""
    small = np.exp(-np.abs(score))
    spread = small / (1.0 + small) ** 2  # p (1 - p)
    p = np.where(score >= 0, 1.0, small) / (1.0 + small)
    e = np.where(t == (score >= 0), np.where(t > 0, 1.0, -1.0) * small / (1.0 + small), t - p)
    return -2.0 * e * spread, 2.0 * spread * (spread + e * (2.0 * p - 1.0))
