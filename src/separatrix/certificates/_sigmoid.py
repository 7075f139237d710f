"""The squared error of probabilities: the gradient of C sum_i c_i (t_i - sigma(w.x_i + b))² + 1/2 ‖w‖², its Hessian.

With u = ±z the score on the side of the row's own class, p = sigma(u) and q = 1 - p, the slope of a row is 2 p q² in
size and its curvature that times 2p - q. Slopes vanish exponentially where the sigmoid saturates, gradient and scale
alike: so they are computed by their logarithms, and a factor common to all is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.certificates._centred import Centred, centred, units
from separatrix.certificates._data import ALLOWED, EPS, TINY, Data
from separatrix.certificates._witness import flag, keys, number, shaped, worst_of
from separatrix.certificates.base import Check

ZERO = 1e-8  # of the largest eigenvalue: a smaller one counts as 0
STILL = 0.1  # a Newton step that moves no score by more stays at the same point
KINDS = ("local minimum", "saddle", "flat", "unsettled", "unexamined")
WIDEST = 4000  # order of a Hessian that is looked at


@dataclass(frozen=True)
class Slopes:
    """Of each row, in units of exp(top): the slope by its score, its size, its curvature, bounds on their errors."""

    slope: Any
    size: Any
    bend: Any
    error: Any
    bend_error: Any
    top: float


def check_squared_error(data: Data, certificate: Any) -> list[Check]:
    """The gradient is zero relative to slopes and columns, and the Hessian is of the stated kind."""
    witness, d = certificate.witness, data.X.shape[1]
    keys(witness, "coef", "intercept", "fit_intercept", "C", "task", "tol", "kind")
    w, b, free, tol = linear(witness, d)
    kind = witness["kind"]
    C = np.inf if witness["C"] == np.inf else number(witness["C"], "C", 0.0, np.nextafter(np.inf, 0))
    if kind not in KINDS or (kind != "unexamined" and d > WIDEST):
        raise ValueError(
            f"The witness 'kind' must be one of {KINDS}, the last beyond {WIDEST} columns; it is {kind!r}."
        )
    t = column_targets(data.values, certificate, witness["task"])
    frame = centred(data, free)
    V = frame.weights(w, b)
    largest = float(data.weight.max())
    c = data.weight / largest
    rows = _slopes(data, frame, V, t, c)
    length = float(np.sqrt(c @ rows.size**2))  # between 1 and sqrt(n)
    unit = units(frame)  # of each column: no square overflows or vanishes
    with_unit = np.where(unit > 0, unit, 1.0)
    gradient, columns, spans = (np.zeros(d + free) for _ in range(3))
    for part, x in data.rows():
        z, size = frame.rows(x) / with_unit, frame.sizes(x) / with_unit
        gradient += z.T @ (c * rows.slope)[part]
        columns += c[part] @ z**2
        spans += c[part] @ size**2
    columns, spans = np.sqrt(columns), np.sqrt(spans)
    pull, exponent = _pull(V[0], with_unit, C, largest, rows.top, free)
    scale = length * columns + np.abs(pull)
    relative = np.where(np.isinf(pull), 1.0, np.abs(gradient + pull) / np.where(scale > 0, scale, 1.0))
    relative = np.where((unit > 0) | (pull != 0), relative, 0.0)  # of a constant column nothing but its weight counts
    # by Cauchy and Schwarz, with each slope and each entry off by its bound, and what vanished in products
    noise: Any = float(np.sqrt(c @ (rows.error + frame.depth * EPS * rows.size) ** 2)) / length
    live = columns > 0
    noise = noise + 2 * frame.depth * EPS * np.divide(spans, columns, out=np.ones_like(spans), where=live)
    noise = noise + np.divide(len(c) * TINY, columns, out=np.zeros_like(spans), where=unit > 0) + exponent
    noise = np.where((unit > 0) | (pull != 0), noise, 0.0)
    checks = [
        worst_of("gradient relative to slopes and columns", relative, tol, noise),
        worst_of("rounding of that", noise, ALLOWED * tol, 0.0),
    ]
    if not free:
        checks.append(Check("intercept, which is not free", abs(float(b[0]))))
    if kind != "unexamined":
        ridge = _ridge(with_unit, C, largest, rows.top, free)
        mean = float(c @ np.abs(rows.bend)) / float(c.sum())
        checks += _kind(data, kind, frame, rows, c, with_unit, mean * columns**2, ridge, gradient + pull)
    return checks


def _slopes(data: Data, frame: Centred, V: Any, t: Any, c: Any) -> Slopes:
    found = [frame.scores(x, V) for _, x in data.rows()]
    score, off = (np.concatenate(pieces)[:, 0] for pieces in zip(*found, strict=True))
    u = np.where(t > 0, score, -score)
    log_p, log_q = -np.logaddexp(0.0, -u), -np.logaddexp(0.0, u)
    logs = log_p + 2 * log_q
    top = float(np.max(logs + 0.5 * np.log(c)))
    size = np.exp(logs - top)
    turn = 3 * np.exp(log_p) - 1  # 2p - q
    return Slopes(
        slope=np.where(t > 0, -size, size),
        size=size,
        bend=size * turn,
        error=size * np.expm1(2 * off),  # |d log(p q²) / du| <= 2
        bend_error=3 * size * np.expm1(4 * off),  # and |d(2p - q) / du| <= 3/4
        top=top + np.log(2.0),
    )


def _pull(v: Any, unit: Any, C: float, largest: float, top: float, free: bool) -> tuple[Any, Any]:
    """What the penalty adds to the gradient, w_j, in the units of the sums; and a bound on its relative error."""
    v = np.where(np.arange(len(v)) < len(v) - free, v, 0.0)
    if np.isinf(C):
        return np.zeros(len(v)), np.zeros(len(v))
    known = np.where(v != 0, np.abs(v), 1.0)
    exponent = np.log(known) - np.log(unit) - np.log(C) - np.log(largest) - top
    size = np.abs(np.log(known)) + np.abs(np.log(unit)) + abs(np.log(C)) + abs(np.log(largest)) + abs(top)
    return np.where(v != 0, np.copysign(np.exp(exponent), v), 0.0), np.where(v != 0, 8 * EPS * (1 + size), 0.0)


def _ridge(unit: Any, C: float, largest: float, top: float, free: bool) -> Any:
    """The curvature of the penalty in the same units; it may be infinite."""
    ridge = np.exp(-2 * np.log(unit) - np.log(C) - np.log(largest) - top) if np.isfinite(C) else np.zeros(len(unit))
    return np.where(np.arange(len(unit)) < len(unit) - free, ridge, 0.0)


def _kind(
    data: Data, kind: str, frame: Centred, rows: Slopes, c: Any, unit: Any, curved: Any, ridge: Any, gradient: Any
) -> list[Check]:
    """Eigenvalues of the Hessian in units of D, the mean curvature times the columns' squares, plus the penalty."""
    D = curved + ridge
    size = np.sqrt(np.where(D > 0, D, 1.0))
    H, rounding = np.diag(np.where(np.isinf(ridge), 1.0, ridge / size**2)), 0.0
    for part, x in data.rows():
        z, spans = frame.rows(x) / unit / size, frame.sizes(x) / unit / size
        H += z.T @ ((c * rows.bend)[part, None] * z)
        noise = rows.bend_error[part] * (z**2).sum(axis=1)
        noise += 4 * frame.depth * EPS * rows.size[part] * (spans**2).sum(axis=1)
        rounding += float(c[part] @ noise)  # the trace is no less than the norm
    if not (np.isfinite(H).all() and np.isfinite(rounding)):
        return [Check("Hessian beyond the range of float64", float("nan"))]
    values, Q = np.linalg.eigh(H)
    zero = ZERO * max(1.0, float(values[-1]))
    rounding += 16 * len(D) * EPS * max(1.0, float(np.abs(values).max()))
    lowest = float(values[0])
    exact = Check("rounding of an eigenvalue", rounding, 0.25 * zero)
    if kind == "saddle":
        return [exact, Check("smallest eigenvalue of the Hessian", lowest, -zero, rounding)]
    if kind == "flat":
        return [exact, Check("smallest eigenvalue off 0, by", abs(lowest), 4 * zero, rounding)]
    definite = Check("smallest eigenvalue below what a minimum needs, by", zero - lowest, 0.0, rounding)
    step = Q @ ((Q.T @ (gradient / size)) / values) / size
    moved = max(float(np.abs((frame.rows(x) / unit) @ step).max()) for x, _, _ in data.blocks())
    if kind == "unsettled":
        return [exact, definite, Check("change of a score by the next Newton step is below", 0.25 * STILL - moved)]
    return [exact, definite, Check("change of a score by the next Newton step", moved, STILL)]


def linear(witness: Any, d: int) -> tuple[Any, Any, bool, float]:
    """w (1, d) and b (1,), whether b is free, and tol."""
    w, b = shaped(witness["coef"], "coef", 1, d), shaped(witness["intercept"], "intercept", 1)
    return w, b, flag(witness["fit_intercept"], "fit_intercept"), number(witness["tol"], "tol", 0.0, 1.0)


def column_targets(values: Any, certificate: Any, task: Any) -> Any:
    """t_i = 0 or 1: the class codes of two classes, or a column of a 0/1 matrix."""
    if task is None:
        if values.ndim != 1 or len(certificate.classes) != 2:
            raise ValueError("y must have two classes, or be a 0/1 matrix for a certificate of one of its columns.")
        return np.asarray(values, dtype=np.float64)
    if isinstance(task, bool) or not isinstance(task, (int, np.integer)):
        raise ValueError(f"The witness 'task' must be None or the number of a column; it is {task!r}.")
    if values.ndim != 2 or values.shape[1] != len(certificate.classes) or not 0 <= task < values.shape[1]:
        raise ValueError(f"y must be a 0/1 matrix of {len(certificate.classes)} columns, and 'task' one of them.")
    if certificate.class_weight is not None:
        raise ValueError("class_weight has no meaning for a 0/1 matrix y.")
    return np.asarray(values[:, task], dtype=np.float64)
