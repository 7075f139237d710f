"""The columns as the classifiers of a comparison see them."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix._typing import Floats
from separatrix.data import Encoder, Table

OFFSETS = 16.0  # times the variance of columns: what that of all entries may be, as of columns 4 deviations from 0


def in_units(table: Table, X: Any, scales: Floats) -> Any:
    """X in the units of the table: encoded again without scales, since multiplying would round."""
    if (scales == 1).all():
        return X
    return Encoder.fit(table).transform(table)[0]


def column_moments(X: Any) -> tuple[Floats, Floats]:
    """Means and standard deviations of the columns."""
    if hasattr(X, "tocsr"):
        means = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
        squares = np.asarray(X.multiply(X).mean(axis=0), dtype=np.float64).ravel()
        return means, np.sqrt(np.maximum(0.0, squares - means**2))
    X = np.asarray(X, dtype=np.float64)
    return X.mean(axis=0), X.std(axis=0)


def kernel_width(X: Any) -> dict[str, float]:
    """gamma of an rbf kernel, where ``gamma="scale"`` would not do.

    That is one over the variance of all entries, times their columns: it takes how far columns lie from 0, as years
    do, for how far they spread. Distances do not depend on that, so gamma is at least 1 / (OFFSETS sum_j var_j).
    """
    with np.errstate(over="ignore", invalid="ignore"):
        means, spreads = column_moments(X)
        own, whole = (spreads**2).mean(), (spreads**2 + (means - means.mean()) ** 2).mean()
    if not 0 < OFFSETS * own < whole < np.inf:
        return {}
    return {"gamma": float(1 / (OFFSETS * len(means) * own))}
