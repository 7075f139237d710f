"""Rows, labels and weights as the checkers read them: plain NumPy, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from math import fsum
from typing import Any

import numpy as np

from separatrix.certificates._blocks import RowBlocks, in_blocks
from separatrix.certificates._held import BLOCK, blocks_of, dense, numeric, unheld
from separatrix.certificates._witness import classes_of, factors, sides

EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)  # what underflow can cost
AMID_ENTRIES = 1 << 17  # of the first rows, whose mean is near enough to all: they are in one block of any file
ALLOWED = 0.1  # of tol: the largest share that rounding in a check may take


@dataclass(frozen=True)
class Data:
    """Rows X (dense or CSR), class codes or 0/1 matrix, and weights with the class weights in them."""

    X: Any
    values: np.ndarray[Any, Any]
    weight: np.ndarray[Any, Any]

    def rows(self, entries: int = BLOCK, width: int = 0) -> Iterator[tuple[slice, Any]]:
        """Where some rows are, and these as dense float64: about so many entries, or numbers if ``width`` a row."""
        for block in blocks_of(*self.X.shape):
            x = dense(self.X[block])
            for part in blocks_of(len(x), max(x.shape[1], width), entries):
                yield slice(block.start + part.start, block.start + part.stop), x[part]

    def blocks(self, entries: int = BLOCK, width: int = 0) -> Iterator[tuple[Any, Any, Any]]:
        """The same rows with their values and weights."""
        return ((x, self.values[rows], self.weight[rows]) for rows, x in self.rows(entries, width))

    def amid(self) -> Any:
        """A row amid the others (d,), up to rounding: the mean of the first ones, which takes no pass of its own."""
        x = dense(self.X[: max(1, AMID_ENTRIES // max(self.X.shape[1], 1))])
        c = self.weight[: len(x)]
        return c @ x / c.sum()


def exact_sum(a: Any) -> float:
    """The sum of a vector, rounded once; its numbers become Python's some at a time."""
    return fsum(chain.from_iterable(a[part].tolist() for part in blocks_of(len(a))))


def read(X: Any, y: Any, sample_weight: Any, classes: Any, class_weight: Any) -> Data:
    """Bring data to plain form; `ValueError` if they are no finite numbers, or do not fit."""
    if in_blocks(X):
        X, y, sample_weight = RowBlocks.of(X, y, sample_weight, read_rows)
    else:
        X = read_rows(X)
    y = y.toarray() if hasattr(y, "toarray") else np.asarray(y)
    if len(X.shape) != 2 or y.ndim not in (1, 2) or len(y) != X.shape[0]:
        raise ValueError(f"X of shape {X.shape} and y of shape {y.shape} do not fit together.")
    n = X.shape[0]
    weight = np.ones(n) if sample_weight is None else np.broadcast_to(np.asarray(sample_weight, float), (n,)).copy()
    if not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise ValueError("sample_weight must be finite and not negative.")
    classes = classes_of(classes)
    factor = factors(class_weight, len(classes))
    if y.ndim == 2 and y.shape[1] > 1:
        if y.shape[1] != len(classes) or not ((y == 0) | (y == 1)).all():
            raise ValueError(f"A matrix y must hold 0 and 1 only, in {len(classes)} columns: one for each class.")
        values = y.astype(np.intp)
    else:
        y = y.ravel()
        values = np.searchsorted(classes, y).clip(max=len(classes) - 1)
        # some at a time: labels may be long texts
        known = np.concatenate([classes[values[some]] == y[some] for some in blocks_of(max(1, len(y)), 8)])
        if not (known | (weight == 0)).all():
            raise ValueError(f"y has labels that the certificate does not know: {np.unique(y[~known])[:5]}.")
        if factor is not None:
            given, weight = weight, weight * factor[values]
            if not (np.isfinite(weight).all() and (weight[given > 0] > 0).all()):
                raise ValueError("sample_weight times class_weight is beyond the range of float64.")
    if not weight.all():  # weight 0 equals leaving the row out
        kept = np.flatnonzero(weight)
        X = X.only(kept) if isinstance(X, RowBlocks) else X[kept]
        values, weight = values[kept], weight[kept]
    if not len(weight):
        raise ValueError("No row has a weight above 0: there is nothing to check.")
    return Data(X, values, weight)


def two_classes(owner: Any, y: Any, n: int, sample_weight: Any, class_weight: Any = None) -> tuple[Any, Any, Any]:
    """Which of n rows are of a certificate's two classes, with a weight above 0; their signs ±1, and their weights."""
    positive, negative = sides(owner)
    data = read(np.arange(n)[:, None], y, sample_weight, owner.classes, class_weight)
    if data.values.ndim != 1:
        raise ValueError("y must hold one label a row.")
    inside = np.ones(len(data.values), bool) if negative is None else np.isin(data.values, (positive, negative))
    return data.X[inside, 0], np.where(data.values[inside] == positive, 1.0, -1.0), data.weight[inside]


def read_rows(X: Any) -> Any:
    """X as an array or CSR matrix of numbers; `ValueError` unless all are finite and float64 holds each exactly."""
    rows = numeric(X)
    place = unheld(X, rows)
    if place is not None:
        raise ValueError(f"float64 does not hold the number in row {place[0]}, column {place[1]} of X exactly.")
    if hasattr(rows, "indptr") and not rows.has_canonical_format:  # entries of one place are one number: its square too
        rows = rows.copy()
        rows.sum_duplicates()
    entries = rows.data if hasattr(rows, "indptr") else rows
    blocks = blocks_of(*entries.shape[:2])
    if entries.dtype.kind == "f" and not all(np.isfinite(entries[part]).all() for part in blocks):
        raise ValueError("X contains NaN or infinity.")
    return rows
