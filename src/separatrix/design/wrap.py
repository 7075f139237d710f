"""From validated input to a design."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scipy import sparse

from separatrix.design.base import Design
from separatrix.design.dense import DenseDesign
from separatrix.design.sparse import SparseDesign


def as_design(X: Any, intercept: bool = True, names: Sequence[str] | None = None) -> Design:
    """Wrap a 2D NumPy array or a CSR matrix, without a copy unless CSR entries are duplicated."""
    if not sparse.issparse(X):
        return DenseDesign(X, intercept, names)
    design = SparseDesign(X, intercept, names)
    if design.is_canonical():
        return design
    X = X.copy()
    X.sum_duplicates()
    return SparseDesign(X, intercept, names)
