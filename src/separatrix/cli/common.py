"""What the commands share: exit codes, errors in one or two lines, and how output looks."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from separatrix.data import Table

USAGE, UNCERTIFIED, BAD_DATA, INTERRUPTED = 2, 3, 4, 130
METRICS = ("balanced_accuracy", "accuracy", "auc", "log_loss", "brier", "f1", "mcc")
PIPED_WIDTH = 132  # of a table that no terminal limits

Data = Annotated[
    str | None,
    typer.Argument(
        help="A table, a glob or a folder of files; - for standard input. Without it, the embedded breast-cancer table."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON on standard output.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Target = Annotated[str | None, typer.Option("--target", "-t", help="The column to predict.", show_default=False)]
Format = Annotated[
    str | None,
    typer.Option(
        "--format", help="csv, tsv, parquet, arff or libsvm; by the file's name if not given.", show_default=False
    ),
]

Drop = Annotated[
    list[str] | None, typer.Option("--drop", help="A column to leave out; may be repeated.", show_default=False)
]

P = ParamSpec("P")


def guarded(work: Callable[P, int | None]) -> Callable[P, None]:
    """Run a command; errors become one or two lines on stderr and an exit code (a traceback with --debug)."""

    @wraps(work)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        file = kwargs.get("file")
        try:
            with watched(*([file] if isinstance(file, Path) else [])):
                code = work(*args, **kwargs) or 0
        except (typer.Exit, typer.Abort):
            raise
        except KeyboardInterrupt as stop:
            complain(f"Interrupted: {str(stop) or 'no file was written.'}")
            code = INTERRUPTED
        except BrokenPipeError:  # the reader, as in "| head", has enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = 0
        except Exception as error:
            if kwargs.get("debug") or isinstance(error, typer.BadParameter):
                raise
            code = exit_code(error)
            if code == 1 and not _ours(error):
                report = "Please report it; --debug shows where it happened."
                complain(f"Unexpected {type(error).__name__}: {error}\n{report}")
            else:
                complain(_words(error))
        raise typer.Exit(code)

    return run


@contextmanager
def watched(*files: Path, partly: str = "") -> Iterator[None]:
    """Let an interruption inside say which of the files are new since, by looking; `partly`, if not all of them are."""
    before = [_stamp(file) for file in files]
    try:
        yield
    except KeyboardInterrupt as stop:
        if stop.args:  # it was said already, of files closer to where it happened
            raise
        after = [_stamp(file) for file in files]
        changes = list(zip(files, before, after, strict=True))
        new = [str(file) for file, old, now in changes if now is not None and now != old]
        gone = [str(file) for file, old, now in changes if now is None and old is not None]
        words = [f"{done} {', '.join(names)}" for done, names in (("wrote", new), ("removed", gone)) if names]
        complete = not words or len(new) == len(files)
        raise KeyboardInterrupt("; ".join(words + ([] if complete else [partly])) + "." if words else "") from None


def _stamp(file: Path) -> tuple[int, int, int] | None:
    """What changes whenever a file is replaced or written; None if there is no file."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def exit_code(error: BaseException) -> int:
    """Which code an error ends with; 1 for one that nobody foresaw."""
    from separatrix.errors import (  # with scikit-learn behind it, which --help does without
        DataError,
        InvalidInputError,
        ModelFileError,
        NotSeparableError,
        UndecidedError,
        UnsupportedParameterError,
    )

    if isinstance(error, UnsupportedParameterError) or type(error).__name__ == "InvalidParameterError":
        return USAGE  # the latter is scikit-learn's, which is not imported for this
    if isinstance(error, NotSeparableError | UndecidedError):
        return UNCERTIFIED
    return BAD_DATA if isinstance(error, DataError | ModelFileError | InvalidInputError | OSError | MemoryError) else 1


def _ours(error: BaseException) -> bool:
    from separatrix.errors import SeparatrixError

    return isinstance(error, SeparatrixError)


def _words(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return "There is not enough memory for this table."
    return str(error)


def complain(message: str) -> None:
    """A line on standard error."""
    print(f"separatrix: {clean(message)}", file=sys.stderr)


def clean(value: object) -> str:
    """Text from the user's data without control characters, which could drive a terminal."""
    return "".join(c if c.isprintable() or c in "\n" else "\N{REPLACEMENT CHARACTER}" for c in str(value))


def out() -> Console:
    """Standard output: coloured on a terminal, plain and wide when piped. Nothing in the text is markup."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else PIPED_WIDTH
    return Console(markup=False, highlight=False, emoji=False, width=width, soft_wrap=False)


def err() -> Console:
    """Standard error, for progress."""
    from rich.console import Console

    return Console(stderr=True, markup=False, highlight=False, emoji=False)


def print_json(value: Any) -> None:
    """One JSON document on standard output; numbers that JSON has no word for were made words before."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False, default=str) + "\n")
    sys.stdout.flush()


def bad_option(message: str) -> typer.BadParameter:
    """A usage error."""
    return typer.BadParameter(message)


def check_metric(name: str) -> str:
    """The metric of this name, with - or _ between its words, or a usage error that lists them."""
    if name.replace("-", "_") not in METRICS:
        raise bad_option(f"No metric is called {name!r}. There are: {', '.join(METRICS)}.")
    return name.replace("-", "_")


def labelled(data: str | None, target: str | None, format: str | None, drop: list[str] | None = None) -> Table:
    """The table at `data`, or the embedded one, with its labels; a usage error lists the columns if it has none."""
    from separatrix.data import embedded, read_table

    if data is None and target is not None:
        raise bad_option("--target needs DATA; the embedded table has a target of its own.")
    table = embedded() if data is None else read_table(data, target=target, format=format)
    if table.y is None:
        names = ", ".join(table.names[:20]) + (", ..." if len(table.names) > 20 else "")
        raise bad_option(f"Give the column to predict: --target COLUMN. There are: {clean(names)}.")
    return table.drop(drop) if drop else table


def check_folder(path: Path) -> None:
    """That a file can be written at this path, before an hour is spent on its contents."""
    target = Path(os.path.realpath(path))  # a link goes on pointing to the file it points to
    if not target.parent.is_dir():
        raise FileNotFoundError(2, "No such folder", str(path.parent))
    if target.is_dir():
        raise IsADirectoryError(21, "This is a folder, not a file", str(path))
    if os.path.lexists(target) and not target.is_file():
        raise FileExistsError(17, "This is not an ordinary file, so it cannot be replaced by one", str(path))
    _check_writable(target.parent)


def check_new_folder(folder: Path, names: Iterable[str]) -> None:
    """That these files can be written into a folder, which need not be there yet."""
    if folder.is_dir():
        for name in names:
            check_folder(folder / name)
        return
    place = folder.absolute()
    while not os.path.lexists(place):
        place = place.parent
    if not place.is_dir():
        raise NotADirectoryError(20, "This is a file, not a folder", str(place))
    _check_writable(place)


def _check_writable(folder: Path) -> None:
    """By a file that has no name, or none for long: permissions alone do not tell of a full or read-only disk."""
    try:
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise type(error)(error.errno, f"Nothing can be written there ({error.strerror})", str(folder)) from error


def told(table: Table, encoder: Any) -> list[str]:
    """What was decided about rows and columns, also on standard error: nothing is left out without a word."""
    return tell_notes([*table.notes, *encoder.notes])


def tell_notes(notes: list[str]) -> list[str]:
    """The notes, also on standard error."""
    for note in notes:
        err().print(f"Note: {clean(note)}", soft_wrap=True)
    return notes
