"""Distinct points with one label each: what is left of the problem when identical rows are merged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix._typing import Floats, Integers
from separatrix.design import Block, Design
from separatrix.design.reducing import Parts


@dataclass(frozen=True)
class Points:
    """Errors = forced + the weight of points on the wrong side.

    Of identical rows with opposite labels, the lighter side is always wrong (or either, if they balance: such rows
    are left out); the difference of their weights remains, on the heavier side.

    Parameters
    ----------
    rows : integer array
        For each point, a row of the data that is equal to it.
    signs : array
        ±1.
    weight : array
        Above 0.
    forced : float
        The weight of the lighter sides.
    count : int
        Number of distinct rows, those left out included.
    proof : str
        What the forced errors rest on, as in `ErrorBound`.
    """

    rows: Integers
    signs: Floats
    weight: Floats
    forced: float
    count: int
    proof: str


def distinct(design: Design, signs: Floats, weight: Floats) -> Points:
    """Merge identical rows. Without an intercept rows of zeros, whose score 0 predicts +1, are left out."""
    group, first = design.groups()
    count = len(first)
    for_plus = np.bincount(group, weights=np.where(signs > 0, weight, 0.0), minlength=count)
    for_minus = np.bincount(group, weights=np.where(signs < 0, weight, 0.0), minlength=count)
    net = for_plus - for_minus
    lighter = np.minimum(for_plus, for_minus)
    proof = "identical rows" if lighter.any() else "nothing"
    if not design.intercept:
        zero = design.take(first).rows(_sizes)[0] == 0
        proof = "identical rows" if for_minus[zero].any() else proof
        lighter = np.where(zero, for_minus, lighter)
        net = np.where(zero, 0.0, net)
    kept = np.flatnonzero(net)
    return Points(first[kept], np.sign(net[kept]), np.abs(net[kept]), float(lighter.sum()), count, proof)


def _sizes(block: Block) -> Parts:
    return (np.asarray(abs(block.x).sum(axis=1)).ravel(),)
