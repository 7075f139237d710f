"""Where tables come from: paths, standard input, binary file objects; compressed or not; in which format."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import shutil
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, cast

from separatrix.errors import DataError

FORMATS = ("csv", "tsv", "parquet", "svmlight", "arff")
ENDINGS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".svm": "svmlight",
    ".arff": "arff",
}
COMPRESSED = GZIP, XZ, BZIP = b"\x1f\x8b", b"\xfd7zXZ\0", b"BZh"  # what files start with that are
_COMPRESSED = (".gz", ".gzip", ".xz", ".bz2")
#: What files start with that are no tables of text, and what to do.
_OTHERS = {
    b"PK\x03\x04": "a ZIP archive or an Excel workbook: unpack it, or save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "an Excel workbook: save the sheet as CSV",
    b"SQLite format 3": "a database: export the table as CSV",
    b"\x89HDF": "an HDF5 file: save the table as CSV or Parquet",
    b"ARROW1": "an Arrow file: save the table as Parquet",
    b"\x28\xb5\x2f\xfd": "compressed by Zstandard: unpack it, or compress it by gzip",
    b"\x93NUMPY": "a NumPy array: save it as CSV with a header line",
}
_SVMLIGHT = re.compile(rb"[-+\d.,eE]*(\s+qid:\d+)?(\s+\d+:[-+\w.]+)+\s*(#.*)?$")


class NoRowsError(DataError):
    """A file that is a table, but for the rows."""


@dataclass(frozen=True)
class Source:
    """An open table: its uncompressed bytes, its format, its name for messages, and if it is a file opened here."""

    file: BinaryIO
    format: str
    name: str
    own: bool

    def read(self) -> bytes:
        """All of it."""
        with explained(self.name):
            return self.file.read()

    def lines(self) -> Iterator[bytes]:
        """Line by line."""
        while True:
            with explained(self.name):
                line = self.file.readline()
            if not line:
                return
            yield line

    @contextmanager
    def on_disk(self) -> Iterator[BinaryIO]:
        """Its uncompressed bytes as a file that another process can read: itself, or a copy without a name."""
        if self.own and self.file.seekable():
            yield self.file
            return
        with explained(self.name):
            # the processes share the position, which a buffer would lose
            copy = TemporaryFile(buffering=0)  # noqa: SIM115 (closed below: only making it is explained)
        with copy:
            with explained(self.name), open(copy.fileno(), "wb", closefd=False) as buffered:
                shutil.copyfileobj(self.file, buffered)
            copy.seek(0)
            yield cast(BinaryIO, copy)


@contextmanager
def explained(name: str) -> Iterator[None]:
    """Failures of the disk or of the compression, as errors that name the file."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError) as error:
        raise DataError(f"{name}: the compressed file is damaged or cut off ({error}). Compress it anew.") from error
    except OSError as error:
        if error.errno is None:  # of bz2, which has no error of its own
            raise DataError(f"{name}: the compressed file is damaged ({error}). Compress it anew.") from error
        raise DataError(f"{name} cannot be read: {error.strerror or error}.") from error


@contextmanager
def opened(source: Any, format: str | None = None, name: str | None = None) -> Iterator[Source]:
    """The table at ``source``, uncompressed if it starts as files of gzip, xz or bzip2 do; messages have ``name``."""
    if format is not None:
        format = {"libsvm": "svmlight"}.get(format, format)
        if format not in FORMATS:
            raise DataError(f"format must be one of {', '.join(map(repr, FORMATS))} or None; got {format!r}.")
    if isinstance(source, str) and source == "-":
        with _uncompressed(sys.stdin.buffer, "standard input", format) as found:
            yield found
    elif isinstance(source, (str, os.PathLike)):
        name = name or Path(source).name
        with explained(name):
            file = open(source, "rb")  # noqa: SIM115 (closed below: only opening it is explained)
        with file, _uncompressed(file, name, format, Path(source), own=True) as found:
            yield found
    elif hasattr(source, "read"):
        named = getattr(source, "name", None)
        path = Path(named) if isinstance(named, str) else None
        with _uncompressed(source, name or (path.name if path else "the file object"), format, path) as found:
            yield found
    else:
        raise DataError(f"A table is read from a path, '-' or a binary file object; got a {type(source).__name__}.")


@contextmanager
def _uncompressed(
    file: Any, name: str, format: str | None, path: Path | None = None, own: bool = False
) -> Iterator[Source]:
    if isinstance(file, io.TextIOBase):
        raise DataError(f"{name} is open as text: open it with mode 'rb'.")
    with explained(name):
        if hasattr(file, "readinto") and not hasattr(file, "peek"):
            buffered: Any = io.BufferedReader(file)
        else:
            buffered = file if hasattr(file, "peek") else io.BufferedReader(io.BytesIO(file.read()))
        start = buffered.peek(8)[:8]
        plain: Any = buffered
        if start.startswith(GZIP):
            plain = io.BufferedReader(gzip.GzipFile(fileobj=buffered))
        elif start.startswith(XZ):
            plain = io.BufferedReader(lzma.open(buffered))  # noqa: SIM115 (the caller's file is left open)
        elif start.startswith(BZIP):
            plain = io.BufferedReader(bz2.open(buffered))  # noqa: SIM115 (likewise)
        head = plain.peek(1 << 16)
    other = next((what for magic, what in _OTHERS.items() if head.startswith(magic)), None)
    if other is not None:
        raise DataError(f"{name} is {other}.")
    try:
        named = None if path is None else ENDINGS.get(ending(path))
        yield Source(cast(BinaryIO, plain), format or named or _by_content(head), name, own and plain is buffered)
    finally:
        if buffered is not file and hasattr(file, "readinto"):
            buffered.detach()  # or the caller's file would be closed with it


def ending(path: Path) -> str:
    """The ending of a file's name in lower case, before that of a compression; "" if it has none."""
    return next((suffix.lower() for suffix in reversed(path.suffixes) if suffix.lower() not in _COMPRESSED), "")


def _by_content(head: bytes) -> str:
    if head.startswith(b"PAR1"):
        return "parquet"
    if re.match(rb"(\s|%[^\n]*\n)*@relation\s", head, re.IGNORECASE):
        return "arff"
    first = next((line for line in head.splitlines() if line.strip() and not line.startswith(b"#")), b"")
    if _SVMLIGHT.match(first):
        return "svmlight"
    return "tsv" if first.count(b"\t") > first.count(b",") else "csv"
