"""libsvm (svmlight) files: ``label index:value index:value ...`` in each line, read by scikit-learn."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np

from separatrix._typing import Array, Integers
from separatrix.data.labels import discrete
from separatrix.errors import DataError


def read_svmlight(data: bytes, source: str, first_line: int = 1) -> tuple[Any, Array, Integers]:
    """The CSR matrix, whose column j is what the file calls j; the labels; and the lines they stand in."""
    from sklearn.datasets import load_svmlight_file

    try:
        # nothing is shifted: the numbers in the file are the names of the columns
        matrix, labels = load_svmlight_file(io.BytesIO(data), zero_based=True)
    except (ValueError, OverflowError, IndexError, MemoryError) as error:
        raise _first_fault(data, source, first_line, error) from error
    if not np.isfinite(labels).all():
        raise _first_fault(data, source, first_line, ValueError("a label is not finite"))
    if not np.isfinite(matrix.data).all():
        at = int(np.flatnonzero(~np.isfinite(matrix.data))[0])
        row = int(np.searchsorted(matrix.indptr, at, side="right"))
        raise DataError(
            f"{source}: row {row} has {matrix.data[at]} for feature {matrix.indices[at]}. Leave out what is missing or "
            "not finite, or write a number."
        )
    whole = np.round(labels)
    if len(labels) and (whole == labels).all() and np.abs(whole).max() < 2.0**53:
        labels = whole.astype(np.int64)
    return matrix, discrete(labels), np.arange(1, len(labels) + 1)


def _first_fault(data: bytes, source: str, first_line: int, cause: Exception) -> DataError:
    """Where the file goes wrong, and how: scikit-learn says the second only."""
    for number, line in enumerate(data.split(b"\n"), first_line):
        fault = _fault(line.split(b"#")[0])
        if fault:
            return DataError(f"{source}: line {number}: {fault}")
    return DataError(f"{source} cannot be read as a libsvm file: {cause}.")


def _fault(line: bytes) -> str | None:
    cells = line.decode("utf-8", "replace").split()
    if not cells:
        return None
    if "\0" in line.decode("latin1"):
        return "it has a NUL byte: the file is damaged, or no text."
    label, *entries = cells
    if "," in label and all(_is_number(part) for part in label.split(",")):
        return f"the row has several labels ({label[:40]}): give each row one, and fit one model for each label."
    if not _is_number(label):
        return f"it starts with {label[:40]!r}, where the label should be, a number. Is this a libsvm file?"
    last = -1
    for entry in entries:
        if re.fullmatch(r"qid:\d+", entry):
            continue
        index, colon, value = entry.partition(":")
        if not colon or not re.fullmatch(r"[-+]?\d+", index):
            return f"{entry[:40]!r} should be index:value."
        if not _is_number(value):
            return f"feature {index[:20]} has the value {value[:40]!r}, which is not a finite number."
        at = int(index) if len(index) < 20 else 1 << 63
        if at < 0:
            return f"the index {at} is below 0."
        if at >= 1 << 31:
            return f"the index {index[:40]} is too large: number the features from 0 or 1."
        if at == last:
            return f"feature {at} is given twice."
        if at < last:
            return f"feature {at} comes after feature {last}: sort the features of each row."
        last = at
    return None


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False
