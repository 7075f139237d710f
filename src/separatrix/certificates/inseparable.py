"""No hyperplane has every point strictly on its own side: the weights that prove it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from separatrix.certificates._data import Data, read
from separatrix.certificates._exact import BASE, exact_signs, exact_sums, rational
from separatrix.certificates.base import Certificate, Check, Verification

TOLERANCE = 2.0**-44  # of a sum, relative to the sum of its terms' sizes: some hundred roundings
PIECE = 1 << 17  # entries
VERDICTS = ("overlapping", "quasi-separable")


@dataclass(frozen=True, eq=False)
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
        Whether the sums are 0 in rational arithmetic. Otherwise they are so up to rounding, which proves less:
        that no hyperplane separates with a margin above `margin_bound`.
    weights : float array of shape (n,) or (n, k)
        lambda; entries for a row's own class are 0.
    exact_at : integer array
        Positions in ``weights.ravel()`` whose float is only near the weight.
    exact_weights : sequence of Fraction
        The weights at these positions.
    coef, intercept : arrays of shape (1, d) and (1,), or (k, d) and (k,), or None
        The direction of a quasi-separation, floats or Fractions.
    margin_bound : float
        0 if exact. Two classes: a bound on min_i y_i (w.x_i + b) / ‖w‖; more: on the smallest lead over the
        length of all (w_c, w_c.x_1 + b_c).
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
        if self.exact:
            proved = f"{total} = 0 exactly, so no hyperplane separates the classes"
        else:
            margin = f"a margin above {self.margin_bound:.3g}"
            proved = f"{total} = 0 up to rounding, so no hyperplane separates the classes with {margin}"
        if self.verdict == "overlapping":
            return f"With every weight lambda > 0, {proved}."
        return (
            f"With weights lambda >= 0, not all 0, {proved}; yet one has every row on its side or on the boundary, "
            "and not all on the boundary."
        )

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        data = read(X, y, sample_weight, self.classes, None)
        weights = np.asarray(self.weights, dtype=np.float64)
        n, k = len(data.values), len(self.classes)
        fits = weights.shape == ((n,) if self.positive is not None else (n, k)) and np.isfinite(weights).all()
        if not fits or self.verdict not in VERDICTS:
            return Verification((Check("weights or a verdict that do not fit the data", 1.0),))
        floats, fractions = self._split(weights)
        relevant = np.ones(n, bool) if self.positive is not None else np.arange(k) != data.values[:, None]
        checks = self._sign_checks(floats, fractions, relevant)
        sums = Sums(data, floats, fractions, self.positive, self.fit_intercept, k)
        if self.exact:
            checks.append(Check("sums that are not exactly 0", float(sum(map(bool, sums.exact)))))
        else:
            relative, bound = sums.relative(), sums.margin_bound()
            checks.append(Check("sums relative to their terms", relative, TOLERANCE))
            checks.append(Check("margin bound below what is proved, by", bound - self.margin_bound, 1e-9 * bound))
        if self.verdict == "quasi-separable":
            wrong, right = self._sides(data)
            checks.append(Check("rows beyond the boundary", float(wrong)))
            checks.append(Check("no row off the boundary", float(right == 0)))
        return Verification(tuple(checks))

    def _split(self, weights: Any) -> tuple[Any, dict[int, Fraction]]:
        """The weights that are floats, 0 elsewhere, and the others by position."""
        at = np.asarray(self.exact_at, dtype=np.intp).ravel()
        floats = weights.copy()
        floats.reshape(-1)[at] = 0.0
        return floats, {int(i): rational(f) for i, f in zip(at, self.exact_weights, strict=True)}

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
        coef, intercept = np.asarray(self.coef), np.asarray(self.intercept)
        k = len(self.classes)
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


def _pieces(data: Data) -> Iterator[tuple[slice, Any, Any]]:
    """Blocks of the data small enough for the cache, with their place among the rows."""
    start = 0
    for x, codes, _ in data.blocks():
        step = max(1, PIECE // max(x.shape[1], 1))
        for first in range(0, len(x), step):
            piece = x[first : first + step]
            yield slice(start + first, start + first + len(piece)), piece, codes[first : first + step]
        start += len(x)


class Sums:
    """The sums of a claim: exact, and the sizes that say what a small remainder means.

    Sizes are about the first row, x' = x - x_1: sum ± lambda x' = sum ± lambda x - (sum ± lambda) x_1 exactly.
    """

    def __init__(
        self, data: Data, floats: Any, fractions: dict[int, Fraction], positive: int | None, intercept: bool, k: int
    ) -> None:
        d = data.X.shape[1]
        tasks = 1 if positive is not None else k
        self.first = np.zeros(d)
        total = np.zeros((tasks, d + 1), dtype=object)
        self.size = np.zeros((tasks, d + 1))
        self.weight = float(floats.sum()) + float(sum(fractions.values()))
        self.radius = 0.0
        for rows, x, codes in _pieces(data):
            if rows.start == 0 and intercept:
                self.first = x[0].copy()
            lam = floats[rows]
            about = np.column_stack([np.abs(x - self.first), np.ones(len(x))])
            self.radius = max(self.radius, float(np.linalg.norm(about[:, :d], axis=1).max()))
            x1 = np.column_stack([x, np.ones(len(x))])
            if positive is not None:
                signed = np.where(codes == positive, lam, -lam)[:, None]
                total += exact_sums(signed, x1)
                self.size += np.abs(signed).T @ about
                continue
            for a in range(k):
                own = codes == a
                sums = exact_sums(lam[own], x1[own])
                total[a] += sums.sum(axis=0)
                total -= sums
                sizes = lam[own].T @ about[own]
                self.size[a] += sizes.sum(axis=0)
                self.size += sizes
        exact = [Fraction(int(entry), 1 << BASE) for entry in total.ravel()]
        for position, weight in fractions.items():
            i, c = (position, 0) if positive is not None else divmod(position, k)
            row = data.X[[i]]
            row = np.asarray(row.toarray() if hasattr(row, "toarray") else row, dtype=np.float64)[0]
            terms = [weight * rational(entry) for entry in row] + [weight]
            code = int(data.values[i])
            places = [(code, 1), (c, -1)] if positive is None else [(0, 1 if code == positive else -1)]
            about_row = np.append(np.abs(row - self.first), 1.0)
            for task, sign in places:
                self.size[task] += float(weight) * about_row
                for j, term in enumerate(terms):
                    exact[task * (d + 1) + j] += sign * term
        if not intercept:  # the column of ones is no part of the claim
            exact = [Fraction(0) if j % (d + 1) == d else entry for j, entry in enumerate(exact)]
        self.exact, self.tasks = exact, tasks

    def about_first(self) -> Any:
        """The sums of ±lambda (x - x_1, 1), rounded: (tasks, d + 1)."""
        d = len(self.first)
        out = np.zeros((self.tasks, d + 1))
        for task in range(self.tasks):
            sums = self.exact[task * (d + 1) : (task + 1) * (d + 1)]
            out[task, :d] = [float(s - rational(f) * sums[d]) for s, f in zip(sums[:d], self.first, strict=True)]
            out[task, d] = float(sums[d])
        return out

    def relative(self) -> float:
        """The largest |sum| / sum of sizes; infinite if a sum has no size."""
        sums = np.abs(self.about_first())
        ratio = np.divide(sums, self.size, out=np.where(sums > 0, np.inf, 0.0), where=self.size > 0)
        return float(ratio.max())

    def margin_bound(self) -> float:
        """min_i lead_i <= sum lambda lead / sum lambda <= ‖sums‖ ‖(w, b')‖ / sum lambda, b' = w.x_1 + b.

        A hyperplane between two points has |b'| <= ‖w‖ max ‖x - x_1‖, hence for two classes the distance of the
        nearest point is at most sqrt(1 + max ‖x - x_1‖²) times that.
        """
        bound = float(np.linalg.norm(self.about_first())) / self.weight
        return bound * float(np.hypot(1.0, self.radius)) if self.tasks == 1 else bound
