"""Rows of any strides, written in C order a part at a time: the only form that passes read."""

from __future__ import annotations

import ctypes

import numpy as np

from separatrix._typing import Array
from separatrix.loops.binding import native


@native("pack", "i8 i8 i8 i8 i8 T[]")
def pack(address: int, down: int, right: int, m: int, d: int, out: Array) -> None:
    """out[i, j] = the number at address + i down + j right, strides in bytes; of the type of out (m, d)."""
    if m and d:
        low = min(0, (m - 1) * down) + min(0, (d - 1) * right)
        high = max(0, (m - 1) * down) + max(0, (d - 1) * right) + out.itemsize
        memory = memoryview((ctypes.c_char * (high - low)).from_address(address + low))
        out.reshape(-1)[: m * d] = np.ndarray((m, d), out.dtype, memory, offset=-low, strides=(down, right)).ravel()


@native("widen", "u2[] i8 f4[]")
def widen(half: Array, n: int, out: Array) -> None:
    """out = n numbers of half precision, given by their bits, in single precision."""
    out.reshape(-1)[:n] = half.view(np.float16).reshape(-1)[:n]


def packed(rows: Array, out: Array) -> None:
    """Rows of any type, order and strides, written to out: their values in C order."""
    m, d = rows.shape
    if rows.dtype == out.dtype and rows.dtype.isnative:
        pack(rows.ctypes.data, rows.strides[0], rows.strides[1], m, d, out)
    elif rows.dtype == np.dtype("=f2") and out.dtype == np.float32 and rows.flags.c_contiguous:
        widen(rows.view(np.uint16), m * d, out)
    elif abs(rows.strides[0]) < abs(rows.strides[1]):  # converted along the columns, then turned
        turned = np.asfortranarray(rows, dtype=out.dtype)
        pack(turned.ctypes.data, turned.strides[0], turned.strides[1], m, d, out)
    else:
        out.reshape(-1)[: m * d].reshape(m, d)[...] = rows
