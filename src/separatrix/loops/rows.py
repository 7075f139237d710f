"""What loops over single rows share: their budget, and dot products in the order in which C adds.

Sums run in lanes that are fixed, so that every instruction set gives the same bits, and so does Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix._typing import Array, Floats

BUDGET = 1 << 22  # entries that a loop reads before it returns: at most 40 ms, where each one comes from main memory
ROW_COST = 8  # entries that a row takes of the budget, besides its own


def floats(X: Any) -> Array:
    """X in C order as float32 or float64, which loops read as they are; any other type as float64."""
    dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.float64
    return np.ascontiguousarray(X, dtype=dtype)


def csr_index(X: Any) -> tuple[Array, Array]:
    """(indices, indptr) of a CSR matrix, of one type that loops read; what SciPy makes is not copied."""
    index = X.indices.dtype if X.indices.dtype in (np.int32, np.int64) else np.int64
    if X.indptr.dtype != index:
        index = np.int64
    return np.ascontiguousarray(X.indices, dtype=index), np.ascontiguousarray(X.indptr, dtype=index)


def csr_arrays(X: Any) -> tuple[Array, Array, Array]:
    """(data, indices, indptr) of a CSR matrix as loops read them; what SciPy makes is not copied."""
    return floats(X.data), *csr_index(X)


def dense_dot(x: Array, w: Floats) -> float:
    """sum_j x_j w_j: eight running sums, then four entries, then up to three one after the other."""
    products = x.astype(np.float64) * w
    whole, four = len(x) // 8 * 8, len(x) // 4 * 4
    s = np.add.reduce(products[:whole].reshape(-1, 8), axis=0, initial=0.0)
    s[:4] += products[whole:four] if four > whole else 0.0
    return float((((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))) + in_turn(products[four:]))


def sparse_dot(x: Array, columns: Array, w: Floats) -> float:
    """sum_k x_k w[column_k]: those at even places, plus those at odd ones."""
    products = x.astype(np.float64) * w[columns]
    whole = len(x) // 2 * 2
    even, odd = np.add.reduce(products[:whole].reshape(-1, 2), axis=0, initial=0.0)
    return float((even + products[-1] if len(x) > whole else even) + odd)


def sparse_add(change: float, x: Array, columns: Array, w: Floats) -> None:
    """w[column_k] += change x_k, one after the other: a column may come twice."""
    np.add.at(w, columns, change * x.astype(np.float64))


def in_turn(values: Floats) -> Any:
    """0 + v_1 + v_2 + ..."""
    total = 0.0
    for value in values:
        total += value
    return total
