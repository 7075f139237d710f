"""The sign of w.x + b, proved: float64 with an error bound first, rational arithmetic where that cannot tell."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from separatrix.certificates._data import EPS

TINY = float(np.finfo(np.float64).tiny)


def scores_with_error(x: Any, coef: Any, intercept: Any) -> tuple[Any, Any]:
    """X coef' + intercept in float64, and a bound on its rounding error: both (m, k), inf where it overflows."""
    with np.errstate(all="ignore"):
        scores = x @ coef.T + intercept
        size = np.abs(x) @ np.abs(coef).T + np.abs(intercept)
        error = (x.shape[1] + 4) * (EPS * size + TINY)
    unknown = ~(np.isfinite(scores) & np.isfinite(error))
    return np.where(unknown, 0.0, scores), np.where(unknown, np.inf, error)


def lengths_between(coef: Any) -> tuple[Any, Any]:
    """‖w_a - w_c‖ for all rows a, c of weights, (k, k), from above and from below; the weights may be rounded."""
    d = coef.shape[1]
    most = float(np.abs(coef).max()) or 1.0  # squares of what is divided by it neither overflow nor vanish
    unit = coef / most
    lengths = np.array([np.linalg.norm(unit - row, axis=1) for row in unit])
    doubt = (d + 8) * EPS * lengths + 16 * d * EPS
    return most * (lengths + doubt), most * np.maximum(lengths - doubt, 0.0)


def exact_score(x: Any, w: Any, b: float) -> Fraction:
    """w.x + b without rounding: floats are rationals."""
    return exact_dot(x, w) + Fraction(float(b))


def exact_dot(x: Sequence[Any], w: Sequence[Any]) -> Fraction:
    """The sum of x_j w_j, of floats or Fractions."""
    total = Fraction(0)
    for x_j, w_j in zip(x, w, strict=True):
        if x_j and w_j:
            total += _rational(x_j) * _rational(w_j)
    return total


def _rational(value: Any) -> Fraction:
    return value if isinstance(value, Fraction) else Fraction(float(value))


def proved_signs(x: Any, w: Any, b: float) -> Any:
    """-1, 0 or +1 for each row of x: the sign of w.x + b in exact arithmetic."""
    scores, error = scores_with_error(x, w[None], np.array([b]))
    scores, error = scores[:, 0], error[:, 0]
    signs = np.sign(scores).astype(int)
    for i in np.flatnonzero(np.abs(scores) <= error):
        value = exact_score(x[i], w, b)
        signs[i] = (value > 0) - (value < 0)
    return signs
