"""A hyperplane with every point strictly on its own side."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from separatrix.certificates._data import EPS, TINY, Data, read
from separatrix.certificates._exact import (
    exact_signs,
    length_above,
    lengths_between,
    numbers,
    rational,
    scores_with_error,
)
from separatrix.certificates._witness import position
from separatrix.certificates.base import Certificate, Check, Verification


@dataclass(frozen=True, eq=False, repr=False)
class Separator(Certificate):
    """y_i (w.x_i + b) > 0 for every row i; or, with a row of weights for each class, the class of i scores highest.

    The check is a proof: where float64 cannot tell the sign of a score, or on which side of the margin a point is,
    rational arithmetic does.

    Parameters
    ----------
    classes : array of shape (k,)
        The labels.
    coef, intercept : arrays of shape (1, d) and (1,), or (k, d) and (k,)
        The weights: floats, or Fractions where floats have too few digits.
    positive : int or None
        Position in `classes` of the label with y_i = +1, all others being -1; None for one row of weights a class.
    margin : float
        A lower bound on min_i y_i (w.x_i + b) / ‖w‖, the distance of the nearest point; with several rows of weights,
        on min over i and c of ((w_y - w_c).x_i + b_y - b_c) / ‖w_y - w_c‖.
    """

    classes: Any
    coef: Any
    intercept: Any
    positive: int | None
    margin: float

    verdict = "separable"
    exact = True

    @property
    def claim(self) -> str:
        """What is claimed, in one sentence."""
        if self.positive is None:
            return (
                "Every row has its highest score w_c.x + b_c in its own class, by a distance of at least "
                f"{self.margin:.4g}."
            )
        return f"Every row has y (w.x + b) > 0, and the nearest is at a distance of at least {self.margin:.4g}."

    @property
    def short(self) -> str:
        """What is claimed, in a few words."""
        return f"separates every row, margin {self.margin:.2g}"

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        data = read(X, y, sample_weight, self.classes, None)
        k, d = len(self.classes), data.X.shape[1]
        rows = 1 if self.positive is not None else k
        coef, intercept = numbers(self.coef, "coef", rows, d), numbers(self.intercept, "intercept", rows)
        if not (isinstance(self.margin, (float, int)) and 0 <= self.margin < np.inf):
            raise ValueError(f"margin must be a finite number, not below 0; it is {self.margin!r}.")
        if data.values.ndim != 1 or not any(map(bool, coef.ravel().tolist())):
            raise ValueError("coef must not be all 0, and there must be one label a row.")
        margin = Fraction(self.margin)
        if self.positive is not None:
            wrong, near = _two(data, coef[0], rational(intercept[0]), position(self.positive, "positive", k), margin)
        else:
            wrong, near = _many(data, coef, intercept, margin)
        checks = (
            Check("rows not strictly on their side", float(wrong)),
            Check("rows nearer than the stated margin", float(near)),
        )
        return Verification(checks)


def _two(data: Data, w: Any, b: Fraction, positive: int, margin: Fraction) -> tuple[int, int]:
    """How many rows are wrong, and how many have y (w.x + b) < margin ‖w‖."""
    step = margin * length_above(w)
    wrong = near = 0
    for x, codes, _ in data.blocks():
        for sign, side in ((1, x[codes == positive]), (-1, x[codes != positive])):
            short = sign * exact_signs(side, w, b - sign * step) < 0 if step else np.ones(len(side), dtype=bool)
            near += int(short.sum()) if step else 0
            wrong += int((sign * exact_signs(side[short], w, b) <= 0).sum())
    return wrong, near


def _many(data: Data, coef: Any, intercept: Any, margin: Fraction) -> tuple[int, int]:
    """How many leads over a rival are not positive, and how many are below the margin times ‖w_y - w_c‖."""
    k = len(coef)
    floats, offset = coef.astype(np.float64), intercept.astype(np.float64)
    lengths, _ = lengths_between(floats)
    wrong = near = 0
    for x, codes, _ in data.blocks():
        rows = np.arange(len(x))
        scores, bound = scores_with_error(x, floats, offset)
        doubt = 2 * bound + TINY * np.abs(x).sum(axis=1)[:, None]  # Fractions lost digits when they became floats
        lead = scores[rows, codes][:, None] - scores
        clear = lead - (1 + 4 * EPS) * (doubt[rows, codes][:, None] + doubt) > 2 * float(margin) * lengths[codes]
        open_rows, rivals = np.nonzero((np.arange(k) != codes[:, None]) & ~clear)
        for a, c in set(zip(codes[open_rows].tolist(), rivals.tolist(), strict=True)):
            w = [rational(p) - rational(q) for p, q in zip(coef[a], coef[c], strict=True)]
            b = rational(intercept[a]) - rational(intercept[c])
            at = x[open_rows[(codes[open_rows] == a) & (rivals == c)]]
            wrong += int((exact_signs(at, w, b) <= 0).sum())
            length = length_above(w)
            short = exact_signs(at, w, b - margin * length) < 0 if length else np.full(len(at), margin > 0)
            near += int(short.sum())
    return wrong, near
