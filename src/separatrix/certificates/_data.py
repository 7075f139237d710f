"""Rows, labels and weights as the checkers read them: plain NumPy, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.certificates._held import blocks_of, unheld

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
    classes = read_classes(classes)
    factors = None if class_weight is None else np.asarray(class_weight, dtype=np.float64)
    if factors is not None and not (factors.shape == classes.shape and ((factors > 0) & np.isfinite(factors)).all()):
        raise ValueError("class_weight must hold one finite number above 0 for each class.")
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
        if factors is not None:
            given, weight = weight, weight * factors[values]
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


def read_classes(classes: Any) -> Any:
    """The labels as an array; `ValueError` unless there are several, each once and in order."""
    classes = np.asarray(classes)
    if classes.ndim != 1 or len(classes) < 2 or not bool((classes[:-1] < classes[1:]).all()):
        raise ValueError("classes must hold two labels or more, each once and in order.")
    return classes


def position(value: Any, name: str, k: int) -> int:
    """A place among the k classes; `ValueError` if it is none."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or not 0 <= value < k:
        raise ValueError(f"{name} must be the position of one of the {k} classes, from 0 to {k - 1}; it is {value!r}.")
    return int(value)


def flag(value: Any, name: str) -> bool:
    """True or False; `ValueError` for anything that is only taken for one of them."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False; it is {value!r}.")
    return bool(value)


def shaped(witness: Any, name: str, *shape: int) -> np.ndarray[Any, Any]:
    """The witness as finite float64 of this very shape: nothing that broadcasting would stretch."""
    array = np.asarray(witness[name], dtype=np.float64)
    if array.shape != shape or not np.isfinite(array).all():
        raise ValueError(f"The witness {name!r} must be finite, of shape {shape}; its shape is {array.shape}.")
    return array


def worst(figures: Any, allowed: Any) -> tuple[float, float]:
    """Of several |figure| <= allowance, the pair that is closest to failing, or fails most."""
    figures, allowed = np.ravel(figures), np.ravel(allowed)
    if not figures.size:
        return 0.0, 0.0
    if not np.isfinite(figures).all():
        return float("nan"), 0.0
    excess = np.where(figures > allowed, np.inf, 0.0)
    ratio = np.divide(figures, allowed, out=excess, where=allowed > 0)
    i = int(np.argmax(ratio))
    return float(figures[i]), float(allowed[i])
