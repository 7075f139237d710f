"""Matrices of any size, some rows at a time: (X, y) or (X, y, weight) batches of the user, and .npy files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from separatrix._typing import Array, Floats
from separatrix.certificates._held import WHOLE, malformed, workable
from separatrix.data.rows import plain_cell
from separatrix.data.sources import explained
from separatrix.errors import DataError

PIECE_BYTES = 1 << 25  # of rows that are read, checked and copied together, as float64


class Batch(NamedTuple):
    """Rows of numbers with labels and perhaps weights; and the labels that rows of weight 0 had, which are left out."""

    X: Any
    y: Array
    weight: Floats | None
    left_out: Array


def checked_batches(source: Any) -> Iterator[Batch]:
    """Batches of the user: an iterable of them, or a function that returns one. Long ones come in pieces."""
    d: int | None = None
    weighted: bool | None = None
    for number, item in enumerate(source() if callable(source) else source, start=1):
        name = f"batch {number}"
        if not isinstance(item, tuple | list) or len(item) not in (2, 3):
            raise DataError(f"{name} is a {type(item).__name__}, where (X, y) or (X, y, weight) is expected.")
        X, y, weight = (*item, None)[:3]
        rows = _matrix(X, name)
        if d is not None and rows.shape[1] != d:
            raise DataError(f"{name} has {rows.shape[1]} columns, but those before it have {d}.")
        if weighted is not None and weighted != (weight is not None):
            raise DataError(f"{name} has {'a' if not weighted else 'no'} weight, unlike those before it.")
        d, weighted = rows.shape[1], weight is not None
        n, step = rows.shape[0], _rows_together(rows)
        labels, weight = _labels(y, n, name), _weights(weight, n, name)
        for first in range(0, n, step):  # a batch may be a memory map of any length
            some = slice(first, first + step)
            yield from _checked(rows[some], labels[some], None if weight is None else weight[some], name, first + 1)


def npy_batches(paths: Sequence[Path], target: Any) -> Iterator[Batch]:
    """The rows of .npy files: the labels are a column of theirs, by its number, or .npy files of their own."""
    files = label_files(target)
    if files is not None and len(files) != len(paths):
        raise DataError(
            "The labels of .npy files are a column, target=-1, or files of their own, target='y.npy', for each one."
        )
    d: int | None = None
    for at, path in enumerate(paths):
        shape = _npy_head(path)[0]
        if len(shape) != 2 or not shape[1]:
            raise DataError(f"{path.name} has an array of shape {shape}, where rows and columns are expected.")
        if d is not None and shape[1] != d:
            raise DataError(f"{path.name} has {shape[1]} columns, but {paths[0].name} has {d}.")
        d = shape[1]
        if files is None and not -d <= target < d:
            raise DataError(f"{path.name} has {d} columns, and none of the number {target}.")
        y = None if files is None else _npy_labels(files[at], shape[0], path.name)
        for first, X in _npy_rows(path):
            rows = X if y is not None else np.delete(X, target, axis=1)
            labels = _labels(X[:, target], len(X), path.name, first + 1) if y is None else y[first : first + len(X)]
            yield from _checked(_matrix(rows, path.name), labels, None, path.name, first + 1)


def label_files(target: Any) -> list[Path] | None:
    """The files that hold the labels of .npy files; None if these are a column of theirs."""
    if isinstance(target, int | np.integer) and not isinstance(target, bool):
        return None
    files = [target] if isinstance(target, str | Path) else target
    if not isinstance(files, list | tuple) or not all(isinstance(file, str | Path) for file in files):
        return []
    return [Path(file) for file in files]


def _npy_labels(path: Path, n: int, beside: str) -> Array:
    with explained(path.name):
        try:
            with open(path, "rb") as file:
                y: Array = np.lib.format.read_array(file, allow_pickle=False)
        except ValueError as error:
            raise DataError(
                f"{path.name} is no array of numbers or text, as numpy.save writes them: save numpy.array(labels) "
                "there, of one kind."
            ) from error
    if y.shape != (n,):
        raise DataError(f"{beside} has {n} rows, but {path.name} has the shape {y.shape}.")
    return _labels(y, n, path.name)


def _npy_head(path: Path) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    """Shape, type, and where the numbers begin."""
    with explained(path.name), open(path, "rb") as file:
        try:
            version = np.lib.format.read_magic(file)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, fortran, dtype = read(file)
        except ValueError as error:
            raise DataError(f"{path.name} cannot be read as an array of NumPy: {error}") from error
        if fortran and len(shape) > 1:
            raise DataError(f"{path.name} is stored column by column: save numpy.ascontiguousarray of it.")
        if dtype.kind not in "fiub":
            raise DataError(f"{path.name} holds {dtype}, where numbers are expected.")
        return shape, dtype, file.tell()


def _npy_rows(path: Path) -> Iterator[tuple[int, Array]]:
    (n, d), dtype, start = _npy_head(path)
    rows = max(1, PIECE_BYTES // (8 * d))
    with explained(path.name), open(path, "rb") as file:
        file.seek(start)
        for first in range(0, n, rows):
            count = min(rows, n - first) * d
            data = file.read(count * dtype.itemsize)
            if len(data) < count * dtype.itemsize:
                raise DataError(f"{path.name} is cut off: it should have {n} rows. Write it anew.")
            yield first, np.frombuffer(data, dtype=dtype).reshape(-1, d)


def _matrix(X: Any, name: str) -> Any:
    """Rows as they were given, an array or a CSR matrix of types that SciPy computes with."""
    _require_unmasked(X, name, "X")
    if (flaw := malformed(X)) is not None:
        raise DataError(f"{name}: X {flaw}.")
    try:
        rows = workable(X.tocsr()) if sparse.issparse(X) else np.asarray(X)
    except (ValueError, TypeError) as error:  # of SciPy, which does not make CSR of all that it has a class for
        raise DataError(f"{name}: X is no matrix of real numbers ({error}). Convert it to float64, or CSR.") from error
    if hasattr(X, "columns") or rows.dtype.kind == "O":
        raise DataError(f"{name}: X is a {type(X).__name__}, where arrays of numbers or sparse matrices are expected.")
    if rows.ndim != 2 or rows.dtype.kind not in "fiub":
        raise DataError(f"{name}: X has the shape {rows.shape} and type {rows.dtype}, where a matrix is expected.")
    if not rows.shape[1]:
        raise DataError(f"{name}: X has no columns, and a classifier learns from one at least.")
    return rows


def _require_unmasked(values: Any, name: str, what: str) -> None:
    if np.ma.is_masked(values):
        row = int(np.nonzero(np.ma.getmaskarray(values))[0][0])
        raise DataError(f"{name}: {what} is masked in row {row + 1}. Leave the row out, or put a number there.")


def _rows_together(rows: Any) -> int:
    """How many rows of a batch are looked at, and copied, together."""
    n, d = rows.shape
    size = 8 * d if not sparse.issparse(rows) else 12 * rows.nnz // max(1, n) + 8
    return max(1, int(PIECE_BYTES // max(1, size)))


def _labels(y: Any, n: int, name: str, first: int = 1) -> Array:
    """A label for each of n rows: numbers or text, none of them missing."""
    _require_unmasked(y, name, "y")
    labels = np.asarray(y).ravel() if y is not None else np.empty(0)
    if labels.shape != (n,):
        raise DataError(f"{name}: X has {n} rows, but y has {labels.size} labels.")
    if labels.dtype.kind in "OT":  # as pandas has text
        cells = [plain_cell(label, "y", row) for row, label in enumerate(labels.tolist(), first)]
        if None in cells:
            raise DataError(f"{name}: row {first + cells.index(None)} has no label. Leave the row out.")
        if len({isinstance(cell, str) for cell in cells}) > 1:
            raise DataError(f"{name}: labels are text in some rows and numbers in others. Make them all one kind.")
        labels = np.array(cells)
    if labels.dtype.kind not in "biufUS":
        raise DataError(f"{name}: y holds {labels.dtype}, where labels are text, numbers or truth values.")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        row = int(np.argmax(~np.isfinite(labels)))
        raise DataError(f"{name}: row {first + row} has no label ({labels[row]}). Leave the row out.")
    return labels


def _weights(weight: Any, n: int, name: str) -> Floats | None:
    if weight is None:
        return None
    _require_unmasked(weight, name, "the weight")
    with suppress(ValueError, TypeError):
        found = np.asarray(weight, dtype=np.float64).ravel()
        if found.shape == (n,) and (np.isfinite(found) & (found >= 0)).all():
            return found
    raise DataError(f"{name}: weights must be finite numbers and not negative, one for each of {n} rows.")


def _checked(rows: Any, labels: Array, weight: Floats | None, name: str, first: int) -> Iterator[Batch]:
    """Rows as finite numbers that float64 holds, without those of weight 0."""
    if sparse.issparse(rows) and not rows.has_canonical_format:
        rows = rows.copy() if rows.dtype.kind == "f" else rows.astype(np.float64)  # a sum may be beyond its type
        rows.sum_duplicates()
    entries: Any = rows.data if sparse.issparse(rows) else rows
    if entries.dtype.kind == "f":
        _require(np.isfinite(entries), rows, name, first, "is not finite. Leave the row out, or put a number there")
        if entries.dtype.itemsize > 8:
            _require(entries.astype(np.float64) == entries, rows, name, first, "is no float64. Convert it")
    elif entries.dtype.itemsize == 8:
        good = (entries <= WHOLE) & (entries >= -WHOLE if entries.dtype.kind == "i" else True)
        _require(good, rows, name, first, "is beyond 2**53, which float64 rounds. Subtract an offset")
    left_out = labels[:0]
    if weight is not None and not weight.all():  # weight 0 equals leaving the row out
        kept, left_out = np.flatnonzero(weight), np.unique(labels[weight == 0])
        rows, labels, weight = rows[kept], labels[kept], weight[kept]
    yield Batch(rows, labels, weight, left_out)


def _require(good: Array, rows: Any, name: str, first: int, why: str) -> None:
    if good.all():
        return
    at = int(np.argmin(good.ravel()))
    if sparse.issparse(rows):
        row, column = int(np.searchsorted(rows.indptr, at, side="right")) - 1, int(rows.indices[at])
        value = rows.data[at]
    else:
        row, column = divmod(at, rows.shape[1])
        value = rows[row, column]
    raise DataError(f"{name}: row {first + row}, column {column}: {value} {why}.")
