"""Memory that is freed and asked for again in the next moment, kept meanwhile.

Dask starts its workers with MALLOC_TRIM_THRESHOLD_: what is freed goes back to the system at once. Blocks of numbers
that come and go a thousand times in a pass are then mapped, and filled with zeros, a thousand times: the check of a
certificate takes five times as long. So the limits of glibc are raised while a task is at work, and put back.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

VARIABLE = "MALLOC_TRIM_THRESHOLD_"
TRIM, MAP = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of malloc.h
KEPT = 1 << 26  # bytes at the end of the heap that are kept
LARGE = 1 << 25  # bytes that are mapped by themselves: the most that glibc takes
USUAL = 1 << 17  # the same, where nobody has set it


@cache
def _mallopt() -> Any:
    """The function of glibc, or None."""
    try:
        return ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return None


@contextmanager
def kept() -> Iterator[None]:
    """Keep what is freed, where this process was told to give it back; elsewhere malloc knows better."""
    told = os.environ.get(VARIABLE, "")
    mallopt = _mallopt() if told.isdecimal() else None
    if mallopt is None:
        yield
        return
    mallopt(MAP, LARGE)
    mallopt(TRIM, KEPT)
    try:
        yield
    finally:
        mallopt(MAP, USUAL)
        mallopt(TRIM, int(told))
