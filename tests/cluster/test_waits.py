"""No wait is without end: results that are lost on their way, workers that are paused, fits that are tasks."""

import asyncio
from contextlib import contextmanager

import numpy as np
import pytest
from cluster.processes import started
from cluster.tables import COLUMNS, array, fitted, labels, rows
from distributed import Client, LocalCluster
from files.tables import plain

from separatrix import ClusterError, InvalidInputError, LogisticRegression
from separatrix.design import partitions_dask

pytestmark = pytest.mark.long  # starts processes: a step of its own

SHORT = 300
MODEL = LogisticRegression(tol=1e-8)


def _few(i):
    return rows(i, SHORT)


def _labels(i):
    return labels(i, SHORT)


def table():
    return array(_few, shape=(SHORT, COLUMNS)), array(_labels, shape=(SHORT,), dtype=int)


@contextmanager
def after_wait(number, monkeypatch, act):
    """Call ``act`` once so many waits have ended well, and before what was waited for is fetched."""
    waits, wait = [], partitions_dask._wait

    def waited(client, futures):
        wait(client, futures)
        waits.append(len(futures))
        if len(waits) == number:
            act()

    with monkeypatch.context() as patch:
        patch.setattr(partitions_dask, "_wait", waited)
        yield
    assert len(waits) >= number


def end(process):
    process.kill()
    process.wait()


def test_workers_may_die_between_any_two_steps(monkeypatch):
    X, y = table()
    expected = plain(fitted(MODEL, X, y))
    with started(3) as (client, (first, second, third)), client.as_current():
        with after_wait(9, monkeypatch, lambda: end(first)):  # its results are ready, and lost before they are fetched
            assert plain(fitted(MODEL, X, y)) == expected
        end(second)  # a moment ago: nobody may have noticed yet
        assert plain(fitted(MODEL, X, y)) == expected
        assert len(client.nthreads()) == 1
        monkeypatch.setattr(partitions_dask, "ALONE", 2.0)
        with (
            after_wait(9, monkeypatch, lambda: end(third)),
            pytest.raises(ClusterError, match="no worker for 2 seconds"),
        ):
            fitted(MODEL, X, y)


def test_workers_that_are_paused_for_good_end_the_fit(monkeypatch):
    """Less memory than Python needs: the worker takes tasks until it notices, and then none."""
    monkeypatch.setattr(partitions_dask, "ALONE", 2.0)
    with (
        started(1, options=["--memory-limit", "60MB"]) as (client, _),
        client.as_current(),
        pytest.raises(ClusterError, match=r"no worker for 2 seconds that takes tasks: .* more memory"),
    ):
        _fit_often()


def _fit_often():
    for _ in range(50):
        fitted(MODEL, *table())


def test_a_fit_may_be_a_task_of_the_only_thread():
    """It lends its thread to the partitions, which could else wait for it for ever; so does its check."""
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        for model in (MODEL, LogisticRegression(C=np.inf)):
            assert client.submit(_fit_and_check, model).result(timeout=120) == (plain(fitted(model, *table())), True)


def _fit_and_check(model):
    X, y = table()
    found = fitted(model, X, y)
    return plain(found), bool(found.certificate_.verify(X, y))


def test_an_asynchronous_client_is_told_of():
    async def fit():
        async with (
            LocalCluster(
                n_workers=1, threads_per_worker=1, processes=False, asynchronous=True, dashboard_address=":0"
            ) as cluster,
            Client(cluster, asynchronous=True),
        ):
            fitted(MODEL, *table())

    with pytest.raises(ClusterError, match="asynchronous"):
        asyncio.run(fit())


def test_the_error_is_that_of_the_first_partition_that_is_wrong(client):
    for _ in range(3):
        with pytest.raises(InvalidInputError, match="Partition 1 of X is not numeric"):
            fitted(MODEL, array(_strange, shape=(SHORT, COLUMNS)), np.arange(7 * SHORT) % 2)


def _strange(i):
    return _few(i) if i == 0 else np.full((SHORT, COLUMNS), "x")
