"""The encoder of a table that is never in memory: the rules of `Encoder.fit`, some columns at a time, all rows of each.

Kinds, categories, means and deviations come from whole columns, so they are those of the whole table, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from separatrix._typing import Array, Integers
from separatrix.certificates._held import WHOLE
from separatrix.data.collected import Collected
from separatrix.data.encoder import Encoder
from separatrix.data.frames import Frames
from separatrix.data.kinds import ROUNDING
from separatrix.data.labels import check_classes, labels
from separatrix.data.making import make_plans
from separatrix.data.notes import refusal
from separatrix.data.numbers import Summary, plain_plan
from separatrix.data.plans import Plan
from separatrix.data.suggest import unknown_column
from separatrix.data.table import Column, Table, feature_name, without
from separatrix.errors import DataError

CELL = 64  # bytes that a cell takes while its column is looked at: itself, as a number, sorted, and what polars makes
TEXT = 4  # bytes for each one of text: itself, as Python's, and what its words take


class Learned:
    """What a first scan found.

    Parameters
    ----------
    encoder : Encoder
    y : array of shape (n,)
        The labels of the rows that have one.
    has : integer array of shape (n,)
        Which rows of the table these are.
    notes : list of str
    """

    def __init__(self, encoder: Encoder, y: Array, has: Integers, notes: list[str]) -> None:
        self.encoder, self.y, self.has, self.notes = encoder, y, has, notes


def learn(
    frames: Frames,
    target: str,
    columns: Sequence[str] | None,
    drop: Sequence[str],
    memory: int,
    scale: bool,
    tell: Callable[..., None],
    encoder: Encoder | None = None,
) -> Learned:
    """The labels and the encoder of a table, from each of its columns, read once; the target's only if it is given."""
    if target not in frames.names:
        raise unknown_column(frames.name, target, frames.names, "target column")
    for name in (*(columns or ()), *drop):
        if name not in frames.names:
            raise unknown_column(frames.name, name, frames.names)
    left_out = {target, *drop}
    used = [name for name in frames.names if name not in left_out and (columns is None or name in columns)]
    for name in (target, *(used if encoder is None else ())):
        if (need := TEXT * frames.texts[name]) > memory:
            raise DataError(
                f"{frames.name}: column {name!r} has {frames.texts[name] / 1e6:,.0f} MB of text, and to look at all of "
                f"it takes about {need / 1e6:,.0f} MB; memory is {memory / 1e6:,.0f} MB: raise memory, or leave the "
                "column out, drop=[...]."
            )
    frame, _ = frames.column([target])
    y, has, notes = labels(frame[target], frames.name, target)
    if encoder is not None:
        return Learned(encoder, y, has, list(notes))
    return Learned(learn_columns(frames, used, target, has, len(frame), memory // 4, scale, tell), y, has, list(notes))


def learn_columns(
    frames: Frames | Collected,
    used: Sequence[str],
    target: str | None,
    has: Integers,
    n: int,
    budget: int,
    scale: bool,
    tell: Callable[..., None],
) -> Encoder:
    """The encoder of these columns, of the rows ``has`` of n in all; so many columns at a time as the budget allows."""
    plans: dict[str, Plan] = {} if frames.quantities is None else {**frames.quantities.plans(used, has, n, scale)}
    found = {name: Column(name, "number", 0, 2, "") for name in plans}
    rest, first = [name for name in used if name not in plans], 0
    while first < len(rest):
        costs = np.cumsum([CELL * n + TEXT * frames.texts.get(name, 0) for name in rest[first:]])
        some = rest[first : first + max(1, int(np.searchsorted(costs, budget, side="right")))]
        tell("looking at columns", first, len(rest))
        first += len(some)
        frame, places = frames.column(some)
        beside = tuple(name for name in used if name not in set(some))
        rows: Any = places
        table = Table(frame, None, None, target, frames.name, "", rows, beside=beside)
        if len(has) < n:  # numbers of records have gaps where rows are left out: all rows show what they are
            identifiers = frozenset(column.name for column in table.columns if column.kind == "identifier?")
            table = replace(table, frame=frame[has], row_numbers=rows[has], identifiers=identifiers)
        looked, made = _looked_at(table, scale)
        found |= {column.name: column for column in looked}
        plans |= {plan.name: plan for plan in made}
    seen = [found[name] for name in used]
    refused = [column for column in seen if column.kind in ("mixed", "nested")]
    if refused:
        raise refusal(frames.name, refused)
    dropped = {column.name: column.kind for column in seen if column.kind in ("constant", "empty", "identifier?")}
    encoder = Encoder.of_plans([plans[name] for name in used if name in plans], dropped, target, len(has))
    encoder.announce(seen, frames.name)
    return encoder


def _looked_at(table: Table, scale: bool) -> tuple[list[Column], list[Plan]]:
    """The columns of a table, and a plan for each that is not left out, in their order."""
    assert table.frame is not None
    sure = {column.name: plan for column in table.frame.get_columns() if (plan := _surely_numbers(column, scale))}
    rest = replace(table, frame=without(table.frame, sure), beside=(*table.beside, *sure))
    columns = {column.name: column for column in rest.columns}
    refused = any(column.kind in ("mixed", "nested") for column in columns.values())
    plans = {} if refused else {plan.name: plan for plan in make_plans(rest, rest.columns, scale, False)} | sure
    columns |= {name: Column(name, "number", 0, 2, "") for name in sure}
    names = table.frame.columns
    return [columns[name] for name in names], [plans[name] for name in names if name in plans]


def _surely_numbers(column: Any, scale: bool) -> Plan | None:
    """The plan for floats that vary and are not all whole: these are numbers, which need not be sorted to be told.

    None for what takes a closer look: a constant, what may count records, or a number that is not finite.
    """
    if not column.dtype.is_float():
        return None
    values = np.ascontiguousarray(column.to_numpy(), dtype=np.float64)
    summary = Summary.of([values[:, None]], 1)
    if not (summary.sure(ROUNDING)[0] and summary.missing[0] == column.null_count()):
        return None
    return plain_plan(column.name, values, scale)


def learn_features(tables: Iterable[Table], source: str) -> Learned:
    """The same of libsvm files: a feature with one value only says nothing, and what is not written is 0."""
    there, first = np.zeros(0, dtype=np.int64), np.zeros(0)  # the features so far, which may be far apart
    counts = np.zeros((3, 0), dtype=np.int64)  # of their entries, of those that are 0, and of those unlike the first
    y, n, nnz = list[Array](), 0, 0
    for table in tables:
        matrix = table.matrix.tocsr()
        new, at, place = np.unique(matrix.indices, return_index=True, return_inverse=True)
        every = np.union1d(there, new)
        known, place = np.searchsorted(every, there), np.searchsorted(every, new)[place]
        values, grown = np.zeros(len(every)), np.zeros((3, len(every)), dtype=np.int64)
        values[np.searchsorted(every, new)] = matrix.data[at]
        values[known], grown[:, known] = first, counts
        there, first, counts = every, values, grown
        for each, some in zip(counts, (slice(None), matrix.data == 0, matrix.data != first[place]), strict=True):
            each += np.bincount(place[some], minlength=len(there))
        n, nnz = n + table.n_rows, nnz + matrix.nnz
        y.append(np.asarray(table.y))
    labelled = joined_labels(y, source)
    check_classes(labelled, source, "label")
    entries, zeros, changes = counts
    several = (changes > 0) | ((first != 0) & ((entries < n) | (zeros > 0)))
    indices = there[several]
    dropped = {feature_name(int(j)): "constant" for j in there[~several]}
    density = nnz / max(1, n * len(indices))
    encoder = Encoder("label", None, indices, dropped, density < 0.5 or len(indices) > 10_000)
    constant = [
        Column(feature_name(int(j)), "constant", 0, 1, f"{value:g}") for j, value in zip(there, first, strict=True)
    ]
    encoder.announce(constant, source)
    return Learned(encoder, labelled, np.arange(n), [])


def joined_labels(parts: Sequence[Array], source: str) -> Array:
    """The labels of all parts in one array, if they are of one kind, and it holds each of them."""
    if not parts:
        raise DataError(f"{source} has no rows.")
    words = {"S": "bytes", "b": "truth values", "i": "numbers", "u": "numbers", "f": "numbers"}
    kinds = list(dict.fromkeys(words.get(part.dtype.kind, "text") for part in parts if len(part)))
    if len(kinds) > 1:
        raise DataError(
            f"{source}: labels are {kinds[0]} in some parts and {kinds[1]} in others. Make them all one kind."
        )
    joined = np.concatenate(parts)
    if joined.dtype.kind == "f":  # also of whole numbers with a sign and without one
        whole = [part for part in parts if part.dtype.kind in "iu" and len(part)]
        if any(part.max() > WHOLE or part.min() < -WHOLE for part in whole):
            raise DataError(
                f"{source}: labels are beyond 2**53 in some parts, and in others of a type with which they would be "
                "rounded. Make them all one type, or text."
            )
    return joined
