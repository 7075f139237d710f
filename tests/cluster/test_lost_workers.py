"""Workers are killed in the middle of a fit: it ends with the same bits, or with an error that says why not."""

import os
import signal
import time

import dask
import dask.array as da
import numpy as np
import pytest
from cluster.processes import started
from cluster.tables import COLUMNS, PARTS, ROWS, array, at_pass, changing, fitted, quiet, rows, table
from distributed import Client, LocalCluster
from files.tables import plain

from separatrix import ClusterError, LogisticRegression
from separatrix.design import partitions_dask

pytestmark = pytest.mark.long  # starts processes: a step of its own

WORKERS = 6
MODEL = LogisticRegression(tol=1e-8)


@pytest.fixture(scope="module")
def mortal():
    with started(WORKERS) as (client, _):
        yield client


def kill(count):
    """SIGKILL to so many of the workers that hold partitions."""

    def act(cluster):
        homes = list(dict.fromkeys(home for home, _ in cluster._homes))[:count]
        for pid in cluster.client.run(os.getpid, workers=homes).values():
            os.kill(pid, signal.SIGKILL)

    return act


@pytest.mark.parametrize("count", [1, 2])
def test_the_fit_has_the_same_bits_after_workers_are_killed_at_the_third_pass(mortal, monkeypatch, count):
    X, y = table()
    with mortal.as_current():
        expected = plain(fitted(MODEL, X, y))
        workers = len(mortal.nthreads())
        with at_pass(3, monkeypatch, kill(count)):
            found = fitted(MODEL, X, y)
        assert plain(found) == expected
        assert found.certificate_.verify(X, y)
        assert len(mortal.nthreads()) == workers - count


def test_a_source_that_gives_other_rows_is_found_out(mortal, monkeypatch):
    _, y = table()
    with (
        mortal.as_current(),
        at_pass(3, monkeypatch, kill(1)),
        pytest.raises(ClusterError, match=r"Partition \d of X is not what it was .* a source that gives the same"),
    ):
        fitted(MODEL, array(changing), y)


def test_data_that_were_sent_to_a_lost_worker_are_gone(mortal, monkeypatch):
    _, y = table()
    sent = mortal.scatter([rows(i) for i in range(PARTS)])
    X = da.concatenate([da.from_delayed(part, (ROWS, COLUMNS), float) for part in sent])
    with (
        mortal.as_current(),
        at_pass(3, monkeypatch, kill(1)),
        pytest.raises(ClusterError, match=r"cannot be made again: .* read the data"),
    ):
        fitted(MODEL, X, y)


def test_without_workers_there_is_an_error_and_no_end_of_waiting(mortal, monkeypatch):
    X, y = table()
    model = fitted(MODEL, X, y)
    before = plain(model)
    assert partitions_dask.ALONE <= 30
    monkeypatch.setattr(partitions_dask, "ALONE", 2.0)
    killed = []

    def act(cluster):
        kill(WORKERS)(cluster)
        killed.append(time.monotonic())

    with (
        mortal.as_current(),
        at_pass(3, monkeypatch, act),
        pytest.raises(ClusterError, match="no worker for 2 seconds"),
    ):
        model.fit(X, y)
    assert time.monotonic() - killed[0] < 2.0 + 30  # within a minute of 30 seconds without workers, on a busy machine
    assert plain(model) == before


def test_a_client_that_closes_ends_the_fit(monkeypatch):
    X, y = table()
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster:
        client = Client(cluster, set_as_default=False)
        with (
            client.as_current(),
            at_pass(3, monkeypatch, lambda held: held.client.close()),
            pytest.raises(ClusterError, match="client was closed during the fit"),
        ):
            fitted(MODEL, X, y)


def test_a_cluster_that_is_restarted_ends_the_fit(monkeypatch):
    X, y = table()
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
        client.as_current(),
        at_pass(3, monkeypatch, lambda held: held.client.restart()),
        pytest.raises(ClusterError, match=r"cancelled, as by client\.restart"),
    ):
        fitted(MODEL, X, y)


def test_a_worker_of_another_version_is_named_before_anything_is_sent(client, monkeypatch):
    monkeypatch.setattr("separatrix.__version__", "9.9")
    with pytest.raises(ClusterError, match=r"Worker tcp://.* has not separatrix 9\.9, as here, but '"):
        fitted(MODEL, array(_absent), np.arange(ROWS * PARTS) % 2)


def test_a_worker_without_separatrix_is_named_too(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['separatrix'] = None\n")
    with (
        started(1, [str(tmp_path)]) as (client, _),
        client.as_current(),
        pytest.raises(ClusterError, match=r"Worker tcp://.* has not separatrix .*ModuleNotFoundError"),
    ):
        fitted(MODEL, array(_absent), np.arange(ROWS * PARTS) % 2)


def test_a_task_that_ends_its_workers_ends_the_fit():
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        started(2) as (client, _),
        client.as_current(),
        pytest.raises(ClusterError, match=r"lost again and again .* smaller"),
    ):
        fitted(MODEL, array(_deadly), np.arange(ROWS * PARTS) % 2)


def _deadly(i):
    if i == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return rows(i)


def test_a_cluster_that_is_closed_ends_the_fit(monkeypatch):
    quiet()
    X, y = table()
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0")
    with (
        Client(cluster, set_as_default=False) as client,
        client.as_current(),
        at_pass(3, monkeypatch, lambda _: cluster.close()),
        pytest.raises(ClusterError),
    ):
        fitted(MODEL, X, y)


def test_rows_that_cannot_be_made_are_an_error_of_their_source(client):
    with pytest.raises(FileNotFoundError, match=r"rows\.parquet"):
        fitted(MODEL, array(_absent), np.arange(ROWS * PARTS) % 2)


def _absent(i):
    raise FileNotFoundError("rows.parquet")
