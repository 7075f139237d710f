"""open: a table of any size as rows that a classifier goes through, in memory that is given."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Self

import numpy as np

from separatrix._typing import Array, Floats
from separatrix.data.batches import Batch, checked_batches, label_files, npy_batches
from separatrix.data.encoder import Encoder
from separatrix.data.labels import check_classes
from separatrix.data.learning import Learned, joined_labels, learn, learn_features
from separatrix.data.origins import Origin, frames_of, origin_of
from separatrix.data.progress import Progress, Telling
from separatrix.data.quantities import Quantities
from separatrix.data.suggest import unknown_column
from separatrix.data.table import Table
from separatrix.errors import DataError, InvalidInputError, StorageError
from separatrix.files import BlockWriter, Stored, opened
from separatrix.files.layout import MAGIC, TARGET_BYTES, Contents, block_rows
from separatrix.files.place import Draft, clean, kept, private
from separatrix.loops import threads

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
LEAST = 50 * 10**6  # bytes: below this not even Python and its libraries fit
VECTORS = 10  # numbers for each row that a fit keeps: labels, codes, weights, scores, slopes, curvatures and more


class Rows:
    """Rows in a file, made by `open`; closed by ``close()``, as a context manager, or when nobody uses them any more.

    Attributes
    ----------
    X : Stored
        What `fit` and `verify` take in place of a matrix.
    y : array of shape (n,)
    sample_weight : array of shape (n,) or None
    encoder : Encoder or None
        None for sources of plain numbers.
    notes : list of str
        What was decided about rows and columns.
    """

    def __init__(self, descriptor: int, name: str, contents: Contents, source: Origin, memory: int) -> None:
        self.X = Stored(descriptor, name, contents, memory)
        arrays, notes = contents.arrays, contents.notes
        self.y: Array = arrays["classes"][arrays["codes"]]
        self.sample_weight: Floats | None = arrays.get("weight")
        self.encoder = None if notes["encoder"] is None else Encoder.from_dict(notes["encoder"])
        self.notes: list[str] = notes["notes"]
        self._source = source

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the bytes of the source's files, for models to say what they were fitted to; "" without files."""
        return self._source.digest()

    def blocks(self) -> Iterator[tuple[Any, Array, Floats | None]]:
        """(X, y, weight) of some rows after others, in memory."""
        start = 0
        for X, _, _ in self.X.blocks():
            rows = slice(start, start + X.shape[0])
            start = rows.stop
            yield X, self.y[rows], None if self.sample_weight is None else self.sample_weight[rows]

    def close(self) -> None:
        """Give the file back."""
        self.X.close()

    def __len__(self) -> int:
        return len(self.X)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise InvalidInputError("A classifier takes the two parts of these rows: fit(rows.X, rows.y).")

    def __repr__(self) -> str:
        return f"Rows({self.X!r})"


def open(
    source: Any,
    target: Any = None,
    memory: str | int = "2GB",
    columns: Sequence[str] | None = None,
    cache: str | Path | None = None,
    *,
    drop: Sequence[str] = (),
    scale: bool = False,
    encoder: Encoder | None = None,
    format: str | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Rows:
    """A table of any size, written once to a block file, from which fits read it pass after pass.

    Parameters
    ----------
    source : path, glob, folder, list of paths, LazyFrame or DataFrame of polars, pyarrow object, or batches
        Files of Parquet, CSV, TSV, libsvm, Arrow IPC or .npy; a Table, Dataset or RecordBatchReader of pyarrow; an
        iterable of (X, y) or (X, y, weight), arrays or CSR matrices, or a function that returns one.
    target : str, or for .npy files int or path
        The column of the labels; libsvm files and batches need none.
    memory : str or int, default="2GB"
        What opening and fitting may take together, beside Python itself.
    columns : list of str, default=None
        The columns to use; all by default.
    cache : path, default=None
        Where to keep the block file. Opening the same files again with the same parameters then reads nothing else;
        it is written anew if they changed. Without it, the file has no name and goes when the rows are closed.
    drop : list of str
        Columns to leave out.
    scale : bool, default=False
        As for `Encoder.fit`.
    encoder : Encoder, default=None
        To encode by, as that of a model is to check it; learned from the source by default.
    format : str, default=None
        Of files, if their names do not tell.
    progress : callable, default=None
        Called with a `Progress` now and then.

    Returns
    -------
    Rows

    Raises
    ------
    DataError
        Naming the file, the row and the column, and what to do.
    StorageError
        The disk is full, or a kept file is damaged and cannot be replaced.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix import LogisticRegression
    >>> from separatrix.data import open
    >>> batches = [(np.arange(6.0).reshape(3, 2), [0, 1, 0]), (np.ones((2, 2)), [1, 1])]
    >>> with open(batches) as rows:
    ...     model = LogisticRegression().fit(rows.X, rows.y)
    ...     print(rows.X.shape, bool(model.certificate_.verify(rows.X, rows.y)))
    (5, 2) True
    """
    limit = memory_bytes(memory)
    columns, drop = None if columns is None else _names("columns", columns), _names("drop", drop)
    origin = origin_of(source, format)
    origin.require_plain()
    # the order of names says nothing: columns come in that of the source
    settings = [repr(target), columns and sorted(columns), sorted(drop), bool(scale), format]
    marks = origin.fingerprint(settings, (label_files(target) or ()) if origin.kind == "npy" else ())
    path = None if cache is None else Path(cache)
    if path is not None:
        if marks is None or encoder is not None:
            raise DataError("cache= is for files, encoded by what they show: leave it out here.")
        if (found := _reused(path, marks)) is not None:
            return Rows(*found, origin, limit)
    with private() if path is None else kept(path) as draft:
        writing = _Writing(draft, origin, limit, Telling(progress), marks)
        if origin.kind in ("npy", "batches"):
            if columns is not None or drop or encoder is not None:
                raise DataError(
                    "columns=, drop= and encoder= are for tables; these rows have no names. Leave them out."
                )
            batches = checked_batches(source) if origin.kind == "batches" else npy_batches(origin.paths, target)
            contents = writing.matrices(batches)
        elif origin.kind == "svmlight":
            if target not in (None, "label") or columns is not None or drop:
                raise DataError(
                    f"{origin.name}: libsvm files have their labels at the start of each line, and no names."
                )
            learned = learn_features(origin.tables(), origin.name)
            learned.encoder = encoder or learned.encoder
            contents = writing.encoded(origin.tables, learned)
        elif not isinstance(target, str):
            raise DataError(f"{origin.name}: name the column of the labels: target='...'.")
        else:
            contents = writing.table(target, columns, drop, scale, encoder)
    return Rows(draft.descriptor, draft.name, contents, origin, limit)


def memory_bytes(memory: str | int) -> int:
    """Bytes, of "2GB", "500 MB" or a number of them."""
    found = re.fullmatch(r"\s*(\d{1,18}(?:\.\d+)?)\s*([KMGT]?B)?\s*", str(memory), re.IGNORECASE)
    size = int(float(found[1]) * UNITS[(found[2] or "").upper()]) if found else 0
    if size < LEAST:
        raise DataError(f"memory must be a size such as '2GB' or '500MB', 50MB at least; got {memory!r}.")
    return size


def _names(what: str, given: Sequence[str]) -> list[str]:
    """Names of columns in a list; a single text would be taken for its letters."""
    names = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [None]
    if not all(isinstance(name, str) for name in names):
        raise DataError(f"{what} is a list of the names of columns, such as ['age', 'price']; got {given!r}.")
    return [str(name) for name in names]


def _reused(path: Path, marks: str) -> tuple[int, str, Contents] | None:
    """The file that was kept, if it is of this source as it is now; None if it is to be written (anew)."""
    if path.exists() and not path.is_file():  # to open a pipe would be to wait for who writes into it
        raise StorageError(f"{path} is no file, and is left as it is: name another for cache=.")
    try:
        with Path.open(path, "rb") as file:
            start = file.read(len(MAGIC))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror or error}.") from error
    if start != MAGIC[: len(start)] or not start:
        raise StorageError(f"{path} is not a block file of separatrix, and is left as it is: name another for cache=.")
    try:
        descriptor, contents = opened(path)
    except StorageError:
        return None  # damaged: it is made of the source again
    if contents.notes.get("source") == marks:
        clean(path)
        return descriptor, str(path), contents
    with closing(Stored(descriptor, str(path), contents)):
        return None


@dataclass(frozen=True)
class _Writing:
    """A source on its way to a block file: where to, in how much memory, who is told of it, and its fingerprint."""

    draft: Draft
    origin: Origin
    limit: int
    tell: Telling
    marks: str | None

    def matrices(self, batches: Iterator[Batch]) -> Contents:
        """The file of rows that are numbers already."""
        name = self.origin.name
        writer: BlockWriter | None = None
        y, weights, left_out = list[Array](), list[Floats](), list[Array]()
        for batch in batches:
            if writer is None:
                writer = BlockWriter(self.draft, batch.X.shape[1])
            writer.add(batch.X)
            y.append(batch.y)
            if len(batch.left_out):
                left_out.append(batch.left_out)
            if batch.weight is not None:
                weights.append(batch.weight)
            self.tell("writing rows", writer.n, None)
        if writer is None or not writer.n:
            raise DataError(f"{name} has no rows{'' if writer is None else ' with a weight above 0'}.")
        labels = joined_labels(y, name)
        if left_out and len(gone := np.setdiff1d(joined_labels([labels[:1], *left_out], name), labels)):
            raise DataError(
                f"{name}: all rows of the class {gone[0]!s:.60} have weight 0, which leaves no rows of it. Leave them "
                "out, if they are no class, or give one of them a weight."
            )
        self.require_memory(writer.n, writer.d, labels, bool(writer.sparse))
        check_classes(labels, name, "y")
        return self.finished(writer, _coded(labels) | ({"weight": np.concatenate(weights)} if weights else {}), None)

    def table(
        self, target: str, columns: Sequence[str] | None, drop: Sequence[str], scale: bool, encoder: Encoder | None
    ) -> Contents:
        """The file of a table with named columns."""
        used = None if columns is None else [target, *(name for name in columns if name != target)]
        frames = frames_of(self.origin, self.limit, used, target, drop, self.draft, self.tell)
        with closing(frames):
            self.require_memory(frames.n, 1)  # then there is also room for a column as a whole
            learned = learn(frames, target, columns, drop, self.limit, scale, self.tell, encoder)
            wanted = list(learned.encoder.groups)
            there = set(frames.names)
            if absent := [name for name in wanted if name not in there]:
                raise unknown_column(frames.name, absent[0], frames.names)
            empty = [name for name in self.origin.names if name not in frames.sources]
            learned.notes[:0] = [f"{name} has no rows, and is passed over." for name in empty]
            if (apart := frames.quantities) is not None:
                # they may be there already, as they should be
                if len(learned.has) == frames.n and apart.fit(learned.encoder):
                    self.require_memory(frames.n, len(wanted), learned.y)
                    return self.finished(apart, _coded(learned.y), learned)
                apart.set_aside()
            return self.encoded(lambda: frames.tables(wanted), learned)

    def encoded(self, tables: Callable[[], Iterator[Table]], learned: Learned) -> Contents:
        """The file of tables, as an encoder makes numbers of their rows."""
        encoder, n = learned.encoder, len(learned.y)
        self.require_memory(n, len(encoder.names), learned.y, encoder.sparse)
        writer = BlockWriter(self.draft, len(encoder.names), True if encoder.sparse else None)
        start = done = 0  # rows of the source seen, and of these the ones that have a label
        for table in tables():
            stop = start + table.n_rows
            upto = int(np.searchsorted(learned.has, stop))
            here = learned.has[done:upto] - start
            if len(here):
                writer.add(encoder.transform(table if len(here) == table.n_rows else table.take(here))[0])
            start, done = stop, upto
            self.tell("writing rows", done, n)
        if done != n:
            raise DataError("The source has other rows than a moment ago: nothing may change it while it is read.")
        return self.finished(writer, _coded(learned.y), learned)

    def finished(self, writer: BlockWriter | Quantities, arrays: dict[str, Array], learned: Learned | None) -> Contents:
        """The file whose rows are written, with labels, weights, and what was learned of a table."""
        plain = None if learned is None else learned.encoder.to_dict()
        said = [] if learned is None else [*learned.notes, *learned.encoder.notes]
        return writer.finish(arrays, {"source": self.marks, "encoder": plain, "notes": said})

    def require_memory(self, n: int, d: int, y: Array | None = None, sparse: bool = False) -> None:
        """That a fit can keep what it needs for each row, long labels among it, and a few blocks."""
        text = 0 if y is None or y.dtype.kind not in "US" else y.nbytes
        block = TARGET_BYTES if sparse else 8 * min(n, block_rows(d)) * d
        need = 8 * VECTORS * n + text + block * (2 * threads.count() + 2)
        if need > self.limit:
            raise DataError(
                f"A fit to {n:,} rows of {d:,} columns keeps about {need / 1e6:,.0f} MB for its rows and buffers; "
                f"memory is {self.limit / 1e6:,.0f} MB: raise memory, set_threads to fewer, or open fewer rows."
            )


def _coded(y: Array) -> dict[str, Array]:
    """Labels as the classes there are, and their numbers in as few bytes as hold them."""
    classes = np.unique(y)
    small = np.min_scalar_type(max(len(classes) - 1, 0))
    return {"classes": classes, "codes": np.searchsorted(classes, y).astype(small)}
