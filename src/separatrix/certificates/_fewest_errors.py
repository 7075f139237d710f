"""The fewest errors of any hyperplane, by trying all of them in whole numbers: for few points and few columns."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from separatrix.certificates._data import Data
from separatrix.certificates._exact import rational

LIMIT = 100_000  # hyperplanes times points


def fewest_errors(data: Data, positive: int, intercept: bool) -> float:
    """min over (w, b) of the weight of rows on the wrong side; 0, which is always true, if that is too much work."""
    costs: dict[tuple[Any, ...], list[float]] = {}
    for x, codes, weight in data.blocks():
        for row, code, c in zip(x.tolist(), codes, weight, strict=True):
            point = (*(rational(entry) for entry in row), rational(1.0)) if intercept else tuple(map(rational, row))
            costs.setdefault(point, [0.0, 0.0])[int(code == positive)] += c
    points = list(costs)
    p = len(points[0])
    if comb(len(points), p - 1) * len(points) > LIMIT:
        return 0.0
    return _fewest([(point, minus, plus) for point, (minus, plus) in costs.items()])


def _fewest(points: list[tuple[Any, float, float]]) -> float:
    """The least cost, each point having one for the prediction + and one for -.

    A hyperplane through p - 1 points splits those off it; those on it are split by hyperplanes of their own span.
    """
    best = sum(minus for _, minus, _ in points)  # w = 0 predicts + everywhere
    if not points:
        return 0.0
    points = _full_rank(points)
    p = len(points[0][0])
    if p == 0:
        return best
    for chosen in combinations([point for point, _, _ in points], p - 1):
        v = _orthogonal(chosen, p)
        if not any(v):
            continue
        for sign in (1, -1):
            cost, on = 0.0, []
            j = next(j for j in range(p) if v[j])
            for point, minus, plus in points:
                score = sign * sum(a * b for a, b in zip(point, v, strict=True))
                if score > 0:
                    cost += minus
                elif score < 0:
                    cost += plus
                else:
                    on.append((point[:j] + point[j + 1 :], minus, plus))
            if cost < best:
                best = min(best, cost + _fewest(on))
    return best


def _orthogonal(rows: tuple[Any, ...], p: int) -> list[Any]:
    """Signed minors of p - 1 rows: orthogonal to each, and 0 if they are dependent."""
    return [(-1) ** j * _determinant([row[:j] + row[j + 1 :] for row in rows]) for j in range(p)]


def _determinant(rows: list[Any]) -> Any:
    if not rows:
        return 1
    total: Any = 0
    for j, entry in enumerate(rows[0]):
        if entry:
            total += (-1) ** j * entry * _determinant([row[:j] + row[j + 1 :] for row in rows[1:]])
    return total


def _full_rank(points: list[tuple[Any, float, float]]) -> list[tuple[Any, float, float]]:
    """The points in coordinates that are independent over them."""
    columns = np.array([point for point, _, _ in points], dtype=object).T.tolist()
    kept: list[int] = []
    reduced: list[tuple[int, list[Any]]] = []  # the place of a leading entry, and the column
    for j, column in enumerate(columns):
        for place, other in reduced:
            if column[place]:
                factor = column[place] / other[place]
                column = [a - factor * b for a, b in zip(column, other, strict=True)]
        places = [i for i, entry in enumerate(column) if entry]
        if places:
            kept.append(j)
            reduced.append((places[0], column))
    return [(tuple(point[j] for j in kept), minus, plus) for point, minus, plus in points]
