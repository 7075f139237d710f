"""How many errors a hyperplane makes, and how few any hyperplane can make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.certificates._data import EPS, Data, read
from separatrix.certificates._fewest_errors import fewest_errors
from separatrix.certificates._signs import proved_signs
from separatrix.certificates.base import Certificate, Check, Verification


@dataclass(frozen=True, eq=False)
class ErrorBound(Certificate):
    """The hyperplane makes `errors` errors (total weight of misclassified rows); none makes under `lower_bound`.

    Parameters
    ----------
    classes : array of shape (k,)
        The labels.
    coef, intercept : arrays of shape (1, d) and (1,)
        The weights; a score of 0 or more predicts the positive class.
    positive : int
        Position in `classes` of the label with y_i = +1, all others being -1.
    class_weight : array of shape (k,) or None
        The factor of each class in the rows' weights.
    errors, lower_bound : float
        Found, and proven.
    proof : str
        What the lower bound rests on: "nothing" (it is 0), "identical rows" (of equal rows with opposite labels, the
        lighter side is always wrong), "enumeration" (of few points, which the check repeats in rational arithmetic),
        or "search" (of a solver, which the check does not repeat).
    fit_intercept : bool
        Whether the lower bound is over all hyperplanes; otherwise over those with b = 0.
    """

    classes: Any
    coef: Any
    intercept: Any
    positive: int
    class_weight: Any
    errors: float
    lower_bound: float
    proof: str
    fit_intercept: bool = True

    @property
    def trusted(self) -> tuple[str, ...]:
        """What is not checked but taken on a solver's word."""
        return ("lower_bound",) if self.proof == "search" else ()

    @property
    def claim(self) -> str:
        """What is claimed, in one sentence."""
        word = ", on the word of the solver that searched" if self.trusted else ""
        which = "no hyperplane" if self.fit_intercept else "no hyperplane through the origin"
        return f"w.x + b makes {self.errors:g} errors, and {which} makes fewer than {self.lower_bound:g}{word}."

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        data = read(X, y, sample_weight, self.classes, self.class_weight)
        w, b = np.asarray(self.coef, dtype=np.float64)[0], float(np.asarray(self.intercept)[0])
        errors = 0.0
        for x, codes, weight in data.blocks():
            errors += float(weight[(proved_signs(x, w, b) >= 0) != (codes == self.positive)].sum())
        rounding = len(data.weight) * EPS * float(data.weight.sum())
        checks = [
            Check("errors as stated, off by", abs(errors - self.errors), 0.0, rounding),
            Check("lower bound above the errors found, by", self.lower_bound - errors, 0.0, rounding),
        ]
        if self.proof != "search":
            known = self._proven(data)
            checks.append(Check("lower bound above what is proven, by", self.lower_bound - known, 0.0, rounding))
        return Verification(tuple(checks))

    def _proven(self, data: Data) -> float:
        """What the check itself can prove."""
        if self.proof == "identical rows":
            return identical_rows_bound(data, self.positive)
        if self.proof == "enumeration":
            return fewest_errors(data, self.positive, self.fit_intercept)
        return 0.0


def identical_rows_bound(data: Data, positive: int) -> float:
    """The sum over distinct rows of the lighter of its two sides: no function of x gets both right."""
    sides: dict[bytes, list[float]] = {}
    for x, codes, weight in data.blocks():
        for row, code, c in zip(
            np.ascontiguousarray(x + 0.0), codes, weight, strict=True
        ):  # + 0.0 makes -0.0 equal 0.0
            sides.setdefault(row.tobytes(), [0.0, 0.0])[int(code == positive)] += c
    return sum(min(pair) for pair in sides.values())
