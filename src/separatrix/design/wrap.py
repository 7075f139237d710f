"""From validated input to a design."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from separatrix.design.base import Design
from separatrix.design.dense import DenseDesign
from separatrix.design.partitioned import PartitionedDense, PartitionedSparse
from separatrix.design.partitions import Partitions
from separatrix.design.sparse import SparseDesign
from separatrix.design.streamed import StreamedDense, StreamedSparse
from separatrix.files import Stored

SMALL = 1 << 18  # entries; rows in another order are copied at once, those of more a part at a time where they are read


def as_design(
    X: Any, intercept: bool = True, names: Sequence[str] | None = None, *, duplicates: bool = False
) -> Design:
    """Wrap an array, CSR matrix or rows elsewhere, without a copy unless CSR entries are duplicated or a small array is
    not in C order: products would round otherwise in Fortran order.

    With ``duplicates`` nobody looks for them, if adding them up later comes to the same: for who reads X entry by
    entry, and asks for `summed` rows where that is not enough.
    """
    if isinstance(X, Stored):
        return (StreamedSparse if X.sparse else StreamedDense)(X, intercept, names)
    if isinstance(X, Partitions):
        return (PartitionedSparse if X.sparse else PartitionedDense)(X, intercept, names)
    if not sparse.issparse(X):
        return DenseDesign(np.ascontiguousarray(X) if X.size <= SMALL else X, intercept, names)
    design = SparseDesign(_unmapped(X), intercept, names)
    return design if duplicates and X.dtype.kind == "f" else design.summed()  # True + True is True, not 2


def _unmapped(X: Any) -> Any:
    """The CSR matrix, its arrays as loops take them: memory maps are arrays of a type of their own."""
    arrays = X.data, X.indices, X.indptr
    if all(type(array) is np.ndarray for array in arrays):
        return X
    plain = type(X)(X.shape, dtype=X.dtype)  # given the arrays at once, SciPy would look through all of them
    plain.data, plain.indices, plain.indptr = map(np.asarray, arrays)
    return plain


def mapped(design: Design, change: Callable[[Any], Any]) -> Design:
    """A design of the rows change(X), under the same names."""
    return as_design(change(design._X), design.intercept, design.names)


def homogeneous(design: Design) -> Design:
    """The rows (x, 1) as a design without intercept, or the rows themselves if it had none; in float64."""
    X = design._X.astype(np.float64)
    if design.intercept and design.sparse:
        X = sparse.hstack([X, np.ones((design.n, 1))], format="csr")
    elif design.intercept:
        X = np.column_stack([X, np.ones(design.n)])
    return as_design(X, False)
