"""A kernel expansion with every point strictly on its own side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.certificates._data import EPS, read
from separatrix.certificates._kernels import kernel_block, points_of
from separatrix.certificates.base import Certificate, Check, Verification


@dataclass(frozen=True, eq=False)
class KernelSeparator(Certificate):
    """y_i f(x_i) >= `smallest` > 0 for every i, where f(x) = sum_j c_j k(x_j, x) + b over the support points x_j.

    Parameters
    ----------
    classes : array of shape (k,)
        The labels.
    positive : int
        Position in `classes` of the label with y_i = +1, all others being -1.
    kernel : dict
        Its name and settings, as ``{"kernel": "rbf", "gamma": 0.5}``; or the function itself under "kernel".
    support : integer array of shape (m,)
        The rows of the support points (rows of weight 0 not counted).
    dual_coef : array of shape (m,)
        c_j = alpha_j y_j.
    intercept : float
    smallest : float
    """

    classes: Any
    positive: int
    kernel: Any
    support: Any
    dual_coef: Any
    intercept: float
    smallest: float

    @property
    def claim(self) -> str:
        """What is claimed, in one sentence."""
        return f"Every point has y f(x) >= {self.smallest:.4g} > 0, f being a sum of {len(self.support)} kernel terms."

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        """Recompute f at every point; X is whatever the kernel takes: rows, a list, the kernel matrix."""
        points = points_of(self.kernel, X)
        n = len(points) if isinstance(points, list) else points.shape[0]
        data = read(np.arange(n)[:, None], y, sample_weight, self.classes, None)
        kept = np.asarray(data.X)[:, 0]
        support, c = kept[np.asarray(self.support, dtype=np.intp)], np.asarray(self.dual_coef, dtype=np.float64)
        smallest, error = np.inf, 0.0
        for first in range(0, len(kept), 256):
            rows = kept[first : first + 256]
            K, size, rounded = kernel_block(self.kernel, points, rows, support)
            signs = np.where(data.values[first : first + 256] == self.positive, 1.0, -1.0)
            smallest = min(smallest, float((signs * (K @ c + self.intercept)).min()))
            terms = size @ np.abs(c) + abs(self.intercept)
            error = max(error, (rounded + len(c) + 8) * EPS * float(terms.max()))
        return Verification(
            (
                Check("rounding error of f above the smallest y f(x), by", error - self.smallest),
                Check("smallest y f(x) below what is stated, by", self.smallest - smallest, 0.0, error),
            )
        )
