"""Tables as float64: rows written out, in blocks; and what it cannot hold, as whole numbers beyond 2**53 or fractions.

A claim about rounded rows is a claim about other data, so whoever reads a table asks first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

WHOLE = 2**53  # float64 holds every whole number up to this
BLOCK = 1_000_000  # entries looked at together


def numeric(X: Any) -> Any:
    """X as an array or CSR matrix of numbers; `ValueError` if it holds others than real ones, or masks some."""
    if np.ma.is_masked(X):
        raise ValueError("X masks some of its entries.")
    if (flaw := malformed(X)) is not None:
        raise ValueError(f"X {flaw}.")
    rows: Any = workable(X.tocsr() if hasattr(X, "tocsr") else np.asarray(X))
    if rows.dtype.kind in "mMc":  # which would become other numbers without a word
        raise ValueError(f"X holds no real numbers, but {rows.dtype}.")
    return rows if rows.dtype.kind in "fiub" else rows.astype(np.float64)


def malformed(X: Any) -> str | None:
    """What is wrong with the index of a CSR or CSC matrix, or None: SciPy and C follow it to wherever it leads."""
    if _layout(X) not in ("csr", "csc") or X.ndim != 2:
        return None
    (lines, places), (line, place) = X.shape, ("row", "column")
    if X.format == "csc":
        lines, places, line, place = places, lines, place, line
    ends, index = X.indptr, X.indices
    if len(ends) != lines + 1 or ends[0] != 0 or ends[-1] > min(len(index), len(X.data)):
        return f"is a broken {X.format.upper()} matrix: indptr does not go from 0 to the number of its entries"
    if (ends[1:] < ends[:-1]).any():
        return f"is a broken {X.format.upper()} matrix: indptr falls at {line} {int(np.argmax(ends[1:] < ends[:-1]))}"
    unsigned = index.view(index.dtype.str.replace("i", "u"))  # in which a negative number is beyond all others
    for part in blocks_of(int(ends[-1])):
        if unsigned[part].max() >= places:
            some = index[part]
            at = part.start + int(np.argmax((some < 0) | (some >= places)))
            where = f"{line} {int(np.searchsorted(ends, at, side='right')) - 1}"
            return f"is a broken {X.format.upper()} matrix: {where} has an entry in {place} {index[at]} of {places}"
    return None


def workable(X: Any) -> Any:
    """The same numbers as SciPy, BLAS and C compute with: CSR of such types, or an aligned array; else as they are."""
    if isinstance(X, np.ndarray):
        return X if X.flags.aligned else X.copy()
    if _layout(X) != "csr":
        return X
    arrays = X.data, X.indices, X.indptr
    if X.dtype != np.float16 and all(array.dtype.isnative and array.flags.c_contiguous for array in arrays):
        return X
    data, *index = (np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("=")) for array in arrays)
    return type(X)((data.astype(np.float64) if X.dtype == np.float16 else data, *index), shape=X.shape)


def _layout(X: Any) -> str | None:
    """Of a sparse matrix; a table may have a column called format."""
    layout = getattr(X, "format", None)
    return layout if isinstance(layout, str) else None


def unheld(X: Any, rows: Any) -> tuple[int, int] | None:
    """(row, column) of a number in X that float64 does not hold, or None; ``rows`` is X as a matrix of numbers.

    Costs nothing for float32 and float64, and one pass for whole numbers of 64 bits.
    """
    entries = rows.data if hasattr(rows, "indptr") else rows
    if entries.dtype.kind in "iuf" and entries.dtype not in (np.float32, np.float64):
        bad = _rounded(entries)
    elif X is rows or hasattr(X, "tocsr") or getattr(getattr(X, "dtype", None), "kind", "O") != "O":
        return None
    else:  # lists, tables and objects may have held other numbers before they became floats
        bad = _changed(X, rows)
    if bad is None or not bad.any():
        return None
    at = int(np.argmax(bad.ravel()))
    if not hasattr(rows, "indptr"):
        return at // rows.shape[1], at % rows.shape[1]
    return int(np.searchsorted(rows.indptr, at, side="right")) - 1, int(rows.indices[at])


def _rounded(entries: Any) -> Any:
    """Which whole numbers or long floats are not what they are in float64; None if certainly none."""
    kind, size = entries.dtype.kind, entries.dtype.itemsize
    if size < 8 or (kind != "f" and not _beyond(entries)):
        return None
    with np.errstate(all="ignore"):
        floats = entries.astype(np.float64)
        if kind == "f":
            return np.isfinite(entries) & (floats.astype(entries.dtype) != entries)
        over = floats >= 2.0 ** (63 if kind == "i" else 64)  # rounded up to what is no such number any more
        return over | (np.where(over, 0.0, floats).astype(entries.dtype) != entries)


def _changed(X: Any, rows: Any) -> Any:
    """Which entries of a list, a table or an array of objects are not the floats that were made of them."""
    bad = np.zeros(rows.shape, dtype=bool)
    if hasattr(X, "dtypes") and hasattr(X, "iloc"):  # a table knows which columns can have changed
        for j, dtype in enumerate(X.dtypes):
            kind = getattr(dtype, "kind", "O")
            if kind not in "fb" and (kind not in "iu" or _beyond(rows[:, j])):
                bad[:, j] = _different(np.asarray(X.iloc[:, j], dtype=object), rows[:, j])
        return bad
    if rows.dtype.kind == "f" and (np.asarray(X).dtype.kind == "O" or _beyond(rows)):
        bad.ravel()[:] = _different(np.asarray(X, dtype=object).ravel(), rows.ravel())
    return bad


def _different(given: Any, held: Any) -> Any:
    """Whether Python numbers are not these floats: they compare with int, Fraction and Decimal without rounding."""
    return np.array(
        [
            not isinstance(number, str) and value == value and bool(number != value)
            for number, value in zip(given.tolist(), held.tolist(), strict=True)
        ],
        dtype=bool,
    )


def _beyond(entries: Any) -> bool:
    """Whether some number is at ±WHOLE or beyond, where 2**53 + 1 is rounded to 2**53."""
    parts = (entries[part] for part in blocks_of(*entries.shape))
    return any(bool(part.max() >= WHOLE or part.min() <= -WHOLE) for part in parts if part.size)


def dense(x: Any, real: Any = np.float64) -> Any:
    """Rows as an array of floats, whether they are sparse or not: one after the other, aligned.

    BLAS multiplies rows that lie otherwise in another order, with other bits.
    """
    return np.require(x.toarray() if hasattr(x, "toarray") else x, real, ["C", "A"])


def magnitudes(x: Any) -> Any:
    """|x| of rows or entries, as floats: int8 has no 128 for its -128.

    SciPy's abs would first sort and add up the entries of x itself, which is somebody's. Entries of one place stay
    apart, and their sum is at least |x|.
    """
    if hasattr(x, "indptr"):
        return type(x)((magnitudes(x.data), x.indices, x.indptr), shape=x.shape)
    return abs(x if x.dtype.kind == "f" else x.astype(np.float64))


def blocks_of(n: int, d: int = 1, entries: int = BLOCK) -> Iterator[slice]:
    """Slices of n rows of d numbers, with about so many entries each."""
    step = max(1, entries // max(d, 1))
    return (slice(first, min(first + step, n)) for first in range(0, n, step))
