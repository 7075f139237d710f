"""Sums of many numbers, each with a bound on its rounding."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from math import fsum
from typing import Any

import numpy as np

from separatrix.certificates._held import blocks_of

TERMS = 8  # numbers that are at hand for each row: Python's own take four times the memory


def halves(a: Any) -> tuple[Any, Any]:
    """a as a sum of two numbers of half its bits, whose products are exact (Dekker)."""
    high = (2.0 ** ((np.finfo(a.dtype).nmant + 2) // 2) + 1) * a
    high = high - (high - a)
    return high, a - high


def two_product(a: Any, b: Any) -> tuple[Any, Any]:
    """(p, e) with p + e = a b exactly, for numbers of float64 between 1e-140 and 1e140 in size, say."""
    p = a * b
    (a_high, a_low), (b_high, b_low) = halves(a), halves(b)
    return p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low


def sum_with_error(a: Any) -> tuple[Any, Any]:
    """The sum and its error: of float64 it is rounded once; NaN where it is beyond the floats."""
    return sum_of(a.__getitem__, len(a))


def sum_of(part: Callable[[slice], Any], n: int) -> tuple[Any, Any]:
    """The same of n numbers of which part(rows) are some, as they may be too many to have all in memory."""
    pieces = list(blocks_of(n, TERMS))
    if len(pieces) <= 1:
        few = part(slice(0, n))
        pieces, part = [slice(0, n)], lambda rows: few
    dtype = part(pieces[0]).dtype
    eps, size = float(np.finfo(dtype).eps), sum(np.abs(part(rows)).sum() for rows in pieces)
    if not np.isfinite(size):
        return float("nan"), float("nan")
    if dtype == np.float64:
        # of multipliers and slacks most are 0, which change no sum
        value = fsum(chain.from_iterable(some[some != 0].tolist() for some in map(part, pieces)))
        return value, eps * abs(value)
    return sum(part(rows).sum() for rows in pieces), n * eps * size
