"""What a column is: found from its values, and said in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix._typing import Floats, Integers
from separatrix.data.dates import ORDERS, first_that_is_no_date, found_order
from separatrix.data.identifiers import ALMOST, FEW, FEWEST, WHOLE, identifies_rows, named_as_row_numbers
from separatrix.data.spelling import SHORT, Spelling, could_be_either, found_spelling, like_numbers, sample_of
from separatrix.data.table import Column, Table, feature_name
from separatrix.data.words import FEWEST_ROWS
from separatrix.errors import DataError

if TYPE_CHECKING:
    import polars

MOST = 1000  # different texts that can be categories at all
ROWS_EACH = 5  # rows of a category, on average, if there are more than a few
LONG = 40  # characters of a text, on average, above which it is no category
ALL_DIFFERENT = 0.95  # the share of different texts from which on they identify the rows
SPOKEN = 3.0  # words of a text, on average, from which on it is neither a name nor a category
HUGE = 1e9  # whole numbers from here on, all different, are seldom quantities
ROUNDING = 2 * 2.0**-52  # relative, between values that are meant to be one
EPOCH = date(1970, 1, 1).toordinal()  # from which polars counts days
BOOLEANS = 12  # ways to write true and false that anyone uses


@dataclass(frozen=True)
class Numbers:
    """A column as floats, null where it has no value; the place of the first text that is no number, if any.

    ``spelling`` is how the numbers are written, if not as Python does.
    """

    values: polars.Series
    bad: int | None
    spelling: Spelling | None = None


def as_numbers(column: polars.Series) -> Numbers:
    """The column as floats, if its cells are numbers that are all written in one way, whichever it is."""
    numbers = spelled_numbers(column, None)
    if numbers.bad is None:
        return numbers
    found = found_spelling(column)
    if found is None or found[1].null_count() >= numbers.values.null_count():
        return numbers
    spelling, values = found
    return Numbers(values, _first_lost(column, values), spelling)


def spelled_numbers(column: polars.Series, spelling: Spelling | None) -> Numbers:
    """The column as floats, if its cells are numbers that are written in this way; None: as Python does."""
    import polars as pl

    if column.dtype != pl.String:
        return Numbers(column.cast(pl.Float64), None)
    values = column.cast(pl.Float64, strict=False) if spelling is None else spelling.read(column)
    return Numbers(values, _first_lost(column, values), spelling)


def _first_lost(column: polars.Series, values: polars.Series) -> int | None:
    if values.null_count() == column.null_count():
        return None
    return (values.is_null() & column.is_not_null()).arg_max()


def plain_numbers(frame: polars.DataFrame, names: Iterable[str]) -> tuple[Floats, list[polars.Series]]:
    """The columns of these that are numbers as Python writes them: (n, m) floats, NaN where missing, and themselves.

    A table can have many thousands of columns, so that each is looked at by itself: a query over all takes longer.
    """
    import polars as pl

    wanted = set(names)
    found, floats = [], []
    for column in frame.get_columns():
        if column.name in wanted and (column.dtype == pl.String or column.dtype.is_numeric()):
            numbers = column.cast(pl.Float64, strict=False)
            if numbers.null_count() == column.null_count():
                found.append(column)
                floats.append(numbers)
    values = np.empty((len(frame), len(found)), order="F")
    for j, numbers in enumerate(floats):
        values[:, j] = numbers.to_numpy()
    return values, found


def describe_frame(table: Table) -> list[Column]:
    """The columns of a table with names."""
    frame = table.frame
    assert frame is not None
    missing = {column.name: column.null_count() for column in frame.get_columns()}
    named = named_as_row_numbers([*frame.columns, *table.beside])
    plain = plain_numbers(frame, missing.keys() - table.nominal)
    found = {column.name: column for column in _describe_numbers(*plain, missing, named)}
    columns = [
        found.get(column.name) or _describe(column, missing[column.name], table, column.name in named)
        for column in frame.get_columns()
    ]
    return [
        replace(column, kind="identifier?", note="")
        if column.name in table.identifiers and column.kind not in ("empty", "constant")
        else column
        for column in columns
    ]


@dataclass(frozen=True)
class Texts:
    """What there is to know of the texts of a column, of which there are some.

    How many differ; their characters and words, on average; the order in which they are dates, and whether another
    would do; whether all are true or false.
    """

    unique: int
    length: float
    words: float
    order: str
    doubtful: bool
    booleans: bool


def _texts(column: polars.Series) -> Texts:
    if len(column) <= SHORT:
        cells = [cell for cell in column.to_list() if cell is not None]
        different, length = list(dict.fromkeys(cells)), sum(map(len, cells)) / len(cells)
    else:
        present = column.drop_nulls()
        different = present.unique(maintain_order=True).to_list()
        length = float(present.str.len_chars().mean())  # type: ignore[arg-type]
    order, doubtful = found_order(different) or ("", False)
    sample = sample_of(column)
    return Texts(
        len(different),
        length,
        sum(len(cell.split()) for cell in sample) / len(sample),
        order,
        doubtful,
        len(different) <= BOOLEANS and all(cell.lower() in ("true", "false") for cell in different),
    )


def _describe_numbers(
    values: Floats, columns: list[polars.Series], missing: Mapping[str, int], named: set[str]
) -> Iterator[Column]:
    """Columns of plain numbers, all at once; ``named`` are those called as row numbers are."""
    n = len(values)
    if not n or not columns:
        return
    ordered = np.sort(values, axis=0)  # NaN last
    with np.errstate(invalid="ignore", over="ignore"):
        unique = (np.diff(ordered, axis=0) > 0).sum(axis=0) + 1
        largest = np.fmax.reduce(np.abs(values), axis=0)
        # values that differ by rounding alone count as one: such a column would get enormous weights
        unique[(np.fmax.reduce(values, axis=0) - ordered[0] <= ROUNDING * largest) & (largest < np.inf)] = 1
    first = np.argmax(~np.isnan(values), axis=0)
    for j, column in enumerate(columns):
        if missing[column.name] < n:
            example = str(column[int(first[j])])[:60]
            identifies = identifies_rows(values[:, j], int(unique[j]), column.name in named, _digits(column))
            kind = "constant" if unique[j] == 1 else "identifier?" if identifies else "number"
            note = "" if kind != "number" or largest[j] < HUGE else _large(column, int(unique[j]))
            yield Column(column.name, kind, missing[column.name], int(unique[j]), example, note)


def _large(column: polars.Series, unique: int) -> str:
    """That whole numbers are so large, if they are not rounded quantities."""
    rounded = _rounded(column)
    if rounded or not _digits(column) or len(column) <= 2 * FEW or unique < ALMOST * len(column):
        return rounded
    return (
        f"Column {column.name!r} holds large whole numbers, nearly all different, such as {column.drop_nulls()[0]}: if "
        "they only identify rows, leave it out."
    )


def _digits(column: polars.Series) -> bool:
    """Whether its numbers are whole and written out, as those that identify something are."""
    import polars as pl

    if column.dtype != pl.String:
        return column.dtype.is_integer()
    return not bool(column.str.contains(r"[.eE]").any())


def _rounded(column: polars.Series) -> str:
    """That whole numbers beyond 2^53 are no floats, if there are such."""
    import polars as pl

    if column.dtype.is_float():
        return ""
    whole = [
        int(cell) for cell in column.drop_nulls().cast(pl.String).to_list() if re.fullmatch(r"[+-]?\d{1,400}", cell)
    ]
    lost = [value for value in whole if abs(value) > WHOLE and (abs(value) > 1 << 1023 or int(float(value)) != value)]
    if not lost:
        return ""
    return (
        f"Column {column.name!r} holds whole numbers beyond 2^53, such as {lost[0]}, which are rounded to the nearest "
        "float: subtract a common offset, or leave it out."
    )


def _describe(column: polars.Series, missing: int, table: Table, named: bool) -> Column:
    """A column that is not of plain numbers."""
    import polars as pl

    name, dtype = column.name, column.dtype
    if missing == len(column):
        return Column(name, "empty", missing, 0, "")
    if dtype in (pl.Date, pl.Datetime):  # of those beyond its own calendar Python has no value
        known = (column.cast(pl.Date).cast(pl.Int32).cast(pl.Int64) + EPOCH).is_between(1, date.max.toordinal())
        if not known.all():
            row = table.row_numbers[int(np.argmin(known.fill_null(True).to_numpy()))]
            raise DataError(
                f"{table.source}: row {row}, column {name!r} has a date beyond the years 1 to 9999. Correct it or "
                "leave it empty."
            )
    example = str(column.drop_nulls()[0])[:60]
    if dtype in (pl.Date, pl.Datetime, pl.Boolean):
        kind, order = ("boolean", "") if dtype == pl.Boolean else ("date", "ymd")
        unique = column.n_unique() - bool(missing)
        return Column(name, "constant" if unique == 1 else kind, missing, unique, example, order=order)
    if dtype != pl.String:
        note = f"Column {name!r} holds {dtype}, not numbers or text: split it into such columns, or leave it out."
        return Column(name, "nested", missing, 0, example, note)
    texts = _texts(column)
    if texts.unique == 1 or texts.booleans or name in table.nominal:
        kind = "constant" if texts.unique == 1 else "category" if name in table.nominal else "boolean"
        return Column(name, kind, missing, texts.unique, example)
    numbers = as_numbers(column)
    if numbers.bad is None:
        values = numbers.values.to_numpy()
        unique = len(set(values[~np.isnan(values)].tolist()))
        identifies = identifies_rows(values, unique, named, False)
        kind = "constant" if unique == 1 else "identifier?" if identifies else "number"
        note = _written(column, numbers) if kind == "number" else ""
        return Column(name, kind, missing, unique, example, note, numbers.spelling)
    return _describe_text(column, missing, example, numbers, texts, table.row_numbers, named)


def _written(column: polars.Series, numbers: Numbers) -> str:
    """How the numbers were read, where that is a decision."""
    if numbers.spelling is None:
        return ""
    doubtful = "," in (numbers.spelling.thousands, numbers.spelling.decimal) and could_be_either(column)
    at = next(row for row, cell in enumerate(column) if cell is not None and (not doubtful or "," in cell))
    example = f"{str(column[at])[:40]!r} as {numbers.values[at]:.15g}"
    doubt = ". If that is not meant, write numbers without commas" if doubtful else ""
    return f"Column {column.name!r} is read as numbers with {numbers.spelling}: {example}{doubt}."


def _describe_text(
    column: polars.Series, missing: int, example: str, numbers: Numbers, texts: Texts, rows: Integers, named: bool
) -> Column:
    """A column of texts that are not numbers."""
    name, unique, length = column.name, texts.unique, texts.length
    present = len(column) - missing
    if texts.order:
        doubt = " If that is not meant, write them as 2020-12-31." if texts.doubtful else ""
        note = f"Column {name!r} is read as dates ({ORDERS[texts.order]}), such as {example[:40]!r}.{doubt}"
        return Column(name, "date", missing, unique, example, note, order=texts.order)
    odd = ""
    if like_numbers(sample_of(column)):
        odd = f"its cells, such as {example[:40]!r}, look like numbers, but are not all written in one way"
    if named and present >= FEWEST and unique >= (ALMOST if present > 2 * FEW else 1.0) * present:
        return Column(name, "identifier?", missing, unique, example)
    if length <= LONG and unique <= max(FEW, min(MOST, present // ROWS_EACH)):
        note = f"Column {name!r} is taken as categories: {odd}." if odd else ""
        return Column(name, "category", missing, unique, example, note)
    if numbers.bad is not None and numbers.values.null_count() - missing < present / 2:
        word, row = str(column[numbers.bad])[:40], rows[numbers.bad]
        note = f"Column {name!r} holds numbers, but {word!r} in row {row}: correct the cell, or leave it empty."
        return Column(name, "mixed", missing, unique, example, note)
    if (at := first_that_is_no_date(column)) is not None:
        word, row = str(column[at])[:40], rows[at]
        note = (
            f"Column {name!r} holds dates, but {word!r} in row {row} is none, or is written in another way: correct "
            "the cell, or leave it empty."
        )
        return Column(name, "mixed", missing, unique, example, note)
    brief = texts.words < SPOKEN
    if brief and unique >= ALL_DIFFERENT * present and present > 2 * FEW:
        note = f"Column {name!r} is left out: {odd}. Write them as 1234.5." if odd else ""
        return Column(name, "identifier?", missing, unique, example, note)
    found = f"Column {name!r} holds {unique} different texts in {present} rows"
    if brief:
        note = f"{found}: those that {FEWEST_ROWS} rows have, {MOST} at most, are categories, the rest are as one."
        return Column(name, "category", missing, unique, example, note, rare=True)
    note = f"{found} ({length:.0f} characters on average), and is taken as words."
    return Column(name, "text", missing, unique, example, note)


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
