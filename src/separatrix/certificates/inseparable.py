"""No hyperplane has every point strictly on its own side: the weights that prove it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from separatrix.certificates._balance import Balance, Sizes
from separatrix.certificates._data import Data, read
from separatrix.certificates._exact import exact_signs, numbers, rational
from separatrix.certificates._near import Coordinates, change
from separatrix.certificates._witness import flag, position
from separatrix.certificates.base import Certificate, Check, Verification

TOLERANCE = 2.0**-44  # of a sum, relative to the sum of its terms' sizes: some hundred roundings
CHANGE = 0.5  # of a weight: the largest change that still counts as near
VERDICTS = ("overlapping", "quasi-separable")


@dataclass(frozen=True, eq=False, repr=False)
class Inseparable(Certificate):
    """sum_i lambda_i y_i (x_i, 1) = 0 with lambda >= 0, not all 0: no (w, b) has every y_i (w.x_i + b) > 0.

    For the sum of lambda_i y_i (w.x_i + b) would be positive, and it is (w, b).0 (Gordan). Several classes in the
    softmax sense: weights lambda_ic for c other than the class of i, and for each class c the sum over the rows of
    its own class of (sum_k lambda_ik) (x_i, 1), less that over the others of lambda_ic (x_i, 1), is 0.

    The verdict is "overlapping" if all weights are above 0 (Stiemke: then no hyperplane has every point on its side
    or on the boundary, unless all are on it). It is "quasi-separable" if some (w, b) has y_i (w.x_i + b) >= 0
    everywhere and > 0 somewhere; that direction is part of the certificate and its signs are checked exactly.

    Parameters
    ----------
    classes : array of shape (k,)
        The labels.
    positive : int or None
        Position in `classes` of the label with y_i = +1, all others being -1; None for the softmax sense.
    fit_intercept : bool
        Whether the sums include the 1 of (x, 1).
    verdict : str
        "overlapping" or "quasi-separable".
    exact : bool
        Whether the sums are 0 in rational arithmetic. Otherwise they are so up to rounding, and the rows are spread
        out enough for weights near these, all above 0, to make them 0 exactly: checked by a bound on an
        eigenvalue. A quasi-separation does not survive rounding, so its proof is exact.
    weights : float array of shape (n,) or (n, k)
        lambda; entries for a row's own class are 0.
    exact_at : integer array
        Positions in ``weights.ravel()`` whose float is only near the weight.
    exact_weights : sequence of Fraction
        The weights at these positions.
    coef, intercept : arrays of shape (1, d) and (1,), or (k, d) and (k,), or None
        The direction of a quasi-separation, floats or Fractions.
    margin_bound : float
        0 if exact. Otherwise what the sums prove by themselves. Two classes: a bound on min_i y_i (w.x_i + b) / ‖w‖;
        more: on the smallest lead over the length of all (w_c, w_c.x_1 + b_c).
    """

    classes: Any
    positive: int | None
    fit_intercept: bool
    verdict: str
    exact: bool
    weights: Any
    exact_at: Any
    exact_weights: Any
    coef: Any
    intercept: Any
    margin_bound: float

    @property
    def claim(self) -> str:
        """What is claimed, in one sentence."""
        point = "(x_i, 1)" if self.fit_intercept else "x_i"
        total = f"sum_i lambda_i y_i {point}"
        if self.positive is None:
            total = f"for every class, the sum of ±lambda {point}"
        hyperplane = "hyperplane" if self.fit_intercept else "hyperplane through the origin"
        if self.exact:
            proved = f"{total} = 0 exactly, so no {hyperplane} separates the classes"
        else:
            proved = (
                f"{total} = 0 up to rounding, so no {hyperplane} has a margin above {self.margin_bound:.3g}; and "
                "weights near these, all above 0, make it 0 exactly, so none separates the classes"
            )
        if self.verdict == "overlapping":
            return f"With every weight lambda > 0, {proved}."
        return (
            f"With weights lambda >= 0, not all 0, {proved}; yet one has every row on its side or on the boundary, "
            "and not all on the boundary."
        )

    @property
    def short(self) -> str:
        """What is claimed, in a few words."""
        return f"proof that the classes are {self.verdict}"

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        data = read(X, y, sample_weight, self.classes, None)
        weights, fractions = self._weights(data)
        n, k = len(data.values), len(self.classes)
        relevant = np.ones(n, bool) if self.positive is not None else np.arange(k) != data.values[:, None]
        checks = self._sign_checks(weights, fractions, relevant)
        balance = Balance(data, weights, self.positive, self.fit_intercept, k)
        sizes, coordinates = Sizes(balance), Coordinates(balance)
        sums = balance.sums(fractions, *(() if self.exact else (sizes.add, coordinates.add)))
        if self.exact:
            off = sum(bool(entry) for row in sums for entry in row)
            checks.append(Check("sums that are not exactly 0", float(off)))
        else:
            relative, bound = balance.rounding(sums, sizes)
            checks += [
                Check("sums relative to their terms", relative, TOLERANCE),
                Check("what is proved of the margin", bound, self.margin_bound),
                Check("change of a weight that makes the sums exactly 0", change(balance, sums, coordinates), CHANGE),
            ]
        if self.verdict == "quasi-separable":
            wrong, right = self._sides(data)
            checks.append(Check("rows beyond the boundary", float(wrong)))
            checks.append(Check("no row off the boundary", float(right == 0)))
        return Verification(tuple(checks))

    def _weights(self, data: Data) -> tuple[Any, dict[int, Fraction]]:
        """The weights that are floats, 0 elsewhere, and the others by place; `ValueError` if a field is malformed."""
        n, k = len(data.values), len(self.classes)
        if data.values.ndim != 1:
            raise ValueError("y must hold one label a row.")
        if self.positive is not None:
            position(self.positive, "positive", k)
        exact, _ = flag(self.exact, "exact"), flag(self.fit_intercept, "fit_intercept")
        if self.verdict not in VERDICTS or (self.verdict != "overlapping" and not exact):
            raise ValueError(f"verdict must be one of {VERDICTS}, the latter exact; it is {self.verdict!r}.")
        if not isinstance(self.margin_bound, (float, int)) or not 0 <= self.margin_bound < np.inf:
            raise ValueError(f"margin_bound must be a finite number, not below 0; it is {self.margin_bound!r}.")
        if exact and self.margin_bound != 0:
            raise ValueError(f"margin_bound must be 0 for an exact proof; it is {self.margin_bound!r}.")
        if self.verdict == "overlapping" and not (self.coef is None and self.intercept is None):
            raise ValueError("coef and intercept must be None where the classes overlap: no direction is claimed.")
        weights = np.array(self.weights, dtype=np.float64)
        if weights.shape != ((n,) if self.positive is not None else (n, k)) or not np.isfinite(weights).all():
            raise ValueError(f"weights must be finite, one a row, or a row and class; their shape is {weights.shape}.")
        at = np.asarray(self.exact_at).reshape(-1)
        if at.size and (at.dtype.kind not in "iu" or at.min() < 0 or at.max() >= weights.size):
            raise ValueError("exact_at must hold positions in weights.")
        if len(np.unique(at)) != at.size or (at.size and not exact):
            raise ValueError("exact_at must hold each position once, and none if the proof is not exact.")
        given = numbers(self.exact_weights, "exact_weights", len(at))
        weights.reshape(-1)[at.astype(np.intp)] = 0.0
        return weights, {int(i): rational(weight) for i, weight in zip(at, given, strict=True)}

    def _sign_checks(self, floats: Any, fractions: dict[int, Fraction], relevant: Any) -> list[Check]:
        given = floats.ravel() > 0
        given[[i for i, weight in fractions.items() if weight > 0]] = True
        negative = (floats < 0).sum() + sum(weight < 0 for weight in fractions.values())
        misplaced = (given & ~relevant.ravel()).sum()
        checks = [
            Check("weights below 0, or of a row's own class", float(negative + misplaced)),
            Check("all weights are 0", float(not given.any())),
        ]
        if self.verdict == "overlapping":
            checks.append(Check("weights that are not above 0", float((relevant.ravel() & ~given).sum())))
        return checks

    def _sides(self, data: Data) -> tuple[int, int]:
        """How many leads of the direction are below 0, and how many above."""
        wrong = right = 0
        k, d = len(self.classes), data.X.shape[1]
        tasks = 1 if self.positive is not None else k
        coef, intercept = numbers(self.coef, "coef", tasks, d), numbers(self.intercept, "intercept", tasks)
        if not self.fit_intercept and any(intercept):
            raise ValueError("intercept must be 0 without fit_intercept.")
        for x, codes, _ in data.blocks():
            if self.positive is not None:
                signs = [np.where(codes == self.positive, 1, -1) * exact_signs(x, coef[0], intercept[0])]
            else:
                signs = []
                for a in range(k):
                    for c in range(a + 1, k):
                        w = [rational(p) - rational(q) for p, q in zip(coef[a], coef[c], strict=True)]
                        rows = np.isin(codes, (a, c))
                        side = exact_signs(x[rows], w, rational(intercept[a]) - rational(intercept[c]))
                        signs.append(np.where(codes[rows] == a, 1, -1) * side)
            wrong += sum(int((s < 0).sum()) for s in signs)
            right += sum(int((s > 0).sum()) for s in signs)
        return wrong, right
