"""Rows that are in memory already, as a table: data frames, dicts, records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from separatrix._typing import Array, Floats
from separatrix.data.missing import MISSING
from separatrix.data.plans import Plan, text_of
from separatrix.data.suggest import unknown_column
from separatrix.data.table import Table, feature_index
from separatrix.errors import DataError

if TYPE_CHECKING:
    import polars

_COUNTING = Lock()
Rows = Any  # a DataFrame of pandas or polars, a dict (one row) or a list of dicts
Wanted = Mapping[str, set[str]]


def as_table(rows: Rows, wanted: Wanted | None) -> Table:
    """Rows as the table that a file with them would be; `DataError` for what is no rows, or if a column is not there.

    The columns to look for are wanted, each with those texts that are taken as they are; others are stripped, and "NA"
    and the like stand for a missing value. None for the features of a libsvm file: those not named are 0.
    """
    records = [rows] if isinstance(rows, Mapping) else rows
    if isinstance(records, Sequence) and not isinstance(records, str | bytes):
        if not records:
            raise DataError("There are no rows: give at least one.")
        at = next((at for at, row in enumerate(records) if not isinstance(row, Mapping)), None)
        if at is not None:
            raise DataError(
                f"Row {at + 1} is a {type(records[at]).__name__}: give each row as a dict of names and values."
            )
        columns: Mapping[str, Any] = _Records(records)
        n, names = len(records), list(dict.fromkeys(name for row in records for name in row))
    elif all(hasattr(rows, name) for name in ("shape", "dtypes", "columns")):  # a frame that is not lazy
        columns, n, names = rows, len(rows), list(rows.columns)
    else:
        raise DataError(
            f"Rows are a DataFrame of pandas or polars, a dict, or a list of dicts; got a {type(rows).__name__}. "
            "The model of a Scorer, .model, takes matrices."
        )
    if wanted is None:
        return _features(columns, [str(name) for name in names], n)
    there = set(names)
    absent = next((name for name in wanted if name not in there), None)
    if absent is not None:
        raise unknown_column("the data", absent, [str(name) for name in names])
    if not n:
        raise DataError("There are no rows: give at least one.")
    import polars as pl

    frame = pl.DataFrame({name: _series(name, columns[name], known) for name, known in wanted.items()})
    return Table(frame, None, None, None, "the data", "", np.arange(1, n + 1))


class _Records(dict[str, Any]):
    """The columns of records."""

    def __init__(self, records: Sequence[Mapping[str, Any]]) -> None:
        self._records = records

    def __missing__(self, name: str) -> list[Any]:
        for at, row in enumerate(self._records, 1):
            if name not in row:
                raise DataError(f"Row {at} has no {name!r}: give it the value None if it is not known.")
        return [row[name] for row in self._records]


def _series(name: str, values: Any, known: set[str]) -> polars.Series:
    """A column as reading a file would have it: texts stripped, and null where a value is missing."""
    import polars as pl

    if getattr(values, "ndim", 1) > 1:  # pandas gives all columns of a name
        raise DataError(f"the data: two columns have the name {name!r}. Rename one of them.")
    if isinstance(values, pl.Series):
        if values.dtype in (pl.Categorical, pl.Enum):
            values = values.cast(pl.String)
        if values.dtype == pl.String:
            return _cleaned(values.alias(name), known)
        if values.dtype != pl.Object:
            return (values.fill_nan(None) if values.dtype.is_float() else values).alias(name)
        values = values.to_list()
    if hasattr(values, "to_numpy"):  # of pandas
        kind = values.dtype.kind if isinstance(values.dtype, np.dtype) else "O"
        if kind in "fiub":
            found = pl.Series(name, np.ascontiguousarray(values.to_numpy()))
            return found.fill_nan(None) if kind == "f" else found
        if kind == "M":
            return pl.Series(name, values.to_numpy().astype("datetime64[us]"))
        values = values.astype(object).where(values.notna(), None).tolist()
    cells = [plain_cell(value, name, row) for row, value in enumerate(values, 1)]
    kinds = {type(cell) for cell in cells} - {type(None)}
    if kinds <= {int, float} or kinds == {bool}:
        if kinds == {bool}:
            return pl.Series(name, cells, pl.Boolean)
        if kinds == {int} and all(cell is None or abs(cell) < 1 << 63 for cell in cells):
            return pl.Series(name, cells, pl.Int64)
        with suppress(OverflowError):  # beyond all floats, which the column of its digits is told to be
            return pl.Series(name, [None if cell is None else float(cell) for cell in cells], pl.Float64)
    if kinds and all(issubclass(kind, date) for kind in kinds):
        return pl.Series(name, [_plain_time(cell) for cell in cells], pl.Datetime("us"))
    texts = [cell if cell is None or cell in known else text_of(cell) for cell in map(_text, cells)]
    try:
        return pl.Series(name, texts, pl.String)
    except UnicodeEncodeError as error:
        raise DataError(
            f"the data: column {name!r} has a text that is no Unicode: {error.object!r:.60}. Correct it."
        ) from error


def _text(cell: Any) -> str | None:
    return cell if cell is None or isinstance(cell, str) else str(cell) if isinstance(cell, date) else text_of(cell)


def _plain_time(cell: Any) -> Any:
    """The time as its own clock shows it; of a day, its beginning."""
    if cell is None or isinstance(cell, datetime):
        return cell and cell.replace(tzinfo=None)
    return datetime(cell.year, cell.month, cell.day)


def plain_cell(value: Any, name: str, row: int) -> Any:
    """A value as Python has it; None if it stands for no value."""
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64):
        value = value.item()
    if isinstance(value, np.datetime64):
        value = None if np.isnat(value) else value.astype("datetime64[us]").item()
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return None if value != value else value
    if isinstance(value, date):
        return value if value == value else None  # pandas has a date that is none
    if hasattr(value, "__float__") and not hasattr(value, "__len__"):
        with suppress(ValueError, OverflowError):  # of Decimal("sNaN"), and of a fraction beyond all floats
            return None if (found := float(value)) != found else found
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    raise DataError(
        f"Row {row}, column {name!r}: a {type(value).__name__}, where numbers, text, truth values and dates can be. "
        "Convert it, or give None if it is not known."
    )


def _cleaned(column: polars.Series, known: set[str]) -> polars.Series:
    """Texts stripped, and null for those that stand for no value, but for those that are known as they are."""
    import polars as pl

    frame = column.to_frame("")
    cell, bare = pl.col(""), pl.col("").str.strip_chars()
    cleaned = pl.when(bare.is_in(MISSING)).then(None).otherwise(bare)
    found = frame.select(pl.when(cell.is_in(sorted(known))).then(cell).otherwise(cleaned) if known else cleaned)
    return found.to_series().alias(column.name)


def _features(columns: Any, names: list[str], n: int) -> Table:
    """The features of a libsvm file, by their names "feature 7"; what is not there is 0."""
    found: dict[int, Floats] = {}
    for name in names:
        if (index := feature_index(name)) is None:
            continue
        raw = [row.get(name, 0.0) for row in columns._records] if isinstance(columns, _Records) else columns[name]
        series = _series(name, raw, set())
        if not series.dtype.is_numeric():
            raise DataError(f"the data: {name!r} should be a column of numbers.")
        found[index] = series.fill_null(0.0).to_numpy().astype(np.float64)
    places = np.array(sorted(found), dtype=np.int64)
    rows = sparse.csr_matrix(np.column_stack([np.empty((n, 0)), *(found[place] for place in places.tolist())]))
    if not np.isfinite(rows.data).all():
        raise DataError("the data: a feature is not finite.")
    shape = n, int(places.max(initial=0)) + 1
    matrix = sparse.csr_matrix((rows.data, places[rows.indices], rows.indptr), shape=shape)
    return Table(None, matrix, None, None, "the data", "", np.arange(1, n + 1))


def count(surprises: Counter[str], met: Mapping[str, int] | Sequence[str]) -> None:
    """Add what was met, one thread at a time: a scorer may be asked by many, and a sum must not lose a term."""
    with _COUNTING:
        surprises.update(met)


def row_filler(
    plans: Sequence[Plan] | None, kept: Array | None, surprises: Counter[str]
) -> Callable[[Mapping[str, Any]], Floats | None]:
    """How one row, a dict, becomes a vector, of which some places are kept; None if it takes a closer look.

    Everything that does not depend on the row is worked out here, once.
    """
    fillers, first = [], 0
    for plan in plans or ():
        fillers.append((plan.name, plan.filler(first)))
        first += len(plan.output)

    def fill(row: Mapping[str, Any]) -> Floats | None:
        if not fillers:
            return None
        x = np.zeros(first)
        met: list[str] = []  # counted once the whole row is known to be good
        try:
            for name, put in fillers:
                if not put(x, row[name], met):
                    return None
        except (KeyError, TypeError, ValueError):
            return None
        if met:
            count(surprises, met)
        return x if kept is None else x[kept]

    return fill
