"""Rows, labels and weights as the checkers read them: plain NumPy, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

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
        n, d = self.X.shape
        step = max(1, 1_000_000 // max(d, 1))
        for first in range(0, n, step):
            rows = slice(first, min(first + step, n))
            x = self.X[rows]
            x = x.toarray() if hasattr(x, "toarray") else x
            yield np.asarray(x, dtype=np.float64), self.values[rows], self.weight[rows]


def read(X: Any, y: Any, sample_weight: Any, classes: Any, class_weight: Any) -> Data:
    """Bring data to plain form; `ValueError` if they do not fit together or to the classes."""
    X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    y = y.toarray() if hasattr(y, "toarray") else np.asarray(y)
    if X.ndim != 2 or y.ndim not in (1, 2) or len(y) != X.shape[0]:
        raise ValueError(f"X of shape {X.shape} and y of shape {y.shape} do not fit together.")
    n = X.shape[0]
    weight = np.ones(n) if sample_weight is None else np.broadcast_to(np.asarray(sample_weight, float), (n,)).copy()
    if not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise ValueError("sample_weight must be finite and not negative.")
    classes = np.asarray(classes)
    if y.ndim == 2 and y.shape[1] > 1:
        values = y.astype(np.intp)
    else:
        y = y.ravel()
        values = np.searchsorted(classes, y).clip(max=len(classes) - 1)
        known = classes[values] == y
        if not (known | (weight == 0)).all():
            raise ValueError(f"y has labels that the certificate does not know: {np.unique(y[~known])[:5]}.")
        if class_weight is not None:
            weight = weight * np.asarray(class_weight)[values]
    if not weight.all():  # weight 0 equals leaving the row out
        kept = np.flatnonzero(weight)
        X, values, weight = X[kept], values[kept], weight[kept]
    if not len(weight):
        raise ValueError("No row has a weight above 0: there is nothing to check.")
    return Data(X, values, weight)


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
