"""Which rows a direction with no negative lead must leave at 0: found face by face, in whole numbers.

If sum lambda_i z_i = 0 with lambda > 0 on a set S, every v with all z_i.v >= 0 has z.v = 0 on the span of S. So
either some v is positive on all rows (separable); or there is such an S, and the question goes on for the rows outside
its span, modulo that span. It ends with v positive on what is left (quasi-separable) or with nothing left (overlapping:
the rows of S span all). Each round adds to the rank of S, so there are at most q of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd

import numpy as np

from separatrix._typing import Array
from separatrix.separation.integers import Pair, WholeRows, combination, null_space
from separatrix.separation.simplex import decide
from separatrix.separation.work import Work


@dataclass(frozen=True)
class Faces:
    """The exact answer: a direction v in whole numbers (or None) and positive weights on rows (or none).

    The weights are for the whole-number rows of `WholeRows`. A direction alone separates; weights alone are those of an
    overlap; both are quasi-separation.
    """

    direction: Array | None
    support: tuple[Pair, ...]
    weights: tuple[Fraction, ...]


def prove(whole: WholeRows, hints: list[Pair], work: Work) -> Faces:
    """Decide without rounding; ``hints`` are the rows to look at first."""
    cone = whole.cone
    settled = np.arange(cone.k) == cone.codes[:, None]
    support: tuple[Pair, ...] = ()
    weights: tuple[Fraction, ...] = ()
    for _ in range(cone.q + 1):
        decision = decide(
            cone.q + 1,
            [pair for pair in hints if not settled[pair]],
            lambda pair: _column(whole, pair),
            lambda v, done=settled: _violated(whole, v, done),  # type: ignore[misc]
            work,
            free=[whole.row(pair) for pair in support],
        )
        if decision.direction is not None:
            return Faces(reduced(decision.direction), support, weights)
        support, weights = _joined(whole, support, weights, decision.support, decision.weights)
        basis = null_space([whole.row(pair) for pair in support], cone.q)
        settled = ~whole.outside(basis)
        if settled.all():
            return Faces(None, support, weights)
    raise AssertionError("The rank of the support grows in every round.")


def reduced(v: Array) -> Array:
    """v divided by the greatest common divisor of its entries."""
    return v // (gcd(*map(int, v)) or 1)


def _column(whole: WholeRows, pair: Pair) -> Array:
    z = whole.row(pair)
    return np.append(z, max(1, max(map(abs, z), default=1)))


def _violated(whole: WholeRows, v: Array, settled: Array) -> list[Pair]:
    """The rows with z.v <= 0, at most some times q of them, the worst first."""
    signs, order = whole.signs(v, skip=settled)
    i, c = np.nonzero((signs <= 0) & ~settled)
    worst = np.argsort(order[i, c], kind="stable")[: 2 * whole.cone.q + 10]
    return [(int(i[w]), int(c[w])) for w in worst]


def _joined(
    whole: WholeRows,
    support: tuple[Pair, ...],
    weights: tuple[Fraction, ...],
    more: tuple[Pair, ...],
    more_weights: tuple[int, ...],
) -> tuple[tuple[Pair, ...], tuple[Fraction, ...]]:
    """Positive weights on both sets with sum 0, where the sum over `more` is only known to be in the support's span."""
    if not support:
        return more, tuple(map(Fraction, more_weights))
    sums = sum(weight * whole.row(pair) for pair, weight in zip(more, more_weights, strict=True))
    change = combination([whole.row(pair) for pair in support], -np.asarray(sums))
    assert change is not None
    return support + more, lifted(weights, change) + tuple(map(Fraction, more_weights))


def lifted(weights: tuple[Fraction, ...], change: list[Fraction]) -> tuple[Fraction, ...]:
    """change + M weights for the smallest power of two M (or 0) that makes all entries positive."""
    M = Fraction(0)
    while any(c + M * weight <= 0 for c, weight in zip(change, weights, strict=True)):
        M = M * 2 if M else Fraction(1, 1 << 20)
    return tuple(c + M * weight for c, weight in zip(change, weights, strict=True))
