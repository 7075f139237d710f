"""Partitions that workers make themselves, the same each time; and how a fit is watched."""

import logging
import warnings
from contextlib import contextmanager

import dask
import dask.array as da
import numpy as np
from scipy import sparse
from sklearn.base import clone

from separatrix.design import parts
from separatrix.design.partitions_dask import Cluster

ROWS, COLUMNS, PARTS = 3000, 6, 7


def rows(i, n=ROWS):
    """Partition i: columns of other sizes, one of them far from the origin."""
    return np.random.default_rng(i).normal(size=(n, COLUMNS)) * np.arange(1, COLUMNS + 1) + [0, 0, 1e4, 0, 0, 0]


def labels(i, n=ROWS):
    x = rows(i, n)
    return (x[:, 0] - 0.5 * x[:, 1] + np.random.default_rng(100 + i).logistic(size=n) > 0).astype(int)


def in_csr(i):
    return sparse.csr_matrix(np.where(np.abs(rows(i)) > 3, rows(i), 0.0))


def changing(i):
    """Other rows each time."""
    return np.random.default_rng().normal(size=(ROWS, COLUMNS))


def array(make=rows, count=PARTS, shape=(ROWS, COLUMNS), dtype=float):
    return da.concatenate([da.from_delayed(dask.delayed(make)(i), shape, dtype) for i in range(count)])


def table():
    return array(), array(labels, shape=(ROWS,), dtype=int)


def fitted(model, X, y, weight=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(X, y, weight)


@contextmanager
def at_pass(number, monkeypatch, act):
    """Call ``act(cluster)`` once the tasks of this pass over all rows are on their way to the workers."""
    call, results, passes = Cluster.call, Cluster._results, []

    def called(self, orders, job):
        self.sweeping = job.fn is parts.swept
        return call(self, orders, job)

    def watched(self, futures):
        if getattr(self, "sweeping", False):
            passes.append(len(futures))
            if len(passes) == number:
                act(self)
        return results(self, futures)

    with monkeypatch.context() as patch:
        patch.setattr(Cluster, "call", called)
        patch.setattr(Cluster, "_results", watched)
        yield
    assert len(passes) >= number


def quiet():
    """Workers that are killed on purpose need not be told of."""
    for name in ("nanny", "worker", "scheduler", "core", "client", "comm"):
        logging.getLogger(f"distributed.{name}").setLevel(logging.CRITICAL)
