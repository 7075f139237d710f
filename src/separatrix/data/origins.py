"""What a source is: files, a query, a stream of tables, or batches of numbers; and whether it has changed."""

from __future__ import annotations

import glob
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from separatrix.data.chunks import read_chunks
from separatrix.data.frames import Frames
from separatrix.data.parquet_apart import Head, parquet_apart
from separatrix.data.parquet_child import ahead, complaint, plain_columns, put_batches
from separatrix.data.quantities import Quantities
from separatrix.data.reading import require_polars
from separatrix.data.sources import COMPRESSED, ENDINGS, NoRowsError, ending, explained, opened
from separatrix.data.suggest import unknown_column
from separatrix.data.table import Table, numbered
from separatrix.errors import DataError
from separatrix.files.place import Draft

ROWS = 50_000  # of a table in memory at a time, unless it is wide
CELLS = 1 << 22  # the same, of one that is
ENDS = 1 << 16  # bytes at both ends of a file that are compared, besides its size and times
ARROW = (".arrow", ".ipc", ".feather")
_KNOWN = (*(known for known, format in ENDINGS.items() if format != "arff"), ".npy", *ARROW)


@dataclass(frozen=True)
class Origin:
    """A source, and its kind: "parquet", "delimited", "svmlight", "arrow", "npy" files; "lazy", "stream", "batches"."""

    kind: str
    name: str
    given: Any = None
    paths: tuple[Path, ...] = ()
    format: str | None = None

    @property
    def names(self) -> list[str]:
        """The names of files; with their folders, from where these part, if files of one name are in several."""
        names = [path.name for path in self.paths]
        if len(set(names)) == len(names):
            return names
        folder = os.path.commonpath([path.absolute().parent for path in self.paths])
        return [os.path.relpath(path.absolute(), folder) for path in self.paths]

    def fingerprint(self, parameters: list[Any], beside: Sequence[Path] = ()) -> str | None:
        """What changes when the files do, or those beside them, or the parameters; None if there are no files."""
        if not self.paths:
            return None
        digest = hashlib.sha256(json.dumps(["2", *parameters]).encode())
        for path in (*self.paths, *beside):
            with explained(path.name), open(path, "rb") as file:
                status = os.fstat(file.fileno())
                times = f"{status.st_mtime_ns} {status.st_ctime_ns}"  # the second cannot be set back
                digest.update(f"{path.absolute()} {status.st_size} {times} {status.st_ino}".encode())
                digest.update(file.read(ENDS))
                file.seek(max(0, status.st_size - ENDS))
                digest.update(file.read(ENDS))
        return digest.hexdigest()

    def digest(self) -> str:
        """SHA-256 of the bytes of the one file, or of the digests of several; "" without files."""
        found = []
        for path in self.paths:
            if self.kind in ("npy", "arrow"):
                with explained(path.name), open(path, "rb") as file:
                    found.append(hashlib.file_digest(file, "sha256").hexdigest())
            else:
                with opened(path, self.format) as source, explained(path.name):  # uncompressed, as read_table has it
                    found.append(hashlib.file_digest(cast(Any, source.file), "sha256").hexdigest())
        return found[0] if len(found) == 1 else hashlib.sha256("".join(found).encode()).hexdigest() if found else ""

    def require_plain(self) -> None:
        """That files which are read from anywhere in them have bytes, and are not compressed as a whole."""
        what = {"parquet": "Parquet", "arrow": "Arrow", "npy": "NumPy"}.get(self.kind)
        for path, name in zip(self.paths, self.names, strict=True) if what else ():
            with explained(name), open(path, "rb") as file:
                start = file.read(len(max(COMPRESSED, key=len)))
            if not start:
                raise DataError(f"{name} has no bytes, as no file of {what} has. Write it anew, or remove it.")
            if start.startswith(COMPRESSED):
                raise DataError(
                    f"{name} is compressed as a whole, but {what} is read from anywhere in a file: unpack it."
                )

    def tables(self) -> Iterator[Table]:
        """The rows of text, Arrow or libsvm files, some at a time; files without rows are passed over."""
        for path, name in zip(self.paths, self.names, strict=True):
            if self.kind != "arrow" and os.path.getsize(path) == 0:
                continue
            try:
                if self.kind == "arrow":
                    yield from arrow_tables(path, name)
                else:
                    yield from read_chunks(path, rows=rows_of(_width(path)), format=self.format, name=name)
            except NoRowsError:
                continue


def origin_of(source: Any, format: str | None = None) -> Origin:
    """What a source is."""
    if isinstance(source, str | os.PathLike):
        return _files(files_of(source), str(source), format)
    kind = f"{type(source).__module__.split('.')[0]}.{type(source).__name__}"
    if kind == "polars.LazyFrame":
        return Origin("lazy", "the query", source)
    if kind == "polars.DataFrame":
        return Origin("lazy", "the table", source.lazy())
    if hasattr(source, "to_batches") or hasattr(source, "read_next_batch"):
        return Origin("stream", f"the {kind}", source)
    if isinstance(source, list | tuple) and source and all(isinstance(part, str | os.PathLike) for part in source):
        paths = [path for part in source for path in files_of(part)]
        return _files(paths, f"{len(paths)} files", format)
    if callable(source) or (hasattr(source, "__iter__") and not hasattr(source, "shape")):
        return Origin("batches", "the batches", source)
    raise DataError(
        f"A source is a path, a glob, a list of paths, a LazyFrame, a pyarrow object or batches (X, y); got a {kind}."
    )


def files_of(source: Any) -> list[Path]:
    """The files that a path, a folder or a glob stands for, in the order of their names."""
    text = os.fspath(source)
    path = Path(text)
    if path.is_dir():
        # hidden files are left out, as a pattern leaves them out
        shown = [child for child in path.iterdir() if child.is_file() and not child.name.startswith(".")]
        if not (found := sorted(child for child in shown if ending(child) in _KNOWN)):
            raise DataError(
                f"{text} is a folder without a file of a known kind: {', '.join(_KNOWN)}. If files are in folders "
                "below it, name a pattern, such as folder/**/*.parquet."
            )
        return found
    if path.exists() or not glob.has_magic(text):
        if not path.exists():
            raise DataError(f"{text} cannot be read: No such file or directory.")
        return [path]
    found = sorted(map(Path, glob.glob(text, recursive=True)))
    if not found:
        raise DataError(f"{text}: no file fits this pattern.")
    return found


def _width(path: Path) -> int:
    """About how many columns a file of text has, from its first line."""
    with opened(path, "csv") as file:
        head = file.file.readline(1 << 24)
    return max(head.count(mark) for mark in (b",", b";", b"\t", b"|", b":")) + 1


def _files(paths: Sequence[Path], name: str, format: str | None) -> Origin:
    kinds = {_kind(path, format) for path in paths}
    if len(kinds) > 1:
        raise DataError(f"{name}: files of one kind are read together, and these are {', '.join(sorted(kinds))}.")
    shown = paths[0].name if len(paths) == 1 else name
    return Origin(kinds.pop(), shown, paths=tuple(paths), format=format)


def _kind(path: Path, format: str | None) -> str:
    end = ending(path)
    if format is None and end == ".npy":
        return "npy"
    if format == "arrow" or (format is None and end in ARROW):
        return "arrow"
    found = ENDINGS.get(end) if format is None else None
    if found in (None, "arff"):
        with opened(path, format) as file:
            found = file.format
    if found == "arff":
        raise DataError(f"{path.name} is an ARFF file, which is read whole: read_table does, or convert it to CSV.")
    return found if found in ("parquet", "svmlight") else "delimited"


def frames_of(
    origin: Origin,
    memory: int,
    columns: Sequence[str] | None,
    target: str,
    drop: Sequence[str],
    draft: Draft,
    tell: Callable[..., None],
) -> Frames:
    """A table with named columns, to be read in pieces; some of it may be in the draft already."""
    quantities = Quantities(draft) if origin.kind == "parquet" else None
    # whatever happens, who decodes them does not stay
    with closing(cast(Any, tables_of(origin, columns, target, drop, quantities, memory))) as tables:
        frames = Frames(tables, origin.name, memory // 8, columns, quantities, tell)
    if not frames.names:
        frames.close()
        raise DataError(f"{origin.name} has no rows.")
    return frames


def tables_of(
    origin: Origin,
    columns: Sequence[str] | None,
    target: str,
    drop: Sequence[str],
    quantities: Quantities | None,
    memory: int,
) -> Iterator[Table | Head]:
    """The rows of a table with named columns, some at a time; those of Parquet files after the head of each.

    What ``quantities`` takes on the way is not in them.
    """
    require_polars()
    never, begin = (None, None) if quantities is None else ([target, *drop], quantities.begin)
    made: dict[str, Callable[[], Iterator[Table | Head]]] = {
        "parquet": lambda: _parquet_tables(
            parquet_apart(origin.paths, origin.names, columns, never, ROWS, begin, memory), target, quantities
        ),
        "delimited": origin.tables,
        "arrow": origin.tables,
        "lazy": lambda: _explained(_lazy_frames(origin.given), origin.name),
        "stream": lambda: _explained(_stream_frames(origin.given), origin.name),
    }
    return made[origin.kind]()


def _parquet_tables(
    parts: Iterator[tuple[str, Any]], target: str, quantities: Quantities | None
) -> Iterator[Table | Head]:
    first = 1
    for name, part in parts:
        if isinstance(part, Head):
            if target not in part.columns:
                raise unknown_column(name, target, list(part.columns), "target column")
            first = 1
            yield part
        elif isinstance(part, np.ndarray):
            assert quantities is not None
            quantities.add(part)
        else:
            yield Table(part, None, None, None, name, "", np.arange(first, first + len(part)))
            first += len(part)


def rows_of(width: int) -> int:
    """How many rows of so many columns are in memory at a time."""
    return min(ROWS, CELLS // max(1, width) + 1)


def arrow_tables(path: Path, name: str) -> Iterator[Table]:
    """The rows of an Arrow file, some at a time."""
    import polars as pl

    query, n = pl.scan_ipc(path, glob=False), 0
    try:
        for table in _explained(_lazy_frames(query), name):
            n += table.n_rows
            yield table
    except OSError as error:
        raise DataError(f"{name} cannot be read as an Arrow file: {error}.") from error
    if n != (promised := query.select(pl.len()).collect().item()):
        raise DataError(f"{name} cannot be read: it says that it has {promised:,} rows, and {n:,} came.")
    if not n:
        raise NoRowsError(f"{name} has a header but no rows below it.")


def _lazy_frames(query: Any) -> Iterator[Any]:
    """The rows of a query, some at a time."""
    rows = rows_of(len(query.collect_schema()))
    yield from ahead(partial(put_batches, query, rows))


def _stream_frames(source: Any) -> Iterator[Any]:
    """The batches of a Table, Dataset or RecordBatchReader of pyarrow; polars reads them where they are."""
    import polars as pl

    for batch in source.to_batches() if hasattr(source, "to_batches") else source:
        frame = batch if isinstance(batch, pl.DataFrame) else pl.DataFrame(batch)
        yield from frame.iter_slices(rows_of(frame.width))  # a table may be one batch, however long


def _explained(frames: Iterator[Any], name: str) -> Iterator[Table]:
    try:
        yield from numbered(map(plain_columns, frames), name)
    except (
        BaseException
    ) as error:  # theirs, of a file that is damaged or a query that fails; what a user raises goes on
        if type(error).__module__.split(".")[0] not in ("polars", "pyarrow", "pyo3_runtime"):
            raise
        raise DataError(f"{name} cannot be read: {complaint(error)}") from error
