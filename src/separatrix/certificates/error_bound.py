"""How many errors a hyperplane makes, and how few any hyperplane can make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from separatrix.certificates._data import EPS, Data, read
from separatrix.certificates._exact import exact_signs
from separatrix.certificates._fewest_errors import fewest_errors, repeatable, weights_of_rows
from separatrix.certificates._witness import classes_of, factors, flag, number, position, shaped
from separatrix.certificates.base import Certificate, Check, Verification

PROOFS = ("nothing", "identical rows", "enumeration", "search")
TOLD = 3  # parts whose errors are read in a table


@dataclass(frozen=True, eq=False, repr=False)
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
        lighter side is always wrong, and so is a row of zeros that is not positive if b = 0), "enumeration" (of few
        points, which the check repeats in whole numbers), or "search" (of a solver, which the check repeats by
        enumeration where points and columns are few, and takes on trust elsewhere: see `trusted`).
    fit_intercept : bool
        Whether the lower bound is over all hyperplanes, constant predictions included, since one beyond all points
        makes them; otherwise over those through the origin, w != 0 and b = 0.
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
        which = "no hyperplane" if self.fit_intercept else "no hyperplane through the origin"
        bound = f" {which} makes fewer than {self.lower_bound:g}"
        if self.trusted:
            bound = f", on the word of a search that the check does not repeat,{bound}"
        return f"w.x + b makes {self.errors:g} errors, and{bound}."

    @property
    def short(self) -> str:
        """What is claimed, in a few words."""
        if self.errors == self.lower_bound:
            return f"{self._made}, the fewest possible"
        return f"{self._made}, {self.lower_bound:g} or more needed"

    @classmethod
    def short_of(cls, parts: Sequence[Certificate]) -> str:
        """The errors of each part; of many, the first."""
        bounds = [part for part in parts if isinstance(part, ErrorBound)]
        told = "; ".join(f"{part._made}, {part.lower_bound:g}+ needed" for part in bounds[:TOLD])
        return told + (f"; {more} more" if (more := len(bounds) - TOLD) > 0 else "")

    @property
    def _made(self) -> str:
        return "1 error" if self.errors == 1 else f"{self.errors:g} errors"

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        self._validate()
        data = read(X, y, sample_weight, self.classes, self.class_weight)
        w = shaped(self.coef, "coef", 1, data.X.shape[1])[0]
        b = float(shaped(self.intercept, "intercept", 1)[0])
        if b and not self.fit_intercept:
            raise ValueError("The witness 'intercept' must be 0 where fit_intercept is False.")
        wrong: list[float] = []
        for x, codes, weight in data.blocks():
            wrong += weight[(exact_signs(x, w, b) >= 0) != (codes == self.positive)].tolist()
        errors, terms = fsum(wrong), len(data.weight) + 4
        checks = [
            Check("errors as stated, off by", abs(errors - self.errors), 0.0, terms * EPS * errors),
            Check("lower bound above the errors found, by", self.lower_bound - errors, 0.0, terms * EPS * errors),
        ]
        if self.lower_bound > 0:
            known = self._proven(data)
            if known is not None:
                rounding = 2 * terms * EPS * known
                checks.append(Check("lower bound above what is proven, by", self.lower_bound - known, 0.0, rounding))
        return Verification(tuple(checks))

    def _validate(self) -> None:
        """`ValueError` for a field that is not of its kind; what depends on the data is seen to by `verify`."""
        k = len(classes_of(self.classes))
        position(self.positive, "positive", k)
        flag(self.fit_intercept, "fit_intercept")
        factors(self.class_weight, k)
        if self.proof not in PROOFS:
            raise ValueError(f"The field 'proof' must be one of {PROOFS}; it is {self.proof!r:.80}.")
        for name in ("errors", "lower_bound"):
            if number(getattr(self, name), name) < 0:
                raise ValueError(f"The field {name!r} must not be below 0.")

    def _proven(self, data: Data) -> float | None:
        """What the check itself can prove; None if it takes the rest on trust."""
        if self.proof == "nothing":
            return 0.0
        if self.proof == "identical rows":
            return identical_rows_bound(data, self.positive, self.fit_intercept)
        if self.proof == "search" and not repeatable(data.X.shape[0], data.X.shape[1] + self.fit_intercept):
            return None
        return fewest_errors(data, self.positive, self.fit_intercept)


def identical_rows_bound(data: Data, positive: int, intercept: bool) -> float:
    """The sum over distinct rows of the lighter of its two sides: no function of x gets both right.

    Of rows of zeros it is the side that is not positive if b = 0: their score is 0.
    """
    sides, zeros = weights_of_rows(data, positive), bytes(8 * data.X.shape[1])
    return sum(pair[0] if row == zeros and not intercept else min(pair) for row, pair in sides.items())
