"""The scale of a kernel: gamma from the user's word for it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from separatrix._typing import Array
from separatrix.kernels.blocks import row_blocks
from separatrix.kernels.points import Matrix, as_matrix
from separatrix.kernels.settings import invalid, positive


def resolve_gamma(gamma: Any, X: Any, sample_weight: Array | None = None) -> float:
    """1 / (d var(X)) for "scale", 1 / d for "auto", where ``X`` has d columns; a positive number is itself.

    The variance is that of all entries of ``X`` together, row i counted ``sample_weight[i]`` times; where it
    is 0, "scale" is 1, as in scikit-learn.
    """
    if not isinstance(gamma, str):
        return positive("gamma", gamma)
    if gamma not in ("scale", "auto"):
        raise invalid(f"gamma must be 'scale', 'auto' or a positive number, got {gamma!r}", "gamma")
    X = as_matrix(X)
    d = X.shape[1]
    if d == 0:
        raise invalid(f"gamma={gamma!r} needs at least one column, X has none", "gamma")
    if gamma == "auto":
        return 1.0 / float(d)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        variance = _variance(X, sample_weight)
        scale = 1.0 if variance == 0 else float(np.float64(1.0) / (d * np.float64(variance)))
    if not 0 < scale < np.inf:
        raise invalid(f"gamma='scale' is 1 / (d var(X)) = {scale}, no use here: scale the columns", "gamma")
    return scale


def _variance(X: Matrix, sample_weight: Array | None) -> float:
    """The variance of all entries, in two passes: around a first mean, then corrected for its rounding."""
    weight = np.ones(X.shape[0]) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (X.shape[0],):
        raise invalid(f"sample_weight must have shape ({X.shape[0]},), got {weight.shape}")
    total = X.shape[1] * weight.sum()
    if not total > 0:
        raise invalid("gamma='scale' needs a positive total weight", "gamma")
    # Measured from one of the entries, so that a constant matrix has a variance of exactly 0.
    entry = float(X[np.argmax(weight > 0), 0])
    mean = entry + _moments(X, weight, entry)[0] / total
    first, second = _moments(X, weight, mean)
    return float(max(0.0, second / total - (first / total) ** 2))


def _moments(X: Matrix, weight: Array, centre: float) -> tuple[float, float]:
    """Sums of weight_i (x_ij - centre)^p over all entries, the zeros of a sparse matrix too: p = 1, p = 2."""
    if sparse.issparse(X):
        repeats = np.repeat(weight, np.diff(X.indptr))
        gaps = X.data.astype(np.float64) - centre
        zeros = weight @ (X.shape[1] - np.diff(X.indptr))
        return float(repeats @ gaps - zeros * centre), float(repeats @ gaps**2 + zeros * centre**2)
    first = second = 0.0
    for block in row_blocks(*X.shape):
        gaps = X[block].astype(np.float64) - centre
        first += float(weight[block] @ gaps.sum(axis=1))
        second += float(weight[block] @ np.einsum("ij,ij->i", gaps, gaps))
    return first, second
