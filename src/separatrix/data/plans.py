"""How one column becomes numbers: its plan, made once, and then applied to any table."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix._typing import Floats, Integers
from separatrix.data.kinds import as_numbers
from separatrix.data.spelling import SHORT, Spelling
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
    spelling : Spelling or None
        How numbers are written, if not as Python does; in another table they must be written so too.
    """

    name: str
    kind: str
    mean: float = 0.0
    categories: tuple[str, ...] = ()
    missing: bool = False
    scale: float = 1.0
    spelling: Spelling | None = None

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
            **({} if self.spelling is None else {"spelling": self.spelling.to_list()}),
        }

    @classmethod
    def from_dict(cls, plain: Any) -> Plan:
        """The plan that `to_dict` described; `DataError` if it describes none."""
        names = {"name", "kind", "mean", "categories", "missing", "scale"}
        if not isinstance(plain, dict) or set(plain) - {"spelling"} != names:
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
        spelling = Spelling.from_list(plain["spelling"]) if "spelling" in plain else None
        if spelling is not None and plain["kind"] != "number":
            raise DataError(f"the column {plain['name']!r:.80} of the encoder is malformed")
        return cls(
            plain["name"], plain["kind"], float(mean), tuple(categories), plain["missing"], float(scale), spelling
        )


@dataclass(frozen=True)
class Cells:
    """A column under its plan: a number for each row, or the position of a category (-1: none); and what was met."""

    values: Floats | Integers
    missing: Any
    unknown: int = 0


def number_plan(column: polars.Series, blank: Plan, source: str, rows: Integers, scale: bool = False) -> Plan:
    """The plan for numbers, with their standard deviation as scale if asked for, or truth values.

    ``blank`` says of which kind they are, and how they are written.
    """
    cells = apply_plan(blank, column, source, rows)
    values = np.where(cells.missing, np.nan, cells.values)
    plan = plain_plan(column.name, values, scale and blank.kind == "number")
    return replace(plan, kind=blank.kind, spelling=blank.spelling)


def plain_plan(name: str, values: Floats, scale: bool) -> Plan:
    """The plan for plain numbers, NaN where one is missing."""
    missing = np.isnan(values)
    present = values[~missing] if missing.any() else values
    with np.errstate(over="ignore"):
        mean = float(present.mean())
        if not np.isfinite(mean):  # the sum overflows, not the mean
            mean = float((present / len(present)).sum())
        spread = float(present.std()) if scale else 1.0
    return Plan(name, "number", mean, (), bool(missing.any()), spread if 0 < spread < np.inf else 1.0)


def category_plan(column: polars.Series) -> Plan:
    """The plan for text."""
    texts = _texts(column)
    values = set(texts.to_list() if len(texts) <= SHORT else texts.unique().to_list()) - {None}
    return Plan(column.name, "category", 0.0, tuple(sorted(values)), bool(column.null_count()))


def apply_plan(plan: Plan, column: polars.Series, source: str, rows: Integers) -> Cells:
    """The cells of a column, checked; ``rows`` are the numbers of the rows, for errors."""
    missing = column.is_null().to_numpy() if column.null_count() else np.zeros(len(column), dtype=bool)
    if plan.kind == "constant":
        return Cells(np.zeros(0), missing)
    if plan.kind == "category":
        found = _codes(_texts(column), plan.categories)
        return Cells(found, missing, int(((found < 0) & ~missing).sum()))
    numbers = as_numbers(_plain(plan, _zero_one(column) if plan.kind == "boolean" else column, source), plan.spelling)
    if numbers.bad is not None:
        raise _wrong(plan, column, numbers.bad, source, rows)
    values = numbers.values.to_numpy()
    wrong = ~np.isfinite(values) if plan.kind == "number" else (values != 0) & (values != 1)
    wrong &= ~missing
    if wrong.any():
        raise _wrong(plan, column, int(wrong.argmax()), source, rows)
    return Cells(np.where(missing, plan.mean, values), missing)


def _codes(texts: polars.Series, categories: tuple[str, ...]) -> Integers:
    """The position of each text among the categories; -1 for one that is not there."""
    import polars as pl

    places = {category: position for position, category in enumerate(categories)}
    if len(texts) <= SHORT:
        return np.array([places.get(text, -1) for text in texts.to_list()], dtype=np.int64)
    codes = texts.replace_strict(list(places), list(places.values()), default=-1, return_dtype=pl.Int64)
    return np.asarray(codes.fill_null(-1).to_numpy())


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
    infinite = plan.kind == "number" and as_numbers(column, plan.spelling).bad is None
    wrong = f"{cell} is not finite" if infinite else f"{cell!r}, where {_WORDS[plan.kind]} are expected"
    return DataError(f"{source}: row {rows[at]}, column {plan.name!r}: {wrong}. Correct the cell or leave it empty.")
