"""Parquet files, decoded by polars in a process of their own, which a damaged file may end."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, BinaryIO

from separatrix.data import parquet_child
from separatrix.data.sources import NoRowsError
from separatrix.errors import DataError

if TYPE_CHECKING:
    import polars

PATIENCE = 300.0  # seconds for the next rows to come; a slow disk is no damage
ALLOCATOR = "_RJEM_MALLOC_CONF"  # what the allocator of polars is to do
#: Keep the memory that it will need again at once, where it would give it back and ask anew. The last word counts, and
#: polars has written what it wants there when it was imported.
KEEP = "dirty_decay_ms:-1,muzzy_decay_ms:-1"
#: Where memory is short, give it back, and read one row group ahead only; that takes up to a fifth more time.
SPARE, GROUPS_AHEAD = "dirty_decay_ms:100,muzzy_decay_ms:0", "POLARS_ROW_GROUP_PREFETCH_SIZE"
_MAGIC = b"PAR1"
Receive = Callable[[int], bytes]


def parquet_frames(file: BinaryIO, name: str, rows: int = 0) -> Iterator[polars.DataFrame]:
    """The rows of a file on the disk, that many at a time; as many as suit the decoder if that is 0."""
    check_ends(file, name)
    with child_process([str(rows)], name, file) as (receive, _):
        n = 0
        while data := message(receive, name):
            frame = frame_of(data, name)
            n += len(frame)
            yield frame
        if end := message(receive, name):
            raise unreadable(name, end.decode())
        if not n:
            raise NoRowsError(f"{name} has a header but no rows below it.")


def frame_of(data: bytes | memoryview, name: str) -> polars.DataFrame:
    """Rows that came in Arrow's format."""
    import polars as pl

    try:
        return pl.read_ipc_stream(bytes(data))
    except pl.exceptions.PolarsError as error:
        raise unreadable(name, parquet_child.complaint(error)) from error


def parquet_table(file: BinaryIO, name: str) -> polars.DataFrame:
    """All rows of a file on the disk."""
    import polars as pl

    frames: list[polars.DataFrame] = []
    size, memory = 0.0, parquet_child.memory()
    for frame in parquet_frames(file, name):
        size += frame.estimated_size()
        if size > memory:  # a few bytes can stand for any number of rows
            raise DataError(f"{name} takes more than the {memory / 2**30:.1f} GB of memory that there are.")
        frames.append(frame)
    return pl.concat(frames)


def check_ends(file: BinaryIO, name: str) -> None:
    """PAR1 at both ends, the latter after the length of the footer: else it is cut off, or no Parquet at all."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 8))
    tail = file.read()
    file.seek(0)
    if file.read(4) != _MAGIC or tail[4:] != _MAGIC or int.from_bytes(tail[:4], "little") > size - 12:
        raise unreadable(name, "it is cut off, or is something else")
    file.seek(0)


@contextmanager
def child_process(
    words: Sequence[str], name: str, file: BinaryIO | None, share: Sequence[int] = (), spare: bool = False
) -> Iterator[tuple[Receive, Callable[[bytes], None]]]:
    """How to receive bytes from the other process, which does not outlive the block; and how to send it some, if it
    does not read a file.
    """
    command = [sys.executable, "-P", parquet_child.__file__, *words]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}  # polars is found as it is here
    environment[ALLOCATOR] = ",".join(filter(None, (os.environ.get(ALLOCATOR), SPARE if spare else KEEP)))
    if spare:
        environment.setdefault(GROUPS_AHEAD, "1")
    quiet = subprocess.DEVNULL  # polars tells its developers of its failures
    failure = DataError(f"{name}: Parquet is decoded in another process, and {sys.executable!r} does not start it.")
    pipe = subprocess.PIPE
    try:
        child = subprocess.Popen(
            command, stdin=file or pipe, stdout=pipe, stderr=quiet, env=environment, pass_fds=share
        )
    except OSError as error:
        raise failure from error

    def answer(data: bytes) -> None:
        assert child.stdin is not None
        with suppress(BrokenPipeError):  # the process has ended: the next message that is waited for says so
            while data:
                data = data[os.write(child.stdin.fileno(), data) :]

    with ThreadPoolExecutor(1) as thread, child:
        try:
            receive = partial(_received, thread, child)
            if receive(len(parquet_child.READY)) != parquet_child.READY:
                raise failure
            yield receive, answer
        finally:
            child.kill()


def _received(thread: ThreadPoolExecutor, child: subprocess.Popen[bytes], size: int) -> bytes:
    """So many bytes, or fewer if the process ends before; it does when patience does."""
    assert child.stdout is not None
    # by a thread, because Ctrl-C does not end a read where polars has been imported: its handler restarts system calls
    reading = thread.submit(child.stdout.read, size)
    end = monotonic() + PATIENCE
    while not wait([reading], 0.1).done:
        if monotonic() > end:
            child.kill()
    return reading.result()


def message(receive: Receive, name: str) -> bytes:
    """The next message; an error if the process ends instead, or sends none for long."""
    head = receive(8)
    size = int.from_bytes(head, "little")
    message = receive(size)
    if len(head) < 8 or len(message) < size:
        raise unreadable(
            name,
            "polars breaks off, as it does where a size inside is wrong, where memory is short, or where no rows come "
            f"for {PATIENCE:.0f} seconds",
        )
    return message


def unreadable(name: str, why: str) -> DataError:
    return DataError(f"{name} cannot be read as Parquet: {why}.")
