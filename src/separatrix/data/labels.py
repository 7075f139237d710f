"""The target column: labels as they are meant, or why it cannot be one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separatrix._typing import Array, Integers
from separatrix.data.kinds import as_numbers
from separatrix.data.spelling import Spelling
from separatrix.errors import DataError

if TYPE_CHECKING:
    import polars

MOST_CLASSES = 1000
FEWEST_ROWS = 5  # of a class on average, if there are more than a few


def labels(column: polars.Series, source: str, target: str) -> tuple[Array, Integers, tuple[str, ...]]:
    """The labels, the rows that have one, and a note on those that have none."""
    import polars as pl

    has = np.flatnonzero(column.is_not_null().to_numpy())
    n, missing = len(column), len(column) - len(has)
    if missing * 2 > n:
        raise DataError(
            f"{source}: the target {target!r} is missing in {missing} of {n} rows. Is it the right column? If so, "
            "leave the rows without a label out."
        )
    notes: tuple[str, ...] = ()
    if missing:
        rows = np.flatnonzero(column.is_null().to_numpy())[:5] + 1
        shown = ", ".join(map(str, rows)) + (", ..." if missing > 5 else "")
        notes = (f"{missing} of {n} rows have no {target!r} and are left out: row{'s' * (missing > 1)} {shown}.",)
        column = column.drop_nulls()
    if not (column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.String)):
        raise DataError(f"{source}: the target {target!r} holds {column.dtype}, where labels are text or numbers.")
    y = _typed(column)
    check_classes(y, source, target)
    return discrete(y), has, notes


def _typed(column: polars.Series) -> Array:
    """The labels of a column without nulls: truth values, whole numbers, floats or text."""
    import polars as pl

    if column.dtype == pl.Boolean:
        return column.to_numpy()
    if column.dtype == pl.String and column.str.contains(r"^[+-]?0\d").any():  # codes, such as 01 beside 1
        return _texts(column)
    if column.dtype == pl.String and (folded := column.str.to_lowercase()).is_in(["true", "false"]).all():
        return (folded == "true").to_numpy()
    if column.dtype.is_integer() or (column.dtype == pl.String and bool(column.str.contains(r"^[+-]?\d+$").all())):
        # not by way of floats, which make one of two whole numbers beyond 2^53
        whole = column.cast(pl.Int64, strict=False)
        return whole.to_numpy() if not whole.null_count() else _texts(column.cast(pl.String))
    numbers = as_numbers(column)
    if numbers.bad is not None or (numbers.spelling is not None and numbers.spelling != Spelling(decimal=",")):
        return _texts(column)
    return numbers.values.to_numpy()


def _texts(column: polars.Series) -> Array:
    import polars as pl

    classes = column.unique().sort()  # few, as a rule: the texts of all rows as Python's would take far more
    return np.array(classes.to_list(), dtype=str)[column.cast(pl.Enum(classes)).to_physical().to_numpy()]


def discrete(y: Array) -> Array:
    """The labels; fractions as text, because scikit-learn takes them for quantities."""
    if y.dtype.kind == "f" and (np.round(y) != y).any():
        return np.array([f"{label:.15g}" for label in y])
    return y


def check_classes(y: Array, source: str, target: str) -> None:
    """Refuse labels that no classifier can learn."""
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise DataError(f"{source}: the target {target!r} holds an infinite number, which is no label.")
    values = np.unique(y)
    n, k = len(y), len(values)
    if k < 2:
        only = f"one value only, {values[0]!s:.60}" if k else "no value"
        raise DataError(f"{source}: the target {target!r} has {only}. A classifier needs rows of at least two classes.")
    broken = y.dtype.kind == "f" and bool((np.round(values) != values).any())
    if k > MOST_CLASSES or (k > 20 and n < FEWEST_ROWS * k) or (broken and k > 10):
        what = "quantity to estimate" if y.dtype.kind in "iuf" else "name or a text"
        raise DataError(
            f"{source}: the target {target!r} has {k} different values in {n} rows, as a {what} has, not a class. Name "
            "another column, or group its values into classes first."
        )
