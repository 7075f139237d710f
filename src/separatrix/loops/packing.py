"""Rows of any type and strides, written in C order some at a time: what passes read, where rows are not like that."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from separatrix._typing import Array
from separatrix.loops.binding import native

# numbers that C reads, in the order of the enum in packing.h; those with their bytes in the other order follow
KINDS = ("f8", "f4", "f2", "b1", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")


def kind_of(dtype: np.dtype[Any]) -> int | None:
    """Which of the `KINDS` numbers of a type are, plus their number if bytes are swapped; None for another type."""
    name = dtype.str[1:]
    return KINDS.index(name) + len(KINDS) * (not dtype.isnative) if name in KINDS else None


def numbers_at(address: int, down: int, right: int, kind: int, m: int, d: int) -> Array:
    """The numbers at address + i down + j right, (m, d), where they are."""
    dtype = np.dtype(KINDS[kind % len(KINDS)])
    dtype = dtype if kind < len(KINDS) else dtype.newbyteorder()
    if not (m and d):
        return np.empty((m, d), dtype)
    low = min(0, (m - 1) * down) + min(0, (d - 1) * right)
    high = max(0, (m - 1) * down) + max(0, (d - 1) * right) + dtype.itemsize
    memory = memoryview((ctypes.c_char * (high - low)).from_address(address + low))
    return np.ndarray((m, d), dtype, memory, offset=-low, strides=(down, right))


@native("pack", "i8 i8 i8 i8 i8 i8 T[]")
def pack(address: int, down: int, right: int, kind: int, m: int, d: int, out: Array) -> None:
    """out[i, j] = the number of this kind at address + i down + j right, strides in bytes; out begins with (m, d)."""
    out.reshape(-1)[: m * d].reshape(m, d)[...] = numbers_at(address, down, right, kind, m, d)


def packed(rows: Array, out: Array) -> None:
    """Rows of any type, order and strides, written to out: their values in C order."""
    (m, d), kind = rows.shape, kind_of(rows.dtype)
    if kind is None:  # such as long double
        out.reshape(-1)[: m * d].reshape(m, d)[...] = rows
    else:
        down, right = rows.strides
        pack(rows.ctypes.data, down, right, kind, m, d, out)
