"""Numbers and truth values: taken as they are, the mean where one is missing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.data.kinds import spelled_numbers
from separatrix.data.plans import Block, Filler, Plan, finite, is_missing, only
from separatrix.data.spelling import Spelling
from separatrix.errors import DataError
from separatrix.loops.moments import column_summary

if TYPE_CHECKING:
    import polars

LARGEST = float(np.finfo(np.float64).max)
_WORDS = {"number": "numbers", "boolean": "true and false"}


@dataclass(frozen=True)
class NumberPlan(Plan):
    """x / scale, the mean where a number is missing; 1 and 0 for true and false."""

    boolean: bool = False  # whether these are truth values
    mean: float = 0.0  # stands for a missing number
    scale: float = 1.0  # what numbers are divided by
    spelling: Spelling | None = None  # if not Python's; in another table they must be written so too

    @property
    def kind(self) -> str:
        return "boolean" if self.boolean else "number"

    @property
    def parts(self) -> list[str]:
        return [self.name]

    @property
    def scales(self) -> list[float]:
        return [self.scale] + [1.0] * self.missing

    def words(self) -> str:
        text = "1 for true, 0 for false" if self.boolean else "a number, taken as it is"
        text += f", with {self.spelling}" if self.spelling is not None else ""
        return text + (f"; where missing, the mean {self.mean:.4g}, and a column that says so" * self.missing)

    def block(self, column: polars.Series, source: str, rows: Integers, sparse: bool) -> Block:
        values, missing = self.cells(column, source, rows), is_missing(column)
        told = missing[:, None][:, : int(self.missing)]
        return Block(
            np.hstack([np.where(missing, self.mean, values)[:, None] / self.scale, told]), self.unexpected(missing)
        )

    def cells(self, column: polars.Series, source: str, rows: Integers) -> Floats:
        """The numbers of a column, checked; NaN where one is missing."""
        import polars as pl

        plain = column
        if self.boolean and column.dtype == pl.String:
            plain = column.str.to_lowercase().replace({"true": "1", "false": "0"})
        elif not (column.dtype.is_numeric() or column.dtype in (pl.String, pl.Boolean, pl.Null)):
            raise DataError(
                f"{source}: column {self.name!r} holds {column.dtype}, but held {_WORDS[self.kind]} before. Convert it."
            )
        numbers = spelled_numbers(plain, self.spelling)
        if numbers.bad is not None:
            raise _wrong(self, column, numbers.bad, source, rows)
        values = numbers.values.to_numpy()
        wrong = (values != 0) & (values != 1) if self.boolean else ~np.isfinite(values)
        wrong &= ~is_missing(column)
        if wrong.any():
            raise _wrong(self, column, int(wrong.argmax()), source, rows)
        return np.asarray(values, dtype=np.float64)

    def filler(self, first: int) -> Filler:
        scale, mean, boolean = self.scale, self.mean / self.scale, self.boolean
        absent = self.fill_missing(first)

        def fill(x: Floats, value: Any, met: list[str]) -> bool:
            if isinstance(value, float | int):
                if -LARGEST <= value <= LARGEST and (not boolean or value == 0 or value == 1):
                    x[first] = value / scale
                    return True
                if value == value:
                    return False
            elif value is not None:
                return False
            x[first] = mean
            return absent(x, met)

        return fill

    def state(self) -> dict[str, Any]:
        spelling = None if self.spelling is None else self.spelling.to_list()
        return {"mean": self.mean, "scale": self.scale, "spelling": spelling}

    @classmethod
    def from_state(cls, name: str, missing: bool, kind: str, state: dict[str, Any]) -> Plan:
        mean, scale, spelling = only(state, "mean", "scale", "spelling")
        boolean = kind == "boolean"
        if boolean and (spelling is not None or scale != 1):
            raise DataError("truth values have neither a scale nor a spelling")
        spelled = None if spelling is None else Spelling.from_list(spelling)
        return cls(name, missing, boolean, finite(mean), finite(scale, positive=True), spelled)


def number_plan(
    column: polars.Series, blank: NumberPlan, source: str, rows: Integers, scale: bool = False
) -> NumberPlan:
    """The plan for numbers, with their standard deviation as scale if asked for, or truth values.

    ``blank`` says of which kind they are, and how they are written.
    """
    values = np.where(is_missing(column), np.nan, blank.cells(column, source, rows))
    plan = plain_plan(column.name, values, scale and not blank.boolean)
    return replace(plan, boolean=blank.boolean, spelling=blank.spelling)


def plain_plan(name: str, values: Floats, scale: bool) -> NumberPlan:
    """The plan for plain numbers, NaN where one is missing."""
    column = np.ascontiguousarray(values, dtype=np.float64)[:, None]
    summary = Summary.of([column], 1)
    if not np.isfinite(summary.means[0]):  # the sum overflows, not the mean
        mean = float(np.nansum(column / summary.present[0]))
        return NumberPlan(name, bool(summary.missing[0]), False, mean)  # no scale is so large
    spread = float(summary.scales([column])[0]) if scale else 1.0
    return NumberPlan(name, bool(summary.missing[0]), False, float(summary.means[0]), spread)


class Summary:
    """What the columns of some rows are like: as many rows at a time as one likes, the same bits however they are cut.

    All rows but the last come in multiples of `loops.moments.TILE`. A missing number is NaN.
    """

    def __init__(self, d: int) -> None:
        self.n = 0  # rows so far
        self.low, self.high = np.full(d, np.inf), np.full(d, -np.inf)
        self.missing = np.zeros(d, dtype=np.int64)  # how many numbers are
        self.broken = np.zeros(d, dtype=np.int64)  # how many are not whole
        self._sums, self._rest = np.zeros(d), np.zeros(d)

    @classmethod
    def of(cls, parts: Iterable[Floats], d: int) -> Summary:
        """That of rows that come in parts."""
        summary = cls(d)
        for rows in parts:
            summary.add(rows)
        return summary

    def add(self, rows: Floats) -> None:
        """Further rows, in C order."""
        self.n += len(rows)
        state = self.low, self.high, self._sums, self._rest, self.missing, self.broken
        column_summary(rows, len(rows), rows.shape[1], *state)

    @property
    def means(self) -> Floats:
        """Of the numbers that are not missing; not finite where the sum is beyond all floats."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray((self._sums + self._rest) / self.present)

    @property
    def present(self) -> Integers:
        """How many numbers are not missing, or 1 if all are."""
        return np.maximum(self.n - self.missing, 1)

    def sure(self, rounding: float) -> Array:
        """Which columns vary by more than rounding, are not all whole and have no infinite number."""
        with np.errstate(over="ignore", invalid="ignore"):
            varies = (self.low < self.high) & (self.high - self.low > rounding * np.maximum(-self.low, self.high))
            known = np.isfinite(self.low) & np.isfinite(self.high) & np.isfinite(self.means)
        return np.asarray(varies & known & (self.broken > 0))

    def scales(self, parts: Iterable[Floats]) -> Floats:
        """The standard deviations, of the same rows once more; 1 where that is 0 or beyond all floats."""
        with np.errstate(over="ignore", invalid="ignore"):
            squares = Summary.of(((rows - self.means) ** 2 for rows in parts), len(self.low))
            spread = np.sqrt((squares._sums + squares._rest) / self.present)
        return np.where((spread > 0) & (spread < np.inf), spread, 1.0)


def _wrong(plan: NumberPlan, column: polars.Series, at: int, source: str, rows: Integers) -> DataError:
    cell = str(column[at])[:40]
    infinite = not plan.boolean and spelled_numbers(column, plan.spelling).bad is None
    wrong = f"{cell} is not finite" if infinite else f"{cell!r}, where {_WORDS[plan.kind]} are expected"
    return DataError(f"{source}: row {rows[at]}, column {plan.name!r}: {wrong}. Correct the cell or leave it empty.")
