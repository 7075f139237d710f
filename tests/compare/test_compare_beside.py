"""Jobs shared with a fork: the same results as one process has, whatever becomes of the other."""

import os
import signal
import time

import pytest

from separatrix.compare.beside import shared

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")


@pytest.fixture(autouse=True)
def nothing_left(monkeypatch):
    """No process and no pipe is left behind."""
    forks, opened, closed = [], [], []
    fork, pipe, close = os.fork, os.pipe, os.close
    monkeypatch.setattr(os, "fork", lambda: forks.append(fork()) or forks[-1])
    monkeypatch.setattr(os, "pipe", lambda: opened.extend(ends := pipe()) or ends)
    monkeypatch.setattr(os, "close", lambda end: closed.append(end) or close(end))
    yield
    assert forks
    for other in forks:
        with pytest.raises(ProcessLookupError):
            os.kill(other, 0)
    assert sorted(opened) == sorted(closed)


def slow_square(number):
    time.sleep(0.05)
    return number * number, os.getpid()


def test_both_work_and_the_order_is_kept():
    found = shared(slow_square, 12)
    assert [square for square, _ in found] == [number * number for number in range(12)]
    assert len({process for _, process in found}) == 2
    assert shared(slow_square, 0) == []


@pytest.mark.parametrize("end", [lambda: os.kill(os.getpid(), signal.SIGKILL), lambda: 1 / 0])
def test_what_the_other_does_not_give_back_is_done_here(end):
    here = os.getpid()

    def job(number):
        if os.getpid() != here:
            end()
        return slow_square(number)

    assert shared(job, 6) == [(number * number, here) for number in range(6)]


def test_what_cannot_travel_is_done_here():
    found = shared(lambda number: (slow_square(number), lambda: number), 4)
    assert [function() for _, function in found] == [0, 1, 2, 3]


def test_an_error_is_raised_here():
    def job(number):
        time.sleep(0.02)
        raise ValueError(f"job {number}")

    with pytest.raises(ValueError, match=r"job \d"):
        shared(job, 4)


def test_ctrl_c_ends_both():
    here = os.getpid()

    def job(number):
        if os.getpid() == here:
            time.sleep(0.1)
            raise KeyboardInterrupt
        time.sleep(60)

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        shared(job, 4)
    assert time.monotonic() - began < 30
