"""A table, and what a certificate is about on it: the rows with a weight, their classes and weights, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from soundness.decimals import ONE, ZERO, D, dot, exactly, matrix, vector

Matrix = list[list[D]]


class UnknownLabelError(Exception):
    """The certificate is about other labels than the table's."""


@dataclass(eq=False)
class Table:
    """Rows, labels and weights as `fit` gets them; `ordinary` if nothing about them is hard."""

    name: str
    X: Any
    y: Any
    sample_weight: Any = None
    ordinary: bool = False
    cache: dict[Any, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def weight(self) -> np.ndarray:
        n = self.X.shape[0]
        return np.ones(n) if self.sample_weight is None else np.asarray(self.sample_weight, dtype=np.float64)

    @cached_property
    def kept(self) -> np.ndarray:
        """The rows with a weight."""
        return np.flatnonzero(self.weight)

    @cached_property
    def dense(self) -> np.ndarray:
        """The rows with a weight, as given: floats of either size, or whole numbers."""
        X = self.X.toarray() if hasattr(self.X, "toarray") else np.asarray(self.X)
        return X[self.kept]

    def labels(self) -> np.ndarray:
        return np.asarray(self.y)[self.kept]

    def codes(self, classes: Any) -> list[int]:
        known = {label: code for code, label in enumerate(np.asarray(classes).tolist())}
        labels = self.labels().tolist()
        if not set(labels) <= known.keys():
            raise UnknownLabelError(
                f"the certificate knows the labels {list(known)[:5]}, not {set(labels) - known.keys()}"
            )
        return [known[label] for label in labels]

    def weights(self, classes: Any = None, class_weight: Any = None) -> list[D]:
        """c_i, the class's factor included."""
        c = vector(self.weight[self.kept])
        if class_weight is None:
            return c
        factors = vector(class_weight)
        return [w * factors[code] for w, code in zip(c, self.codes(classes), strict=True)]

    def remembered(self, key: Any, make: Any) -> Any:
        if key not in self.cache:
            self.cache[key] = make()
        return self.cache[key]

    @cached_property
    def rows(self) -> Matrix:
        return matrix(self.dense)

    def about(self, rows: Matrix, free: bool) -> tuple[Matrix, list[D]]:
        """(x - x_1, 1) and x_1, if b is free: with it every score stays the same, and fewer digits cancel."""
        if not free:
            return rows, [ZERO] * len(rows[0])
        origin = rows[0]
        return [[*(a - b for a, b in zip(row, origin, strict=True)), ONE] for row in rows], origin


def not_finite(value: Any) -> bool:
    """Whether NaN or infinity is among the numbers."""
    if isinstance(value, Mapping):
        return any(not_finite(entry) for key, entry in value.items() if key != "C")
    if isinstance(value, (float, np.floating)):
        return not np.isfinite(value)
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return not np.isfinite(value).all()
    return False


def kernel_matrix(kernel: Any, rows: Matrix) -> Matrix:
    """k(x_i, x_j) by definition."""
    kind = kernel["kernel"]
    if kind == "precomputed":
        raise ValueError("The rows are the matrix.")
    gamma, coef0 = exactly(kernel.get("gamma", 1.0)), exactly(kernel.get("coef0", 0.0))

    def value(a: list[D], b: list[D]) -> D:
        if kind == "linear":
            return dot(a, b)
        if kind == "rbf":
            difference = [p - q for p, q in zip(a, b, strict=True)]
            return (-gamma * dot(difference, difference)).exp()
        if kind == "laplacian":
            return (-gamma * sum((abs(p - q) for p, q in zip(a, b, strict=True)), ZERO)).exp()
        inner = gamma * dot(a, b) + coef0
        if kind == "poly":
            return inner ** int(kernel["degree"]) if kernel["degree"] else ONE
        if kind == "sigmoid":
            e = (-2 * abs(inner)).exp()
            return (ONE - e) / (ONE + e) * (1 if inner >= 0 else -1)
        raise ValueError(f"No oracle for the kernel {kind!r}.")

    n = len(rows)
    K = [[ZERO] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            K[i][j] = K[j][i] = value(rows[i], rows[j])
    return K
