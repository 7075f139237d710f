"""Features in the words of the table: a column is named once, however many categories it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from separatrix.report.svg import effect_bar

if TYPE_CHECKING:
    from separatrix.compare.result import Coefficient


PARTED = ("date", "text")  # kinds of columns whose features are "name: part of a date" or "name: word"


@dataclass(frozen=True)
class Weight:
    """One weight with its bar; `level` is the category, part or word it belongs to, if any."""

    coefficient: Coefficient
    level: str | None
    bar: str


@dataclass(frozen=True)
class Group:
    """The weights of one column, for one class."""

    label: str | None
    column: str
    weights: list[Weight]


def split(feature: str, kinds: Mapping[str, str]) -> tuple[str, str | None]:
    """The column of a feature and what is said of it, None for the column itself; `kinds` are those of the columns.

    "= category", "is missing", the part of a date, or the word of a text in quotation marks.
    """
    if feature in kinds:
        return feature, None
    if feature.endswith(" is missing") and feature.removesuffix(" is missing") in kinds:
        return feature.removesuffix(" is missing"), "is missing"
    for mark in ("=", ": "):
        start = feature.find(mark)
        while start >= 0:  # a name may hold the mark too
            column, rest = feature[:start], feature[start + len(mark) :]
            if mark == "=" and column in kinds:
                return column, f"= {rest}"
            if mark == ": " and kinds.get(column) in PARTED:
                return column, f"“{rest}”" if kinds[column] == "text" else rest
            start = feature.find(mark, start + 1)
    return feature, None


def kinds_of(columns: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The kinds of the table's columns by their names."""
    return {str(column["column"]): str(column["type"]) for column in columns}


def groups(coefficients: Sequence[Coefficient], kinds: Mapping[str, str]) -> list[Group]:
    """The weights under their columns, in the order of each column's largest."""
    largest = max((abs(coefficient.effect) for coefficient in coefficients), default=1.0)
    found: dict[tuple[str | None, str], Group] = {}
    for coefficient in coefficients:
        column, level = split(coefficient.column, kinds)
        group = found.setdefault((coefficient.label, column), Group(coefficient.label, column, []))
        group.weights.append(Weight(coefficient, level, effect_bar(coefficient.effect, largest)))
    order = list(dict.fromkeys(label for label, _ in found))
    return sorted(found.values(), key=lambda group: order.index(group.label))


def pulls(row: Sequence[tuple[str, str]], kinds: Mapping[str, str]) -> list[str]:
    """What pulled a row, each column once: "age = 41", "sex = f", "sex is not m", "review with “dull”"."""
    said: dict[str, str] = {}
    for feature, value in row:
        column, level = split(feature, kinds)
        kind = kinds.get(column)
        if level is None:
            words = f"{column} = {value}"
        elif level != "is missing" and kind == "date":
            words = f"{column}: {level} = {value}"
        elif level != "is missing" and kind == "text":
            words = f"{column} {'without' if value == '0' else 'with'} {level}"
        elif value == "0":
            words = f"{column} is not {level.removeprefix('= ').removeprefix('is ')}"
        else:
            words = f"{column} {level}"
        said.setdefault(column, words)
    return list(said.values())
