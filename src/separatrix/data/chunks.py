"""read_chunks: a file of any size, some rows at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from separatrix.data.arff import read_arff
from separatrix.data.delimited import BOM, laid_out, records
from separatrix.data.headers import LOOK
from separatrix.data.parquet import parquet_frames
from separatrix.data.reading import SEPARATORS, require_polars
from separatrix.data.sources import NoRowsError, Source, opened
from separatrix.data.svmlight import read_svmlight
from separatrix.data.table import Table, numbered
from separatrix.errors import DataError

if TYPE_CHECKING:
    import polars


def read_chunks(
    source: str | os.PathLike[str] | BinaryIO,
    *,
    rows: int = 50_000,
    format: str | None = None,
    name: str | None = None,
) -> Iterator[Table]:
    """Read a table some rows at a time, in memory that does not grow with the file.

    An ARFF file is read whole. A Parquet file that is compressed or has no place on the disk is copied to a temporary
    one.

    Parameters
    ----------
    source : path, "-" or binary file object
    rows : int, default=50_000
        How many rows at a time.
    format : {"csv", "tsv", "parquet", "svmlight", "arff"}, default=None
    name : str, default=None
        What messages call it; its name without the folder by default.

    Yields
    ------
    Table
        Without a target; ``row_numbers`` count from the start of the file.

    Raises
    ------
    DataError
        When the rows at fault are reached.
    """
    if rows < 1:
        raise DataError(f"rows must be a whole number above 0; got {rows!r}.")
    with opened(source, format, name) as file:
        if file.format == "svmlight":
            yield from _svmlight(file, rows)
            return
        require_polars()
        if file.format == "arff":
            yield from numbered(read_arff(file.read(), file.name).frame.iter_slices(rows), file.name)
        elif file.format == "parquet":
            with file.on_disk() as on_disk:
                yield from numbered(parquet_frames(on_disk, file.name, rows), file.name)
        else:
            yield from numbered(_delimited(file, rows), file.name)


def _delimited(file: Source, rows: int) -> Iterator[polars.DataFrame]:
    lines = file.lines()
    head = next(lines, b"").removeprefix(BOM)
    while head and (not head.strip() or head.count(b'"') % 2):  # blank lines above it; a line end inside a quoted name
        more = next(lines, None)
        if more is None:
            break
        head += more
    some = list(islice(lines, LOOK))
    layout, body, line = laid_out(head, SEPARATORS[file.format], file.name, b"".join(some))
    first = 1
    for piece in records(chain([body] if body else [], some, lines), rows):
        frame = layout.frame(piece, first, line)
        line += piece.count(b"\n")
        first += len(frame)
        yield frame
    if first == 1:
        raise NoRowsError(f"{file.name} has a header but no rows below it.")


def _svmlight(file: Source, rows: int) -> Iterator[Table]:
    row, line = 1, 1
    for piece in records(file.lines(), rows):
        matrix, y, _ = read_svmlight(piece, file.name, line)
        line += piece.count(b"\n")
        if len(y):
            yield Table(None, matrix, y, "label", file.name, "", np.arange(row, row + len(y)))
            row += len(y)
    if row == 1:
        raise NoRowsError(f"{file.name} has no rows.")
