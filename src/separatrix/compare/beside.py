"""Jobs shared by two processes: on a small table they are milliseconds of Python each, which threads cannot share."""

from __future__ import annotations

import os
import pickle
import signal
import warnings
from collections.abc import Callable, Iterable
from typing import TypeVar

from separatrix.loops.threads import alone

Result = TypeVar("Result")


def shared(job: Callable[[int], Result], count: int) -> list[Result]:
    """[job(0), ..., job(count - 1)]: the first is done here, each other one by this process or its fork, who is free.

    What the other process does not give back, because it failed, was killed or cannot send it, is done here.
    """
    queue, numbers = os.pipe()
    os.write(numbers, bytes(range(1, count)))  # a pipe gives each byte to one reader, and then its end
    os.close(numbers)
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer Pythons warn of other threads, of which a job here needs none
        other = os.fork()
    if not other:
        _work_and_end(job, queue, writing)
    os.close(writing)
    sent, ended = b"", None
    try:
        found = _taken(job, range(min(count, 1)), queue)
        with os.fdopen(reading, "rb", closefd=False) as results:
            sent = results.read()
        ended = os.waitpid(other, 0)[1]
    finally:
        if ended is None:
            os.kill(other, signal.SIGKILL)
            os.waitpid(other, 0)
        os.close(queue)
        os.close(reading)
    if ended == 0:
        found |= pickle.loads(sent)
    return [found[number] if number in found else job(number) for number in range(count)]


def _taken(job: Callable[[int], Result], first: Iterable[int], queue: int) -> dict[int, Result]:
    """The results of the first jobs, and of those that were taken here."""
    with alone():
        found = {number: job(number) for number in first}
        while number := os.read(queue, 1):
            found[number[0]] = job(number[0])
    return found


def _work_and_end(job: Callable[[int], Result], queue: int, writing: int) -> None:
    """What the other process does: it sends all its results at once, and ends with 0 if it could."""
    status = 1
    try:
        with os.fdopen(writing, "wb") as results:
            results.write(pickle.dumps(_taken(job, (), queue)))
        status = 0
    finally:
        os._exit(status)
