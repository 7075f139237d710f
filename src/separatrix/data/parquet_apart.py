"""Parquet files, whose columns of floats come apart from the others: as rows of a matrix, ready to be stored.

The process that decodes them writes these rows into memory that both share, in C order, and goes on with the next while
they are looked at here: nothing is copied on the way, and both work at once. The size of that memory is sealed, so that
nothing the other process does takes it away from this one.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from separatrix._typing import Floats
from separatrix.data.parquet import check_ends, child_process, frame_of, message, unreadable
from separatrix.data.parquet_child import CELLS
from separatrix.data.sources import explained

if TYPE_CHECKING:
    import polars

SLOTS = 3  # at least: one that is filled, one that is read, one between them
PLENTY = 10**9  # bytes of memory from which on the other process is not sparing of its own
CELLS_SHARE = 150  # for so many bytes of memory it decodes a number at a time: so it holds about twice as much, at most
SHARED_BYTES = 48 << 20  # of all slots, if there can be more: what is decoded at a time fits in and is no jam


class Head(NamedTuple):
    """The columns of a file, before its rows, and how many rows all files have; 0 if that is not known."""

    source: str
    columns: dict[str, Any]
    total: int


def parquet_apart(
    paths: Sequence[Path],
    names: Sequence[str],
    columns: Sequence[str] | None,
    never: Sequence[str] | None,
    most: int,
    begin: Callable[[list[str]], int] | None,
    memory: int = PLENTY,
) -> Iterator[tuple[str, Head | polars.DataFrame | Floats]]:
    """Each file's name with its head, then with its rows: frames, and arrays (m, d) of the columns that are apart.

    Parameters
    ----------
    paths : list of Path
    names : list of str
        What the files are called.
    columns : list of str or None
        Those to read; None for all.
    never : list of str or None
        Columns that are not apart; None if none is.
    most : int
        Rows of a frame, at most.
    begin : callable
        Told once which columns are apart, if any are; says how many rows an array has, all but the last, which may
        have fewer. An array is used again when the next one is asked for.
    memory : int
        Bytes that all may take, which tells how many numbers are decoded at a time.
    """
    for path, name in zip(paths, names, strict=True):
        with explained(name), open(path, "rb") as file:
            check_ends(file, name)
    shared = _memory()
    try:
        with child_process([], names[0], None, () if shared is None else (shared,), memory < PLENTY) as (
            receive,
            answer,
        ):
            chosen = None if columns is None else list(columns)
            files = [str(path.absolute()) for path in paths]
            job = {"files": files, "columns": chosen, "never": None if never is None else list(never), "most": most}
            answer(_line(job | {"cells": min(CELLS, memory // CELLS_SHARE)}))
            room, sent = np.empty((1, 0, 0)), 0
            lengths = json.loads(message(receive, names[0])[1:])
            for name, promised in zip(names, lengths or repeat(None, len(names)), strict=True):
                n = 0
                if promised == 0:  # there are no rows whose columns could disagree with others
                    continue
                while (found := message(receive, name))[:1] != b"e":
                    letter, content = found[:1], memoryview(found)[1:]
                    if letter == b"s":
                        yield name, Head(name, dict(frame_of(content, name).schema), sum(lengths or ()))
                    elif letter == b"f":
                        frame = frame_of(content, name)
                        n += len(frame)
                        yield name, frame
                    elif letter == b"c":
                        if (apart := json.loads(bytes(content))) and begin is not None:
                            length, d = begin(apart), len(apart)
                            shape = max(SLOTS, SHARED_BYTES // (8 * length * d)), length, d
                            room = np.empty((1, *shape[1:])) if shared is None else _mapped(shared, shape)
                            answer(_line({"rows": length, "slots": shape[0], "memory": shared}))
                    else:
                        rows = room[sent % len(room)][: int.from_bytes(content[:8], "little")]
                        if shared is None:
                            rows.reshape(-1).view(np.uint8)[:] = content[8:]
                        sent += 1
                        yield name, rows
                        if shared is not None:
                            answer(b".")
                if end := found[1:]:
                    raise unreadable(name, end.decode())
                if promised is not None and n != promised:
                    raise unreadable(name, f"it says that it has {promised:,} rows, and {n:,} came")
    finally:
        if shared is not None:
            os.close(shared)


def _memory() -> int | None:
    """The descriptor of memory that another process can share; None where the system has no such thing."""
    with suppress(OSError):
        return os.memfd_create("separatrix", os.MFD_ALLOW_SEALING) if hasattr(os, "memfd_create") else None
    return None


def _mapped(descriptor: int, shape: tuple[int, int, int]) -> Floats:
    """Shared memory as an array, which goes with the last view of it.

    Not by the module mmap, which would hold the descriptor for as long as anyone has a view.
    """
    import fcntl
    from mmap import MAP_SHARED, PROT_READ, PROT_WRITE

    size = 8 * math.prod(shape)
    os.ftruncate(descriptor, size)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
    system = ctypes.CDLL(None, use_errno=True)
    system.mmap.restype = ctypes.c_void_p
    system.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *3 * [ctypes.c_int], ctypes.c_long]
    system.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    address = system.mmap(None, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    if address in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    memory = (ctypes.c_char * size).from_address(address)
    weakref.finalize(memory, system.munmap, address, size)
    return np.frombuffer(memoryview(memory)).reshape(shape)


def _line(content: dict[str, Any]) -> bytes:
    return json.dumps(content).encode() + b"\n"
