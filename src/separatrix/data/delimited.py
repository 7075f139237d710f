"""CSV and TSV: text cells in rows of equal length, checked before anything is made of them."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from separatrix.data.headers import LOOK, is_data
from separatrix.data.missing import MISSING
from separatrix.data.sources import NoRowsError
from separatrix.errors import DataError

if TYPE_CHECKING:
    import polars

LOOK_BYTES = 1 << 20  # of the first rows, to tell whether the first line is one of them
BOM = codecs.BOM_UTF8  # which some write before the first line
TOGETHER = 1 << 23  # bytes of rows that are read together: to make a table of them takes some times their memory
_BATCH = 50_000  # rows of quoted cells that are Python objects at a time


@dataclass(frozen=True)
class Layout:
    """What the first line says: the names of the columns, and what separates them."""

    names: tuple[str, ...]
    separator: str
    source: str
    notes: tuple[str, ...] = ()
    data: bool = False

    @classmethod
    def of(cls, header: bytes, separator: str | None, source: str, below: bytes) -> Layout:
        """The layout of a table with this first line; it is a row itself if it looks like those `below`."""
        text = checked_text(header, source).strip("\r\n")
        if separator is None:
            # a comma inside quotes is none: what is left without them decides
            bare = "".join(text.split('"')[::2])
            separator = max(",;\t|", key=lambda mark: (bare.count(mark), mark == ","))
        try:
            cells = [cell.strip() for cell in next(csv.reader([text], delimiter=separator, strict=True))]
        except csv.Error as error:
            raise DataError(f"{source}: the header cannot be read: {error}. Check its quotes.") from error
        if is_data(cells, _some_rows(below, separator, len(cells))):
            names = [f"column {position}" for position in range(1, len(cells) + 1)]
            note = (
                f"The first line looks like a row of data, not like names: the columns are called {names[0]!r} to "
                f"{names[-1]!r}. If that is not meant, or to name them, give the file a header line."
            )
            return cls(tuple(names), separator, source, (note,), True)
        names = [cell or _unlike(cells, f"column {position}") for position, cell in enumerate(cells, 1)]
        repeated = [name for name, times in Counter(names).items() if times > 1]
        if repeated:
            raise DataError(
                f"{source}: the header has {', '.join(map(repr, repeated[:5]))} more than once. Give each column "
                "a name of its own; if the file has no header line, add one."
            )
        unnamed = [name for name, cell in zip(names, cells, strict=True) if not cell]
        notes = (f"Columns without a name in the header are called {', '.join(unnamed[:5])}.",) if unnamed else ()
        return cls(tuple(names), separator, source, notes)

    def frame(self, body: bytes, first_row: int, first_line: int) -> polars.DataFrame:
        """The cells of the rows as stripped text, null where a value is missing."""
        import polars as pl

        rows = self._rows(body, first_row, first_line)
        cells = pl.all().str.strip_chars()
        return rows.with_columns(pl.when(cells.is_in(MISSING)).then(None).otherwise(cells).name.keep())

    def _rows(self, body: bytes, first_row: int, first_line: int) -> polars.DataFrame:
        if b'"' not in body:
            return self._bare(body, first_row, first_line)
        try:
            return self._quoted(body, first_row, first_line)
        except DataError:
            if self.separator != "\t":
                raise
            return self._bare(body, first_row, first_line)  # many a TSV has quotes as characters like any other

    def _bare(self, body: bytes, first_row: int, first_line: int) -> polars.DataFrame:
        """Rows without a quote anywhere, by polars, once they are known to be of equal length."""
        import polars as pl

        checked_text(body, self.source, first_line)
        mark, width = self.separator.encode(), len(self.names)
        lines = body.split(b"\n")
        if not lines[-1]:
            lines.pop()
        kept = [line for line in lines if line.strip()] if width > 1 else lines
        wrong = next((row for row, line in enumerate(kept) if line.count(mark) != width - 1), None)
        if wrong is not None:
            numbers = [number for number, line in enumerate(lines, first_line) if width == 1 or line.strip()]
            raise self._ragged(first_row + wrong, numbers[wrong], kept[wrong].count(mark) + 1)
        schema = {f"{position}": pl.String() for position in range(width)}
        if not kept:
            return pl.DataFrame(schema=dict(zip(self.names, schema.values(), strict=True)))
        text = body if len(kept) == len(lines) else b"\n".join(kept)
        try:
            rows = pl.read_csv(
                io.BytesIO(text), has_header=False, schema=schema, separator=self.separator, quote_char=None
            )
        except pl.exceptions.PolarsError as error:
            raise DataError(f"{self.source} cannot be read: {error}") from error
        if rows.shape != (len(kept), width):
            raise DataError(f"{self.source} cannot be read: {len(kept)} rows were expected, {len(rows)} were found.")
        rows.columns = list(self.names)
        return rows

    def _quoted(self, body: bytes, first_row: int, first_line: int) -> polars.DataFrame:
        """Rows with quotes, in which separators and line ends may stand."""
        import polars as pl

        text = checked_text(body, self.source, first_line)
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=self.separator, strict=True)
        frames, rows, width = [], [], len(self.names)
        number = first_row
        try:
            for row in reader:
                if not row and width > 1:
                    continue
                if row and len(row) != width:
                    raise self._ragged(number, first_line + reader.line_num - 1, len(row))
                rows.append(row or [""])
                number += 1
                if len(rows) == _BATCH:
                    frames.append(self._from_rows(rows))
                    rows = []
        except csv.Error as error:
            raise DataError(
                f"{self.source}: row {number} (line {first_line + reader.line_num - 1}) cannot be read: {error}. "
                'Look for a quote that is not closed; a quote inside quotes is written twice ("").'
            ) from error
        return pl.concat([*frames, self._from_rows(rows)])

    def _from_rows(self, rows: list[list[str]]) -> polars.DataFrame:
        import polars as pl

        cells = zip(*rows, strict=True) if rows else [[] for _ in self.names]
        return pl.DataFrame(
            [pl.Series(name, column, pl.String) for name, column in zip(self.names, cells, strict=True)]
        )

    def _ragged(self, row: int, line: int, cells: int) -> DataError:
        return DataError(
            f"{self.source}: row {row} (line {line}) has {cells} cells, but the header has {len(self.names)} columns. "
            f"Look for a missing or extra {_MARKS.get(self.separator, self.separator)}, and put text that holds one in "
            f"quotes{'; a title or comment above the header has to go' * (row == 1 or len(self.names) == 1)}."
        )


_MARKS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}


def _unlike(names: Sequence[str], name: str) -> str:
    """The name, or another that none of these is."""
    return name if name not in names else _unlike(names, f"{name}'")


def _some_rows(body: bytes, separator: str, width: int) -> list[list[str]]:
    """Those of the first rows that have as many cells as the first line; none if most have not."""
    text = body[:LOOK_BYTES].decode("utf-8", "replace")
    lines = text.splitlines()
    if len(body) > LOOK_BYTES:
        lines.pop()
    try:
        rows = [row for row in csv.reader(lines[: 2 * LOOK], delimiter=separator) if row][:LOOK]
    except csv.Error:
        return []
    whole = [[cell.strip() for cell in row] for row in rows if len(row) == width]
    return whole if 2 * len(whole) > len(rows) else []


def checked_text(data: bytes, source: str, first_line: int = 1) -> str:
    """The text of UTF-8 bytes, without NUL."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DataError(f"{source} is in UTF-16: save it as UTF-8.")
    if (at := data.find(b"\0")) >= 0:
        line = first_line + data.count(b"\n", 0, at)
        raise DataError(
            f"{source}: line {line} has a NUL byte: the file is damaged, or no text. Save it as UTF-8 text."
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = first_line + data.count(b"\n", 0, error.start)
        raise DataError(
            f"{source}: line {line} has the byte 0x{data[error.start]:02x}, which is not UTF-8. Save the file as UTF-8 "
            "(for a file in Latin-1: iconv -f latin1 -t utf8)."
        ) from error


def laid_out(data: bytes, separator: str | None, source: str, more: bytes = b"") -> tuple[Layout, bytes, int]:
    """The layout of a table, the rows in these bytes, and the number of their first line; `more` rows are looked at."""
    header, body, line = _split_header(data, source)
    layout = Layout.of(header, separator, source, body + more)
    if layout.data:
        body, line = header.rstrip(b"\r") + b"\n" + body, line - 1 - header.count(b"\n")
    return layout, body, line


def _split_header(data: bytes, source: str) -> tuple[bytes, bytes, int]:
    """The header line, the rest, and the number of the first line of that; byte order mark and blank lines skipped."""
    data = data.removeprefix(BOM)
    if b"\n" not in data and b"\r" in data:
        data = data.replace(b"\r", b"\n")
    start = len(data) - len(data.lstrip(b"\r\n"))
    end = start - 1
    while True:  # a quoted name may hold a line end
        end = data.find(b"\n", end + 1)
        if end < 0 or data.count(b'"', start, end) % 2 == 0:
            break
    header, body = (data[start:], b"") if end < 0 else (data[start:end], data[end + 1 :])
    if not header.strip():
        raise NoRowsError(f"{source} is empty: it should have a header line and rows below it.")
    return header, body, 1 + data.count(b"\n", 0, len(data) - len(body))


def records(lines: Iterator[bytes], rows: int) -> Iterator[bytes]:
    """Lines in groups of about this many, fewer if they are long.

    A line end inside quotes ends none, unless they are never closed.
    """
    group: list[bytes] = []
    size, open_quote = 0, False
    for line in lines:
        group.append(line)
        size += len(line)
        open_quote ^= line.count(b'"') % 2 == 1
        enough = len(group) >= rows or size >= TOGETHER
        if enough and (not open_quote or len(group) >= 2 * rows + 1000):
            yield b"".join(group)
            group, size, open_quote = [], 0, False
    if group:
        yield b"".join(group)
