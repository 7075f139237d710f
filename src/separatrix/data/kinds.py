"""What a column is: found from its values, and said in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix._typing import Integers
from separatrix.data.table import Column, Table, feature_name

if TYPE_CHECKING:
    import polars

FEW = 10  # different texts that are categories in a table of any size
MOST = 1000  # different texts that can be categories at all
ROWS_EACH = 5  # rows of a category, on average, if there are more than a few
LONG = 40  # characters of a text, on average, above which it is no category
ALL_DIFFERENT = 0.95  # the share of different texts from which on they identify the rows
_DATE = r"^(\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{4}/\d{1,2}/\d{1,2})([T ]\d{1,2}:\d{2}.*)?$"


@dataclass(frozen=True)
class Numbers:
    """A column as floats, null where it has no value; and the place of the first text that is no number, if any."""

    values: polars.Series
    bad: int | None


def as_numbers(column: polars.Series) -> Numbers:
    """The column as floats; decimal commas are read if every number that has one has no point."""
    import polars as pl

    if column.dtype != pl.String:
        return Numbers(column.cast(pl.Float64), None)
    values = column.cast(pl.Float64, strict=False)
    if values.null_count() == column.null_count():
        return Numbers(values, None)
    bad = values.is_null() & column.is_not_null()
    if bool(column.filter(bad).str.contains(r"^[+-]?\d*,\d+$").all()):
        values = column.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
        bad = values.is_null() & column.is_not_null()
    return Numbers(values, bad.arg_max() if bad.any() else None)


def as_booleans(column: polars.Series) -> polars.Series | None:
    """The column as truth values, if it is made of "true" and "false" in any spelling."""
    import polars as pl

    if column.dtype == pl.Boolean:
        return column
    if column.dtype != pl.String:
        return None
    folded = column.str.to_lowercase()
    if not folded.drop_nulls().is_in(["true", "false"]).all():
        return None
    return folded == "true"


def describe_frame(table: Table) -> list[Column]:
    """The columns of a table with names."""
    assert table.frame is not None
    return [_describe(column, table.row_numbers) for column in table.frame.get_columns()]


def _describe(column: polars.Series, rows: Integers) -> Column:
    import polars as pl

    missing, name = column.null_count(), column.name
    if missing == len(column):
        return Column(name, "empty", missing, 0, "")
    example = str(column.drop_nulls()[0])[:60]
    dtype = column.dtype
    if dtype.is_temporal():
        return Column(name, "date", missing, column.n_unique() - bool(missing), example, _date_advice(name))
    if not (dtype.is_numeric() or dtype in (pl.String, pl.Boolean)):
        note = f"Column {name!r} holds {dtype}, not numbers or text: split it into such columns, or leave it out."
        return Column(name, "nested", missing, 0, example, note)
    numbers = as_numbers(column)
    values = column if dtype == pl.Boolean or numbers.bad is not None else numbers.values
    unique = values.n_unique() - bool(missing)
    if unique == 1:
        return Column(name, "constant", missing, 1, example)
    if numbers.bad is None and dtype != pl.Boolean:
        return Column(name, "identifier?" if _counts_rows(values) else "number", missing, unique, example)
    if as_booleans(column) is not None:
        return Column(name, "boolean", missing, unique, example)
    return _describe_text(column, numbers, unique, rows)


def _describe_text(column: polars.Series, numbers: Numbers, unique: int, rows: Integers) -> Column:
    name, missing, example = column.name, column.null_count(), str(column.drop_nulls()[0])[:60]
    present = len(column) - missing
    length = float(column.str.len_chars().mean() or 0.0)  # type: ignore[arg-type]
    found = f"Column {name!r} holds {unique} different texts in {present} rows"
    if bool(column.drop_nulls().str.contains(_DATE).all()):
        return Column(name, "date", missing, unique, example, _date_advice(name))
    if length <= LONG and unique <= max(FEW, min(MOST, present // ROWS_EACH)):
        return Column(name, "category", missing, unique, example)
    if numbers.bad is not None and numbers.values.null_count() - missing < present / 2:
        word, row = str(column[numbers.bad])[:40], rows[numbers.bad]
        note = f"Column {name!r} holds numbers, but {word!r} in row {row}: correct the cell, or leave it empty."
        return Column(name, "text", missing, unique, example, note)
    if length <= LONG and unique >= ALL_DIFFERENT * present and present > 2 * FEW:
        return Column(name, "identifier?", missing, unique, example)
    note = (
        f"{found} ({length:.0f} characters on average), too many for categories: leave it out, group it into fewer "
        "values, or turn words into counts (sklearn.feature_extraction.text) and save these as a libsvm file."
    )
    return Column(name, "text", missing, unique, example, note)


def _date_advice(name: str) -> str:
    return f"Column {name!r} holds dates: turn them into numbers (year, month, days since a date), or leave it out."


def _counts_rows(values: polars.Series) -> bool:
    """Whether the numbers are those of the rows, one after the other."""
    if len(values) <= 2 * FEW or values.null_count() or values[1] - values[0] != 1.0:
        return False
    return bool((np.diff(values.to_numpy()) == 1.0).all())


def describe_matrix(matrix: Any) -> list[Column]:
    """The columns of a libsvm file that have an entry."""
    rows = matrix.tocsr()
    order = np.lexsort((rows.data, rows.indices))
    indices, data = rows.indices[order], rows.data[order]
    names, first, entries = np.unique(indices, return_index=True, return_counts=True)
    new = np.ones(len(data), dtype=bool)
    new[1:] = (indices[1:] != indices[:-1]) | (data[1:] != data[:-1])
    zeros = np.add.reduceat(data == 0, first) if len(first) else first
    unique = np.add.reduceat(new, first) if len(first) else first
    unique = unique + ((entries < matrix.shape[0]) & (zeros == 0))  # what is not written is 0
    kinds = np.where(unique > 1, "number", "constant")
    return [
        Column(feature_name(j), str(kind), 0, int(n), f"{value:g}")
        for j, kind, n, value in zip(names, kinds, unique, data[first], strict=True)
    ]
