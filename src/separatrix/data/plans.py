"""How one column becomes numbers: its plan, made once, and then applied to any table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix._typing import Floats, Integers
from separatrix.data.kinds import as_numbers
from separatrix.errors import DataError

if TYPE_CHECKING:
    import polars

KINDS = ("number", "boolean", "category", "constant")


@dataclass(frozen=True)
class Plan:
    """What becomes of a column.

    Parameters
    ----------
    name : str
    kind : str
        "number" and "boolean" give one column, "category" one for each of `categories`, "constant" none.
    mean : float
        What stands for a missing number.
    categories : tuple of str
    missing : bool
        Whether a last column says where the value is missing.
    scale : float
        What numbers are divided by.
    """

    name: str
    kind: str
    mean: float = 0.0
    categories: tuple[str, ...] = ()
    missing: bool = False
    scale: float = 1.0

    @property
    def output(self) -> list[str]:
        """The names of the columns it gives."""
        names = {"category": [f"{self.name}={value}" for value in self.categories], "constant": []}
        return names.get(self.kind, [self.name]) + ([f"{self.name} is missing"] if self.missing else [])

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "name": self.name,
            "kind": self.kind,
            "mean": self.mean,
            "categories": list(self.categories),
            "missing": self.missing,
            "scale": self.scale,
        }

    @classmethod
    def from_dict(cls, plain: Any) -> Plan:
        """The plan that `to_dict` described; `DataError` if it describes none."""
        if not isinstance(plain, dict) or set(plain) != {"name", "kind", "mean", "categories", "missing", "scale"}:
            raise DataError("a column of the encoder is malformed")
        mean, categories, scale = plain["mean"], plain["categories"], plain["scale"]
        good = (
            isinstance(plain["name"], str)
            and plain["kind"] in KINDS
            and type(mean) in (int, float)
            and math.isfinite(mean)
            and isinstance(categories, list)
            and all(isinstance(value, str) for value in categories)
            and len(set(categories)) == len(categories)
            and (plain["kind"] == "category" or not categories)
            and type(plain["missing"]) is bool
            and type(scale) in (int, float)
            and 0 < scale < math.inf
            and (plain["kind"] == "number" or scale == 1)
        )
        if not good:
            raise DataError(f"the column {plain['name']!r:.80} of the encoder is malformed")
        return cls(plain["name"], plain["kind"], float(mean), tuple(categories), plain["missing"], float(scale))


@dataclass(frozen=True)
class Cells:
    """A column under its plan: a number for each row, or the position of a category (-1: none); and what was met."""

    values: Floats | Integers
    missing: Any
    unknown: int = 0


def number_plan(column: polars.Series, kind: str, source: str, rows: Integers, scale: bool = False) -> Plan:
    """The plan for numbers, with their standard deviation as scale if asked for, or truth values."""
    plan = Plan(column.name, kind)
    cells = apply_plan(plan, column, source, rows)
    present = cells.values[~cells.missing]
    with np.errstate(over="ignore"):
        mean = float(present.mean())
    if not np.isfinite(mean):  # the sum overflows, not the mean
        mean = float((present / len(present)).sum())
    spread = 1.0
    if scale and kind == "number":
        with np.errstate(over="ignore"):
            spread = float(present.std())
        spread = spread if 0 < spread < np.inf else 1.0
    return Plan(column.name, kind, mean, (), bool(cells.missing.any()), spread)


def category_plan(column: polars.Series) -> Plan:
    """The plan for text."""
    values = sorted(_texts(column).drop_nulls().unique().to_list())
    return Plan(column.name, "category", 0.0, tuple(values), bool(column.null_count()))


def apply_plan(plan: Plan, column: polars.Series, source: str, rows: Integers) -> Cells:
    """The cells of a column, checked; ``rows`` are the numbers of the rows, for errors."""
    missing = column.is_null().to_numpy() if column.null_count() else np.zeros(len(column), dtype=bool)
    if plan.kind == "constant":
        return Cells(np.zeros(0), missing)
    if plan.kind == "category":
        texts = _texts(column)
        codes = texts.replace_strict(
            list(plan.categories), list(range(len(plan.categories))), default=-1, return_dtype=_int64()
        )
        found = codes.fill_null(-1).to_numpy()
        return Cells(found, missing, int(((found < 0) & ~missing).sum()))
    numbers = as_numbers(_plain(plan, _zero_one(column) if plan.kind == "boolean" else column, source))
    if numbers.bad is not None:
        raise _wrong(plan, column, numbers.bad, source, rows)
    values = numbers.values.fill_null(plan.mean).to_numpy()
    wrong = ~np.isfinite(values)
    if plan.kind == "boolean":
        wrong |= ~missing & (values != 0) & (values != 1)
    if wrong.any():
        raise _wrong(plan, column, int(wrong.argmax()), source, rows)
    return Cells(values, missing)


def _int64() -> Any:
    import polars as pl

    return pl.Int64


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


def _texts(column: polars.Series) -> polars.Series:
    """The cells as text; whole numbers without a point."""
    import polars as pl

    if column.dtype.is_float() and bool((column.drop_nulls() % 1 == 0).all()):
        column = column.cast(pl.Int64, strict=False)
    return column.cast(pl.String, strict=False)


_WORDS = {"number": "numbers", "boolean": "true and false"}


def _wrong(plan: Plan, column: polars.Series, at: int, source: str, rows: Integers) -> DataError:
    cell = str(column[at])[:40]
    infinite = plan.kind == "number" and as_numbers(column).bad is None
    wrong = f"{cell} is not finite" if infinite else f"{cell!r}, where {_WORDS[plan.kind]} are expected"
    return DataError(f"{source}: row {rows[at]}, column {plan.name!r}: {wrong}. Correct the cell or leave it empty.")
