"""drawn: some rows of a table of any size, drawn at random over all of it, as many as memory has room for.

Each row has a number u_i, uniform in [0, 1) and fixed by the seed and its place; the sample is those with the smallest.
So it does not depend on how the rows come, and how many there are need not be known before the last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from separatrix._typing import Floats
from separatrix.data.frames import Frames
from separatrix.data.origins import origin_of, tables_of
from separatrix.data.parquet_apart import Head
from separatrix.data.table import Table
from separatrix.errors import DataError

if TYPE_CHECKING:
    import polars

CELL = 100  # bytes that comparing takes for each cell of the sample: itself, as a number, in folds, and what fits make
KINDS = ("parquet", "delimited", "arrow")


class Drawn(NamedTuple):
    """Rows in memory, in their order, of how many in how many files."""

    frame: polars.DataFrame
    n: int
    files: int


def drawn(
    source: Any, target: str, memory: int, seed: int, format: str | None = None, tell: Callable[..., None] | None = None
) -> Drawn:
    """A sample of the rows of files with named columns, the target among them; all rows, if they fit.

    ``memory`` is what comparing classifiers on the sample may take, in bytes; ``tell`` is told what is done, how many
    rows, and of how many.
    """
    origin = origin_of(source, format)
    if origin.kind not in KINDS:
        raise DataError(
            f"{origin.name}: a sample is drawn from tables with named columns. Name one file, or fit to all."
        )
    thinned = _Thinned(memory, seed, tell or (lambda *_: None))
    with closing(cast(Any, tables_of(origin, None, target, (), None, memory))) as tables:
        frames = Frames(thinned.of(tables), origin.name, memory // 8, None)
    with closing(frames):
        if not frames.names:
            raise DataError(f"{origin.name} has no rows.")
        return Drawn(thinned.chosen(frames), thinned.n, len(origin.paths))


def named_columns(source: Any, format: str | None) -> bool:
    """Whether a sample can be drawn from these files."""
    try:
        return origin_of(source, format).kind in KINDS
    except DataError:  # the error is raised again, and shown, when they are read
        return False


class _Thinned:
    """Tables of those rows whose number is below a limit that falls while rows come."""

    def __init__(self, memory: int, seed: int, tell: Callable[..., None]) -> None:
        self.n, self._tell = 0, tell
        self._memory, self._random = memory, np.random.default_rng(seed)
        self._most, self._below = 0, 1.0
        self._numbers: list[Floats] = []  # of the rows that were let through
        self._held = 0  # of these, how many are below the limit

    def of(self, tables: Iterator[Table | Head]) -> Iterator[Table | Head]:
        of = 0
        for table in tables:
            if isinstance(table, Head):
                of = table.total
                yield table
                continue
            assert table.frame is not None
            self._most = self._most or max(1, self._memory // (CELL * max(1, len(table.frame.columns))))
            numbers = self._random.random(table.n_rows)
            self.n += table.n_rows
            self._tell("reading rows", self.n, of or None)
            at = np.flatnonzero(numbers < self._below)
            if len(at):
                self._numbers.append(numbers[at])
                self._held += len(at)
                yield table.take(at)
            while self._held > 2 * self._most:
                self._below /= 2
                self._held = sum(int((part < self._below).sum()) for part in self._numbers)

    def chosen(self, frames: Frames) -> polars.DataFrame:
        """The rows with the smallest numbers, in their order."""
        import polars as pl

        numbers = np.concatenate(self._numbers)
        highest = np.partition(numbers, self._most - 1)[self._most - 1] if len(numbers) > self._most else 1.0
        start, parts = 0, []
        for table in frames.tables(frames.names):
            stop = start + table.n_rows
            assert table.frame is not None
            parts.append(table.frame[np.flatnonzero(numbers[start:stop] <= highest)])
            start = stop
        return pl.concat(parts, how="vertical_relaxed")
