"""read_table: a file becomes a table."""

from __future__ import annotations

import hashlib
import io
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np

from separatrix.data.arff import read_arff
from separatrix.data.delimited import laid_out
from separatrix.data.labels import check_classes, labels
from separatrix.data.parquet import parquet_table
from separatrix.data.sources import Source, explained, opened
from separatrix.data.suggest import unknown_column
from separatrix.data.svmlight import read_svmlight
from separatrix.data.table import Table, without
from separatrix.errors import DataError

if TYPE_CHECKING:
    import polars

SEPARATORS = {"csv": None, "tsv": "\t"}  # None: found from the header, comma, semicolon, tab or bar


def read_table(
    source: str | os.PathLike[str] | BinaryIO, *, target: str | None = None, format: str | None = None
) -> Table:
    r"""Read a table from a file.

    Parameters
    ----------
    source : path, "-" or binary file object
        "-" is standard input. Files compressed by gzip, xz or bzip2 are read as they are. A first line that is a row of
        data like the others is read as one: the columns are then called "column 1" and so on.
    target : str, default=None
        The column of the labels. Rows without a label are left out, and counted in the notes of the table. A libsvm
        file has its labels at the start of each line, and needs no name.
    format : {"csv", "tsv", "parquet", "svmlight", "arff"}, default=None
        Found from the ending of the name, or else from the content.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        Naming the file, the row and the column, and what to do.

    Examples
    --------
    >>> import io
    >>> from separatrix.data import read_table
    >>> table = read_table(io.BytesIO(b"age,sex,ill\n30,f,no\n41,m,yes\n?,f,no\n"), target="ill")
    >>> [(column.name, column.kind, column.n_missing) for column in table.columns], table.y.tolist()
    ([('age', 'number', 1), ('sex', 'category', 0)], ['no', 'yes', 'no'])
    """
    with opened(source, format) as file:
        if file.format == "parquet":
            return _parquet(file, target)
        data = file.read()
    fingerprint = hashlib.sha256(data).hexdigest()
    if file.format == "svmlight":
        return _svmlight(data, file, target, fingerprint)
    require_polars()
    if file.format == "arff":
        arff = read_arff(data, file.name)
        return _with_labels(arff.frame, file.name, target, fingerprint, (), arff.nominal)
    layout, body, first_line = laid_out(data, SEPARATORS[file.format], file.name)
    frame = layout.frame(body, 1, first_line)
    if not len(frame):
        raise DataError(f"{file.name} has a header but no rows below it.")
    return _with_labels(frame, file.name, target, fingerprint, layout.notes)


def _parquet(file: Source, target: str | None) -> Table:
    require_polars()
    with file.on_disk() as on_disk:
        with explained(file.name):
            fingerprint = hashlib.file_digest(cast(io.BufferedReader, on_disk), "sha256").hexdigest()
        frame = parquet_table(on_disk, file.name)
    return _with_labels(frame, file.name, target, fingerprint, ())


def _with_labels(
    frame: polars.DataFrame,
    name: str,
    target: str | None,
    fingerprint: str,
    notes: tuple[str, ...],
    nominal: frozenset[str] = frozenset(),
) -> Table:
    row_numbers = np.arange(1, len(frame) + 1)
    whole = Table(frame, None, None, None, name, fingerprint, row_numbers, notes, nominal=nominal)
    if target is None:
        return whole
    if target not in frame.columns:
        raise unknown_column(name, target, frame.columns, "target column")
    y, has, note = labels(frame[target], name, target)
    frame, nominal = without(frame, [target]), nominal - {target}
    identifiers: frozenset[str] = frozenset()
    if len(has) < len(frame):  # numbers of records have gaps where rows are left out: all rows show what they are
        columns = replace(whole, frame=frame, nominal=nominal).columns
        identifiers = frozenset(column.name for column in columns if column.kind == "identifier?")
        frame, row_numbers = frame[has], row_numbers[has]
    return Table(frame, None, y, target, name, fingerprint, row_numbers, notes + note, identifiers, nominal)


def _svmlight(data: bytes, file: Source, target: str | None, fingerprint: str) -> Table:
    if target not in (None, "label"):
        raise DataError(
            f"{file.name} is a libsvm file, whose labels stand at the start of each line: it has no column {target!r}. "
            "Leave the target out."
        )
    if not data.strip():
        raise DataError(f"{file.name} is empty: it should have a label and index:value in each line.")
    matrix, y, row_numbers = read_svmlight(data, file.name)
    if not len(y):
        raise DataError(f"{file.name} has no rows.")
    if target is not None:
        check_classes(y, file.name, target)
    return Table(None, matrix, y, "label", file.name, fingerprint, row_numbers)


def require_polars() -> Any:
    """The polars module, or an error that says how to get it."""
    try:
        import polars
    except ImportError as error:
        raise DataError('Reading tables needs polars: pip install "separatrix[cli]".') from error
    return polars
