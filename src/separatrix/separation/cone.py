"""The rows whose signs are in question: z_i = y_i (x_i, 1), and for several classes one row for each rival.

For class codes y_i in 0, ..., k - 1 and coefficients V (p, k - 1), class 0 having V = 0, the lead of row i over a
rival c is (x_i, 1).(V_{y_i} - V_c) = z_ic.V. The classes are separable when some V makes every lead positive. With
two classes z_i1 or z_i0 is ±(x_i, 1): the same thing as y_i (w.x_i + b).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.certificates._held import dense
from separatrix.design import Block, Design
from separatrix.design.reducing import Parts


@dataclass(frozen=True)
class Cone:
    """All rows z_ic of a design: i a row, c a class other than its own.

    Parameters
    ----------
    design : Design
        The rows x_i, conditioned by powers of two and a shift.
    codes : integer array of shape (n,)
        The classes y_i.
    k : int
        Number of classes.
    """

    design: Design
    codes: Integers
    k: int

    @property
    def q(self) -> int:
        """Number of coefficients: p for each class but the first."""
        return self.design.p * (self.k - 1)

    @property
    def size(self) -> int:
        """Number of rows z_ic."""
        return self.design.n * (self.k - 1)

    def total(self, weight: Floats) -> Floats:
        """sum_ic weight_ic z_ic, (p, k - 1)."""
        (total,) = self.design.reduce(_total, self.codes, weight)
        return np.asarray(total)

    def only(self, rows: Array) -> Self:
        """The cone of some rows x_i, under the same conditioning."""
        return replace(self, design=self.design.take(rows), codes=self.codes[rows])

    def dense(self, rows: Integers, rivals: Integers) -> Floats:
        """The rows z_ic themselves, for pairs (i, c): an array (m, q), coefficients of class 1 first."""
        p = self.design.p
        x = self.design.take(rows).dot(np.eye(p))
        out = np.zeros((len(rows), self.k, p))
        at = np.arange(len(rows))
        out[at, self.codes[rows]] += x
        out[at, rivals] -= x
        return out[:, 1:].reshape(len(rows), self.q)

    def nearest(self, V: Floats, count: int) -> tuple[Integers, Integers, Floats]:
        """(i, c, lead) of the `count` smallest leads, in order."""
        i, c, lead = self.design.rows(_nearest, self.codes, args=(V, count))
        order = np.lexsort((c, i, lead))[:count]
        return i[order], c[order], lead[order]


def leads(block: Block, codes: Array, V: Floats) -> Floats:
    """z_ic.V as (m, k); infinite for a row's own class."""
    scores, rows = block.dot(V), np.arange(len(codes))
    if scores.shape[1] == 1:
        lead = np.full((len(codes), 2), np.inf)
        lead[rows, 1 - codes] = np.where(codes == 1, scores[:, 0], -scores[:, 0])
        return lead
    scores = np.column_stack([np.zeros(len(codes)), scores])
    lead = scores[rows, codes][:, None] - scores
    lead[rows, codes] = np.inf
    return lead


def pull(block: Block, codes: Array, weight: Floats) -> Floats:
    """sum of weight_ic z_ic over a block, (p, k - 1), for weights (m, k) that are 0 for a row's own class."""
    return block.tdot(signed(codes, weight)[:, 1:])


def signed(codes: Array, weight: Floats) -> Floats:
    """With what factor row i counts in the sum of each class, (m, k): minus weight_ic, and all of them in its own."""
    factor = -weight
    factor[np.arange(len(codes)), codes] += weight.sum(axis=1)
    return factor


def _total(block: Block, codes: Array, weight: Floats) -> Parts:
    return (pull(block, codes, weight),)


def _nearest(block: Block, codes: Array, V: Floats, count: int) -> Parts:
    lead = leads(block, codes, V)
    k, flat = lead.shape[1], lead.ravel()
    some = min(count, flat.size - len(codes))
    at = np.argpartition(flat, some - 1)[:some] if some else np.zeros(0, dtype=np.intp)
    return block.first + at // k, at % k, flat[at]


def _largest(block: Block) -> Parts:
    return (dense(abs(block.x).max(axis=0)).ravel(),)


def conditioned(design: Design, codes: Integers, k: int) -> Cone:
    """The rows centred (with an intercept) and their columns multiplied by powers of two, to size about 1."""
    centred = design.centred(np.ones(design.n))
    return Cone(centred.scaled(powers_of_two(centred)), codes, k)


def powers_of_two(design: Design) -> Floats:
    """For each column the power of two that brings its largest entry to between 1/2 and 1: exact to multiply by."""
    (largest,) = design.extremes(_largest)
    _, exponent = np.frexp(np.where(largest > 0, largest, 1.0))
    return np.ldexp(1.0, np.clip(-exponent, -1020, 1020))
