"""Rows, labels and weights as the checkers read them: plain NumPy, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.certificates._held import blocks_of, unheld
from separatrix.certificates._witness import classes_of, factors

EPS = float(np.finfo(np.float64).eps)
ALLOWED = 0.1  # of tol: the largest share that rounding in a check may take


@dataclass(frozen=True)
class Data:
    """Rows X (dense or CSR), class codes or 0/1 matrix, and weights with the class weights in them."""

    X: Any
    values: np.ndarray[Any, Any]
    weight: np.ndarray[Any, Any]

    def blocks(self) -> Iterator[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
        """Dense float64 rows with their values and weights, about a million entries at a time."""
        for rows in blocks_of(*self.X.shape):
            x = self.X[rows]
            x = x.toarray() if hasattr(x, "toarray") else x
            yield np.asarray(x, dtype=np.float64), self.values[rows], self.weight[rows]


def read(X: Any, y: Any, sample_weight: Any, classes: Any, class_weight: Any) -> Data:
    """Bring data to plain form; `ValueError` if they are no finite numbers, or do not fit."""
    X = read_rows(X)
    y = y.toarray() if hasattr(y, "toarray") else np.asarray(y)
    if X.ndim != 2 or y.ndim not in (1, 2) or len(y) != X.shape[0]:
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
        known = classes[values] == y
        if not (known | (weight == 0)).all():
            raise ValueError(f"y has labels that the certificate does not know: {np.unique(y[~known])[:5]}.")
        if factor is not None:
            given, weight = weight, weight * factor[values]
            if not (np.isfinite(weight).all() and (weight[given > 0] > 0).all()):
                raise ValueError("sample_weight times class_weight is beyond the range of float64.")
    if not weight.all():  # weight 0 equals leaving the row out
        kept = np.flatnonzero(weight)
        X, values, weight = X[kept], values[kept], weight[kept]
    if not len(weight):
        raise ValueError("No row has a weight above 0: there is nothing to check.")
    return Data(X, values, weight)


def read_rows(X: Any) -> Any:
    """X as an array or CSR matrix of numbers; `ValueError` unless all are finite and float64 holds each exactly."""
    rows: Any = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    if rows.dtype.kind not in "fiub":
        rows = rows.astype(np.float64)
    place = unheld(X, rows)
    if place is not None:
        raise ValueError(f"float64 does not hold the number in row {place[0]}, column {place[1]} of X exactly.")
    entries = rows.data if hasattr(rows, "indptr") else rows
    blocks = blocks_of(*entries.shape[:2])
    if entries.dtype.kind == "f" and not all(np.isfinite(entries[part]).all() for part in blocks):
        raise ValueError("X contains NaN or infinity.")
    return rows
