"""From coefficients of the conditioned rows, or whole numbers, to weights in the user's units and a certificate."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.certificates import Separator
from separatrix.design import Block, Design
from separatrix.design.base import Parts
from separatrix.learners.separation.integers import WholeRows

CLOSEST = 20  # rows a block whose distance is computed without rounding


def separator(design: Design, codes: Integers, classes: Array, coef: Array, intercept: Array) -> Separator | None:
    """The certificate that these weights separate, or None if they do not.

    Parameters
    ----------
    design : Design
        The user's rows.
    codes, classes : arrays
        The class of each row, and the labels.
    coef, intercept : arrays of shape (k - 1, d) and (k - 1,)
        Weights of the classes but the first, which has 0; floats or Fractions.
    """
    binary = len(classes) == 2
    if not binary:
        coef, intercept = with_first_class(coef, intercept)
    margin = _margin(design, codes, coef, intercept)
    if not margin > 0:
        return None
    certificate = Separator(classes, coef, intercept, 1 if binary else None, float(margin))
    return certificate if certificate.verify(design.X, classes[codes]) else None


def with_first_class(coef: Array, intercept: Array) -> tuple[Array, Array]:
    """The weights of all classes: the first one's are 0."""
    return np.vstack([coef[:1] * 0, coef]), np.append(intercept[:1] * 0, intercept)


def user_units(whole: WholeRows, v: Array) -> tuple[Array, Array]:
    """coef (k - 1, d) and intercept (k - 1,) of whole numbers v: floats if these hold the digits, else Fractions."""
    design = whole.cone.design
    bits = max(map(abs, v)).bit_length()
    rows, offsets = [], []
    for part in np.reshape(v, (whole.cone.k - 1, design.p)):
        scaled = [Fraction(int(entry)) / 2**bits for entry in part]
        rows.append([entry * Fraction(2) ** e for entry, e in zip(scaled, whole.exponents, strict=False)])
        offsets.append(scaled[design.d] if design.intercept else Fraction(0))
    coef, intercept = np.array(rows, dtype=object), np.array(offsets, dtype=object)
    floats = coef.astype(np.float64), intercept.astype(np.float64)
    same = all(Fraction(f) == e for f, e in zip(floats[0].ravel(), coef.ravel(), strict=True))
    same &= all(Fraction(f) == e for f, e in zip(floats[1], intercept, strict=True))
    return floats if same else (coef, intercept)


def shortest(whole: WholeRows, v: Array) -> Array:
    """v with as few digits as still separate: 53 bits an entry make it floats."""
    bits = 53
    while bits < max(map(abs, v)).bit_length():
        short = np.array([_round(int(entry), bits) for entry in v], dtype=object)
        if (whole.signs(short)[0] > 0).all():
            return short
        bits *= 2
    return v


def _round(value: int, bits: int) -> int:
    surplus = abs(value).bit_length() - bits
    if surplus <= 0:
        return value
    half = 1 << surplus - 1
    return ((value + half) >> surplus) << surplus


def _margin(design: Design, codes: Integers, coef: Array, intercept: Array) -> Fraction:
    """min over i and c of the lead of row i over class c, divided by ‖w_y - w_c‖."""
    if len(coef) == 1:
        coef, intercept = with_first_class(coef, intercept)
    W, b = coef.astype(np.float64), intercept.astype(np.float64)
    k = len(W)
    lengths = np.array([[_length(W[a] - W[c]) for c in range(k)] for a in range(k)])
    if not lengths[~np.eye(k, dtype=bool)].all():
        return Fraction(-1)
    found: list[tuple[float, int, int]] = []

    def sweep(block: Block, own: Array) -> Parts:
        rows = np.arange(len(own))
        scores = np.asarray(design.block(block.rows.start, block.rows.stop).x @ W.T) + b
        lead = scores[rows, own][:, None] - scores
        ratio = np.divide(lead, lengths[own], out=np.full_like(lead, np.inf), where=lengths[own] > 0).ravel()
        some = min(CLOSEST, ratio.size - 1)
        for at in np.argpartition(ratio, some)[:some]:
            found.append((float(ratio[at]), block.rows.start + int(at) // k, int(at) % k))
        return ()

    design.reduce(sweep, codes)
    found.sort()
    closest = [
        _exact_lead(design.X[[i]], coef, intercept, int(codes[i]), c) / Fraction(float(lengths[codes[i], c]))
        for ratio, i, c in found[:CLOSEST]
        if np.isfinite(ratio)
    ]
    return min(closest)


def _exact_lead(x: Any, coef: Array, intercept: Array, own: int, rival: int) -> Fraction:
    row = np.asarray(x.toarray() if hasattr(x, "toarray") else x, dtype=np.float64)[0]
    total = Fraction(intercept[own]) - Fraction(intercept[rival])
    for entry, w_own, w_rival in zip(row.tolist(), coef[own], coef[rival], strict=True):
        if entry:
            total += Fraction(entry) * (Fraction(w_own) - Fraction(w_rival))
    return total


def _length(w: Floats) -> float:
    largest = float(np.abs(w).max())
    return largest * float(np.linalg.norm(w / largest)) if largest > 0 else 0.0
