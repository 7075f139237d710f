"""Tables of any size, some rows and some columns at a time, as often as asked, though their source is read once.

On the way in they are put aside in stripes of columns, in a file without a name: so each column can be looked at as a
whole, whatever the size of the others, and nothing is decoded twice. Columns of floats may be put aside as rows.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix._typing import Integers
from separatrix.certificates._held import WHOLE
from separatrix.data.parquet_apart import Head
from separatrix.data.quantities import Quantities
from separatrix.data.table import Table, check_names
from separatrix.errors import DataError, StorageError

if TYPE_CHECKING:
    import polars

STRIPE = 50_000  # cells that are put aside together, about: single columns of few rows would be many small reads
PIECE = 1 << 19  # cells that are read together, about: to encode them takes some times their memory


class Places:
    """Where rows are, for messages: "7", or "7 of b.csv" if there are several files.

    ``names`` are those of the files, ``lengths`` say how many rows each has, and ``at`` which of all rows these are.
    """

    def __init__(self, names: Sequence[str], lengths: Sequence[int], at: Integers | None = None) -> None:
        self._names, self._lengths = names, lengths
        self._ends = np.cumsum(lengths)
        self._at = np.arange(int(self._ends[-1]) if len(lengths) else 0) if at is None else at

    def __len__(self) -> int:
        return len(self._at)

    def __getitem__(self, key: Any) -> Any:
        if np.ndim(key):
            return Places(self._names, self._lengths, self._at[key])
        row = int(self._at[key])
        file = int(np.searchsorted(self._ends, row, side="right"))
        number = row - int(self._ends[file]) + int(self._lengths[file]) + 1
        return f"{number} of {self._names[file]}" if len(self._names) > 1 else number


class Frames:
    """A table with named columns that is put aside, in memory or, beyond some bytes, on the disk.

    Columns that are not in the tables are in ``quantities``, if it is given; each file begins with its `Head` then.
    """

    def __init__(
        self,
        tables: Iterable[Table | Head],  # the rows in their order, some at a time, of one file after the other
        name: str,  # for messages
        memory: int,  # bytes up to which they are kept in memory
        columns: Sequence[str] | None,  # that will be asked for; None for all
        quantities: Quantities | None = None,
        tell: Callable[..., None] = lambda *_: None,  # told how many rows are read, of how many
    ) -> None:
        self.name = name
        self.quantities = quantities
        self.names: list[str] = []  # of all columns of the source
        self.texts: Counter[str] = Counter()  # how many bytes of text a column has
        self._families: dict[str, tuple[str, str]] = {}  # what a column holds, and in which file that was seen
        self._file = SpooledTemporaryFile(max_size=memory, prefix="separatrix-")  # noqa: SIM115 (kept while it is used)
        self._stripes: list[list[str]] = []
        self._headed = False  # whether files say what columns they have, before their rows
        self._tables: list[tuple[Table, list[tuple[int, int]]]] = []
        first, of, done = "", 0, 0
        try:
            for table in tables:
                first = first or table.source
                if isinstance(table, Head):
                    self._agree(table.columns, table.source, first, columns)
                    of, self._headed = table.total, True
                else:
                    self._put(table, first, columns)
                    done += table.n_rows
                    tell("reading rows", done, of or None)
        except OSError as error:
            self.close()
            if isinstance(error, StorageError) or error.errno is None:
                raise
            raise StorageError(
                f"{name} cannot be put aside: {error.strerror}. Free some space in the folder for temporary files, or "
                "name another one in the environment variable TMPDIR."
            ) from error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Give back what was put aside."""
        if self.quantities is not None:
            self.quantities.close()
        with suppress(OSError):  # what a full disk did not take is not wanted any more
            self._file.close()

    @property
    def n(self) -> int:
        """How many rows there are."""
        return sum(table.n_rows for table, _ in self._tables)

    @property
    def sources(self) -> set[str]:
        """The names of the files that had rows."""
        return {table.source for table, _ in self._tables}

    def column(self, columns: Sequence[str]) -> tuple[polars.DataFrame, Places]:
        """All rows of some columns in one frame, and where they are."""
        import polars as pl

        frames, files, lengths = list[Any](), list[str](), list[int]()
        for table in self.tables(columns):
            frames.append(table.frame)
            if table.row_numbers[0] == 1:
                files.append(table.source)
                lengths.append(0)
            lengths[-1] += table.n_rows
        if not frames:
            raise DataError(f"{self.name} has no rows.")
        joined = pl.concat(frames, how="vertical_relaxed")
        for name in (name for name, dtype in joined.schema.items() if dtype.is_float()):
            for whole in (frame[name] for frame in frames if frame.schema[name].is_integer()):
                if ((whole > WHOLE) | (whole < -WHOLE)).any():
                    raise DataError(
                        f"{self.name}: column {name!r} has whole numbers beyond 2**53, and in other files numbers of a "
                        "type with which they would be rounded. Write it as one type in all files, or as text."
                    )
        return joined, Places(files, lengths)

    def _agree(self, columns: Mapping[str, Any], file: str, first: str, used: Sequence[str] | None) -> None:
        """That a file has the columns of the first one (those that are used) in any order, and they hold the same."""
        check_names(columns, file)
        self.names = self.names or list(columns)
        wanted = {*self.names, *columns} if used is None else set(used)
        for these, those, one, other in ((self.names, columns, file, first), (columns, self.names, first, file)):
            there = set(those)
            if absent := [name for name in these if name in wanted and name not in there]:
                raise DataError(
                    f"{one} has no column {absent[0]!r}, which {other} has. Give files of the same columns, or name "
                    "those to use: columns=[...]."
                )
        for name, dtype in ((name, dtype) for name, dtype in columns.items() if name in wanted):
            held = family(dtype)
            seen, where = self._families.setdefault(name, (held, file))
            if seen == "nothing":
                self._families[name] = held, file
            elif held not in (seen, "nothing"):
                raise DataError(
                    f"{file}: column {name!r} holds {held}, but {seen} in {where}. Convert it, so that all files agree."
                )

    def _put(self, table: Table, first: str, columns: Sequence[str] | None) -> None:
        import polars as pl

        frame = table.frame
        assert frame is not None
        if not self._headed:
            self._agree(frame.schema, table.source, first, columns)
        if not self._tables:
            wanted = set(self.names if columns is None else columns)
            used = [name for name in frame.columns if name in wanted]
            ends = [*range(0, len(used), max(1, STRIPE // len(frame))), len(used)]
            self._stripes = [used[start:stop] for start, stop in pairwise(ends)]
        for name in (name for stripe in self._stripes for name in stripe if frame.schema[name] == pl.String):
            self.texts[name] += int(frame.get_column(name).estimated_size())
        spans = []
        for stripe in self._stripes:
            written = io.BytesIO()
            pl.DataFrame({name: frame.get_column(name) for name in stripe}).write_ipc_stream(written)
            spans.append((self._file.tell(), len(written.getbuffer())))
            self._file.write(written.getbuffer())
        bare = Table(None, None, None, None, table.source, "", table.row_numbers)
        self._tables.append((bare, spans))

    def tables(self, columns: Sequence[str]) -> Iterator[Table]:
        """All rows in their order, of these columns; a table is of one file, and knows the numbers of its rows."""
        import polars as pl

        wanted, start, step = set(columns), 0, max(1, PIECE // max(1, len(columns)))
        touched = [i for i, stripe in enumerate(self._stripes) if wanted.intersection(stripe)]
        apart = [] if self.quantities is None else [(j, n) for j, n in enumerate(self.quantities.names) if n in wanted]
        for bare, spans in self._tables:
            found: dict[str, Any] = {}
            for i in touched:
                at, size = spans[i]
                self._file.seek(at)
                found |= {column.name: column for column in pl.read_ipc_stream(self._file.read(size)).get_columns()}
            for first in range(0, bare.n_rows, step):
                last = min(first + step, bare.n_rows)
                some = {name: column[first:last] for name, column in found.items()}
                if apart and self.quantities is not None:
                    rows = self.quantities.rows(start + first, start + last)
                    some |= {name: pl.Series(name, rows[:, j], nan_to_null=True) for j, name in apart}
                frame = pl.DataFrame({name: some[name] for name in columns})
                yield Table(frame, None, None, None, bare.source, "", bare.row_numbers[first:last])
            start += bare.n_rows


def family(dtype: Any) -> str:
    """What a column of this type holds, in words."""
    import polars as pl

    if dtype.is_numeric():
        return "numbers"
    if dtype.base_type() in (pl.Date, pl.Datetime):
        zone = getattr(dtype, "time_zone", None)
        return "dates" if zone is None else f"dates of the time zone {zone}"
    names = {pl.String: "text", pl.Boolean: "truth values", pl.Null: "nothing", pl.Time: "times of day"}
    return names.get(dtype.base_type(), str(dtype))
