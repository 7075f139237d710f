"""Quasi-separation by what is easily seen: a column that never points the wrong way, and few rows that balance.

Tables of categories are full of it: the column of a category in which some class has no row is at least level
everywhere, and ahead on its rows. Both halves of the proof are whole numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.certificates._held import dense
from separatrix.design import Block, Design
from separatrix.design.reducing import Parts
from separatrix.separation.integers import Pair, WholeRows, null_space


def one_column(design: Design, codes: Integers, k: int) -> tuple[Floats, Floats] | None:
    """coef (k - 1, d) and intercept of ±(x_j - t) for one class, >= 0 on its rows and <= 0 on all others.

    With an intercept, t is the entry of another class that comes nearest; 0 without. None if no column will do. The
    first class has weights 0, so that those of all others are turned around instead of its own.
    """
    lowest, highest = extremes(design, codes, k)
    for c in range(k):
        others = np.arange(k) != c
        for sign, inner, outer in (
            (1.0, lowest[c], highest[others].max(axis=0)),
            (-1.0, highest[c], lowest[others].min(axis=0)),
        ):
            level = outer if design.intercept else np.zeros_like(outer)
            useful = (sign * inner >= sign * level) & (sign * level >= sign * outer)
            useful &= lowest.min(axis=0) < highest.max(axis=0)
            if not useful.any():
                continue
            j = int(np.argmax(useful))
            coef, intercept = np.zeros((k, design.d)), np.zeros(k)
            rows, turn = (others, -1.0) if c == 0 else (~others, 1.0)
            coef[rows, j], intercept[rows] = turn * sign, -turn * sign * level[j]
            return coef[1:], intercept[1:]
    return None


def extremes(design: Design, codes: Integers, k: int) -> tuple[Floats, Floats]:
    """The smallest and the largest entry of each column in each class, (k, d)."""
    below, highest = design.extremes(_extremes, codes, args=(k,))
    return -below, highest


def _extremes(block: Block, own: Array, k: int) -> Parts:
    """Minus the smallest entries, and the largest; -inf for classes without a row in the block."""
    below, highest = np.full((2, k, block.design.d), -np.inf)
    for c in np.unique(own):
        x = block.x[own == c]
        below[c], highest[c] = -dense(x.min(axis=0)).ravel(), dense(x.max(axis=0)).ravel()
    return below, highest


def balance(whole: WholeRows, pairs: Sequence[Pair]) -> dict[Pair, Fraction] | None:
    """Positive lambda_ic with sum lambda_ic z_ic = 0 on some of these rows; None unless they have one such line."""
    lines = null_space(np.array([whole.row(pair) for pair in pairs], dtype=object).T, len(pairs))
    if lines.shape[1] != 1:
        return None
    weights = lines[:, 0] if (lines >= 0).all() else -lines[:, 0]
    if not (weights >= 0).all():
        return None
    return {pair: Fraction(int(weight)) for pair, weight in zip(pairs, weights, strict=True) if weight}
