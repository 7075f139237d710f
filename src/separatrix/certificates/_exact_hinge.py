"""Weights that are 0 in every optimum of the hinge with an L1 penalty: from an optimal dual point, without rounding.

    min over (w, b) of ‖w‖₁ + sum_i u_i max(0, 1 - y_i (w.x_i + b)),    u_i = C c_i
    max over a of sum_i a_i,    0 <= a_i <= u_i,  sum_i a_i y_i = 0 if b is free,  |M_j| <= 1,  M_j = sum_i a_i y_i x_ij

Where both values are the same, a is optimal, and every optimal w satisfies sum_j |w_j| - w_j M_j = 0: where |M_j| < 1,
w_j is 0. No ball says so here, for the dual is linear: a point close to the best one
says nothing about the best ones.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from separatrix.certificates._data import Data
from separatrix.certificates._exact import products, rational


def is_exact(values: Any) -> bool:
    """Whether numbers are given as fractions."""
    return values is not None and np.asarray(values).dtype.kind == "O"


def optimal_moments(data: Data, y: Any, certificate: Any) -> Any:
    """|M_j| (1, d) as floats, if the fractions of the certificate are optimal on both sides; infinite if not."""
    unknown = np.full(np.shape(certificate.coef), np.inf)
    exact = is_exact(certificate.multipliers) and is_exact(certificate.dual_weights)
    if not exact or certificate.l1_ratio != 1.0:
        return unknown
    a = [rational(value) for value in certificate.multipliers]
    *w, b = (rational(value) for value in certificate.dual_weights[0])
    signs = [int(sign) for sign in y]
    C, free = rational(certificate.C), bool(certificate.fit_intercept)
    bounds = [C * rational(c) for c in data.weight]
    spilled = sum(sign * value for sign, value in zip(signs, a, strict=True))
    if not all(0 <= value <= u for value, u in zip(a, bounds, strict=True)) or (spilled if free else b):
        return unknown
    X = np.concatenate([x for x, _, _ in data.blocks()])
    signed = [sign * value for sign, value in zip(signs, a, strict=True)]
    used = [i for i, value in enumerate(a) if value]
    moments = products(X[used].T, [signed[i] for i in used])
    chosen = [j for j, value in enumerate(w) if value]
    scores = products(X[:, chosen], [w[j] for j in chosen])
    slack = [max(Fraction(0), 1 - sign * (score + b)) for sign, score in zip(signs, scores, strict=True)]
    primal = sum(map(abs, w)) + sum(u * each for u, each in zip(bounds, slack, strict=True))
    if any(abs(moment) > 1 for moment in moments) or primal != sum(a):
        return unknown
    return np.array([[float(abs(moment)) for moment in moments]])
