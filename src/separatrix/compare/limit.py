"""A fit that is stopped when its time is over, where the system has alarms."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class _TimeOverError(BaseException):
    """Not an Exception, so that nothing on the way takes it for an error of its own."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise TimeoutError once so many seconds are over: like Ctrl-C, between two steps of Python, not within one.

    Without alarms (Windows, a thread other than the main one, or an alarm set by somebody else) there is no limit.
    """
    able = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if not able or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield
        return
    before = signal.signal(signal.SIGALRM, _stop)
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3))
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except _TimeOverError:  # once at most, and possibly while the alarm was being cleared
        raise TimeoutError from None
    finally:
        signal.signal(signal.SIGALRM, before)


def _stop(number: int, frame: FrameType | None) -> None:
    raise _TimeOverError
