"""How the numbers of a column are written: 1040.71, 1,040.71, 1.040,71, 1 040,71, 12.5%, $5; all in one way."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from separatrix.errors import DataError

if TYPE_CHECKING:
    import polars

CURRENCIES = "$€£¥"
SHORT = 256  # rows up to which reading cells one by one is faster than setting up anything else
_SAMPLE = 50  # cells that are looked at first
_BETWEEN = {",": ",", ".": r"\.", " ": "[\u00a0\u2009\u202f ]", "'": "[’']"}  # as patterns
_LIKE_A_NUMBER = re.compile(
    rf"[+-]?\s*[{CURRENCIES}]?\s*[+-]?[0-9.,'’\u00a0\u2009\u202f ]*[0-9][0-9.,]*(?:[eE][+-]?[0-9]+)?\s*[%{CURRENCIES}]?"
)


@dataclass(frozen=True)
class Spelling:
    """How numbers are written.

    With a mark, "%" or a currency sign, every cell has it, before or after the number; it is left out: 12.5% is 12.5.
    """

    mark: str = ""
    thousands: str = ""  # what stands between groups of three digits: ",", ".", " ", "'" or nothing
    decimal: str = "."  # or ","

    def read(self, column: polars.Series, strict: bool = False) -> polars.Series:
        """The cells as floats, null where one is written in another way.

        With ``strict``, digits before the decimal mark are grouped wherever there are more than three.
        """
        import polars as pl

        if len(column) <= SHORT:
            values = [None if cell is None else self.number(cell, strict) for cell in column.to_list()]
            return pl.Series(column.name, values, pl.Float64)
        cells = column.str.extract(f"^(?:{self._pattern(strict)})$", 0)
        if self.mark:
            cells = cells.str.replace(re.escape(self.mark), "")
        if self.thousands:
            cells = cells.str.replace_all(_BETWEEN[self.thousands], "")
        if self.decimal != ".":
            cells = cells.str.replace(self.decimal, ".", literal=True)
        return cells.str.replace_all(" ", "", literal=True).cast(pl.Float64, strict=False)

    def number(self, cell: str, strict: bool = False) -> float | None:
        """One cell; None if it is written in another way."""
        if _compiled(self, strict).fullmatch(cell) is None:
            return None
        digits = cell.replace(self.mark, "") if self.mark else cell
        digits = re.sub(_BETWEEN[self.thousands], "", digits) if self.thousands else digits
        return float(digits.replace(self.decimal, ".").replace(" ", ""))

    def _pattern(self, strict: bool) -> str:
        between, point, mark = _BETWEEN.get(self.thousands), re.escape(self.decimal), re.escape(self.mark)
        # a group never starts with 0: 0,123 has a decimal comma
        ungrouped = "[0-9]{1,3}" if strict and between else "[0-9]+"
        whole = f"(?:[1-9][0-9]{{0,2}}(?:{between}[0-9]{{3}})+|{ungrouped})" if between else ungrouped
        exponent = "" if between else "(?:[eE][+-]?[0-9]+)?"
        number = f"(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+){exponent}"
        return f"(?:[+-]? *{mark} *{number}|[+-]?{number} *{mark})" if mark else f"[+-]?{number}"

    def __str__(self) -> str:
        parts = [f"{_WORDS[self.thousands]} between thousands"] if self.thousands else []
        parts += ["a decimal comma"] if self.decimal == "," else []
        parts += [f"{self.mark} left out"] if self.mark else []
        return " and ".join(parts)

    def to_list(self) -> list[str]:
        """As plain JSON."""
        return [self.mark, self.thousands, self.decimal]

    @classmethod
    def from_list(cls, plain: Any) -> Spelling:
        """The spelling that `to_list` described; `DataError` if it describes none."""
        good = isinstance(plain, list) and len(plain) == 3 and all(isinstance(part, str) for part in plain)
        if not good or plain[0] not in ("", "%", *CURRENCIES) or tuple(plain[1:]) not in _WAYS:
            raise DataError("how the numbers of a column are written is malformed")
        return cls(*plain)


@cache
def _compiled(spelling: Spelling, strict: bool) -> re.Pattern[str]:
    return re.compile(spelling._pattern(strict))


_WORDS = {",": "commas", ".": "points", " ": "blanks", "'": "apostrophes"}
_WAYS = (("", "."), (",", "."), ("", ","), (".", ","), (" ", "."), (" ", ","), ("'", "."), ("'", ","))


def found_spelling(column: polars.Series) -> tuple[Spelling, polars.Series] | None:
    """The way in which the most cells are numbers, of several the first, and these; None if cells are not like numbers.

    "1,234" in every cell that has a comma, and never "0,123", is read as 1234: groups of three digits are what
    thousands always have, and decimals seldom.
    """
    sample = sample_of(column)
    if not like_numbers(sample):
        return None
    fits = []
    for spelling, strict in _candidates(sample):
        fits.append((sum(spelling.number(cell, strict) is not None for cell in sample), spelling, strict))
        if fits[-1][0] == len(sample) == len(column):
            break
    best: tuple[Spelling, polars.Series] | None = None
    for _, spelling, strict in sorted(fits, key=lambda fit: -fit[0]):  # equal ones stay in order
        values = spelling.read(column, strict)
        if best is None or values.null_count() < best[1].null_count():
            best = spelling, values
        if best[1].null_count() in (column.null_count(), len(column)):
            break
    return best


def could_be_either(column: polars.Series) -> bool:
    """Whether every comma stands before the last three digits, as one between thousands does and a decimal one may."""
    cells = [cell for cell in column.unique().to_list() if cell is not None and "," in cell]
    return bool(cells) and all(re.fullmatch(r"\D*[1-9]\d{0,2},\d{3}\D*", cell) for cell in cells)


def sample_of(column: polars.Series) -> list[str]:
    """Some of the cells that have a value: most columns of words are told by these."""
    cells = [cell for cell in column[: 4 * _SAMPLE].to_list() if cell is not None]
    return cells[:_SAMPLE] or column.drop_nulls()[:_SAMPLE].to_list()


def like_numbers(cells: list[str]) -> bool:
    """Whether most of the cells are written like numbers, in whatever ways."""
    return 2 * sum(_LIKE_A_NUMBER.fullmatch(cell) is not None for cell in cells) > len(cells)


def _candidates(sample: list[str]) -> Iterator[tuple[Spelling, bool]]:
    marks = [mark for mark in ("%", *CURRENCIES) if any(mark in cell for cell in sample)]
    for mark in marks or [""]:
        for thousands, decimal in _WAYS:
            yield Spelling(mark, thousands, decimal), True
        for thousands, decimal in _WAYS:
            if thousands:
                yield Spelling(mark, thousands, decimal), False
