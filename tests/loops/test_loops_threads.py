"""Our threads: how many, in which order results come, and that they give way to others."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from interrupting import interrupted_at

import separatrix
from separatrix import InvalidInputError
from separatrix.loops import threads

pytestmark = pytest.mark.usefixtures("many_cores")
ENVIRONMENT = ("SEPARATRIX_NUM_THREADS", "OMP_NUM_THREADS")


@pytest.fixture(autouse=True)
def as_before(monkeypatch):
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)
    yield
    separatrix.set_threads(None)


def run(code, **environment):
    """Run code in a fresh interpreter, and give what it prints."""
    inherited = {name: value for name, value in os.environ.items() if name not in ENVIRONMENT}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        env={**inherited, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


# ---------------------------------------------------------------------- how many
def test_the_environment_and_set_threads_say_how_many(monkeypatch):
    cores = threads.count()
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert threads.count() == 1
    monkeypatch.setenv("SEPARATRIX_NUM_THREADS", str(cores + 5))  # said of us alone, so it counts more
    assert threads.count() == cores + 5
    separatrix.set_threads(3)
    assert threads.count() == 3
    separatrix.set_threads(np.int64(16))
    assert threads.count() == 16
    separatrix.set_threads(None)
    assert threads.count() == cores + 5


@pytest.mark.parametrize("number", [0, -1, 1.5, "2", [2]])
def test_what_is_no_number_of_threads_is_refused(number):
    separatrix.set_threads(3)
    with pytest.raises(InvalidInputError, match="at least 1"):
        separatrix.set_threads(number)
    assert threads.count() == 3


@pytest.mark.parametrize("number", ["0", "-1", "many", "1.5"])
def test_a_variable_that_is_no_number_is_named(number, monkeypatch):
    monkeypatch.setenv("SEPARATRIX_NUM_THREADS", number)
    with pytest.raises(InvalidInputError, match="SEPARATRIX_NUM_THREADS"):
        threads.count()


def test_no_more_threads_work_than_there_are_cores(monkeypatch):
    """More of them would only take turns, and starting each takes as long as a small chunk."""
    separatrix.set_threads(16)
    for cores in (1, 2, 3):
        monkeypatch.setattr(threads, "cores", lambda cores=cores: cores)
        at_work = set(threads.over(range(60), lambda _: time.sleep(0.001) or threading.get_ident()))
        assert len(at_work) == cores


def test_as_many_threads_work_as_were_asked_for():
    for number in (1, 2, 5):
        separatrix.set_threads(number)
        meeting = threading.Barrier(number)  # passed only if so many are at it together
        assert threads.over(range(number), lambda i, meeting=meeting: meeting.wait(20) >= 0) == [True] * number


# ---------------------------------------------------------------------- what comes back
@pytest.mark.parametrize("number", [1, 2, 5, 16])
def test_results_are_in_the_order_of_the_chunks(number):
    separatrix.set_threads(number)

    def slow_at_first(i):
        time.sleep(0.02 if i == 0 else 0.0)
        return i * i

    assert threads.over(range(40), slow_at_first) == [i * i for i in range(40)]
    assert threads.over([], slow_at_first) == []


@pytest.mark.parametrize("number", [1, 4])
def test_the_first_error_is_raised_and_no_one_works_after_it(number):
    separatrix.set_threads(number)
    ended = []

    def work(i):
        time.sleep(0.01)
        ended.append(i)
        if i in (3, 5):
            raise ZeroDivisionError(f"in chunk {i}")

    with pytest.raises(ZeroDivisionError, match="in chunk 3"):
        threads.over(range(100), work)
    at_once = len(ended)
    time.sleep(0.1)
    assert len(ended) == at_once <= 4 + 2 * number


def test_ctrl_c_at_any_instruction_leaves_a_pool_that_works(monkeypatch):
    monkeypatch.setattr(threads, "cores", lambda: 3)
    separatrix.set_threads(3)
    working, helped = set(), set()

    def work(chunk):
        working.add(chunk)
        time.sleep(2e-4)
        helped.add(threading.get_ident())
        working.discard(chunk)
        return -chunk

    def other(ended):
        ended.append(threads.over(range(6), work))

    step = 0
    while interrupted_at(step, [threads], lambda: threads.over(range(6), work)):
        assert not working, f"a helper works on after Ctrl-C at call {step}"
        assert not threads._here.working, f"after Ctrl-C at call {step} this thread has no helpers any more"
        step += 1
        ended = []
        later = threading.Thread(target=other, args=(ended,), daemon=True)
        later.start()
        later.join(20)
        assert ended == [[0, -1, -2, -3, -4, -5]], f"after Ctrl-C at call {step - 1} no one ends"
    separatrix.set_threads(None)
    assert step > 30  # it did come at many of them
    assert len(helped) > 2  # and there were helpers


def test_helpers_ignore_overflow_where_the_caller_does():
    separatrix.set_threads(3)
    meeting = threading.Barrier(3)

    def overflow(_):
        meeting.wait(20)
        return np.float64(1e300) * np.float64(1e300)

    with np.errstate(all="ignore"):
        assert threads.over(range(3), overflow) == [np.inf] * 3


def test_chunks_within_chunks_run_in_their_thread():
    separatrix.set_threads(2)

    def outer(i):
        return {threading.get_ident(), *threads.over(range(8), lambda _: threading.get_ident())}

    assert [len(idents) for idents in threads.over(range(6), outer)] == [1] * 6


def test_a_fit_does_not_wait_for_helpers_that_are_busy():
    separatrix.set_threads(2)
    release, at_work = threading.Event(), threading.Barrier(3)

    def hold(_):
        at_work.wait(20)
        release.wait(20)

    other = threading.Thread(target=threads.over, args=(range(2), hold))
    other.start()
    at_work.wait(20)  # both the other caller and the one helper are held now
    try:
        assert threads.over(range(5), lambda i: i) == list(range(5))
    finally:
        release.set()
        other.join(20)


# ---------------------------------------------------------------------- other processes
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_has_threads_of_its_own():
    code = """
import os, threading, separatrix
from separatrix.loops import threads
threads.cores = lambda: 3
separatrix.set_threads(3)
def together():
    meeting = threading.Barrier(3)
    return threads.over(range(3), lambda i: meeting.wait(20) >= 0)
def forks(_=None):
    child = os.fork()
    if child == 0:
        os._exit(0 if together() == [True] * 3 else 1)
    return os.waitpid(child, 0)[1]
assert together() == [True] * 3
assert forks() == 0
assert threads.over(range(3), forks) == [0] * 3  # and one that is forked in the middle of a chunk
"""
    run(code)


def test_workers_of_joblib_share_the_cores():
    code = """
import os
from joblib import Parallel, delayed
def count(told):
    from separatrix.loops import threads
    os.environ["SEPARATRIX_NUM_THREADS"] = told
    return threads.count()
print(count("64"), *Parallel(n_jobs=2)(delayed(count)(told) for told in ("64", "64", "", "")))
"""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    here, *workers = map(int, run(code))
    assert here == 64
    assert workers == [max(1, cores // 2)] * 4
