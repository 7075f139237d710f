"""sum_i ±lambda_i (x_i, 1): without rounding, and how large its terms are.

With several classes lambda_ic is a weight of row i against class c, and there is a sum for each class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from separatrix.certificates._data import Data
from separatrix.certificates._exact import BASE, exact_sums, rational
from separatrix.certificates._held import dense

PIECE = 1 << 17  # entries
Looker = Callable[[slice, Any, Any], None]  # takes the place of some rows, the rows and their codes
UPWARD = 1 + 1e-9  # more than the rounding of the few sums of positive numbers that it multiplies


@dataclass(frozen=True)
class Balance:
    """The rows, the float weights (n,) or (n, k), and what the sums are taken over.

    ``positive`` is the code of the class with sign +, or None for one sum a class; ``intercept`` says whether rows
    end in a 1.
    """

    data: Data
    weights: Any
    positive: int | None
    intercept: bool
    k: int

    @property
    def tasks(self) -> int:
        """How many sums there are."""
        return 1 if self.positive is not None else self.k

    def signed(self, rows: slice, codes: Any) -> Any:
        """±lambda_i as (m, 1); with several classes lambda_ic as it is, which the sum of class c counts as negative."""
        lam = self.weights[rows]
        if self.positive is not None:
            return np.where(codes == self.positive, lam, -lam)[:, None]
        return lam

    def sums(self, fractions: dict[int, Fraction], *others: Looker) -> list[list[Fraction]]:
        """The sums of ±lambda (x, 1), without rounding; ``fractions`` are more weights, by place.

        ``others`` are called with each piece of the rows, that they need not be read again for them.
        """
        d = self.data.X.shape[1]
        total = np.zeros((self.tasks, d + 1), dtype=object)
        for rows, x, codes in self.pieces():
            for look in others:
                look(rows, x, codes)
            x1 = np.column_stack([x, np.ones(len(x))])
            if self.positive is not None:
                total += exact_sums(self.signed(rows, codes), x1)
                continue
            for a in range(self.k):
                own = codes == a
                part = exact_sums(self.weights[rows][own], x1[own])
                total[a] += part.sum(axis=0)
                total -= part
        out = [[Fraction(int(entry), 1 << BASE) for entry in row] for row in total]
        for place, weight in fractions.items():
            i, c = (place, 0) if self.positive is not None else divmod(place, self.k)
            code = int(self.data.values[i])
            signs = [(code, 1), (c, -1)] if self.positive is None else [(0, 1 if code == self.positive else -1)]
            for j, entry in enumerate([*dense(self.data.X[[i]])[0].tolist(), 1.0]):
                for task, sign in signs:
                    out[task][j] += sign * weight * rational(entry)
        if not self.intercept:  # the column of ones is no part of the claim
            out = [[*row[:-1], Fraction(0)] for row in out]
        return out

    def rounding(self, sums: list[list[Fraction]], sizes: Sizes) -> tuple[float, float]:
        """The largest |sum| relative to the sum of its terms' sizes, and a bound on the margin.

        Sizes are about the first row, x' = x - x_1: sum ± lambda x' = sum ± lambda x - (sum ± lambda) x_1 exactly. Then
        min_i lead_i <= sum lambda lead / sum lambda <= ‖sums‖ ‖(w, b')‖ / sum lambda with b' = w.x_1 + b. A hyperplane
        between two points has |b'| <= ‖w‖ max ‖x - x_1‖, hence for two classes the distance of the nearest point is
        at most sqrt(1 + max ‖x - x_1‖²) times that. Infinite if float64 cannot hold the sizes.
        """
        d, first = self.data.X.shape[1], sizes.first
        size, radius, weight = sizes.size, sizes.radius, sizes.weight
        moved = [[s - rational(f) * row[d] for s, f in zip(row, first, strict=False)] + row[d:] for row in sums]
        rest = np.abs(np.array(moved, dtype=object).astype(np.float64))
        if not (np.isfinite(size).all() and np.isfinite([radius, weight]).all() and weight > 0):
            return np.inf, np.inf
        ratio = np.divide(rest, size, out=np.where(rest > 0, np.inf, 0.0), where=size > 0)
        largest = float(rest.max()) or 1.0
        bound = UPWARD * largest * float(np.linalg.norm(rest / largest)) / weight
        return float(ratio.max()), bound * float(np.hypot(1.0, radius)) if self.tasks == 1 else bound

    def pieces(self) -> Iterator[tuple[slice, Any, Any]]:
        """Where some rows are, few enough for the cache, with these and their codes."""
        return ((rows, x, self.data.values[rows]) for rows, x in self.data.rows(PIECE))


class Sizes:
    """Of rows about the first one, x' = x - x_1, or about 0: the sums of lambda |(x', 1)|, max ‖x'‖, and all lambda."""

    def __init__(self, balance: Balance) -> None:
        d = balance.data.X.shape[1]
        self._balance, self.first = balance, np.zeros(d)
        self.size, self.radius, self.weight = np.zeros((balance.tasks, d + 1)), 0.0, 0.0

    def add(self, rows: slice, x: Any, codes: Any) -> None:
        """Further rows."""
        balance, d = self._balance, len(self.first)
        if rows.start == 0 and balance.intercept:
            self.first = x[0].copy()
        about = np.column_stack([np.abs(x - self.first), np.ones(len(x))])
        self.radius = max(self.radius, float(np.linalg.norm(about[:, :d], axis=1).max()))
        lam = np.abs(balance.signed(rows, codes))
        self.weight += float(lam.sum())
        self.size += lam.T @ about
        if balance.positive is None:
            for a in range(balance.k):
                self.size[a] += (lam[codes == a].T @ about[codes == a]).sum(axis=0)
