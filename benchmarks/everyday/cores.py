"""What threads bring: passes, fits and kernel rows beside the speed at which memory is read, and the lock's share."""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Thread
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks import generate
from benchmarks.everyday.jobs import Action, Entry, Job, fitting, model
from benchmarks.problems import Source

CALLS = 20  # of a pass, which takes milliseconds
STEPS = 4_000_000  # of a Python loop, some tenths of a second
KERNEL_ROWS = 256
MOST_THREADS = 16
THREADS = tuple(n for n in (1, 2, 4, 8, 16, 32, 64) if n <= max(MOST_THREADS, os.cpu_count() or 1))

Prepare = Callable[[Any, Any], Action]


def _pass(X: Any, y: Any) -> Action:
    """Value and gradient of logistic regression."""
    from separatrix.design import as_design
    from separatrix.losses import Logistic
    from separatrix.penalties import Ridge
    from separatrix.problems.risk import Risk
    from separatrix.problems.scored import TwoClasses
    from separatrix.targets import Targets

    n, d = X.shape
    targets = Targets(np.arange(2), (y > 0).astype(np.intp))
    risk = Risk(TwoClasses(Logistic()), Ridge(np.ones(d + 1)), as_design(X), targets, np.ones(n))
    V = np.random.default_rng(0).normal(size=(d + 1, 1)) / d
    return lambda: risk.value_and_gradient(V)


def _reading(X: Any, y: Any) -> Action:
    """Every number of X once, and next to nothing done with it: x.x of pieces that do not fit into a cache."""
    from separatrix.loops import threads

    flat = X.ravel()
    pieces = np.array_split(flat, max(MOST_THREADS, flat.nbytes >> 22))

    def read() -> float:
        with threads.single_threaded_blas():
            return float(sum(threads.over(pieces, lambda piece: piece @ piece)))

    return read


def _kernel_rows(X: Any, y: Any) -> Action:
    from separatrix.kernels import KernelRows, Rbf
    from separatrix.solvers.kernel_columns import KernelColumns

    columns = KernelColumns.of(KernelRows(Rbf(gamma=0.1), X, np.float32), 1.0, np.float32)
    rows, table = np.arange(min(KERNEL_ROWS, len(X))), np.empty((KERNEL_ROWS, len(X)), dtype=np.float32)
    return lambda: columns.fill(rows, table, rows)


def on(threads: int, prepare: Prepare) -> Prepare:
    """The same with so many threads."""

    def prepared(X: Any, y: Any) -> Action:
        from separatrix import set_threads

        set_threads(threads)
        return prepare(X, y)

    return prepared


def _with_threads(prepare: Prepare, reading: bool = True) -> dict[str, Entry]:
    """The first entry is ours on one thread; the ratio of a reading is the share of its speed that we reach."""
    words = {n: "1 thread" if n == 1 else f"{n} threads" for n in THREADS}
    ours = {f"separatrix, {words[n]}": Entry(on(n, prepare)) for n in THREADS}
    read = {f"reading X, {words[n]}": Entry(on(n, _reading)) for n in THREADS} if reading else {}
    return ours | read


def _counting() -> float:
    started = perf_counter()
    for _ in range(STEPS):
        pass
    return perf_counter() - started


def _beside(prepare: Prepare) -> Prepare:
    """A Python loop in this thread, while another does the action again and again."""

    def prepared(X: Any, y: Any) -> Action:
        action = on(1, prepare)(X, y)

        def count() -> float:
            done = False

            def work() -> None:
                while not done:
                    action()

            other = Thread(target=work)
            other.start()
            try:
                return _counting()
            finally:
                done = True
                other.join()

        return count

    return prepared


def _spin(X: Any, y: Any) -> Action:
    """A C loop that holds no lock, as long as a pass: Rosenblatt's rule over rows that are all right."""
    from separatrix.loops.online import begun, online_dense

    n, d = X.shape
    rows, w = np.ones((n, d)), np.ones(d + 1)
    alpha, counts = np.zeros(n, dtype=np.int64), begun()

    def spin() -> int:
        counts[:] = begun()
        return int(
            online_dense(
                rows,
                d,
                1.0,
                np.ones(n),
                None,
                0.0,
                None,
                0,
                n,
                1,
                w,
                alpha,
                None,
                0,
                None,
                None,
                0,
                counts,
                None,
                1 << 62,
            )
        )

    return spin


def seconds(result: Any, X: Any, y: Any) -> dict[str, Any]:
    """Of the Python loop alone: the job's own time includes the end of the other thread's work."""
    return {"counting, ms": 1e3 * float(result)}


def _source(n: int, d: int) -> Source:
    return Source(f"cores-{n // 1000}k-{d}", lambda s: generate.independent(s.rows(n), d))


TALL, MIDDLE, POINTS = _source(200_000, 100), _source(40_000, 500), _source(20_000, 50)

JOBS = (
    Job("pass of logistic regression, 200,000 x 100", "cores", TALL, _with_threads(_pass), calls=CALLS),
    Job("pass of logistic regression, 40,000 x 500", "cores", MIDDLE, _with_threads(_pass), calls=CALLS),
    Job(
        "LogisticRegression, 200,000 x 100",
        "cores",
        TALL,
        _with_threads(fitting(model("separatrix.LogisticRegression")), reading=False),
    ),
    Job(
        "LinearSVC, 200,000 x 100",
        "cores",
        TALL,
        _with_threads(fitting(model("separatrix.LinearSVC")), reading=False),
    ),
    Job(f"{KERNEL_ROWS} rows of an rbf kernel, 20,000 x 50", "cores", POINTS, _with_threads(_kernel_rows, False)),
    Job(
        "a Python loop beside one thread of passes",
        "cores",
        TALL,
        {"separatrix": Entry(_beside(_pass)), "a C loop": Entry(_beside(_spin))},
        seconds,
    ),
)
