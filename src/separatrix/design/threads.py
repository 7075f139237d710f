"""Our own threads over row blocks, with BLAS held to one thread inside them.

Two-thread BLAS calls on small blocks cost more to start than to run, and their timing is erratic;
blocks spread over our threads do not have that problem, and NumPy, SciPy and BLAS release the GIL.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import OpenBLASController, ThreadpoolController


def count() -> int:
    """Number of threads: the cores this process may use, at most OMP_NUM_THREADS if that is set.

    joblib sets OMP_NUM_THREADS in its workers, so that nested parallel work does not oversubscribe.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(cores, int(limit))) if limit.isdigit() else cores


@cache
def pool() -> ThreadPoolExecutor:
    """The threads, started once in a process."""
    return ThreadPoolExecutor(count(), thread_name_prefix="separatrix")


class _Libraries(ThreadpoolController):
    """Those that may be BLAS: to look at two hundred others takes longer than some fits."""

    def _make_controller_from_path(self, filepath: str) -> None:
        if any(name in os.path.basename(filepath).lower() for name in ("blas", "blis", "mkl")):
            super()._make_controller_from_path(filepath)


@cache
def _blas() -> ThreadpoolController:
    return _Libraries().select(user_api="blas")


_lock = threading.Lock()
_users = 0
_limiter: Any = None


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Hold BLAS to one thread; fits that overlap in time restore the user's setting only once."""
    global _users, _limiter
    with _lock:
        if _users == 0:
            _limiter = _blas().limit(limits=1)
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _take_control()
                _limiter.restore_original_limits()
                _take_control()


def _take_control() -> None:
    """Let this thread set BLAS limits: threadpoolctl keeps that to the first that did, who may be gone by now."""
    clear = getattr(OpenBLASController, "clear_controlling_thread", None)  # older versions let anyone
    if clear is not None:
        clear(force=True)


def _forget_after_fork() -> None:
    """Threads do not survive a fork: the child starts its own."""
    global _lock, _users
    pool.cache_clear()
    _lock, _users = threading.Lock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
