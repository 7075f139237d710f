"""The optimum of the hinge with an L1 penalty as fractions: the vertex that its linear program ended at.

At a vertex the rows with 0 < a_i < u_i are on the margin, y_i (w.x_i + b) = 1, and the columns in use have moments of
exactly ±1. Both are linear equations with the same matrix; what they give is optimal if `certificates._exact_hinge`
finds it so, and of no use if not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.certificates._data import Data
from separatrix.certificates._exact import products, rational, whole_numbers
from separatrix.separation.integers import combination

ENTRIES = 100_000  # of X beyond which fractions take too long,
ORDER = 40  # or equations
INSIDE = 1e-9  # of u_i that a multiplier is from 0 and from u_i, at least, if it is between
CLOSE = 1e-9  # distance of a margin or a moment from 1 that may be rounding
USED = 1e-12  # of the largest |w_j| max_i |x_ij| is a weight that is in use


@dataclass(frozen=True)
class Vertex:
    """Weights (1, d + 1), the intercept last, and multipliers (n,), as fractions."""

    weights: Array
    multipliers: Array


def vertex(data: Data, y: Floats, C: float, w: Floats, b: float, a: Floats, free: bool) -> Vertex | None:
    """The fractions that weights w (d,), b and multipliers a (n,) are close to; None if the equations have no solution.

    Rows on the margin whose multipliers are 0 or u_i tell about the weights too, unless they are there by rounding; and
    so do columns of moments ±1 without a weight about the multipliers.
    """
    n, d = data.X.shape
    if n * d > ENTRIES:
        return None
    X, u = np.concatenate([x for x, _, _ in data.blocks()]), C * data.weight
    between = np.flatnonzero((a > INSIDE * u) & (a < (1.0 - INSIDE) * u))
    touching = np.union1d(between, np.flatnonzero(np.abs(y * (X @ w + b) - 1.0) <= CLOSE))
    effect, moments = np.abs(w) * np.abs(X).max(axis=0), (a * y) @ X
    used = np.flatnonzero(effect > USED * effect.max(initial=0.0))
    tight = np.union1d(used, np.flatnonzero(np.abs(moments) >= 1.0 - CLOSE))
    if max(len(touching), len(tight)) > ORDER:
        return None
    signs, ones = [int(sign) for sign in y], np.ones((n, int(free)))
    columns = np.column_stack([X[:, used], ones])
    solved = first(solution(columns[rows], [Fraction(signs[i]) for i in rows]) for rows in (touching, between))
    full = np.flatnonzero(a >= (1.0 - INSIDE) * u)
    held = [rational(C) * rational(data.weight[i]) * signs[i] for i in full]

    def missing(chosen: Integers) -> list[Any] | None:
        """y_i a_i of the rows between that make up the moments ±1 of these columns, and a sum of 0."""
        columns = np.column_stack([X[:, chosen], ones])
        goal = [Fraction(int(np.sign(moments[j]))) for j in chosen] + [Fraction(0)] * free
        rest = [value - pull for value, pull in zip(goal, products(columns[full].T, held), strict=True)]
        return solution(columns[between].T, rest)

    pulls = first(missing(chosen) for chosen in (tight, used))
    if solved is None or pulls is None:
        return None
    weights, multipliers = (np.full(shape, Fraction(0), dtype=object) for shape in ((1, d + 1), (n,)))
    weights[0, used] = solved[: len(used)]
    weights[0, d] = solved[-1] if free else Fraction(0)
    for i, pull in [*zip(full, held, strict=True), *zip(between, pulls, strict=True)]:
        multipliers[i] = signs[i] * pull
    return Vertex(weights, multipliers)


def first(tries: Iterator[list[Any] | None]) -> list[Any] | None:
    """The first that is a solution."""
    return next((each for each in tries if each is not None), None)


def solution(rows: Floats, right: list[Fraction]) -> list[Any] | None:
    """Fractions v with rows v = right, or None if there are none."""
    whole = [whole_numbers([*row, value])[0] for row, value in zip(rows, right, strict=True)]
    if not whole:
        return [Fraction(0)] * rows.shape[1]
    system = np.array(whole, dtype=object)
    return combination(system[:, :-1].T, system[:, -1])
