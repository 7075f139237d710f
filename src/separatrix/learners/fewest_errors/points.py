"""Distinct points with one label each: what is left of the problem when identical rows are merged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.design import Design


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
    group, first = _groups(design)
    count = len(first)
    for_plus = np.bincount(group, weights=np.where(signs > 0, weight, 0.0), minlength=count)
    for_minus = np.bincount(group, weights=np.where(signs < 0, weight, 0.0), minlength=count)
    net = for_plus - for_minus
    lighter = np.minimum(for_plus, for_minus)
    proof = "identical rows" if lighter.any() else "nothing"
    if not design.intercept:
        zero = abs(design.X[first]).sum(axis=1)
        zero = np.asarray(zero).ravel() == 0
        proof = "identical rows" if for_minus[zero].any() else proof
        lighter = np.where(zero, for_minus, lighter)
        net = np.where(zero, 0.0, net)
    kept = np.flatnonzero(net)
    return Points(first[kept], np.sign(net[kept]), np.abs(net[kept]), float(lighter.sum()), count, proof)


def _groups(design: Design) -> tuple[Array, Integers]:
    """The group of each row, and the first row of each group."""
    X = design.X
    if hasattr(X, "indptr"):
        X = X.copy()
        X.eliminate_zeros()
        X.sort_indices()
        seen: dict[tuple[bytes, bytes], int] = {}
        group = np.empty(design.n, dtype=np.intp)
        first: list[int] = []
        for i in range(design.n):
            span = slice(X.indptr[i], X.indptr[i + 1])
            key = X.indices[span].tobytes(), X.data[span].tobytes()
            if key not in seen:
                seen[key] = len(first)
                first.append(i)
            group[i] = seen[key]
        return group, np.array(first, dtype=np.intp)
    rows = np.ascontiguousarray(X + X.dtype.type(0)) if X.dtype.kind == "f" else np.ascontiguousarray(X)  # -0.0 is 0.0
    keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first_row, group = np.unique(keys, return_index=True, return_inverse=True)
    return group.ravel(), first_row
