"""Quasi-separation of wide rows by twins: equal rows of both classes, and all others on their sides.

Such rows have a score of 0 exactly in any direction that has no row on the wrong side. Floats find one that has them
near 0; as many weights as there are twins, made fractions, bring them to 0.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import numpy as np
from scipy import linalg

from separatrix._typing import Array, Floats, Integers
from separatrix.design import Design
from separatrix.separation.cone import powers_of_two
from separatrix.separation.integers import combination, independent
from separatrix.separation.sides import HASHED

MOST = 30  # different twins: their system is solved in fractions


def between_twins(design: Design, codes: Integers) -> tuple[Floats, tuple[Array, Array]] | None:
    """Weights (n, 2) of two twins, and coef (1, d) and intercept (1,) with scores of 0 for all twins; if there are any.

    The different rows must be independent, and few enough to be compared.
    """
    if design.n * design.d > HASHED:
        return None
    group, first = design.groups()
    some = np.full((2, len(first)), -1, dtype=np.intp)  # a row of each class in each group
    some[codes, group] = np.arange(design.n)
    kinds = np.flatnonzero((some >= 0).all(axis=0))
    if not 0 < len(kinds) <= MOST:
        return None
    size = powers_of_two(design)
    x = np.column_stack([design.array()[first] * size, np.ones((len(first), int(design.intercept)))])
    goal = np.where(codes[first] > 0, 1.0, -1.0)
    goal[kinds] = 0.0
    try:
        v = x.T @ linalg.cho_solve(linalg.cho_factor(x @ x.T), goal)
    except linalg.LinAlgError:
        return None
    level = _levelled(x[kinds], v) if np.isfinite(v).all() else None
    if level is None:
        return None
    weights = np.zeros((design.n, 2))
    weights[some[[1, 0], kinds[0]], [0, 1]] = 1.0  # of each row against the other class
    coef = np.array([value * Fraction(factor) for value, factor in zip(level, size.tolist(), strict=False)])
    return weights, (coef[None], np.array(level[design.d :] or [Fraction(0)]))


def _levelled(x: Floats, v: Floats) -> list[Fraction] | None:
    """v as fractions, of which some are changed so that x v = 0 without rounding."""
    at = independent(x.T)
    exact = [[Fraction(entry) for entry in row] for row in x.tolist()]
    moved = [Fraction(value) for value in v.tolist()]
    off = [-sum((e * w for e, w in zip(row, moved, strict=True) if e), Fraction(0)) for row in exact]
    entries = [[row[j] for row in exact] for j in at]
    unit = lcm(*(e.denominator for column in entries for e in column))
    part = lcm(*(e.denominator for e in off))
    change = combination([[int(e * unit) for e in column] for column in entries], [int(e * part) for e in off])
    if change is None:
        return None
    for j, c in zip(at, change, strict=True):
        moved[j] += c * Fraction(unit, part)
    return moved
