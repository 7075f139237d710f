"""A table as it was read, and what its columns are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix._typing import Array, Integers
from separatrix.cached import cached_property
from separatrix.data.spelling import Spelling
from separatrix.data.suggest import unknown_column
from separatrix.errors import DataError

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True)
class Column:
    """What a column is.

    Parameters
    ----------
    name : str
    kind : str
        "number", "boolean", "category", "date", "text" (words); "constant" (one value) and "empty" (none), which say
        nothing; "identifier?" (a different text in nearly every row, or the number of a record), which is left out;
        "mixed" (numbers or dates, and something else) and "nested", which a classifier cannot use as they are.
    n_missing, n_unique : int
        Cells without a value, and different values in the others.
    example : str
        A value, for display.
    note : str
        What is wrong with the column and what to do, if anything is; or how it was read, if that was a decision.
    spelling : Spelling or None
        How its numbers are written, if not as 1234.5.
    order : str
        How its dates are written: "ymd", "mdy" or "dmy"; "" if it has none.
    rare : bool
        Whether it has categories of so few rows that they are not told apart.
    """

    name: str
    kind: str
    n_missing: int
    n_unique: int
    example: str
    note: str = ""
    spelling: Spelling | None = None
    order: str = ""
    rare: bool = False


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of a file, the labels apart.

    Parameters
    ----------
    frame : polars.DataFrame or None
        The columns but the target: as text for CSV and TSV (stripped, missing values null), typed for Parquet. None for
        a libsvm file.
    matrix : scipy.sparse.csr_matrix or None
        The numbers of a libsvm file; column j is what the file calls j, whether it counts from 0 or from 1.
    y : array of shape (n_rows,) or None
        The labels: text, whole numbers, floats or truth values.
    target : str or None
        The name of the column they came from.
    source : str
        The name of the file, for messages.
    fingerprint : str
        SHA-256 of the file's bytes, uncompressed, in hexadecimal digits; "" for a part of a file.
    row_numbers : integer array of shape (n_rows,)
        Where each row is in the file, counted from 1 without the header.
    notes : tuple of str
        What was done on the way, in sentences.
    identifiers : frozenset of str
        Columns that identify rows, as all rows of the file show, also those that have no label.
    nominal : frozenset of str
        Columns that the file declares to be categories, whatever their values look like.
    beside : tuple of str
        Further columns of the file, which are not looked at here.
    """

    frame: polars.DataFrame | None
    matrix: Any
    y: Array | None
    target: str | None
    source: str
    fingerprint: str
    row_numbers: Integers
    notes: tuple[str, ...] = ()
    identifiers: frozenset[str] = frozenset()
    nominal: frozenset[str] = frozenset()
    beside: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.frame is not None:
            check_names(self.frame.columns, self.source)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.row_numbers)

    @property
    def names(self) -> list[str]:
        """The names of the columns, without the target."""
        if self.frame is not None:
            return list(self.frame.columns)
        return [feature_name(j) for j in np.unique(self.matrix.indices)]

    @cached_property
    def columns(self) -> list[Column]:
        """What the columns are; worked out when first asked for."""
        from separatrix.data.kinds import describe_frame, describe_matrix

        return describe_matrix(self.matrix) if self.frame is None else describe_frame(self)

    def take(self, rows: Integers) -> Table:
        """These rows of it, without labels."""
        frame = None if self.frame is None else self.frame[rows]
        matrix = None if self.matrix is None else self.matrix[rows]
        return replace(self, frame=frame, matrix=matrix, y=None, row_numbers=self.row_numbers[rows])

    def drop(self, names: Iterable[str]) -> Table:
        """The table without these columns; `DataError` for one that is not there."""
        names, there = list(names), set(self.names)
        for name in names:
            if name not in there:
                raise unknown_column(self.source, name, self.names)
        if self.frame is not None:
            return replace(self, frame=without(self.frame, names))
        matrix = self.matrix.copy()
        gone = np.array([feature_index(name) for name in names], dtype=np.int64)
        matrix.data[np.isin(matrix.indices, gone)] = 0.0
        matrix.eliminate_zeros()
        return replace(self, matrix=matrix)


def numbered(frames: Iterable[polars.DataFrame], source: str) -> Iterator[Table]:
    """The rows of a file, some at a time, as tables that know their numbers."""
    first = 1
    for frame in frames:
        if len(frame):
            yield Table(frame, None, None, None, source, "", np.arange(first, first + len(frame)))
            first += len(frame)


def check_names(names: Iterable[str], source: str) -> None:
    """Refuse names that polars takes for patterns wherever it meets them."""
    for name in names:
        if name.startswith("^") and name.endswith("$"):
            raise DataError(f"{source}: the column {name!r} has the name of a pattern, from ^ to $. Rename it.")


def without(frame: polars.DataFrame, names: Iterable[str]) -> polars.DataFrame:
    """The frame without these columns, also one called "*", which to polars is all of them."""
    gone = set(names)
    return frame.select([column for column in frame.get_columns() if column.name not in gone])


def feature_name(index: int) -> str:
    """What a column of a libsvm file is called."""
    return f"feature {index}"


def feature_index(name: str) -> int | None:
    """The number of the column of this name; None if it is no such name."""
    found = re.fullmatch(r"feature (0|[1-9][0-9]{0,9})", name)
    return int(found[1]) if found else None
