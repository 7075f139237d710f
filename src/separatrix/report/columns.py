"""Features in the words of the table: a column is named once, however many categories it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from separatrix.report.svg import effect_bar

if TYPE_CHECKING:
    from separatrix.compare.result import Coefficient


@dataclass(frozen=True)
class Weight:
    """One weight with its bar; `level` is the category it belongs to, if any."""

    coefficient: Coefficient
    level: str | None
    bar: str


@dataclass(frozen=True)
class Group:
    """The weights of one column, for one class."""

    label: str | None
    column: str
    weights: list[Weight]


def split(feature: str, names: frozenset[str]) -> tuple[str, str | None]:
    """The column of a feature, and what is said of it: "= category" or "is missing"; None for the column itself."""
    if feature in names:
        return feature, None
    if feature.endswith(" is missing") and feature.removesuffix(" is missing") in names:
        return feature.removesuffix(" is missing"), "is missing"
    start = feature.find("=")
    while start >= 0:  # a name may hold "=" too
        if feature[:start] in names:
            return feature[:start], f"= {feature[start + 1 :]}"
        start = feature.find("=", start + 1)
    return feature, None


def names_of(columns: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """The names of the table's columns."""
    return frozenset(str(column["column"]) for column in columns)


def groups(coefficients: Sequence[Coefficient], names: frozenset[str]) -> list[Group]:
    """The weights under their columns, in the order of each column's largest."""
    largest = max((abs(coefficient.effect) for coefficient in coefficients), default=1.0)
    found: dict[tuple[str | None, str], Group] = {}
    for coefficient in coefficients:
        column, level = split(coefficient.column, names)
        group = found.setdefault((coefficient.label, column), Group(coefficient.label, column, []))
        group.weights.append(Weight(coefficient, level, effect_bar(coefficient.effect, largest)))
    order = list(dict.fromkeys(label for label, _ in found))
    return sorted(found.values(), key=lambda group: order.index(group.label))


def pulls(row: Sequence[tuple[str, str]], names: frozenset[str]) -> list[str]:
    """What pulled a row, each column once: "age = 41", "sex = f", "sex is not m"."""
    said: dict[str, str] = {}
    for feature, value in row:
        column, level = split(feature, names)
        if level is None:
            words = f"{column} = {value}"
        elif value == "0":
            words = f"{column} is not {level.removeprefix('= ').removeprefix('is ')}"
        else:
            words = f"{column} {level}"
        said.setdefault(column, words)
    return list(said.values())
