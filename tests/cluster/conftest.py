"""Clusters of processes on this machine; where there is no Dask, there are no tests of it."""

import faulthandler
from importlib.util import find_spec

import pytest

if find_spec("distributed") is None:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(autouse=True)
def ending():
    """A test that waits for ever, for a cluster that never answers, ends with what all threads are at."""
    faulthandler.dump_traceback_later(900, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(scope="session")
def two_workers():
    """A client of two workers, which is current only in ``with client.as_current()``."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def client(two_workers):
    with two_workers.as_current():
        yield two_workers
