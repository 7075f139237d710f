"""Layers of sigmoidal perceptrons: every derivative of C sum_i c_i loss_i + 1/2 sum_l ‖W_l‖², with its rounding.

The scores of each layer, the slopes on the way back and the sums over rows are all computed beside bounds on what
rounding did to them: sigma has slopes of at most 1/4, a (1 - a) of at most 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.certificates._centred import Centred, centred
from separatrix.certificates._data import ALLOWED, EPS, Data
from separatrix.certificates._logistic import probabilities, sigma
from separatrix.certificates._witness import keys, number, shaped, tolerance
from separatrix.certificates.base import Check

LOSSES = ("log", "squared_error")
ROUNDED = 8  # units in the last place that exp and a few operations on it may cost


def check_cascade(data: Data, certificate: Any) -> list[Check]:
    """No derivative by a weight, or by an intercept, is larger than tol C sum_i c_i."""
    witness, d = certificate.witness, data.X.shape[1]
    keys(witness, "sizes", "coefs", "intercepts", "scale", "C", "loss", "tol")
    tol, C = tolerance(witness["tol"]), number(witness["C"], "C", 0.0)
    if witness["loss"] not in LOSSES:
        raise ValueError(f"The witness 'loss' must be one of {LOSSES}; it is {witness['loss']!r:.80}.")
    if data.values.ndim != 1:
        raise ValueError("A cascade is about labels, not about a matrix of them.")
    k = len(certificate.classes)
    layers = _layers(witness, d, 1 if k == 2 else k)
    scale = shaped(witness["scale"], "scale", d)
    if not (scale > 0).all():
        raise ValueError("The witness 'scale' must be above 0 for every column.")
    frame = centred(data, True)
    V = frame.weights(layers[0][0].T, layers[0][1])
    sums = [np.zeros((len(W) + 1, W.shape[1])) for W, _ in layers]
    errors = [np.zeros_like(G) for G in sums]
    for x, codes, c in data.blocks():
        T = (codes[:, None] == (1 if k == 2 else np.arange(k))).astype(np.float64)
        found = _derivatives(x, T, C * c, frame, V, layers, scale, witness["loss"] == "squared_error")
        for G, E, (of_rows, off) in zip(sums, errors, found, strict=True):
            G += of_rows
            E += off
    total = C * float(data.weight.sum())
    for place, (G, E, (W, _)) in enumerate(zip(sums, errors, layers, strict=True)):
        pull = W * scale[:, None] if place == 0 else W
        G[:-1] += pull
        E[:-1] += EPS * (np.abs(pull) + np.abs(G[:-1]))
    worst = max(float(np.abs(G).max()) for G in sums) / total
    noise = max(float(E.max()) for E in errors) / total + 4 * EPS * worst
    return [
        Check("largest derivative, of C sum_i c_i", worst, tol, noise),
        Check("rounding of that", noise, ALLOWED * tol),
    ]


def _layers(witness: Any, d: int, outputs: int) -> list[tuple[Any, Any]]:
    """(W, b) of each layer, from all of them one after the other."""
    sizes = np.asarray(witness["sizes"])
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or len(sizes) < 2 or sizes.min() < 1:
        raise ValueError("The witness 'sizes' must hold the units of each layer, the columns first.")
    if sizes[0] != d or sizes[-1] != outputs:
        raise ValueError(f"The witness 'sizes' must begin with {d} columns and end with {outputs} scores.")
    ends, units = np.cumsum(sizes[:-1] * sizes[1:]), np.cumsum(sizes[1:])
    weights = np.split(shaped(witness["coefs"], "coefs", int(ends[-1])), ends[:-1])
    intercepts = np.split(shaped(witness["intercepts"], "intercepts", int(units[-1])), units[:-1])
    return [(W.reshape(m, k), b) for W, b, m, k in zip(weights, intercepts, sizes[:-1], sizes[1:], strict=True)]


def _derivatives(
    x: Any, T: Any, c: Any, frame: Centred, V: Any, layers: list[tuple[Any, Any]], scale: Any, squared: bool
) -> list[tuple[Any, Any]]:
    """Of each layer, what a block of rows adds to the derivatives, and to the bounds on their errors."""
    S, off = frame.scores(x, V)
    hidden = []
    for W, b in layers[1:]:
        A = sigma(S)
        wrong = off / 4 + ROUNDED * EPS
        hidden.append((A, wrong))
        S = A @ W + b
        off = wrong @ np.abs(W) + (len(W) + 2) * EPS * (A @ np.abs(W) + np.abs(b))
    R, off = _slopes(S, off, T, c[:, None], squared)
    depth, found = (frame.depth + 2) * EPS, []
    for place in range(len(layers) - 1, 0, -1):
        (A, wrong), W = hidden[place - 1], layers[place][0]
        size = np.abs(R)
        of_sums = A.T @ off + wrong.T @ size + depth * (A.T @ size)
        of_sums = np.vstack([of_sums, off.sum(axis=0) + depth * size.sum(axis=0)])
        found.append((np.vstack([A.T @ R, R.sum(axis=0)]), of_sums))
        back, bend = R @ W.T, A * (1.0 - A)
        off = (off @ np.abs(W).T + (W.shape[1] + 2) * EPS * (size @ np.abs(W).T)) * bend + np.abs(back) * (wrong + EPS)
        R = back * bend
    z, spans, size = frame.rows(x), frame.sizes(x), np.abs(R)
    unit = np.append(scale, 1.0)[:, None]
    of_sums = np.abs(z).T @ off + 2 * EPS * (spans.T @ size) + depth * (np.abs(z).T @ size)
    return [((z.T @ R) / unit, of_sums / unit), *reversed(found)]


def _slopes(S: Any, off: Any, T: Any, c: Any, squared: bool) -> tuple[Any, Any]:
    """The slopes of the losses by the last scores, and bounds on their errors."""
    if S.shape[1] == 1:
        wrong = off / 4 + ROUNDED * EPS
    else:
        wrong = np.repeat(0.5 * off.max(axis=1, keepdims=True), S.shape[1], axis=1) + (S.shape[1] + ROUNDED) * EPS
    P = probabilities(S)
    miss = P - T
    if not squared:
        return c * miss, c * (wrong + EPS)
    if S.shape[1] == 1:  # the derivative of 2 (p - t) p (1 - p) by p is at most 2 in size
        return 2.0 * c * miss * P * (1.0 - P), 2.0 * c * (wrong + 2 * EPS)
    # of 2 p_j (m_j - sum_l m_l p_l): each factor is at most 2 in size, and the sum has k terms
    R = 2.0 * c * P * (miss - (miss * P).sum(axis=1, keepdims=True))
    return R, 2.0 * c * (3.0 * wrong + 3.0 * wrong.sum(axis=1, keepdims=True) + (S.shape[1] + 4) * EPS)
