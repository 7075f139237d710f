"""Tables that are not read whole: by --memory, several files, or one that is large beside the memory there is."""

from __future__ import annotations

import glob
import os
import shlex
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.cli.common import bad_option, clean, err, labelled, tell_notes, told

if TYPE_CHECKING:
    from separatrix.data import Rows, Table

DEFAULT = "2GB"
SHARE = 0.125  # of the memory there is: a file of more is not read whole
PATIENCE = 2.0  # seconds between two lines of progress, where no terminal is

Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        help="Go through rows in a file in so much memory, as 2GB; by itself for a folder, a glob or a large file.",
        show_default=False,
    ),
]


def streams(data: str | None, memory: str | None) -> bool:
    """Whether a table is gone through rather than read."""
    if data is None or data == "-":
        if memory is not None:
            raise bad_option("--memory needs files: standard input and the embedded table are read whole.")
        return False
    if memory is not None or several(data) or _is_arrow(data):
        return True
    from separatrix.data.parquet_child import memory as machine

    return os.path.isfile(data) and os.path.getsize(data) > SHARE * machine()


def several(data: str) -> bool:
    """Whether this names a folder, or is a pattern of names."""
    return os.path.isdir(data) or (glob.has_magic(data) and not os.path.exists(data))


def _is_arrow(data: str) -> bool:
    """Whether this is a file that is never read whole."""
    from separatrix.data.origins import ARROW

    return data.lower().endswith(ARROW)


def opened_rows(data: str, target: str | None, format: str | None, memory: str | None, **how: Any) -> Rows:
    """The rows of files, with progress on standard error."""
    from separatrix.data import open as open_rows
    from separatrix.errors import DataError

    if target is None and how.get("encoder") is None and not _has_own_labels(data, format):
        raise bad_option("Give the column to predict: --target COLUMN.")
    with _progress() as tell:
        rows = open_rows(data, target, memory or DEFAULT, format=format, progress=tell, **how)
    if rows.encoder is None:
        raise DataError(f"{data}: the command takes tables with named columns, or libsvm files.")
    return rows


def encoded_rows(
    data: str | None,
    target: str | None,
    format: str | None,
    memory: str | None,
    drop: list[str] | None,
    scale: bool = False,
    reference: bool = False,
) -> tuple[Any, Any, Any, list[str], str | None]:
    """(X, y, encoder, notes, fingerprint) of a table to fit to; the notes are also told on standard error."""
    import numpy as np

    from separatrix.data import Encoder

    if data is not None and streams(data, memory):
        rows = opened_rows(data, target, format, memory, drop=drop or (), scale=scale)
        return rows.X, rows.y, rows.encoder, tell_notes(rows.notes), rows.fingerprint
    table = labelled(data, target, format, drop)
    encoder = Encoder.fit(table, scale=scale, reference=reference)
    X, _ = encoder.transform(table)
    return X, np.asarray(table.y), encoder, told(table, encoder), table.fingerprint


def sampled_rows(
    data: str, target: str, format: str | None, memory: str | None, seed: int, file: Path
) -> tuple[str, ...]:
    """Write a sample of the rows of files, as many as memory has room for; returns what there is to say about it.

    Nothing, and no file, if these are all rows of one file.
    """
    from polars.exceptions import PolarsError

    from separatrix.data.opening import memory_bytes
    from separatrix.data.parquet_child import complaint
    from separatrix.data.progress import Telling
    from separatrix.data.sampling import drawn, named_columns
    from separatrix.errors import StorageError

    size = memory_bytes(memory or DEFAULT)
    if not several(data) and not named_columns(data, format):
        return ()  # such as a libsvm file: it is read whole
    with _progress() as tell:
        found = drawn(data, target, size, seed, format, Telling(tell))
    if found.n == len(found.frame) and not several(data):
        return ()
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f".{file.name}.tmp")
    try:
        found.frame.write_parquet(part)
        os.replace(part, file)
    except (OSError, PolarsError) as error:  # polars has an error of its own for a full disk
        why = complaint(error).rstrip(".")
        raise StorageError(f"{file} cannot be written: {why}. Free some space, or name another --out.") from error
    finally:
        part.unlink(missing_ok=True)
    return _words(data, target, memory, seed, len(found.frame), found.n, found.files, file)


def _words(
    data: str, target: str, memory: str | None, seed: int, rows: int, n: int, files: int, file: Path
) -> tuple[str, str]:
    """Which rows are compared, and who goes through all of them."""
    import separatrix
    from separatrix.cli.models import MODELS
    from separatrix.estimators.stored import reason

    where = f"{files:,} file{'s' * (files != 1)}"
    what = (
        f"All {n:,} rows of {where} are compared"
        if rows == n
        else (
            f"A sample of {rows:,} of the {n:,} rows of {where} is compared, drawn at random over all of them (--seed "
            f"{seed}): what --memory {memory or DEFAULT} has room for"
        )
    )
    why = {name: reason(getattr(separatrix, model.estimator)) for name, model in MODELS.items()}
    able = ", ".join(name for name, words in why.items() if words is None)
    left = "; ".join(f"{name}, as {words.split('. ')[0]}" for name, words in why.items() if words is not None)
    how = shlex.join(["separatrix", "fit", data, "--target", target, "--memory", memory or DEFAULT, "--model"])
    return (
        f"{what}. {file} holds them: the model is about these rows, and verify takes this file.",
        f"{how} learns from all rows, by {able}. It leaves out {left}.",
    )


def _has_own_labels(data: str, format: str | None) -> bool:
    from separatrix.data.origins import origin_of

    return origin_of(data, format).kind in ("svmlight", "npy")


def chunks_of(data: str, rows: int, format: str | None) -> Iterator[Table]:
    """The rows of one file or of several, some at a time."""
    from separatrix.data import read_chunks
    from separatrix.data.origins import arrow_tables, origin_of
    from separatrix.data.sources import NoRowsError

    if data == "-" or not (several(data) or _is_arrow(data)):
        yield from read_chunks(data, rows=rows, format=format)
        return
    origin = origin_of(data, format)
    for path, name in zip(origin.paths, origin.names, strict=True):
        try:
            if origin.kind == "arrow":
                yield from arrow_tables(path, name)
            else:
                yield from read_chunks(path, rows=rows, format=format, name=name)
        except NoRowsError:
            if not several(data):
                raise
            err().print(f"Note: {clean(name)} has no rows, and is passed over.", soft_wrap=True)


@contextmanager
def going_through(X: Any, what: str) -> Iterator[None]:
    """While rows in a file are gone through, say how far and how fast; rows in memory need no such words."""
    if not hasattr(X, "rows_read"):
        yield
        return
    done, n = threading.Event(), max(1, len(X))
    started, before = time.monotonic(), X.rows_read

    def watch() -> None:
        with _progress() as tell:
            while not done.wait(PATIENCE):
                read, seconds = X.rows_read - before, time.monotonic() - started
                tell(f"{what}: {read / n:.1f} times through {n:,} rows, {read / seconds:,.0f} a second")

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@contextmanager
def _progress() -> Iterator[Callable[[Any], None]]:
    """A function to call with what is to be said: one line on a terminal, a line now and then when piped."""
    console, last = err(), time.monotonic()
    if console.is_terminal:
        with console.status("") as status:
            yield lambda progress: status.update(clean(progress))
        return

    def tell(progress: Any) -> None:
        nonlocal last
        if time.monotonic() - last >= PATIENCE:
            last = time.monotonic()
            console.print(clean(progress), soft_wrap=True)

    yield tell
