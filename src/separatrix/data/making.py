"""How the plans for the columns of a table are made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from separatrix._typing import Floats
from separatrix.data.categories import category_plan
from separatrix.data.dates import date_plan
from separatrix.data.kinds import MOST, plain_numbers
from separatrix.data.numbers import NumberPlan, number_plan, plain_plan
from separatrix.data.plans import ConstantPlan, Plan
from separatrix.data.table import Column, Table
from separatrix.data.words import FEWEST_ROWS, WordsPlan, words_plan

if TYPE_CHECKING:
    import polars

LARGE = 200 << 20  # bytes of a dense matrix, from which on a sparse one may be used
MANY_WORDS = 200  # columns of words, of which a row has few
ALIASED = 1e-9  # relative, of what is left of a column that others determine, and was not rounded away


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


def worth_sparse(plans: Sequence[Plan], n_rows: int) -> bool:
    """Whether a sparse matrix is better: if there are many columns, and few that are not 0 in a row."""
    width = sum(len(plan.output) for plan in plans)
    words = sum(len(plan.output) for plan in plans if isinstance(plan, WordsPlan))
    return words >= MANY_WORDS or (8 * n_rows * width > LARGE and 4 * len(plans) < width)


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


def aliased_columns(X: Floats) -> list[int]:
    """The columns x_j that are a constant plus a combination of those before: ‖x_j - P x_j‖ <= 1e-9 ‖x_j‖, centred.

    By Gram and Schmidt, each projection P done twice: a decomposition that goes on with columns of rounding errors
    would take parts of later columns for known. None where there are as many columns as rows: any n - 1 would do.
    """
    n, p = X.shape
    if p >= n:
        return []
    basis, found = np.zeros((n, p)), []
    rank = 0
    for j in range(p):
        column = X[:, j] / max(1.0, float(np.abs(X[:, j]).max()))
        column = column - column.mean()
        size, known = float(np.linalg.norm(column)), basis[:, :rank]
        for _ in range(2):
            column = column - known @ (known.T @ column)
        left = float(np.linalg.norm(column))
        if left <= ALIASED * size:
            found.append(j)
        else:
            basis[:, rank] = column / left
            rank += 1
    return found
