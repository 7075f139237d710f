"""Data frames of Dask: their columns as the encoder looks at them, a few at a time, all rows of each.

What a column is depends on all of its values (a mean to the last bit, whether a text comes but once), so the columns
that are looked at come into this process, as labels do; the workers read no others meanwhile. The matrix is made by
the workers, of each partition by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import sparse

from separatrix.data.rows import as_table
from separatrix.data.suggest import unknown_column
from separatrix.data.table import Table
from separatrix.errors import DataError

if TYPE_CHECKING:
    import polars

    from separatrix.data.encoder import Encoder
    from separatrix.data.frames import Places

TOGETHER = 1 << 30  # bytes of memory for the columns that are looked at together


def is_frame_of_dask(rows: Any) -> bool:
    """Whether this is a collection of Dask; asked without importing anything."""
    return hasattr(type(rows), "__dask_graph__")


def learned(frame: Any, scale: bool, reference: bool) -> Encoder:
    """The encoder of a data frame: see `Encoder.fit`."""
    from separatrix.data.learning import learn_columns

    if reference:
        raise DataError("reference=True compares all columns of a table in memory: leave it out for a collection.")
    found = Collected(frame)
    rows = np.arange(found.n)
    return learn_columns(found, found.names, None, rows, found.n, TOGETHER, scale, lambda *progress: None)


def encoded(encoder: Encoder, frame: Any) -> Any:
    """The matrix that an encoder makes of a data frame, as an array of Dask of which nothing is computed yet."""
    from separatrix.design.partitions_dask import mapped

    names, wanted = [str(name) for name in getattr(frame, "columns", ())], encoder.groups
    there = set(names)
    if absent := [name for name in wanted if name not in there]:
        raise unknown_column(Collected.name, absent[0], names)
    _told_apart([name for name in names if name in wanted])
    shape = 0, len(encoder.names)
    return mapped(_transformed, encoder, frame, sparse.csr_matrix(shape) if encoder.sparse else np.zeros(shape))


class Collected:
    """The columns of a data frame of Dask, by their names."""

    name = "the collection"
    quantities = None  # columns that are put aside on the way: there are none
    texts: ClassVar[dict[str, int]] = {}  # how many bytes of text a column has: not known before it comes

    def __init__(self, frame: Any) -> None:
        from separatrix.design.partitions_dask import computed

        if not hasattr(frame, "columns"):
            raise DataError("An encoder is made of a table with names: of Dask, a data frame.")
        self._computed, self._frame = computed, frame
        self.names = list(frame.columns)
        if other := [name for name in self.names if not isinstance(name, str)]:
            raise DataError(f"{self.name}: the column {other[0]!r} has no name that is text. Rename it.")
        if not self.names:
            raise DataError(f"{self.name} has no columns.")
        _told_apart(self.names)
        self.n = sum(computed(frame[self.names[:1]], len))
        if not self.n:
            raise DataError(f"{self.name} has no rows.")

    def column(self, columns: Sequence[str]) -> tuple[polars.DataFrame, Places]:
        """All rows of some columns in one frame, and where they are."""
        import polars as pl

        from separatrix.data.frames import Places, family  # which know of encoders

        found = self._computed(self._frame[list(columns)], _columns)
        there = [(number, frame) for number, frame in enumerate(found) if len(frame)]
        for name in columns:
            held = {family(frame[name].dtype): number for number, frame in there}
            held.pop("nothing", None)
            if len(held) > 1:
                (one, first), (other, second) = list(held.items())[:2]
                raise DataError(
                    f"{self.name}: column {name!r} holds {one} in partition {first}, but {other} in partition "
                    f"{second}. Convert it, so that all partitions agree."
                )
        names, lengths = [f"partition {number}" for number, _ in there], [len(frame) for _, frame in there]
        return pl.concat([frame for _, frame in there], how="vertical_relaxed"), Places(names, lengths)


def _told_apart(names: list[str]) -> None:
    """Refuse two columns of one name."""
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise DataError(f"{Collected.name}: two columns have the name {twice[0]!r}. Rename one of them.")


def _columns(block: Any) -> polars.DataFrame:
    """All columns of a partition; those without a value may be of any type."""
    import polars as pl

    if not len(block):
        return pl.DataFrame()
    frame = _frame(block, list(block.columns))
    nothing = [column.cast(pl.Null) for column in frame.get_columns() if column.null_count() == len(frame)]
    return frame.with_columns(nothing) if nothing else frame


def _transformed(block: Any, encoder: Encoder, empty: Any) -> Any:
    """The matrix of a partition."""
    if not len(block):
        return empty
    frame = _frame(block, list(encoder.groups))
    return encoder.transform(Table(frame, None, None, None, "the data", "", np.arange(1, len(frame) + 1)))[0]


def _frame(block: Any, names: list[str]) -> polars.DataFrame:
    """Columns of a frame of pandas as those of a Parquet file are: typed, and texts as they stand."""
    import polars as pl

    return pl.DataFrame({name: _series(name, block[name]) for name in names})


def _series(name: str, column: Any) -> polars.Series:
    import polars as pl

    if not (isinstance(column.dtype, np.dtype) and column.dtype.kind in "fiubM"):
        cells = column.astype(object).where(column.notna(), None).tolist()
        if all(cell is None or isinstance(cell, str) for cell in cells):
            return pl.Series(name, cells, pl.String)
    frame = as_table(column.to_frame(name), {name: set()}).frame
    assert frame is not None
    return frame[name]
