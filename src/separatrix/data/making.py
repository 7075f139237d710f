"""How the plans for the columns of a table are made."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from separatrix.data.categories import category_plan
from separatrix.data.dates import date_plan
from separatrix.data.kinds import MOST, plain_numbers
from separatrix.data.numbers import NumberPlan, number_plan, plain_plan
from separatrix.data.plans import ConstantPlan, Plan
from separatrix.data.table import Column, Table
from separatrix.data.words import FEWEST_ROWS, words_plan

if TYPE_CHECKING:
    import polars


def make_plans(table: Table, columns: list[Column], scale: bool, reference: bool) -> tuple[Plan, ...]:
    """A plan for each column that is not left out; some turn out to give nothing."""
    assert table.frame is not None
    kept = [column for column in columns if column.kind not in ("empty", "identifier?")]
    values, plain = plain_numbers(table.frame, [column.name for column in kept if column.kind == "number"])
    easy = {
        column.name: x
        for column, x in zip(plain, values.T, strict=True)
        if np.isfinite(x).sum() == len(x) - column.null_count()
    }
    series = {column.name: column for column in table.frame.get_columns()}
    return tuple(
        plain_plan(column.name, easy[column.name], scale)
        if column.name in easy
        else _plan(series[column.name], table, column, scale, reference)
        for column in kept
    )


def _plan(series: polars.Series, table: Table, column: Column, scale: bool, reference: bool) -> Plan:
    if column.kind == "constant":
        return ConstantPlan(column.name, bool(column.n_missing))
    if column.kind == "category":
        least, most = (FEWEST_ROWS, MOST) if column.rare else (1, None)
        return category_plan(series, reference, least, most)
    if column.kind == "date":
        return date_plan(series, column.order, table.source, table.row_numbers, scale)
    if column.kind == "text":
        return words_plan(series)
    blank = NumberPlan(column.name, boolean=column.kind == "boolean", spelling=column.spelling)
    return number_plan(series, blank, table.source, table.row_numbers, scale)


def unique_names(names: list[str]) -> list[str]:
    """The names, with a number after those that come again."""
    seen: Counter[str] = Counter()
    out = []
    taken = set(names)
    for name in names:
        seen[name] += 1
        while seen[name] > 1 and f"{name} ({seen[name]})" in taken:
            seen[name] += 1
        out.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return out
