"""The process in which Parquet files are decoded: python -P parquet_child.py ROWS <file >messages.

polars trusts the sizes it finds inside a file, and where one is wrong it can ask for more memory than there is, which
ends the process: so this is not the user's. Run as a script, it imports nothing of the package, to start quickly.

A message is its length, as 8 bytes, and its content. After "ready" come the rows in Arrow's format, a message of
length 0, and why the rows ended there: "" if these were all.
"""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars

READY = b"ready"
CELLS = 1 << 22  # decoded at a time: 32 MB of numbers, so that slices cost little and are no burden


def memory() -> float:
    """Bytes of memory in this machine; infinity if it does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return float("inf")


def complaint(error: BaseException) -> str:
    """What polars says about a file that it cannot read."""
    if type(error).__name__ == "PanicException":  # a failure of its own, which says nothing of use
        return "it is damaged"
    return f"{[*str(error).splitlines(), type(error).__name__][0]:.200}"


def plain_columns(frame: polars.DataFrame) -> polars.DataFrame:
    """Text for categories, floats for decimals, null for NaN; numbers, text and truth values are left as they are."""
    import polars as pl

    columns = []
    for name, dtype in frame.schema.items():
        column = pl.col(name)
        if isinstance(dtype, (pl.Categorical, pl.Enum)):
            columns.append(column.cast(pl.String))
        elif isinstance(dtype, pl.Decimal):
            columns.append(column.cast(pl.Float64))
        elif dtype.is_float():
            columns.append(column.fill_nan(None))
    return frame.with_columns(columns)


def send_frames(rows: int) -> None:
    """Send standard input, a Parquet file, that many rows at a time; as many as suit us if that is 0."""
    import polars as pl

    sys.stdin.buffer.seek(0)  # the other process has read some
    lazy = pl.scan_parquet(sys.stdin.buffer)
    n = int(lazy.select(pl.len()).collect().item())
    step = CELLS // max(1, len(lazy.collect_schema())) + 1
    rows = rows or step
    step = rows * max(1, step // rows)
    for first in range(0, n, step):
        frame = plain_columns(lazy.slice(first, step).collect())
        if len(frame) != min(step, n - first):
            raise ValueError(f"it should have {n} rows, and has fewer")
        for part in frame.iter_slices(rows):
            written = io.BytesIO()
            part.write_ipc_stream(written)
            send(written.getbuffer())


def send(message: bytes | memoryview) -> None:
    """Its length and its content, to standard output."""
    sys.stdout.buffer.write(len(message).to_bytes(8, "little"))
    sys.stdout.buffer.write(message)
    sys.stdout.buffer.flush()


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
    end = ""
    try:
        send_frames(int(sys.argv[1]))
    except BaseException as error:
        end = complaint(error)
    send(b"")
    send(end.encode(errors="replace"))


if __name__ == "__main__":
    main()
