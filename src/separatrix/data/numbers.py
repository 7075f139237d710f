"""Numbers and truth values: taken as they are, the mean where one is missing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix._typing import Floats, Integers
from separatrix.data.kinds import as_numbers
from separatrix.data.plans import Block, Filler, Plan, finite, is_missing, moments, only
from separatrix.data.spelling import Spelling
from separatrix.errors import DataError

if TYPE_CHECKING:
    import polars

LARGEST = float(np.finfo(np.float64).max)
_WORDS = {"number": "numbers", "boolean": "true and false"}


@dataclass(frozen=True)
class NumberPlan(Plan):
    """x / scale, the mean where a number is missing; 1 and 0 for true and false.

    Parameters
    ----------
    boolean : bool
        Whether these are truth values.
    mean : float
        What stands for a missing number.
    scale : float
        What numbers are divided by.
    spelling : Spelling or None
        How numbers are written, if not as Python does; in another table they must be written so too.
    """

    boolean: bool = False
    mean: float = 0.0
    scale: float = 1.0
    spelling: Spelling | None = None

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
        plain = _plain(self, _zero_one(column) if self.boolean else column, source)
        numbers = as_numbers(plain, self.spelling)
        if numbers.bad is not None:
            raise _wrong(self, column, numbers.bad, source, rows)
        values = numbers.values.to_numpy()
        wrong = (values != 0) & (values != 1) if self.boolean else ~np.isfinite(values)
        wrong &= ~is_missing(column)
        if wrong.any():
            raise _wrong(self, column, int(wrong.argmax()), source, rows)
        return np.asarray(values, dtype=np.float64)

    def filler(self, first: int, surprises: Counter[str]) -> Filler:
        scale, mean, boolean = self.scale, self.mean / self.scale, self.boolean
        absent = self.fill_missing(first, surprises)

        def fill(x: Floats, value: Any) -> bool:
            if isinstance(value, float | int):
                if -LARGEST <= value <= LARGEST and (not boolean or value == 0 or value == 1):
                    x[first] = value / scale
                    return True
                if value == value:
                    return False
            elif value is not None:
                return False
            x[first] = mean
            return absent(x)

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
    missing = np.isnan(values)
    mean, spread = moments(values[~missing] if missing.any() else values)
    return NumberPlan(name, bool(missing.any()), False, mean, spread if scale else 1.0)


def _zero_one(column: polars.Series) -> polars.Series:
    """The column with 1 and 0 for the words true and false."""
    import polars as pl

    if column.dtype != pl.String:
        return column
    return column.str.to_lowercase().replace({"true": "1", "false": "0"})


def _plain(plan: Plan, column: polars.Series, source: str) -> polars.Series:
    """The column, if it holds numbers, truth values or text."""
    import polars as pl

    if not (column.dtype.is_numeric() or column.dtype in (pl.String, pl.Boolean, pl.Null)):
        raise DataError(
            f"{source}: column {plan.name!r} holds {column.dtype}, but held {_WORDS[plan.kind]} before. Convert it."
        )
    return column


def _wrong(plan: NumberPlan, column: polars.Series, at: int, source: str, rows: Integers) -> DataError:
    cell = str(column[at])[:40]
    infinite = not plan.boolean and as_numbers(column, plan.spelling).bad is None
    wrong = f"{cell} is not finite" if infinite else f"{cell!r}, where {_WORDS[plan.kind]} are expected"
    return DataError(f"{source}: row {rows[at]}, column {plan.name!r}: {wrong}. Correct the cell or leave it empty.")
