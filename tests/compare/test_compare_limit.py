"""The alarm that stops a fit."""

import os
import signal
import threading
import time

import pytest

from separatrix.compare.limit import within

pytestmark = pytest.mark.skipif(os.name != "posix", reason="there are no alarms elsewhere")


def endless():
    while True:
        try:
            time.sleep(0.01)
        except Exception:  # what a library may do, and must not keep the alarm from getting through
            continue


def test_work_is_stopped_and_the_alarm_is_as_it_was():
    before = signal.getsignal(signal.SIGALRM)
    started = time.monotonic()
    with pytest.raises(TimeoutError), within(0.1):
        endless()
    assert 0.1 <= time.monotonic() - started < 2
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_what_ends_in_time_ends_as_it_would_and_no_alarm_comes_later(error):
    with pytest.raises(error), within(0.05):
        raise error
    with within(0.05):
        pass
    time.sleep(0.1)


def test_an_alarm_of_somebody_else_is_left_alone():
    rang = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rang.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with within(0.01):
            time.sleep(0.3)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert rang == [signal.SIGALRM]


def test_another_thread_has_no_limit_and_no_error():
    ended = []

    def work():
        with within(0.01):
            time.sleep(0.05)
        ended.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ended == [True]
