"""Our own threads over row blocks, with BLAS held to one thread inside them.

Two-thread BLAS calls on small blocks cost more to start than to run, and their timing is erratic;
blocks spread over our threads do not have that problem, and NumPy, SciPy and BLAS release the GIL.
"""

from __future__ import annotations

import os
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ContextDecorator
from functools import cache
from typing import Any

from threadpoolctl import OpenBLASController, ThreadpoolController

LIKE_BLAS = re.compile("blas|blis|mkl", re.IGNORECASE)


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
    """The BLAS libraries of this process.

    Only files that are named like one are looked at: following the links of the some two hundred others takes ten
    milliseconds, and that is what a first fit to a small table would mostly wait for.
    """

    def _make_controller_from_path(self, filepath: str) -> None:
        if LIKE_BLAS.search(filepath):
            super()._make_controller_from_path(filepath)


@cache
def _blas() -> ThreadpoolController:
    return _Libraries().select(user_api="blas")


_lock = threading.RLock()
_open: set[int] = set()  # who holds BLAS to one thread
_threads_before: list[tuple[Any, int]] = []  # of each library, while it is held


class single_threaded_blas(ContextDecorator):
    """While any of these is open, BLAS has one thread; when the last is closed, as many as before.

    Ctrl-C may come at any moment, in `__enter__` and `__exit__` too. So what is to be restored is written down before
    anything is changed, `_settle` can be called again from any state it was left in, and an object that is forgotten
    without having been closed closes itself.
    """

    def __enter__(self) -> None:
        with _lock:
            _open.add(id(self))
            _settle()

    def __exit__(self, *error: object) -> None:
        try:
            self._close()
        except BaseException:
            self._close()
            raise

    def _close(self) -> None:
        with _lock:
            _open.discard(id(self))
            _settle()

    def __del__(self) -> None:
        if _open and id(self) in _open:  # when the interpreter ends, even this may be gone
            self.__exit__()

    def _recreate_cm(self) -> single_threaded_blas:
        return single_threaded_blas()  # one for each call of a decorated function


def _settle() -> None:
    """Hold BLAS to one thread if anyone asks for it, else give back what it had."""
    global _threads_before
    if _open and not _threads_before:
        _threads_before = [(library, library.get_num_threads()) for library in _blas().lib_controllers]
        for library, _ in _threads_before:
            _set_threads(library, 1)
    elif not _open and _threads_before:
        for library, before in _threads_before:
            _set_threads(library, before)
        _threads_before = []


def _set_threads(library: Any, number: int) -> None:
    _take_control()
    library.set_num_threads(number)
    _take_control()


def _take_control() -> None:
    """Let this thread set BLAS limits: threadpoolctl keeps that to the first that did, who may be gone by now."""
    clear = getattr(OpenBLASController, "clear_controlling_thread", None)  # older versions let anyone
    if clear is not None:
        clear(force=True)


def _forget_after_fork() -> None:
    """Threads do not survive a fork, nor does what they held: the child starts its own, with BLAS as it was."""
    global _lock
    pool.cache_clear()
    _lock = threading.RLock()
    _open.clear()
    _settle()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
