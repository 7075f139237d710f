"""Margins bounded so that rounding cannot break the bound: scores from below, hulls from above, exactly where needed.

A product of two floats is p + e with floats p and e, and so is a sum; `math.fsum` rounds a sum of floats once. With
these three, sums that cancel keep their digits. Kernels that are polynomials of floats are rational numbers.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from separatrix.certificates._data import EPS, TINY, Data
from separatrix.certificates._held import blocks_of, dense, magnitudes
from separatrix.certificates._sums import two_product

CLOSE = 1e-12  # relative rounding below which nothing is computed twice
UNDERFLOW = 1e-280  # products from this size on have their error in the range of float64
BALANCED = 1e-12  # of sum_i alpha_i: sum_i alpha_i y_i up to which it is taken for rounding
TERMS = 500_000  # products that are computed without rounding, at most


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """(s, e) with s + e = a + b exactly (Knuth)."""
    s = a + b
    rest = s - a
    return s, (a - (s - rest)) + (b - rest)


def exact_score(x: Any, w: Any, b: float) -> float:
    """w.x + b, rounded once (and by d TINY, where products underflow)."""
    there = x != 0
    p, e = two_product(x[there], w[there])
    return math.fsum([*p.tolist(), *e.tolist(), b])


def length_between(w: Any) -> tuple[float, float]:
    """Bounds on ‖w‖ from below and above."""
    exponent = int(np.frexp(np.abs(w).max(initial=0.0))[1])
    unit = np.ldexp(w, -exponent)
    root = math.sqrt(math.fsum((unit * unit).tolist()))
    below, above = root * (1 - 4 * EPS), root * (1 + 4 * EPS) + len(w) * 1e-150
    return float(np.ldexp(max(below, 0.0), exponent)), float(np.ldexp(above, exponent)) if root else 0.0


def quotient_below(value: float, below: float, above: float) -> float:
    """A number that value / length does not fall below, for a length between two bounds; -inf for a length of 0."""
    if not below > 0:
        return -np.inf
    ratio = value / above if value > 0 else value / below
    return float(ratio - 2 * EPS * abs(ratio) - TINY)


def smallest_score(data: Data, signs: Any, w: Any, b: float) -> float:
    """A number that no y_i (w.x_i + b) is below, and that rounding keeps close to the smallest of them.

    Scores are about the first row, f(x) = w.(x - x_1) + f(x_1), as columns may be far from the origin. Those that could
    be the smallest are computed again, without rounding, if rounding matters.
    """
    centre, at, low, high = None, 0.0, [], []
    for rows, x in data.rows():
        if centre is None:
            centre = x[0].copy()
            at = exact_score(centre, w, b)
        moved = x - centre
        score = signs[rows] * (moved @ w + at)
        size = np.abs(moved) @ np.abs(w) + abs(at)
        error = (len(w) + 6) * (EPS * size + TINY)
        low.append(score - error)
        high.append(score + error)
    bottom, top = np.concatenate(low), np.concatenate(high)
    if not (np.isfinite(bottom).all() and np.isfinite(top).all()):
        return -np.inf
    ceiling = float(top.min())
    doubtful = np.flatnonzero(bottom <= ceiling)
    if float((top - bottom)[doubtful].max()) <= CLOSE * abs(ceiling):
        return float(bottom.min())
    doubtful = doubtful[np.argsort(bottom[doubtful], kind="stable")][: max(1, TERMS // max(len(w), 1))]
    for i in doubtful.tolist():
        value = signs[i] * exact_score(dense(data.X[[i]])[0], w, b)
        bottom[i] = value - EPS * abs(value) - len(w) * TINY
    return float(bottom.min())


def combination(X: Any, rows: Any, weights: Any) -> tuple[Any, Any]:
    """sum_i weights_i x_i over the rows, and a bound on the error of each entry; compensated if it cancels."""
    m, d = len(rows), X.shape[1]
    total, size = np.zeros(d), np.zeros(d)
    for some in blocks_of(m, d):
        x, part = X[rows[some]], weights[some]
        x = x if hasattr(x, "tocsr") else dense(x)
        total += np.asarray(part @ x, dtype=np.float64).ravel()
        size += np.asarray(np.abs(part) @ magnitudes(x), dtype=np.float64).ravel()
    error = (m + 8) * (EPS * size + TINY)
    if total.any() and float(np.linalg.norm(error)) <= CLOSE * float(np.linalg.norm(total)):
        return total, error
    total, rest, small, lost = np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(d)
    for some in blocks_of(m, d):
        x = dense(X[rows[some]])
        p, e = two_product(weights[some, None], x)
        lost += TINY * ((np.abs(p) < UNDERFLOW) & (x != 0)).sum(axis=0)
        rest += e.sum(axis=0)
        small += np.abs(e).sum(axis=0)
        while len(p):
            odd = p[-1:] if len(p) % 2 else p[:0]
            p, e = two_sum(p[: len(p) // 2], p[len(p) // 2 : 2 * (len(p) // 2)])
            rest += e.sum(axis=0)
            small += np.abs(e).sum(axis=0)
            if len(odd):
                total, e = two_sum(total, odd[0])
                rest, small = rest + e, small + np.abs(e)
    return total + rest, EPS * np.abs(total + rest) + (2 * m + 64) * EPS * small + lost


def hull_bound(X: Any, signs: Any, rows: Any, alpha: Any, ones: float, free: bool) -> float:
    """An upper bound on every min_i y_i f(x_i) with f of length 1, by sum_i alpha_i y_i (x_i, ones) over the rows.

    min_i y_i f(x_i) <= sum_i alpha_i y_i f(x_i) / sum_i alpha_i. If b is free, outside the norm, t = sum_i alpha_i y_i
    has to be 0. Where t is rounding the largest alpha_i makes it so; else t counts by how large b may be:
    f(x) = w.(x - c) + b', and |b'| <= r where both classes have a point within r of c, or no margin is above 0. Here c
    is the row of the largest alpha_i, and the bound is (‖sum_i alpha_i y_i (x_i - c)‖ + r |t|) / sum_i alpha_i.
    """
    rows, alpha = rows[alpha > 0], alpha[alpha > 0]
    alpha = np.ldexp(alpha, -int(np.frexp(alpha.max())[1]))  # by a power of two: sums neither overflow nor vanish
    total = math.fsum(alpha.tolist()) * (1 - EPS)
    weights = alpha * signs[rows]
    tilt = math.fsum(weights.tolist())
    beside = 0.0
    if free:
        largest = int(np.argmax(alpha))
        centre = dense(X[rows[[largest]]])[0]
        reach = max(_nearest(X, rows[signs[rows] == side], centre) for side in (1.0, -1.0))
        rest = math.fsum([*weights.tolist(), -tilt])  # tilt + rest is t up to EPS times the rest
        beside = EPS * abs(rest) * (length_between(centre)[1] + reach)
        rows = np.concatenate([rows, rows[[largest, largest]]])
        weights = np.concatenate([weights, [-tilt, -rest]])
        if abs(tilt) <= min(BALANCED * total, float(alpha[largest])):
            total -= abs(tilt) * (1 + EPS)
        else:
            beside += reach * abs(tilt) * (1 + 4 * EPS)
    u, error = combination(X, rows, weights)
    if not free and ones:
        u, error = np.append(u, tilt), np.append(error, EPS * abs(tilt))
    bound = (length_between(u)[1] + length_between(error)[1] + beside) / total
    return float(bound * (1 + 8 * EPS) + (TINY if bound else 0.0)) if np.isfinite(bound) else np.inf


def _nearest(X: Any, rows: Any, centre: Any) -> float:
    """A radius about the centre that reaches the first of the rows; infinite if there is none."""
    if not len(rows):
        return np.inf
    return length_between(dense(X[rows[:1]])[0] - centre)[1] * (1 + 4 * EPS)


def rational_kernel(kernel: Any, left: Any, right: Any) -> tuple[Any, Fraction]:
    """k(a, b) of all pairs without rounding, as whole numbers times a unit, for a linear or polynomial kernel."""
    A, a_unit = whole(dense(left))
    B, b_unit = whole(dense(right))
    inner, unit = A @ B.T, a_unit * b_unit
    if kernel["kernel"] == "linear":
        return inner, unit
    unit = unit * Fraction(float(kernel.get("gamma", 1.0)))
    coef0 = Fraction(float(kernel.get("coef0", 0.0)))
    common = unit.denominator * coef0.denominator
    value = inner * int(unit * common) + int(coef0 * common)
    degree = int(kernel["degree"])
    return value**degree, Fraction(1, common) ** degree


def whole(x: Any) -> tuple[Any, Fraction]:
    """An array of floats as whole numbers (objects) times a power of two."""
    ratios = [entry.as_integer_ratio() for entry in x.ravel().tolist()]
    unit = max((denominator for _, denominator in ratios), default=1)  # the largest power of two is a multiple of all
    numbers = np.empty(len(ratios), dtype=object)
    numbers[:] = [numerator * (unit // denominator) for numerator, denominator in ratios]
    return numbers.reshape(x.shape), Fraction(1, unit)


def root_between(value: Fraction) -> tuple[float, float]:
    """Bounds on the square root of a number >= 0, from below and above."""
    if value <= 0:
        return 0.0, 0.0
    shift = 2 * max(0, 64 - (value.numerator.bit_length() - value.denominator.bit_length()) // 2)
    whole = math.isqrt((value.numerator << shift) // value.denominator)
    below, above = Fraction(whole, 1 << shift // 2), Fraction(whole + 1, 1 << shift // 2)
    return float(below) * (1 - 2 * EPS), float(above) * (1 + 2 * EPS)


def radius_above(X: Any, one: float) -> float:
    """max_i ‖(x_i, 1)‖, rounded up; without a square that overflows or vanishes."""
    X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    longest = 0.0
    for rows in blocks_of(*X.shape):
        x = dense(X[rows])
        size = max(float(np.abs(x).max(initial=0.0)), one) or 1.0
        longest = max(longest, size * float(np.sqrt(((x / size) ** 2).sum(axis=1) + (one / size) ** 2).max()))
    return longest * (1 + (X.shape[1] + 8) * EPS)
