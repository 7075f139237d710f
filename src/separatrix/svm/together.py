"""The soft margins of all pairs of classes of a small table, solved at once; what that leaves open is None.

A machine of a hundred points takes some tens of microseconds, and what surrounds it ten times as long: with 200 classes
there are 19,900 of them. So the kernel matrix of all points is made once, one call solves all pairs on parts of it, and
they are scored and rounded outward together, in arrays (B, M) with the points of a pair in each line, and then zeros.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.kernels import KernelRows, Linear
from separatrix.loops.working_set import moved_all
from separatrix.solvers.soft_margin import relative_gaps
from separatrix.svm.choose import TOGETHER, held_in_full
from separatrix.svm.kernel_claims import CLEAR, kernel_unit
from separatrix.svm.kernel_svm import Settings
from separatrix.svm.one_vs_one import Pair
from separatrix.svm.stated import SURE, kernel_terms, linear_terms, stated
from separatrix.targets import Targets

CELLS = 1 << 18  # numbers in an array of those that are scored together, some thirty of which are alive at a time
GOAL = 1e-11  # relative gap; what is not within CLEAR of the optimum is solved otherwise


@dataclass(frozen=True)
class Solved:
    """One machine: alpha, expansion and scores of its points, w of a linear one; primal rounded up, dual down."""

    alpha: Floats
    expansion: Floats
    w: Floats | None
    scores: Floats
    b: float
    square: float
    primal: float
    dual: float
    relative_gap: float
    n_iter: int


def all_pairs(
    rows: KernelRows, points: Array, weight: Floats, targets: Targets, pairs: list[Pair], settings: Settings
) -> list[Solved | None]:
    """A machine for each pair that comes out far within tol; ``points`` are dense rows if k is linear."""
    found: list[Solved | None] = [None] * len(pairs)
    linear = isinstance(rows.kernel, Linear)
    if not held_in_full(rows.n) or settings.single or not rows.kernel.positive_semidefinite:
        return found
    sizes = np.array([len(pair.rows) for pair in pairs])
    left = np.flatnonzero(sizes <= TOGETHER) if linear else np.arange(len(pairs))
    if not len(left) or (linear and not isinstance(points, np.ndarray)):
        return found
    order, places = _places(targets, pairs)
    K, unit = (rows if order is None else rows.only(order)).square(), kernel_unit(rows)
    scale = float(K.diagonal().max()) or 1.0
    if scale != 1.0:
        K /= scale
    cells = sizes * (points.shape[1] if linear else 1)
    left = left[np.argsort(-cells[left], kind="stable")]  # pairs of like sizes together
    while len(left):
        some, left = np.split(left, [max(1, CELLS // int(cells[left[0]]))])
        batch = _solved(K, scale, places[some], [pairs[k] for k in some], weight, settings)
        x = np.asarray(points[batch.rows], dtype=np.float64) if linear else None
        for k, machine in zip(some, _claimed(batch, unit, x, settings), strict=True):
            found[k] = machine
    return found


def _places(targets: Targets, pairs: list[Pair]) -> tuple[Integers | None, Integers]:
    """The order by class, None for the rows as they are; of each pair, where its two ranges of points begin in it, and
    how many there are in each.
    """
    if targets.binary:
        return None, np.array([[0, len(targets.values), 0, 0]])
    ordered = bool((targets.values[1:] >= targets.values[:-1]).all())
    counts = np.bincount(targets.values, minlength=targets.n_classes)
    starts = np.cumsum(counts) - counts
    first, second = np.array([(pair.positive, pair.negative) for pair in pairs]).T
    return (
        None if ordered else np.argsort(targets.values, kind="stable"),
        np.column_stack([starts[first], counts[first], starts[second], counts[second]]),
    )


@dataclass(frozen=True)
class _Batch:
    """Pairs with their dual points; scores are f_i - b, sizes sum_j |k(x_i, x_j)| alpha_j, gap is relative."""

    rows: Integers
    lengths: list[int]
    y: Floats
    bound: Floats
    alpha: Floats
    scores: Floats
    sizes: Floats
    b: Floats
    gap: Floats
    moves: Integers
    largest: float
    intercept: bool


def _solved(K: Floats, scale: float, places: Integers, pairs: list[Pair], weight: Floats, settings: Settings) -> _Batch:
    """The pairs, of which the first is the largest, by kernel values that were divided by ``scale``."""
    lengths = [len(pair.rows) for pair in pairs]
    shape = len(pairs), lengths[0]
    rows, y, bound = np.zeros(shape, dtype=np.intp), np.ones(shape), np.zeros(shape)
    for number, (pair, m) in enumerate(zip(pairs, lengths, strict=True)):
        rows[number, :m], y[number, :m], bound[number, :m] = pair.rows, pair.y, weight[pair.rows]
    bound *= settings.C
    U, free = bound * scale, settings.fit_intercept
    alpha, F, sizes, moves = moved_all(K, places, y, U, GOAL, free)
    b, gap = relative_gaps(alpha, F, y, U, free)
    alpha = np.minimum(alpha / scale, bound)
    return _Batch(rows, lengths, y, bound, alpha, y - F, sizes, b, gap, moves, scale, free)


def _claimed(batch: _Batch, unit: float, x: Floats | None, settings: Settings) -> list[Solved | None]:
    """Machines with figures rounded outward: kernel values are off by ``unit`` at most, or points x (B, M, d)."""
    c, W = batch.alpha * batch.y, list[Floats | None]([None] * len(batch.y))
    with np.errstate(all="ignore"):
        if x is None:
            terms = kernel_terms(batch.scores, batch.sizes, c, unit, batch.largest)
        else:
            w = (c[:, None, :] @ x)[:, 0]
            terms, W = linear_terms(x, c, w), list(w)
        primal, dual, doubt = stated(terms, batch.y, batch.bound, batch.alpha, batch.b, batch.intercept)
        gap = np.maximum((primal - dual) / primal, doubt)
    good = (gap <= SURE * settings.tol) & (batch.gap <= CLEAR) & (dual > 0)
    scores = terms.scores + batch.b[:, None]
    figures = (batch.b, terms.square, primal, dual, gap, np.maximum(batch.moves, 1))
    return [
        Solved(batch.alpha[k, :m], c[k, :m], W[k], scores[k, :m], *numbers) if good[k] else None
        for k, (m, *numbers) in enumerate(zip(batch.lengths, *(f.tolist() for f in figures), strict=True))
    ]
