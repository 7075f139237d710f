"""ARFF files: ``@attribute`` lines that name and type the columns, then ``@data`` and rows separated by commas."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from separatrix.data.delimited import BOM, checked_text
from separatrix.data.missing import MISSING
from separatrix.errors import DataError

if TYPE_CHECKING:
    import polars

_TEXT = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_TEXT}|[^\s{{]+)\s*(.*)", re.IGNORECASE)
_CELL = re.compile(rf"\s*({_TEXT}|[^,'\"]*)\s*(,|$)")
_KINDS = ("numeric", "real", "integer", "string", "date")


@dataclass(frozen=True)
class Arff:
    """The rows as text, null where a value is missing (``?``), and the columns declared to be categories."""

    frame: polars.DataFrame
    nominal: frozenset[str]


def read_arff(data: bytes, source: str) -> Arff:
    """The table of an ARFF file with dense rows."""
    import polars as pl

    lines = re.split(r"\r\n?|\n", checked_text(data.removeprefix(BOM), source))
    names: list[str] = []
    nominal: set[str] = set()
    start = None
    for number, line in enumerate(lines, 1):
        bare = line.strip()
        word = bare.split(None, 1)[0].lower() if bare else ""
        if word == "@data":
            start = number
            break
        if word == "@attribute":
            name, categories = _attribute(bare, f"{source}: line {number}")
            names.append(name)
            nominal |= {name} if categories else set()
        elif bare and not bare.startswith("%") and word != "@relation":
            raise DataError(f"{source}: line {number}: {bare[:40]!r}, where @attribute or @data should be.")
    if start is None or not names:
        raise DataError(f"{source} is no whole ARFF file: it needs @attribute lines, @data, and rows below.")
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise DataError(
            f"{source}: the attribute {repeated[0]!r} is there more than once. Give each a name of its own."
        )
    rows = [
        _cells(line, len(names), source, number)
        for number, line in enumerate(lines[start:], start + 1)
        if line.strip() and not line.lstrip().startswith("%")
    ]
    if not rows:
        raise DataError(f"{source} has a header but no rows below it.")
    columns = zip(*rows, strict=True)
    frame = pl.DataFrame({name: pl.Series(name, cells, pl.String) for name, cells in zip(names, columns, strict=True)})
    return Arff(frame, frozenset(nominal))


def _attribute(line: str, place: str) -> tuple[str, bool]:
    """The name of an attribute, and whether its values are listed."""
    found = _ATTRIBUTE.fullmatch(line)
    if found is None:
        raise DataError(f"{place}: an attribute is written as: @attribute name type.")
    kind = found[2].strip().lower()
    if kind.startswith("{"):
        return _unquoted(found[1]), True
    if not kind.startswith(_KINDS):
        raise DataError(
            f"{place}: the type {found[2][:40]!r} cannot be used; numeric, string, date and {{listed, values}} can. "
            "Leave the attribute out."
        )
    return _unquoted(found[1]), False


def _cells(line: str, width: int, source: str, number: int) -> list[str | None]:
    if line.lstrip().startswith("{"):
        raise DataError(
            f"{source}: line {number} is a sparse row, {{index value, ...}}, which is not read: convert the file to "
            "dense rows (in Weka: SparseToNonSparse), to CSV, or to a libsvm file."
        )
    if "'" not in line and '"' not in line:
        cells = [cell.strip() for cell in line.split("," if "," in line else "\t")]
    else:
        cells, at = [], 0
        while at <= len(line):
            found = _CELL.match(line, at)
            if found is None:
                raise DataError(
                    f"{source}: line {number} has a quote that is not closed, or text after one. Correct it."
                )
            cells.append(_unquoted(found[1].strip()))
            at = found.end() if found[2] else len(line) + 1
    if len(cells) != width:
        raise DataError(
            f"{source}: line {number} has {len(cells)} cells, but there are {width} attributes. Look for a missing or "
            "extra comma, and put text that holds one in quotes."
        )
    return [None if cell in MISSING else cell for cell in cells]


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] in "'\"" and text[-1] == text[0]:
        return re.sub(r"\\(.)", r"\1", text[1:-1]).strip()
    return text
