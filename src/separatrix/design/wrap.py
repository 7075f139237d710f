"""From validated input to a design."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scipy import sparse

from separatrix.design.base import Design
from separatrix.design.dense import DenseDesign
from separatrix.design.sparse import SparseDesign


def as_design(
    X: Any, intercept: bool = True, names: Sequence[str] | None = None, *, duplicates: bool = False
) -> Design:
    """Wrap a 2D NumPy array or a CSR matrix, without a copy unless CSR entries are duplicated.

    With ``duplicates`` nobody looks for them, if adding them up later comes to the same: for who reads X entry by
    entry, and asks for `summed` rows where that is not enough.
    """
    if not sparse.issparse(X):
        return DenseDesign(X, intercept, names)
    design = SparseDesign(X, intercept, names)
    return design if duplicates and X.dtype.kind == "f" else design.summed()  # True + True is True, not 2
