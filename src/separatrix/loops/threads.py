"""Our own threads over chunks of work, with BLAS held to one thread inside them.

Chunks are fixed by the shape of the data and their results combined in their order, so that the number of threads never
changes a bit; 1 and 2 threads of BLAS do (a product is cut where its threads meet), and starting them costs more on
small blocks than they save. Compiled loops, NumPy and BLAS release the interpreter lock while they work.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import threading
from _thread import start_new_thread
from collections.abc import Callable, Iterable, Iterator
from contextlib import ContextDecorator, contextmanager, suppress
from contextvars import copy_context
from functools import cache
from itertools import count as counter
from operator import index
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import OpenBLASController, ThreadpoolController

from separatrix.errors import InvalidInputError

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")

LIKE_BLAS = re.compile("blas|blis|mkl", re.IGNORECASE)
SMALL_PRODUCT = 1 << 13  # multiplications for which BLAS takes one thread however many it has: OpenBLAS begins at 9,216
LOST_BELL_SECONDS = 0.05  # after which to look again who has ended: Ctrl-C may have come just as a bell was heard
PRODUCT_ENTRIES = 1 << 18  # of the rows that a thread multiplies at a time


_chosen: tuple[int, int] | None = None  # what `set_threads` was given, and in which process
_here = threading.local()  # .working: whether this thread works on a chunk now


def set_threads(n: int | None) -> None:
    """Use n threads for fits in this process; None: SEPARATRIX_NUM_THREADS, or as many as there are cores.

    The number of threads never changes a result. More of them than cores would only take turns: no more are started.

    Parameters
    ----------
    n : int or None
        At least 1.
    """
    global _chosen
    try:
        number = None if n is None else index(n)
    except TypeError:
        number = 0
    if number is not None and number < 1:
        raise InvalidInputError(f"set_threads takes a whole number of at least 1, or None; not {n!r}.")
    _chosen = None if number is None else (number, os.getpid())


def count() -> int:
    """Number of threads: what `set_threads` says, else SEPARATRIX_NUM_THREADS, else the cores this process may use.

    OMP_NUM_THREADS limits the cores, and in a process that another one started also what that one was told: joblib sets
    it in its workers, so that together they have no more threads than there are cores.
    """
    asked = os.environ.get("SEPARATRIX_NUM_THREADS", "")
    if asked and not (asked.isdecimal() and int(asked)):
        raise InvalidInputError(f"SEPARATRIX_NUM_THREADS must be a whole number of at least 1, not {asked!r}.")
    if _chosen is not None and _chosen[1] == os.getpid():
        return _chosen[0]
    limit = os.environ.get("OMP_NUM_THREADS", "")
    most = max(1, int(limit)) if limit.isdecimal() else None
    told = _chosen[0] if _chosen is not None else int(asked) if asked else None
    if told is not None:
        return told if most is None or multiprocessing.parent_process() is None else min(told, most)
    return cores() if most is None else min(cores(), most)


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def over(chunks: Iterable[Chunk], work: Callable[[Chunk], Result]) -> list[Result]:
    """[work(chunk) for chunk in chunks], by this thread and helpers of the pool, each taking the next chunk.

    If the pool is busy with other fits, this thread does all; a chunk that calls this itself runs its parts in order.
    The error of the first chunk that fails is raised, and nobody works on the caller's arrays after that.
    """
    todo = list(chunks)
    helpers = min(count(), cores(), len(todo)) - 1 if len(todo) > 1 else 0
    if helpers < 1 or getattr(_here, "working", False):
        return [work(chunk) for chunk in todo]
    job = Job(todo, work)
    try:
        job.offer(helpers)
        return job.result()
    except BaseException:  # Ctrl-C may have come at any moment, also while the job was being closed
        job.close()
        raise
    finally:
        _here.working = False  # which Ctrl-C may have left as it was


class Job:
    """Chunks that one thread works on, and those that help it: some of them now, the others when the result is wanted.

    It holds no lock, which a Ctrl-C at the wrong moment would leave locked: threads only append to lists, and look at
    each other's afterwards. A helper writes down that it begins and then looks whether the job is closed; who closes it
    first says so and then looks who has begun. So either the helper turns back or the other one waits for its end.
    """

    def __init__(self, todo: list[Any], work: Callable[[Any], Any]) -> None:
        self.todo, self.turn = todo, counter()
        self.work: Any = work
        self.done: list[Any] = [None] * len(todo)
        self.failed: dict[int, BaseException] = {}
        self.closed = False
        self.begun: list[int] = []  # by which threads
        self.ended: list[int] = []
        self.bell: SimpleQueue[None] = SimpleQueue()
        self.context = copy_context()  # NumPy keeps what to do about overflow there: helpers do as this thread does

    def offer(self, helpers: int) -> None:
        """Let so many threads of the pool help, as soon as they have nothing else to do."""
        for _ in range(_hired(helpers)):
            _offered.put(self)

    def result(self) -> list[Any]:
        """What came of all chunks, of which this thread does those that no one has begun."""
        try:
            self.take()
        finally:
            self.close()
        if self.failed:
            raise self.failed[min(self.failed)]
        return self.done

    def help(self) -> None:
        self.begun.append(threading.get_ident())
        try:
            if not self.closed:
                self.context.copy().run(self.take)
        except BaseException as error:  # no memory left to work in
            self.failed[-1] = error
        finally:
            self.ended.append(threading.get_ident())
            self.bell.put(None)

    def take(self) -> None:
        """Do chunks until there are no more."""
        before, _here.working = getattr(_here, "working", False), True
        try:
            while not (self.failed or self.closed) and (i := next(self.turn)) < len(self.todo):
                try:
                    self.done[i] = self.work(self.todo[i])
                except BaseException as error:
                    self.failed[i] = error
        finally:
            _here.working = before

    def close(self) -> None:
        """Wait for those who have begun, if they have not ended; who comes later finds nothing to do."""
        self.closed, me = True, threading.get_ident()
        mine = self.begun.count(me) - self.ended.count(me)  # 1 where what is forgotten in the middle of a job ends it
        while len(self.ended) + mine < len(self.begun):
            with suppress(Empty):
                self.bell.get(timeout=LOST_BELL_SECONDS)
        self.todo, self.work = [], None  # a helper that was offered this and comes late must not keep the data


def product(X: Any, W: Any) -> Any:
    """X W, for rows X as an array, in CSR or in a file, and an array W (d, k): the same bits on any number of threads.

    Only that of an array is BLAS's own, which takes as many threads as it likes, and adds up otherwise where the
    numbers of a row do not lie one after the other.
    """
    if not isinstance(X, np.ndarray) or (X.flags.carray and X.size * W.shape[1] <= SMALL_PRODUCT):
        return X @ W
    n, d = X.shape
    step = max(1, PRODUCT_ENTRIES // d)
    with single_threaded_blas():
        if n <= step:
            return _in_order(X) @ W
        found = np.empty((n, W.shape[1]), dtype=np.result_type(X, W))
        rows = [slice(first, first + step) for first in range(0, n, step)]
        over(rows, lambda some: np.matmul(_in_order(X[some]), W, out=found[some]))
        return found


def _in_order(X: Any) -> Any:
    return np.require(X, requirements=["C", "A"])


@contextmanager
def alone() -> Iterator[None]:
    """Let this thread work without helpers: for one of several tasks that share a machine."""
    before = getattr(_here, "working", False)
    _here.working = True
    try:
        yield
    finally:
        _here.working = before


_offered: SimpleQueue[Job] = SimpleQueue()  # to the threads of the pool
_pool: list[None] = []  # one for each of its threads


def _hired(helpers: int) -> int:
    """So many threads of the pool, started when first needed; fewer if there can be no more."""
    while len(_pool) < helpers:
        try:
            start_new_thread(_help_for_ever, (_offered,))
        except RuntimeError:  # the system has no more, or Python ends
            break
        _pool.append(None)
    return min(helpers, len(_pool))


def _help_for_ever(offered: SimpleQueue[Job]) -> None:
    while True:
        offered.get().help()


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
        _set_threads([(library, 1) for library, _ in _threads_before])
    elif not _open and _threads_before:
        _set_threads(_threads_before)
        _threads_before = []


def _set_threads(numbers: list[tuple[Any, int]]) -> None:
    _take_control()
    for library, number in numbers:
        library.set_num_threads(number)
    _take_control()


def _take_control() -> None:
    """Let this thread set BLAS limits: threadpoolctl keeps that to the first that did, who may be gone by now."""
    clear = getattr(OpenBLASController, "clear_controlling_thread", None)  # older versions let anyone
    if clear is not None:
        clear(force=True)


def _forget_after_fork() -> None:
    """Threads do not survive a fork, nor does what they held: the child starts its own, with BLAS as it was."""
    global _lock, _offered
    _offered = SimpleQueue()
    _pool.clear()
    _here.working = False
    _lock = threading.RLock()
    _open.clear()
    _settle()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
