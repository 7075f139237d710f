"""exp as the C loops compute it, with the same bits: 2^k times a polynomial."""

from __future__ import annotations

from math import isnan, ldexp

LOG2_E = float.fromhex("0x1.71547652b82fep0")
LOG2_HIGH, LOG2_LOW = float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")  # their sum is log 2
FACTORIALS = [1, 1, 2, 6, 24, 120, 720, 5040, 40320, 362880, 3628800, 39916800, 479001600, 6227020800]


def exponential(x: float) -> float:
    """exp(x) = 2^k exp(r) with |r| <= log(2) / 2, by a polynomial of degree 13; within an ulp or so."""
    if isnan(x):
        return x
    y = max(min(x, 710.0), -746.0)
    k = round(y * LOG2_E)
    r = (y - k * LOG2_HIGH) - k * LOG2_LOW
    c = [1.0 / factorial for factorial in FACTORIALS]
    p2, p4, p6, p8, p10, p12 = (c[j] + r * c[j + 1] for j in range(2, 14, 2))
    r2 = r * r
    r4 = r2 * r2
    high = (p8 + r2 * p10) + r4 * p12
    p = (1.0 + r) + (r2 * (p2 + r2 * p4) + (r4 * (r2 * p6) + r4 * r4 * high))
    try:
        return ldexp(p, k)
    except OverflowError:
        return float("inf")
