"""A hyperplane with every point strictly on its own side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.certificates._data import EPS, Data, read
from separatrix.certificates._exact import exact_signs, rational
from separatrix.certificates._signs import scores_with_error
from separatrix.certificates.base import Certificate, Check, Verification


@dataclass(frozen=True, eq=False)
class Separator(Certificate):
    """y_i (w.x_i + b) > 0 for every row i; or, with a row of weights for each class, the class of i scores highest.

    The check is a proof: where float64 cannot tell the sign of a score, rational arithmetic does.

    Parameters
    ----------
    classes : array of shape (k,)
        The labels.
    coef, intercept : arrays of shape (1, d) and (1,), or (k, d) and (k,)
        The weights: floats, or Fractions where floats have too few digits.
    positive : int or None
        Position in `classes` of the label with y_i = +1, all others being -1; None for one row of weights a class.
    margin : float
        min_i y_i (w.x_i + b) / ‖w‖, the distance of the nearest point; with several rows of weights,
        min over i and c of ((w_y - w_c).x_i + b_y - b_c) / ‖w_y - w_c‖.
    """

    classes: Any
    coef: Any
    intercept: Any
    positive: int | None
    margin: float

    @property
    def claim(self) -> str:
        """What is claimed, in one sentence."""
        if self.positive is None:
            return f"Every row has its highest score w_c.x + b_c in its own class, by a distance of {self.margin:.4g}."
        return f"Every row has y (w.x + b) > 0, and the nearest is at the distance {self.margin:.4g}."

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        data = read(X, y, sample_weight, self.classes, None)
        coef, intercept = np.asarray(self.coef), np.asarray(self.intercept)
        wrong, margin, rounding = (_two if self.positive is not None else _many)(data, coef, intercept, self.positive)
        return Verification(
            (
                Check("rows not strictly on their side", wrong),
                Check("margin as stated, off by", abs(margin - self.margin), 0.0, rounding),
            )
        )


def _two(data: Data, coef: Any, intercept: Any, positive: int | None) -> tuple[int, float, float]:
    floats, offset = coef.astype(np.float64), intercept.astype(np.float64)
    length = _length(floats[0])
    wrong, margin, error = 0, np.inf, 0.0
    for x, codes, _ in data.blocks():
        y = np.where(codes == positive, 1, -1)
        wrong += int((y * exact_signs(x, coef[0], intercept[0]) <= 0).sum())
        scores, bound = scores_with_error(x, floats, offset)
        margin = min(margin, float((y * scores[:, 0]).min()))
        error = max(error, float(bound.max()))
    return wrong, margin / length, 8 * (error / length + EPS * abs(margin / length))


def _many(data: Data, coef: Any, intercept: Any, positive: int | None) -> tuple[int, float, float]:
    k = len(coef)
    floats, offset = coef.astype(np.float64), intercept.astype(np.float64)
    lengths = np.array([[_length(floats[a] - floats[c]) for c in range(k)] for a in range(k)])
    wrong, margin, error = 0, np.inf, 0.0
    for x, codes, _ in data.blocks():
        rows = np.arange(len(x))
        scores, bound = scores_with_error(x, floats, offset)
        lead = scores[rows, codes][:, None] - scores
        doubt = bound[rows, codes][:, None] + bound + EPS * np.abs(lead)
        others = np.arange(k) != codes[:, None]
        fails = others & (lead < -doubt)
        open_rows, rivals = np.nonzero(others & ~(np.abs(lead) > doubt))
        for a, c in set(zip(codes[open_rows].tolist(), rivals.tolist(), strict=True)):
            w = [rational(p) - rational(q) for p, q in zip(coef[a], coef[c], strict=True)]
            at = open_rows[(codes[open_rows] == a) & (rivals == c)]
            fails[at, c] = exact_signs(x[at], w, rational(intercept[a]) - rational(intercept[c])) <= 0
        wrong += int(fails.any(axis=1).sum())
        length = lengths[codes]
        margin = min(margin, float(np.divide(lead, length, out=np.full_like(lead, np.inf), where=others).min()))
        error = max(error, float(np.divide(doubt, length, out=np.zeros_like(lead), where=others).max()))
    return wrong, margin, 8 * (error + EPS * abs(margin))


def _length(w: Any) -> float:
    """‖w‖ without a square that overflows or vanishes; 1 for w = 0, whose scores are all b."""
    largest = float(np.abs(w).max())
    return largest * float(np.linalg.norm(w / largest)) if largest > 0 else 1.0
