"""How one column becomes numbers: its plan, made once, and then applied to any table or row."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.data.missing import MISSING
from separatrix.errors import DataError

if TYPE_CHECKING:
    import polars

NEVER_MISSING = "{}: missing, which it never was before"
#: Puts a value into its places of a row of zeros, and what was never met before into the list; False if it takes a
#: closer look to see what the value is.
Filler = Callable[[Floats, Any, list[str]], bool]


@dataclass(frozen=True)
class Block:
    """The columns that come from one column, dense or CSR, and what was met that was not there before."""

    values: Any
    surprises: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan(ABC):
    """What becomes of a column."""

    name: str
    missing: bool = False  # whether a last column says where the value is missing

    @property
    @abstractmethod
    def kind(self) -> str:
        """The kind of column, as files call it."""

    @property
    @abstractmethod
    def parts(self) -> list[str]:
        """The names of the columns it gives, without the last one."""

    @property
    def output(self) -> list[str]:
        """The names of the columns it gives."""
        return self.parts + ([f"{self.name} is missing"] if self.missing else [])

    @property
    def scales(self) -> list[float]:
        """What each of the columns it gives was divided by."""
        return [1.0] * len(self.output)

    @abstractmethod
    def words(self) -> str:
        """What is done with the column, for people."""

    @abstractmethod
    def block(self, column: polars.Series, source: str, rows: Integers, sparse: bool) -> Block:
        """The columns that come from this one; ``rows`` are the numbers of the rows, for errors."""

    @abstractmethod
    def filler(self, first: int) -> Filler:
        """How one value is put into a row, from place ``first`` on."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """What is particular to this kind, as plain JSON."""

    @classmethod
    @abstractmethod
    def from_state(cls, name: str, missing: bool, kind: str, state: dict[str, Any]) -> Plan:
        """The plan that `state` described; anything malformed is a `DataError`, `ValueError` or `TypeError`."""

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        return {"name": self.name, "kind": self.kind, "missing": self.missing, **self.state()}

    def unexpected(self, missing: Array) -> dict[str, int]:
        """Values that are missing though none ever was before."""
        n = 0 if self.missing else int(missing.sum())
        return {NEVER_MISSING.format(self.name): n} if n else {}

    def fill_missing(self, first: int) -> Callable[[Floats, list[str]], bool]:
        """How a missing value is put into a row."""
        at, never = first + len(self.parts), NEVER_MISSING.format(self.name)

        def fill(x: Floats, met: list[str]) -> bool:
            if self.missing:
                x[at] = 1.0
            else:
                met.append(never)
            return True

        return fill


@dataclass(frozen=True)
class ConstantPlan(Plan):
    """One value: all that the column says is where it is missing."""

    kind = "constant"

    @property
    def parts(self) -> list[str]:
        return []

    def words(self) -> str:
        return "one value only, so that all it says is where it is missing"

    def block(self, column: polars.Series, source: str, rows: Integers, sparse: bool) -> Block:
        missing = is_missing(column)
        return Block(missing[:, None].astype(np.float64)[:, : int(self.missing)], self.unexpected(missing))

    def filler(self, first: int) -> Filler:
        absent = self.fill_missing(first)
        return lambda x, value, met: absent(x, met) if text_of(value) is None else True

    def state(self) -> dict[str, Any]:
        return {}

    @classmethod
    def from_state(cls, name: str, missing: bool, kind: str, state: dict[str, Any]) -> Plan:
        only(state)
        return cls(name, missing)


def is_missing(column: polars.Series) -> Array:
    """Where the column has no value."""
    return column.is_null().to_numpy() if column.null_count() else np.zeros(len(column), dtype=bool)


def text_of(value: Any) -> str | None:
    """A value as the text that a file would have, whole numbers without a point; None if it stands for no value."""
    if isinstance(value, str):
        value = value.strip()
        return None if value in MISSING else value
    if value is None or value != value:
        return None
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def moments(present: Floats) -> tuple[float, float]:
    """The mean, and the standard deviation as a scale: 1 where that is 0 or beyond all floats."""
    with np.errstate(over="ignore"):
        mean = float(present.mean())
        if not np.isfinite(mean):  # the sum overflows, not the mean
            mean = float((present / len(present)).sum())
        spread = float(present.std())
    return mean, spread if 0 < spread < np.inf else 1.0


# ---------------------------------------------------------------------- what files must hold
def only(state: dict[str, Any], *names: str) -> list[Any]:
    """The fields of these names, if there are no others."""
    if set(state) != set(names):
        raise DataError("it has other fields than such a column has")
    return [state[name] for name in names]


def finite(value: Any, positive: bool = False) -> float:
    """A number; above 0 if it must be."""
    if type(value) not in (int, float) or not math.isfinite(value) or (positive and value <= 0):
        raise DataError("a number is malformed")
    return float(value)


def texts(value: Any) -> tuple[str, ...]:
    """A list of different texts."""
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise DataError("a list of texts is malformed")
    if len(set(value)) < len(value):
        raise DataError("a text comes twice")
    return tuple(value)
