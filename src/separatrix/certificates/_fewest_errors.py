"""The fewest errors of any hyperplane, by trying all of them in whole numbers: for few points and few columns."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from separatrix.certificates._data import Data
from separatrix.certificates._exact import whole_numbers

LIMIT = 100_000  # hyperplanes times points
LONGEST = 6  # rows (x, 1) longer than this are not tried: a normal takes p! products

Point = tuple[tuple[int, ...], float, float]  # a point times a positive number; the cost of predicting +, and of -


def repeatable(points: int, p: int) -> bool:
    """Whether so many distinct points of p numbers each are few enough to try every hyperplane."""
    return p <= LONGEST and comb(points, p - 1) * points <= LIMIT


def fewest_errors(data: Data, positive: int, intercept: bool) -> float:
    """min over (w, b), or over w != 0 for b = 0, of the weight of rows on the wrong side; 0 if there are too many.

    A score of 0 predicts +. With b any constant prediction is that of a hyperplane beyond all points. Without b, w = 0
    is no hyperplane, though it predicts + everywhere; but where all points lie on a hyperplane, that one does the same.
    """
    costs = weights_of_rows(data, positive)
    if not repeatable(len(costs), data.X.shape[1] + intercept):
        return 0.0
    rows = [whole_numbers([*np.frombuffer(row), 1.0][: data.X.shape[1] + intercept])[0] for row in costs]
    return _fewest([(tuple(row), *cost) for row, cost in zip(rows, costs.values(), strict=True)], zero=intercept)


def weights_of_rows(data: Data, positive: int) -> dict[bytes, tuple[float, float]]:
    """Of each distinct row, as the bytes of its numbers, the weight that is not positive and that which is."""
    found: dict[bytes, list[float]] = {}
    for x, codes, weight in data.blocks():
        rows = np.ascontiguousarray(x + 0.0)  # which makes -0.0 equal 0.0
        for row, code, c in zip(rows, codes, weight.tolist(), strict=True):
            found.setdefault(row.tobytes(), [0.0, 0.0])[int(code == positive)] += c
    return {row: (minus, plus) for row, (minus, plus) in found.items()}


def _fewest(points: list[Point], zero: bool) -> float:
    """The least cost of a prediction by some v, v = 0 being allowed or not.

    A hyperplane through p - 1 points splits those off it; those on it are split by hyperplanes of their own span, or
    all have the score 0.
    """
    length = len(points[0][0])
    points = _full_rank(points)
    p = len(points[0][0])
    best = sum(minus for _, minus, _ in points) if zero or p < length else float("inf")
    if p == 0:
        return best
    seen: set[tuple[int, ...]] = set()  # many sets of points give the same hyperplane
    for chosen in combinations([point for point, _, _ in points], p - 1):
        v = _orthogonal(chosen, p)
        if not any(v):
            continue
        signs = [_sign(sum(a * b for a, b in zip(point, v, strict=True))) for point, _, _ in points]
        if tuple(signs) in seen:
            continue
        seen.update((tuple(signs), tuple(-sign for sign in signs)))
        on = [
            (_without(point, v), minus, plus) for (point, minus, plus), s in zip(points, signs, strict=True) if s == 0
        ]
        inner: float | None = None
        for turn in (1, -1):
            cost = sum(
                (minus if turn * s > 0 else plus) for (_, minus, plus), s in zip(points, signs, strict=True) if s
            )
            if cost < best:
                inner = _split(on, p - 1) if inner is None else inner
                best = min(best, cost + inner)
    return best


def _split(on: list[Point], rank: int) -> float:
    """The least cost of the points on a hyperplane, which span it: if they are independent, each has its own way."""
    if len(on) == rank:
        return sum(min(minus, plus) for _, minus, plus in on)
    return _fewest(on, zero=True)


def _without(point: tuple[int, ...], v: list[int]) -> tuple[int, ...]:
    """Coordinates on the hyperplane orthogonal to v: one of those that v needs is a combination of the others."""
    j = next(j for j, entry in enumerate(v) if entry)
    return point[:j] + point[j + 1 :]


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def _orthogonal(rows: tuple[tuple[int, ...], ...], p: int) -> list[int]:
    """Signed minors of p - 1 rows: orthogonal to each, and 0 if they are dependent."""
    return [(-1) ** j * _determinant([row[:j] + row[j + 1 :] for row in rows]) for j in range(p)]


def _determinant(rows: list[tuple[int, ...]]) -> int:
    if not rows:
        return 1
    total = 0
    for j, entry in enumerate(rows[0]):
        if entry:
            total += (-1) ** j * entry * _determinant([row[:j] + row[j + 1 :] for row in rows[1:]])
    return total


def _full_rank(points: list[Point]) -> list[Point]:
    """The points in coordinates that are independent over them."""
    kept: list[int] = []
    reduced: list[tuple[int, list[int]]] = []  # the place of a leading entry, and the column
    for j in range(len(points[0][0])):
        column = [point[j] for point, _, _ in points]
        for place, other in reduced:
            if column[place]:
                a, b = other[place], column[place]
                column = [a * x - b * y for x, y in zip(column, other, strict=True)]
        places = [i for i, entry in enumerate(column) if entry]
        if places:
            kept.append(j)
            reduced.append((places[0], column))
    return [(tuple(point[j] for j in kept), minus, plus) for point, minus, plus in points]
