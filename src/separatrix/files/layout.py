"""A block file: a header, blocks of rows, and a tail with the index of the blocks, arrays and notes.

    header   256 bytes: what it is, version, CSR or dense, n, d, entries, blocks, where the tail is, two checksums
    blocks   dense: the rows, float64, or float32 where that holds every entry of the block, in C order
             CSR: entries (float64 or float32), column numbers (int32), row pointers that begin with 0 (int32)
    tail     JSON, and the arrays that it lists: the index, entries in each column, labels, weights

Each part begins at a multiple of 256 bytes, filled up with 0. All numbers are little-endian. A checksum of each block
is in the index, that of the tail in the header, and the header's own at its end.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix._typing import Array
from separatrix.errors import StorageError
from separatrix.loops.checksum import BYTES, checksum
from separatrix.loops.passes import segment_rows

MAGIC = b"separatrix rows\n"
VERSION = 2  # 1 had another checksum
HEADER = struct.Struct("<16sIIQQQQQQQ")
HEADER_BYTES = 256
INDEX = np.dtype([(name, "<u8") for name in ("offset", "size", "rows", "entries", "item", "sum")])
TARGET_BYTES = 1 << 22  # of a block: long enough for a disk, and short enough for each thread to have a few in memory
LARGEST_TAIL = 1 << 36  # bytes: some billion labels
DAMAGED = "{}: {}. Make the file anew: remove it, and open the source again."


@dataclass(frozen=True)
class Contents:
    """What a file of n rows of d columns holds besides the blocks themselves."""

    n: int
    d: int
    sparse: bool
    index: Array  # where each block is, and what it holds
    arrays: dict[str, Array]  # labels, weights, entries in each column
    notes: dict[str, Any]  # anything that JSON holds

    @property
    def entries(self) -> int:
        """How many entries are stored."""
        return int(self.index["entries"].sum())


def block_rows(d: int) -> int:
    """Rows of a dense block: whole segments of passes, two and two, so that blocks are summed as an array would be."""
    unit = 2 * segment_rows(d)
    return unit * max(1, TARGET_BYTES // (8 * unit * max(d, 1)))


def padded(size: int) -> int:
    """The next multiple of what checksums take."""
    return -(-size // BYTES) * BYTES


def filled(*parts: Array) -> Array:
    """The bytes of arrays one after another, filled up with 0; those of one that needs no filling are not copied."""
    sizes = [part.nbytes for part in parts]
    if len(parts) == 1 and padded(sizes[0]) == sizes[0] and parts[0].flags.c_contiguous:
        return parts[0].reshape(-1).view(np.uint8)
    data = np.zeros(padded(sum(sizes)), dtype=np.uint8)
    at = 0
    for part, size in zip(parts, sizes, strict=True):
        data[at : at + size] = np.ascontiguousarray(part).reshape(-1).view(np.uint8)
        at += size
    return data


def tail_of(contents: Contents) -> Array:
    """The bytes of the tail."""
    arrays = {"index": contents.index, **contents.arrays}
    listed = [[name, array.dtype.str if name != "index" else "index", len(array)] for name, array in arrays.items()]
    text = json.dumps({"arrays": listed, "notes": contents.notes}, allow_nan=False).encode()
    head = np.frombuffer(len(text).to_bytes(8, "little") + text, dtype=np.uint8)
    return np.concatenate([filled(head), *(filled(array) for array in arrays.values())])


def header_of(contents: Contents, at: int, tail: Array) -> bytes:
    """The bytes of the header, of a tail that begins at ``at``."""
    counts = (contents.n, contents.d, contents.entries, len(contents.index))
    fields = HEADER.pack(MAGIC, VERSION, int(contents.sparse), *counts, at, len(tail), checksum(tail))
    start = fields.ljust(HEADER_BYTES - 8, b"\0")
    whole = np.frombuffer(start.ljust(HEADER_BYTES, b"\0"), dtype=np.uint8).copy()
    return start + checksum(whole).to_bytes(8, "little")


def read_header(start: bytes, size: int, name: str) -> tuple[tuple[int, ...], tuple[int, int, int]]:
    """(sparse, n, d, entries, blocks), and where the tail begins, its length and its checksum."""
    if len(start) < HEADER_BYTES or not start.startswith(MAGIC):
        raise StorageError(DAMAGED.format(name, "it is no block file, or its start is cut off"))
    _, version, sparse, n, d, entries, blocks, at, length, found = HEADER.unpack(start[: HEADER.size])
    if version != VERSION:  # then it has another header
        raise StorageError(DAMAGED.format(name, f"it is of version {version}, this is version {VERSION}"))
    whole = np.frombuffer(start[: HEADER_BYTES - 8].ljust(HEADER_BYTES, b"\0"), dtype=np.uint8).copy()
    if checksum(whole) != int.from_bytes(start[HEADER_BYTES - 8 :], "little"):
        raise StorageError(DAMAGED.format(name, "its header is damaged"))
    if at + length != size or length > LARGEST_TAIL:
        raise StorageError(DAMAGED.format(name, f"it should have {at + length:,} bytes, and has {size:,}"))
    return (sparse, n, d, entries, blocks), (at, length, found)


def read_tail(counts: tuple[int, ...], tail: Array, found: int, name: str) -> Contents:
    """What the header and the tail say, once the checksum of the latter is right."""
    sparse, n, d, entries, blocks = counts
    if checksum(tail) != found:
        raise StorageError(DAMAGED.format(name, "the index at its end is damaged"))
    length = int.from_bytes(tail[:8].tobytes(), "little")
    plain = json.loads(tail[8 : 8 + length].tobytes())
    at, arrays = padded(8 + length), {}
    for title, kind, count in plain["arrays"]:
        dtype = INDEX if kind == "index" else np.dtype(kind)
        arrays[title] = tail[at : at + dtype.itemsize * count].view(dtype)
        at += padded(dtype.itemsize * count)
    index = arrays.pop("index")
    if len(index) != blocks or index["rows"].sum() != n or index["entries"].sum() != entries:
        raise StorageError(DAMAGED.format(name, "its index is not that of its blocks"))
    return Contents(n, d, bool(sparse), index, arrays, plain["notes"])
