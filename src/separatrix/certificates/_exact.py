"""Sums and signs without rounding, at the speed of NumPy where floats allow it.

A float is a whole number times a power of two. Cut into slices of few bits, sums of products of slices are whole
numbers that float64 holds exactly, so a matrix product gives them without error.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import isqrt, lcm
from typing import Any

import numpy as np

from separatrix.certificates._data import EPS, TINY
from separatrix.certificates._held import blocks_of

BITS = 17  # of a slice: ROWS products of two slices stay below 2**53
ROWS = 1 << 17
DEEPEST = -1074  # every float64 is a multiple of 2**DEEPEST
BASE = -2 * DEEPEST  # a product of two floats is a multiple of 2**-BASE


def exact_sums(weights: Any, x: Any) -> Any:
    """weights' x for float arrays (m, q) and (m, d): the integers 2**BASE times the sums, an object array (q, d)."""
    total = np.zeros((weights.shape[1], x.shape[1]), dtype=object)
    for rows in blocks_of(len(x), 1, ROWS):
        parts = list(slices(weights[rows]))
        for x_part, x_exponent in slices(x[rows]):
            for w_part, w_exponent in parts:
                sums = w_part.T @ x_part
                for c, j in zip(*np.nonzero(sums), strict=True):
                    total[c, j] += int(sums[c, j]) << int(w_exponent[c] + x_exponent[j] + BASE)
    return total


def slices(a: Any) -> Iterator[tuple[Any, Any]]:
    """a = sum over slices of part * 2**exponent, part holding whole numbers up to 2**BITS, a column at a time."""
    rest = np.array(a, dtype=np.float64)
    if not np.isfinite(rest).all():
        raise ValueError("Only finite numbers have an exact sum.")
    _, top = np.frexp(np.abs(rest).max(axis=0, initial=0.0))
    exponent = np.maximum(top - BITS, DEEPEST)
    while rest.any():
        part = np.rint(_times_power(rest, -exponent))
        rest -= _times_power(part, exponent)
        yield part, exponent
        exponent = np.maximum(exponent - BITS, DEEPEST)


def _times_power(a: Any, exponent: Any) -> Any:
    """a * 2**exponent, where a power itself may be beyond the floats."""
    if (np.abs(exponent) < 1000).all():
        return a * np.ldexp(1.0, exponent)
    return np.ldexp(a, exponent)


def rational(value: Any) -> Fraction:
    """The number itself: every float is a fraction."""
    return value if isinstance(value, Fraction) else Fraction(float(value))


def numbers(values: Any, name: str, *shape: int) -> Any:
    """The values as an array of this very shape, of finite floats or of Fractions; `ValueError` if they are not."""
    array = np.asarray(values)
    array = array.astype(np.float64 if array.dtype.kind == "f" else object)
    known = all(
        type(entry) in (Fraction, int) or (isinstance(entry, float) and abs(entry) < np.inf)
        for entry in array.ravel().tolist()
    )
    if array.shape != shape or not known:
        raise ValueError(f"{name} must hold finite numbers, in the shape {shape}; it holds {array!s:.80}.")
    return array


def whole_numbers(values: Any) -> tuple[list[int], int]:
    """The values, floats or Fractions, times the least whole number that makes them all whole; and that number."""
    ratios = [rational(value) for value in values]
    common = lcm(*(ratio.denominator for ratio in ratios))
    return [ratio.numerator * (common // ratio.denominator) for ratio in ratios], common


def length_above(w: Any) -> Fraction:
    """‖w‖ of floats or Fractions, rounded up by less than one part in 2**60; 0 for w = 0."""
    whole, common = whole_numbers(w)
    square = sum(entry**2 for entry in whole)
    if not square:
        return Fraction(0)
    shift = max(0, 64 - square.bit_length() // 2)
    return Fraction(isqrt((square << 2 * shift) - 1) + 1, common << shift)


def exact_signs(x: Any, w: Any, b: Any) -> Any:
    """-1, 0 or +1 for each row of x: the sign of w.x + b for floats or Fractions w and b, without rounding."""
    whole, _ = whole_numbers([*w, b])
    largest = max(map(abs, whole))
    if largest == 0:
        return np.zeros(len(x), dtype=int)
    floats = np.array([entry / largest for entry in whole])  # true division of integers never overflows here
    with np.errstate(all="ignore"):
        scores = x @ floats[:-1] + floats[-1]
        sizes = np.abs(x) @ np.abs(floats[:-1]) + abs(floats[-1])
        error = (x.shape[1] + 6) * (EPS * sizes + TINY * (1 + np.abs(x).sum(axis=1)))
        sure = np.abs(scores) > error  # False where anything overflowed
    signs = np.where(sure, np.sign(scores), 0).astype(int)
    for i in np.flatnonzero(~sure):
        score, _ = _dot([*x[i].tolist(), 1.0], whole)
        signs[i] = (score > 0) - (score < 0)
    return signs


def products(rows: Any, values: Any) -> list[Fraction]:
    """sum_j rows_ij values_j for each row of floats, the values being floats or Fractions, without rounding."""
    whole, common = whole_numbers(values)
    return [Fraction(total, power * common) for total, power in (_dot(row, whole) for row in rows.tolist())]


def _dot(row: list[float], whole: list[int]) -> tuple[int, int]:
    """The sum of row_j whole_j times a power of two that makes it whole, and that power."""
    terms = [(*entry.as_integer_ratio(), n) for entry, n in zip(row, whole, strict=True) if entry and n]
    power = max((denominator for _, denominator, _ in terms), default=1)
    bits = power.bit_length()
    return sum(numerator * n << bits - denominator.bit_length() for numerator, denominator, n in terms), power


def scores_with_error(x: Any, coef: Any, intercept: Any) -> tuple[Any, Any]:
    """X coef' + intercept in float64, and a bound on its rounding error: both (m, k), inf where it overflows."""
    with np.errstate(all="ignore"):
        scores = x @ coef.T + intercept
        size = np.abs(x) @ np.abs(coef).T + np.abs(intercept)
        error = (x.shape[1] + 4) * (EPS * size + TINY)
    unknown = ~(np.isfinite(scores) & np.isfinite(error))
    return np.where(unknown, 0.0, scores), np.where(unknown, np.inf, error)


def lengths_between(coef: Any) -> tuple[Any, Any]:
    """‖w_a - w_c‖ for all rows a, c of weights, (k, k), from above and from below; the weights may be rounded."""
    d = coef.shape[1]
    most = float(np.abs(coef).max()) or 1.0  # squares of what is divided by it neither overflow nor vanish
    unit = coef / most
    lengths = np.array([np.linalg.norm(unit - row, axis=1) for row in unit])
    doubt = (d + 8) * EPS * lengths + 16 * d * EPS
    return most * (lengths + doubt), most * np.maximum(lengths - doubt, 0.0)
