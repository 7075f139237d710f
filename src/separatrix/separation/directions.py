"""From coefficients of the conditioned rows, or whole numbers, to weights in the user's units and a certificate."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from separatrix._typing import Array, Integers
from separatrix.certificates import Separator
from separatrix.design import Design
from separatrix.separation.integers import WholeRows
from separatrix.separation.margins import margin_below


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
    if not any(map(bool, coef.ravel().tolist())):
        return None  # b alone has all rows on one side
    binary = len(classes) == 2
    if not binary:
        coef, intercept = with_first_class(coef, intercept)
    margin = max(0.0, margin_below(design, codes, coef, intercept))
    certificate = Separator(classes, coef, intercept, 1 if binary else None, margin)
    return certificate if design.lend(certificate.verify, classes[codes]) else None


def with_first_class(coef: Array, intercept: Array) -> tuple[Array, Array]:
    """The weights of all classes: the first one's are 0."""
    return np.vstack([coef[:1] * 0, coef]), np.append(intercept[:1] * 0, intercept)


def user_units(whole: WholeRows, v: Array) -> tuple[Array, Array]:
    """coef (k - 1, d) and intercept (k - 1,) of whole numbers v: floats if these hold the digits, else Fractions."""
    design = whole.cone.design
    bits = max(map(abs, v)).bit_length()
    scaled = np.array([Fraction(int(entry), 1 << bits) for entry in v], dtype=object).reshape(-1, design.p)
    coef = scaled[:, : design.d] * np.array([Fraction(2) ** e for e in whole.exponents], dtype=object)
    intercept = scaled[:, design.d] if design.intercept else np.full(len(scaled), Fraction(0), dtype=object)
    floats = coef.astype(np.float64), intercept.astype(np.float64)
    same = (floats[0].astype(object) == coef).all() and (floats[1].astype(object) == intercept).all()
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
