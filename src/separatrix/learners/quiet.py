"""HiGHS writes some lines to the C library's standard output whatever it is told: they must not reach the user's."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_lock = threading.RLock()


@contextmanager
def quiet() -> Iterator[None]:
    """Send file descriptor 1 to nowhere; what Python wrote before is written out first."""
    with _lock:
        try:
            saved = os.dup(1)
        except OSError:  # there is no standard output
            yield
            return
        with suppress(Exception):
            sys.stdout.flush()
        _flush_c()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, 1)
            yield
        finally:
            _flush_c()
            os.dup2(saved, 1)
            os.close(saved)
            os.close(nowhere)


def _flush_c() -> None:
    with suppress(Exception):  # where there is no C library to ask, there is nothing to flush
        ctypes.CDLL(None).fflush(None)
