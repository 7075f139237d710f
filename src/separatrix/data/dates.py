"""Dates and times: days since the earliest, year, month, day of the week, and the hour if there is a time."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.data.plans import Block, Filler, Plan, finite, is_missing, moments, only
from separatrix.errors import DataError

if TYPE_CHECKING:
    import polars

#: The orders in which day, month and year are written, and how that is said.
ORDERS = {"ymd": "year, month, day", "mdy": "month, day, year", "dmy": "day, month, year"}
PARTS = ("days", "year", "month", "day of week", "hour")
_MONTHS = ["", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_TIME = r"(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?(?: *([AaPp][Mm]))?(?: *(?:Z|UTC|[+-]\d{2}:?\d{2}))?)?"
_DATE = re.compile(
    rf"(?:(\d{{4}})([-/.])(\d{{1,2}})\2(\d{{1,2}})|(\d{{1,2}})([-/.])(\d{{1,2}})\6(\d{{4}}|\d{{2}})"
    rf"|(\d{{1,2}})[- ]([A-Za-z]{{3}})[a-z]*[- ,]+(\d{{4}}|\d{{2}})"
    rf"|([A-Za-z]{{3}})[a-z]*\.? +(\d{{1,2}}),? +(\d{{4}})){_TIME}"
)


@lru_cache(maxsize=1 << 16)
def moment(cell: str, order: str) -> tuple[float, float] | None:
    """The day, counted from 1 January of the year 1, and the hour of a date in this order; None if it is none."""
    found = _DATE.fullmatch(cell)
    if found is None:
        return None
    groups = found.groups()
    if groups[0] is not None:
        written, parts = "ymd", (groups[0], *groups[2:4])
    elif groups[4] is not None:
        written, parts = order if order != "ymd" else "", (groups[4], *groups[6:8])
    elif groups[8] is not None:
        written, parts = "dmy", groups[8:11]
    else:
        written, parts = "mdy", groups[11:14]
    if written != order:
        return None
    by = dict(zip(written, parts, strict=True))
    year, named = int(by["y"]), by["m"].lower()
    month = int(named) if named.isdigit() else _MONTHS.index(named) if named in _MONTHS else 0
    if len(by["y"]) == 2:  # as POSIX reads them
        year += 1900 if year >= 69 else 2000
    hour, minute, second, half = groups[14:]
    try:
        day = float(date(year, month, int(by["d"])).toordinal())
    except ValueError:
        return None
    if hour is None:
        return day, 0.0
    hours = int(hour) if half is None else int(hour) % 12 + 12 * (half.lower() == "pm")
    if hours > 24 or int(minute) > 59 or float(second or 0) >= 61:
        return None
    return day, hours + int(minute) / 60 + float(second or 0) / 3600


def found_order(cells: Iterable[str]) -> tuple[str, bool] | None:
    """The order in which all cells are dates, and whether another would do as well; None if there is none.

    1/2/2021 is the 2nd of January, 1.2.2021 and 1-2-2021 the 1st of February, unless another cell shows otherwise.
    """
    different = list(dict.fromkeys(cells))
    if not different or _DATE.fullmatch(different[0]) is None:
        return None
    slashes = any("/" in cell for cell in different[:50])
    orders = ("ymd", "mdy", "dmy") if slashes else ("ymd", "dmy", "mdy")
    good = [order for order in orders if all(moment(cell, order) is not None for cell in different)]
    return (good[0], len(good) > 1) if good else None


def first_that_is_no_date(column: polars.Series) -> int | None:
    """Where the first cell is that is no date in the order in which most are; None if most are none."""
    cells = column.to_list()
    present = sum(cell is not None for cell in cells)
    for order in ORDERS:
        lost = [row for row, cell in enumerate(cells) if cell is not None and moment(cell, order) is None]
        if 2 * len(lost) < present:
            return lost[0] if lost else None
    return None


@dataclass(frozen=True)
class DatePlan(Plan):
    """Numbers that a date consists of, each divided by its scale; their means where the date is missing."""

    order: str = "ymd"  # in which dates are written: one of `ORDERS`
    start: int = 1  # the earliest day, counted from 1 January of the year 1
    used: tuple[tuple[str, float, float], ...] = ()  # the parts that differ between rows, with mean and scale

    kind = "date"

    @property
    def parts(self) -> list[str]:
        days = f"days since {date.fromordinal(self.start)}"
        return [f"{self.name}: {days if part == 'days' else part}" for part, _, _ in self.used]

    @property
    def scales(self) -> list[float]:
        return [scale for _, _, scale in self.used] + [1.0] * self.missing

    def words(self) -> str:
        text = f"dates ({ORDERS[self.order]}), as {', '.join(name.partition(': ')[2] for name in self.parts)}"
        return text + "; where missing, the means, and a column that says so" * self.missing

    def block(self, column: polars.Series, source: str, rows: Integers, sparse: bool) -> Block:
        missing = is_missing(column)
        parts = parts_of(self.read(column, source, rows), self.start)
        values = [np.where(missing, mean, parts[part]) / scale for part, mean, scale in self.used]
        told = [missing.astype(np.float64)] * self.missing
        return Block(np.column_stack([*values, *told]), self.unexpected(missing))

    def read(self, column: polars.Series, source: str, rows: Integers) -> Floats:
        """(n, 2) days and hours; NaN where missing."""
        import polars as pl

        if column.dtype in (pl.Date, pl.Datetime):
            return _typed(column)
        if column.null_count() == len(column):
            return np.full((len(column), 2), np.nan)
        if column.dtype != pl.String:
            raise DataError(f"{source}: column {self.name!r} holds {column.dtype}, but held dates before. Convert it.")
        values = np.full((len(column), 2), np.nan)
        for row, cell in enumerate(column.to_list()):
            if cell is not None:
                found = moment(cell, self.order)
                if found is None:
                    raise DataError(
                        f"{source}: row {rows[row]}, column {self.name!r}: {cell[:40]!r}, where dates "
                        f"({ORDERS[self.order]}) are expected. Correct the cell or leave it empty."
                    )
                values[row] = found
        return values

    def filler(self, first: int) -> Filler:
        absent = self.fill_missing(first)
        means = [mean / scale for _, mean, scale in self.used]
        end = first + len(self.used)

        def fill(x: Floats, value: Any, met: list[str]) -> bool:
            if value is None:
                x[first:end] = means
                return absent(x, met)
            if isinstance(value, str):
                found = moment(value, self.order)
                if found is None:
                    return False
            elif isinstance(value, date):
                found = _of_python(value)
            else:
                return False
            parts = parts_of(np.array([found]), self.start)
            x[first:end] = [parts[part][0] / scale for part, _, scale in self.used]
            return True

        return fill

    def state(self) -> dict[str, Any]:
        return {"order": self.order, "start": self.start, "used": [list(part) for part in self.used]}

    @classmethod
    def from_state(cls, name: str, missing: bool, kind: str, state: dict[str, Any]) -> Plan:
        order, start, used = only(state, "order", "start", "used")
        if order not in list(ORDERS) or type(start) is not int or not 1 <= start <= date.max.toordinal():
            raise DataError("its dates are malformed")
        if not isinstance(used, list) or not all(isinstance(part, list) and len(part) == 3 for part in used):
            raise DataError("its parts are malformed")
        places = [PARTS.index(part) for part, _, _ in used]
        if places != sorted(set(places)):
            raise DataError("its parts are malformed")
        numbers = tuple((part, finite(mean), finite(scale, positive=True)) for part, mean, scale in used)
        return cls(name, missing, order, start, numbers)


def date_plan(column: polars.Series, order: str, source: str, rows: Integers, scale: bool) -> DatePlan:
    """The plan for dates: the parts that differ between rows."""
    blank = DatePlan(column.name, order=order)
    found = blank.read(column, source, rows)
    found = found[~np.isnan(found[:, 0])]
    start = int(found[:, 0].min())
    parts = parts_of(found, start)
    used = []
    for part in PARTS:
        if (parts[part] != parts[part][0]).any():
            mean, spread = moments(parts[part])
            used.append((part, mean, spread if scale else 1.0))
    return DatePlan(column.name, bool(column.null_count()), order, start, tuple(used))


def parts_of(when: Floats, start: int) -> dict[str, Array]:
    """The parts of each moment: NaN where it is missing."""
    known = ~np.isnan(when[:, 0])
    days = np.where(known, when[:, 0], start)
    calendar = (days - date(1970, 1, 1).toordinal()).astype("datetime64[D]")
    months = calendar.astype("datetime64[M]").astype(np.int64)
    parts = {
        "days": days - start,
        "year": 1970.0 + months // 12,
        "month": 1.0 + months % 12,
        "day of week": 1.0 + (days - 1) % 7,  # 1 January of the year 1 was a Monday
        "hour": when[:, 1],
    }
    return {name: np.where(known, values, np.nan) for name, values in parts.items()}


def _typed(column: polars.Series) -> Floats:
    """(n, 2) days and hours of a column of dates or times."""
    import polars as pl

    if column.dtype == pl.Datetime and getattr(column.dtype, "time_zone", None):
        column = column.dt.replace_time_zone(None)
    days = column.cast(pl.Date).cast(pl.Int32).cast(pl.Float64).to_numpy() + date(1970, 1, 1).toordinal()
    hours = np.zeros(len(column))
    if column.dtype == pl.Datetime:
        micros = column.cast(pl.Datetime("us")).cast(pl.Int64).cast(pl.Float64).to_numpy()
        hours = (micros % 86_400e6) / 3600e6
    return np.column_stack([days, np.where(np.isnan(days), np.nan, hours)])


def _of_python(value: date) -> tuple[float, float]:
    hour = 0.0
    if isinstance(value, datetime):
        hour = value.hour + value.minute / 60 + value.second / 3600 + value.microsecond / 3600e6
    return float(value.toordinal()), hour
