"""Rows on the workers of a Dask cluster on this machine, two processes of one thread: fits beside those in process.

The data of a job are two numbers, rows and columns: workers make their partitions themselves, before the clock starts.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from benchmarks.adapters import package_version
from benchmarks.everyday.jobs import Action, Entry, Job
from benchmarks.problems import Source

PARTS = 8
PASSES = 50  # without work, in a row


def rows(number: int, n: int, d: int) -> Any:
    """Rows of a partition, normal numbers."""
    return np.random.default_rng([1, number]).standard_normal(size=(n, d))


def labels(number: int, n: int, d: int) -> Any:
    """Their labels, by a logistic model."""
    w = np.random.default_rng(0).normal(size=d) / np.sqrt(d)
    return (rows(number, n, d) @ w + np.random.default_rng([2, number]).logistic(size=n) > 0).astype(np.int64)


def partitions(n: int, d: int) -> tuple[Any, Any]:
    """X and y as arrays of Dask, in the memory of two workers that last as long as this process."""
    import dask
    import dask.array as da
    from distributed import Client, LocalCluster, wait

    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    client = Client(cluster)
    weakref.finalize(partitions, lambda: (client.close(), cluster.close()))
    m = n // PARTS
    X = [da.from_delayed(dask.delayed(rows)(i, m, d), (m, d), np.float64) for i in range(PARTS)]
    y = [da.from_delayed(dask.delayed(labels)(i, m, d), (m,), np.int64) for i in range(PARTS)]
    found: tuple[Any, Any] = client.persist((da.concatenate(X), da.concatenate(y)))
    wait(found)
    return found


def _model() -> Any:
    from separatrix import LogisticRegression

    return LogisticRegression(fit_intercept=False)


def on_workers(X: Any, y: Any) -> Action:
    """Fit where the rows are."""
    given = partitions(*map(int, X[0]))
    _model().fit(*given)  # workers import what they need when they first need it
    return lambda: (_model().fit(*given), given)


def in_process(X: Any, y: Any) -> Action:
    """The same rows in this process, by two threads."""
    from separatrix import set_threads

    set_threads(2)
    n, d = map(int, X[0])
    given = [np.concatenate([make(i, n // PARTS, d) for i in range(PARTS)]) for make in (rows, labels)]
    return lambda: (_model().fit(*given), given)


def dask_ml(solver: str, **how: Any) -> Any:
    """The same by Dask's own library."""

    def prepare(X: Any, y: Any) -> Action:
        from dask_ml.linear_model import LogisticRegression

        given = partitions(*map(int, X[0]))
        return lambda: (LogisticRegression(solver=solver, fit_intercept=False, C=1.0, **how).fit(*given), given)

    return prepare


def describe(result: Any, X: Any, y: Any) -> dict[str, Any]:
    """The objective, of the rows themselves."""
    model, (rows, t) = result
    coef = np.ravel(model.coef_)
    if hasattr(rows, "compute"):
        rows, t = rows.compute(), t.compute()
    loss = np.logaddexp(0.0, -(2.0 * t - 1.0) * (rows @ coef)).sum()
    return {"objectives": [float(loss + 0.5 * coef @ coef)]}


def _nothing(part: Any, first: int, pieces: Any) -> float:
    return 0.0


def empty_passes(X: Any, y: Any) -> Action:
    """Passes that do nothing: what it costs to call all partitions and to hear from them."""
    from separatrix.design.partitions_dask import held

    given = partitions(*map(int, X[0]))
    context = held(*given, None)
    found, _, _ = context.__enter__()

    return lambda: (found.call(_nothing, ()), context)


SIZES = Source("partitions", lambda s: (np.array([[s.rows(2_000_000), 50]]), np.array([0])))
SMALL = Source("small partitions", lambda s: (np.array([[s.rows(200_000), 20]]), np.array([0])))
RIVALS = {f"dask-ml, {name}": Entry(dask_ml(name), package="dask-ml") for name in ("lbfgs", "admm")}

JOBS = (
    Job(
        "2,000,000 x 50 on two workers",
        "dask",
        SIZES,
        {"separatrix": Entry(on_workers), "separatrix, in process": Entry(in_process)},
        describe,
        warm=False,
    ),
    Job(
        "200,000 x 20 on two workers",
        "dask",
        SMALL,
        {"separatrix": Entry(on_workers)} | (RIVALS if package_version("dask-ml") else {}),
        describe,
        warm=False,
    ),
    Job(
        f"an empty pass over {PARTS} partitions on two workers",
        "dask",
        SMALL,
        {"separatrix": Entry(empty_passes)},
        calls=PASSES,
        warm=False,
    ),
)
