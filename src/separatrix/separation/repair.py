"""Weights whose sum of rows is exactly 0: whole numbers nearly everywhere, fractions on few rows that take the rest."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.certificates._exact import BASE, exact_sums
from separatrix.certificates._held import blocks_of, dense
from separatrix.design import Block
from separatrix.design.reducing import Parts
from separatrix.separation.cone import signed
from separatrix.separation.faces import lifted
from separatrix.separation.integers import Pair, WholeRows, combination, independent

BITS = 24  # of a weight
SAMPLE = 200_000  # weights to choose the rows from that take the rest


@dataclass(frozen=True)
class ExactWeights:
    """lambda (n, k): floats, and fractions at some pairs, where the float is only near."""

    floats: Floats
    at: tuple[Pair, ...]
    fractions: tuple[Fraction, ...]


def repaired(whole: WholeRows, weights: Floats) -> ExactWeights | None:
    """Near-balanced positive weights made exact on independent rows of large weight; None if one would not stay > 0."""
    cone = whole.cone
    flat = weights.reshape(-1)
    stride = max(1, flat.size // SAMPLE) | 1  # odd, so that it meets every class
    sample = flat[::stride]
    count = min(len(sample), 20 * cone.q + 200)
    top = np.argpartition(sample, len(sample) - count)[-count:]
    spread = np.linspace(0, len(sample) - 1, count).astype(np.intp)  # in case the top rows are alike
    at = stride * np.unique(np.concatenate([top, spread]))
    at = at[flat[at] > 0]
    rows, rivals = at // cone.k, at % cone.k
    chosen = independent(flat[at, None] * cone.dense(rows, rivals))
    pairs = tuple((int(rows[j]), int(rivals[j])) for j in chosen)
    units = whole_weights(cone.codes, weights)
    change = _change(whole, pairs, residual(whole, units))
    if change is None:
        return None
    fractions = tuple(Fraction(units[pair]) + c * 2 ** whole.power(pair) for pair, c in zip(pairs, change, strict=True))
    if any(weight <= 0 for weight in fractions):
        return None
    return _with(units, pairs, fractions)


def filled(
    whole: WholeRows, weights: Floats | None, support: tuple[Pair, ...], base: tuple[Fraction, ...]
) -> ExactWeights:
    """Positive weights on every row, given exact ones on a support that spans all rows."""
    cone = whole.cone
    relevant = np.arange(cone.k) != cone.codes[:, None]
    units = whole_weights(cone.codes, relevant.astype(float) if weights is None else weights)
    change = _change(whole, support, residual(whole, units))
    assert change is not None  # the support spans every row
    known = [Fraction(units[pair]) / 2 ** whole.power(pair) + c for pair, c in zip(support, change, strict=True)]
    total = lifted(base, known)
    return _with(units, support, tuple(c * 2 ** whole.power(pair) for pair, c in zip(support, total, strict=True)))


def only_support(whole: WholeRows, support: tuple[Pair, ...], base: tuple[Fraction, ...]) -> ExactWeights:
    """Exact weights on a support, 0 elsewhere."""
    floats = np.zeros((whole.cone.design.n, whole.cone.k))
    weights = [c * 2 ** whole.power(pair) for pair, c in zip(support, base, strict=True)]
    size = Fraction(2) ** (int(max(weights)).bit_length())  # any common factor will do: the largest weight is about 1
    return _with(floats, support, tuple(weight / size for weight in weights))


def _with(units: Floats, pairs: tuple[Pair, ...], fractions: tuple[Fraction, ...]) -> ExactWeights:
    for pair, weight in zip(pairs, fractions, strict=True):
        units[pair] = to_float(weight)
    return ExactWeights(units, pairs, fractions)


def to_float(value: Fraction) -> float:
    """The float nearest to a positive number, and the largest one for what is beyond."""
    try:
        return float(value)
    except OverflowError:
        return float(np.finfo(np.float64).max)


def _change(whole: WholeRows, pairs: tuple[Pair, ...], total: list[Fraction]) -> list[Fraction] | None:
    """Coefficients of the whole-number rows of some pairs that add up to -total."""
    common = lcm(*(entry.denominator for entry in total))
    target = [-int(entry * common) for entry in total]
    change = combination([whole.row(pair) for pair in pairs], target)
    return None if change is None else [c / common for c in change]


def whole_weights(codes: Integers, weights: Floats) -> Floats:
    """Weights made whole numbers from 1 to 2**BITS, 0 for a row's own class, in place: as good as before."""
    weights *= 2.0**BITS / weights.max()
    units = np.maximum(np.rint(weights, out=weights), 1.0, out=weights)
    np.put_along_axis(units, codes[:, None], 0.0, axis=1)
    if units.size <= SAMPLE:  # small numbers are easier to read
        units /= np.gcd.reduce(units.astype(np.int64), axis=None)
    return units


def residual(whole: WholeRows, units: Floats) -> list[Fraction]:
    """sum_ic units_ic z_ic without rounding, for the scaled columns."""
    (total,) = whole.plain.design.reduce(_exact_total, whole.plain.codes, units, args=(whole.scale,))
    return [Fraction(int(entry), 1 << BASE) for entry in total.ravel()]


def _exact_total(block: Block, codes: Array, weights: Floats, scale: Floats) -> Parts:
    """2**BASE times the sums of a block, (k - 1, p), as whole numbers."""
    total = np.zeros((weights.shape[1] - 1, block.design.p), dtype=object)
    for rows in blocks_of(len(codes), block.design.p):
        x = dense(block.x[rows]) * scale
        if block.design.intercept:
            x = np.column_stack([x, np.ones(len(x))])
        total += exact_sums(signed(codes[rows], weights[rows])[:, 1:], x)
    return (total,)
