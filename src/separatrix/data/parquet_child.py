"""The process in which Parquet files are decoded: python -P parquet_child.py ROWS <file >messages.

polars trusts the sizes it finds inside a file, and where one is wrong it can ask for more memory than there is, which
ends the process: so this is not the user's. Run as a script, it imports nothing of the package, to start quickly.

A message is its length, as 8 bytes, and its content. After "ready" come the rows in Arrow's format, a message of
length 0, and why the rows ended there: "" if these were all.

    python -P parquet_child.py <job and answers >messages

decodes any number of files, as to start a process takes longer than to decode a small one, and sends columns of floats
apart from the others, as rows of a matrix in memory that both processes share: see `Apart`.
"""

from __future__ import annotations

import io
import json
import os
import queue
import sys
import threading
from collections import deque
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    import polars

Item = TypeVar("Item")
READY = b"ready"
CELLS = 1 << 22  # decoded at a time: 32 MB of numbers, so that slices cost little and are no burden
TEXT_BYTES = 1 << 23  # at a time, of rows that hold text, whose length nobody knows before
TEXT_ROWS = 2000  # of these that are looked at together
FILES_AT_ONCE = 2  # are decoded, since a file of one row group keeps little more than one core busy
FRAMES_AHEAD = 4  # of each file, decoded while others are sent: with 2 some wait, with 8 it is no quicker


def memory() -> float:
    """Bytes of memory in this machine; infinity if it does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return float("inf")


def complaint(error: BaseException) -> str:
    """What polars says about a file that it cannot read."""
    if type(error).__name__ == "PanicException":  # a failure of its own, which says nothing of use
        return "it is damaged, or has a type that polars does not read"
    return f"{[*str(error).splitlines(), type(error).__name__][0]:.200}"


def plain_columns(frame: polars.DataFrame) -> polars.DataFrame:
    """Text for categories, floats for decimals, null for NaN; numbers, text and truth values are left as they are."""
    import polars as pl
    from polars import selectors  # of types: "*" would be the name of all columns

    words = selectors.by_dtype(pl.Categorical, pl.Enum).cast(pl.String)
    floats = selectors.by_dtype(pl.Decimal).cast(pl.Float64), selectors.float().fill_nan(None)
    return frame.with_columns(words, *floats)


def send_frames(file: Any, rows: int) -> None:
    """Send a Parquet file, that many rows at a time; as many as suit us if that is 0."""
    import polars as pl

    lazy = pl.scan_parquet(file, glob=False)
    written = io.BytesIO()  # used again and again: new memory costs as much as decoding
    n = int(lazy.select(pl.len()).collect().item())
    step = CELLS // max(1, len(lazy.collect_schema())) + 1
    rows = rows or step
    step = rows * max(1, step // rows)
    for first in range(0, n, step):
        frame = plain_columns(lazy.slice(first, step).collect())
        if len(frame) != min(step, n - first):
            raise ValueError(f"it should have {n} rows, and has fewer")
        for part in frame.iter_slices(rows):
            send_frame(part, written)


class Apart:
    """Files of which columns of floats go apart, as rows of a matrix, to be stored as they come.

    The first line of standard input is the job: ``files``, ``columns`` to send (null for all), those that are
    ``never`` apart (null for all), and the ``most`` rows and, about, ``cells`` of a frame. Messages begin with a
    letter: "t" is how many rows each file has, as it says, null if one does not; for each file with rows "s" is its
    columns without a row, "f" rows of columns that are not apart, "n" so many rows of those that are, "e" why the
    file ends there. Once, before the first row, "c" is the list of columns that are apart: floats that vary and are
    not all whole in the first rows. The answer is a line: the rows of a slot, how many ``slots`` there are, and the
    descriptor of the ``memory`` that is shared; null for none, then the rows follow in the message. A slot is used
    again after a byte of standard input. Slots do not end with a file; missing numbers are NaN.
    """

    def __init__(self, job: dict[str, Any]) -> None:
        self.job = job
        self.names: list[str] | None = None
        self._room: list[np.ndarray[Any, Any]] = []
        self._shared, self._at, self._filled, self._sent = False, 0, 0, 0

    def run(self) -> None:
        """Send all files, up to one that cannot be read; the rows that fill no slot come before the end of the last."""
        files = self.job["files"]
        send(b"t" + json.dumps(counts := lengths(files)).encode())
        files = [file for at, file in enumerate(files) if counts is None or counts[at]]
        written, left = io.BytesIO(), len(files)
        try:
            for frame in decoded(files, self.job["columns"], self.job["most"], self.job["cells"]):
                if frame is None:
                    left -= 1
                    if not left and self._filled:
                        self._hand_over()
                    send(b"e")
                elif not len(frame):
                    send_frame(plain_columns(frame), written, b"s")
                else:
                    self._send(frame, written)
        except BaseException as error:
            send(b"e" + complaint(error).encode(errors="replace"))

    def _send(self, frame: polars.DataFrame, written: io.BytesIO) -> None:
        import polars as pl

        if self.names is None:
            self._choose(frame)
        apart = set(self.names or ())
        rest = [column for column in frame.get_columns() if column.name not in apart]
        send_frame(plain_columns(pl.DataFrame({column.name: column for column in rest})), written, b"f")
        if self.names:
            self._put(frame)

    def _choose(self, frame: polars.DataFrame) -> None:
        import mmap

        import numpy as np

        never = frame.columns if self.job["never"] is None else self.job["never"]
        floats = [column for column in frame.get_columns() if column.dtype.is_float() and column.name not in set(never)]
        self.names = [column.name for column in floats if is_broken(column)]
        send(b"c" + json.dumps(self.names).encode())
        if not self.names:
            return
        answer = json.loads(sys.stdin.buffer.readline())
        rows, slots, d = answer["rows"], answer["slots"], len(self.names)
        self._shared = answer["memory"] is not None
        shape = (slots if self._shared else 1, rows, d)
        memory: Any = mmap.mmap(answer["memory"], 8 * slots * rows * d) if self._shared else bytearray(8 * rows * d)
        self._room = [*np.frombuffer(memory).reshape(shape)]

    def _put(self, frame: polars.DataFrame) -> None:
        import polars as pl

        arrays = [frame.get_column(name).cast(pl.Float64).to_numpy() for name in self.names or ()]
        rows, done = len(self._room[0]), 0
        while done < len(frame):
            take = min(len(frame) - done, rows - self._filled)
            slot = self._room[self._at][self._filled : self._filled + take]
            for j, array in enumerate(arrays):
                slot[:, j] = array[done : done + take]
            done += take
            self._filled += take
            if self._filled == rows:
                self._hand_over()

    def _hand_over(self) -> None:
        """Say that a slot has rows, and go on with the next when it is free."""
        rows = self._room[self._at][: self._filled]
        send(b"n" + self._filled.to_bytes(8, "little") + (b"" if self._shared else rows.tobytes()))
        self._sent += 1
        self._at, self._filled = (self._at + 1) % len(self._room), 0
        if self._shared and self._sent >= len(self._room) and not sys.stdin.buffer.read(1):
            sys.exit()  # nobody is there any more


def is_broken(column: polars.Series) -> bool:
    """Whether numbers vary and are not all whole: such are quantities, whatever the other rows hold."""
    present = column.drop_nulls().drop_nans()
    return bool(len(present)) and bool((present != present.round()).any()) and present.min() != present.max()


def lengths(files: list[str]) -> list[int] | None:
    """How many rows each file has, as it says; None if one does not say so, of which more is said when it is read."""
    import polars as pl

    try:
        return [int(pl.scan_parquet(file, glob=False).select(pl.len()).collect().item()) for file in files]
    except BaseException:
        return None


def decoded(files: list[str], columns: list[str] | None, most: int, cells: int) -> Iterator[polars.DataFrame | None]:
    """For each file its columns without a row, its rows, at most so many at a time, and None.

    The next file is decoded while one is used: polars decodes a row group on little more than one core.
    """
    begun: deque[Iterator[polars.DataFrame | None]] = deque()
    for file in files:
        begun.append(ahead(partial(put_frames, file, columns, most, cells)))
        if len(begun) == FILES_AT_ONCE:
            yield from begun.popleft()
    for frames in begun:
        yield from frames


def put_frames(
    file: str, columns: list[str] | None, most: int, cells: int, put: Callable[[polars.DataFrame | None], bool]
) -> None:
    """Call ``put`` with the same of one file."""
    import polars as pl

    scan = pl.scan_parquet(file, glob=False)
    lazy = scan if columns is None else chosen(scan, columns)
    put(lazy.head(0).collect())
    rows = min(most, cells // max(1, len(lazy.collect_schema())) + 1)
    put_batches(lazy, rows, lambda frame: bool(len(frame)) and put(frame))
    put(None)


def put_batches(lazy: polars.LazyFrame, rows: int, put: Callable[[polars.DataFrame], bool]) -> None:
    """Call ``put`` with the rows of a query, about so many at a time, until it returns True.

    Not by ``collect_batches``: where polars fails in the middle, that ends as if these were all rows.
    """
    import polars as pl

    held: list[polars.DataFrame] = []

    def take(frame: polars.DataFrame, last: bool = False) -> bool:
        held.append(frame)
        if not last and sum(map(len, held)) < rows and sum(part.estimated_size() for part in held) < TEXT_BYTES:
            return False
        whole = pl.concat(held)
        held.clear()
        return put(whole)

    step = min(rows, TEXT_ROWS) if pl.String in lazy.collect_schema().dtypes() else rows
    if hasattr(lazy, "sink_batches"):  # decodes no row group twice, as slices may
        lazy.sink_batches(take, chunk_size=step, maintain_order=True)
    else:
        n = int(lazy.select(pl.len()).collect().item())
        any(take(lazy.slice(first, step).collect()) for first in range(0, n, step))
    if held:
        take(held.pop(), last=True)


def ahead(make: Callable[[Callable[[Item], bool]], None]) -> Iterator[Item]:
    """What ``make`` puts, in a thread that begins now and goes on while some is used, until nobody wants any more."""
    made: queue.Queue[tuple[Item] | BaseException | None] = queue.Queue(FRAMES_AHEAD)
    left = threading.Event()

    def put(item: Item) -> bool:
        made.put((item,))
        return left.is_set()

    def run() -> None:
        try:
            make(put)
            made.put(None)
        except BaseException as error:
            made.put(error)

    threading.Thread(target=run, daemon=True).start()
    return taken(made, left)


def taken(made: queue.Queue[tuple[Item] | BaseException | None], left: threading.Event) -> Iterator[Item]:
    """What is made, until that ends or fails."""
    try:
        while (found := made.get()) is not None:
            if isinstance(found, BaseException):
                raise found
            yield found[0]
    finally:
        left.set()
        with suppress(queue.Empty):  # room for what waits to be put
            while True:
                made.get_nowait()


def chosen(lazy: polars.LazyFrame, columns: list[str]) -> polars.LazyFrame:
    """These columns, in the order of the file."""
    from polars.selectors import by_name

    every = lazy.collect_schema().names()
    if absent := [name for name in columns if name not in every]:
        raise ValueError(f"it has no column {absent[0]!r}")
    return lazy.select(by_name([name for name in every if name in set(columns)]))  # names are no patterns here


def send_frame(frame: polars.DataFrame, written: io.BytesIO, letter: bytes = b"") -> None:
    """Rows, as Arrow has them, by way of a buffer that may hold others from before."""
    written.seek(0)
    written.write(letter)
    frame.write_ipc_stream(written)
    with written.getbuffer() as every, every[: written.tell()] as message:
        send(message)


def send(message: bytes | memoryview) -> None:
    """Its length and its content, to standard output."""
    sys.stdout.buffer.write(len(message).to_bytes(8, "little"))
    sys.stdout.buffer.write(message)
    sys.stdout.buffer.flush()


def widen_pipe() -> None:
    """Let standard output take a megabyte at a time, so that two processes take turns less often; Linux can."""
    with suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(sys.stdout.fileno(), fcntl.F_SETPIPE_SZ, 1 << 20)


def hold_memory() -> None:
    """Ask for no more memory than the machine has, and leave no core file. Windows has no such limits."""
    with suppress(ImportError, ValueError, OSError, OverflowError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        if soft == resource.RLIM_INFINITY:  # or the user has set one
            resource.setrlimit(resource.RLIMIT_DATA, (int(memory()), hard))


def main() -> None:
    """Send all rows, and why they end."""
    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()
    hold_memory()
    widen_pipe()
    if len(sys.argv) == 1:
        Apart(json.loads(sys.stdin.buffer.readline())).run()
        return
    sys.stdin.buffer.seek(0)  # the other process has read some
    end = ""
    try:
        send_frames(sys.stdin.buffer, int(sys.argv[1]))
    except BaseException as error:
        end = complaint(error)
    send(b"")
    send(end.encode(errors="replace"))


if __name__ == "__main__":
    main()
