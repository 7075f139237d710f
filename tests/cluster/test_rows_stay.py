"""The rows stay where they are: what a fit and a check fetch of them is a small sample."""

from contextlib import contextmanager

import dask.array as da
import numpy as np
import pytest
from cluster.tables import COLUMNS, PARTS, ROWS, array, fitted, labels, rows, table
from scipy import sparse

from separatrix import LinearSVC, LogisticRegression, Perceptron
from separatrix.design import parts
from separatrix.design.partitions import Partitions
from separatrix.design.partitions_dask import Cluster

pytestmark = pytest.mark.long  # starts processes: a step of its own

N = ROWS * PARTS
LONG = 30_000  # rows of a partition, of which a sample is a small part
MODELS = [
    LogisticRegression(),
    LogisticRegression(l1_ratio=1, C=0.01),
    LogisticRegression(l1_ratio=0.5, C=0.01),
    LinearSVC(),
    LinearSVC(loss="squared_hinge"),
]


def _dense(i):
    return rows(i, LONG)


def _sparse(i):
    return sparse.csr_matrix(np.where(np.abs(rows(i, LONG)) > 3, rows(i, LONG), 0.0))


@contextmanager
def watched(monkeypatch):
    """What partitions are asked for: {"rows": how many come here, "checks": where those were that a check asked}."""
    seen, call, submit = {"rows": 0, "checks": []}, Partitions.call, Cluster._submit

    def called(self, fn, given, *args, **how):
        found = call(self, fn, given, *args, **how)
        if fn is parts.rows_of:
            seen["rows"] += sum(part.shape[0] for part in found)
        return found

    def submitted(self, fn, home, numbers, *args):
        if args and args[-1].fn is parts.each:
            seen["checks"].append(home)
        return submit(self, fn, home, numbers, *args)

    with monkeypatch.context() as patch:
        patch.setattr(Partitions, "call", called)
        patch.setattr(Cluster, "_submit", submitted)
        yield seen


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("make", [_dense, _sparse])
def test_a_fit_and_its_check_fetch_no_more_than_a_sample(client, monkeypatch, model, make):
    X = array(make, shape=(LONG, COLUMNS))
    y = array(lambda i: labels(i, LONG), shape=(LONG,), dtype=int)
    with watched(monkeypatch) as seen:
        found = fitted(model, X, y)
    hinge = getattr(model, "loss", "") == "hinge"  # its method works on the rows near the margin, which come here
    assert seen["rows"] < LONG * PARTS / (2 if hinge else 6)
    assert found.certificate_.in_sums
    with watched(monkeypatch) as seen:
        assert found.certificate_.verify(X, y)
    assert seen["rows"] < LONG * PARTS / 6
    assert set(seen["checks"]) == set(client.scheduler_info(n_workers=-1)["workers"])


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_check_by_workers_refuses_what_a_check_here_refuses(client, model):
    X, y = table()
    found = fitted(model, X, y).certificate_
    last = da.arange(N, chunks=ROWS)[:, None] >= N - 30  # in the last partition, some rows on the other side
    assert not found.verify(da.where(last, -100 * X, X), y)
    assert not found.verify(X, da.where(da.arange(N, chunks=ROWS) < N // 10, 1 - y, y))
    assert not found.verify(X, y, np.where(np.arange(N) % 7, 1.0, 1.5))


@pytest.mark.parametrize("model", [MODELS[0], MODELS[1], MODELS[4]], ids=str)
def test_workers_look_for_what_is_no_number(client, model):
    X = array(_dense, shape=(LONG, COLUMNS))
    y = array(lambda i: labels(i, LONG), shape=(LONG,), dtype=int)
    found = fitted(model, X, y).certificate_
    last = da.arange(LONG * PARTS, chunks=LONG)[:, None] == LONG * PARTS - 1
    with pytest.raises(ValueError, match="X contains NaN or infinity"):
        found.verify(da.where(last, np.nan, X), y)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_figures_are_those_of_rows_in_memory(client, model):
    X, y = table()
    found = fitted(model, X, y).certificate_
    there, here = found.verify(X, y), found.verify(X.compute(), y.compute())
    assert [check.name for check in there.checks] == [check.name for check in here.checks]
    for one, other in zip(there.checks, here.checks, strict=True):
        assert one.figure == pytest.approx(other.figure, abs=1e-3 * found.tol * max(1.0, found.primal))


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("make", [_dense, _sparse])
def test_the_weights_of_a_perceptron_go_to_the_rows_in_their_order(client, monkeypatch, make, average):
    model = Perceptron(max_iter=3, average=average)
    X = array(make, shape=(LONG, COLUMNS))
    y = array(lambda i: labels(i, LONG), shape=(LONG,), dtype=int)
    with watched(monkeypatch) as seen:
        found = fitted(model, X, y)
    assert seen["rows"] < LONG * PARTS / 6
    expected = fitted(
        model, sparse.vstack([make(i) for i in range(PARTS)]) if make is _sparse else X.compute(), y.compute()
    )
    assert np.array_equal(found.coef_, expected.coef_)
    assert np.array_equal(found.intercept_, expected.intercept_)
    assert np.array_equal(found.dual_coef_, expected.dual_coef_)
    assert found.n_iter_ == expected.n_iter_


def test_a_perceptron_with_an_offset_and_unfinished_passes_is_that_in_memory(client):
    X, y = table()
    model = Perceptron(max_iter=2, eta0=0.3, tol=None)
    weight = np.linspace(0.5, 2.0, N)
    found, expected = fitted(model, X, y, weight), fitted(model, X.compute(), y.compute(), weight)
    assert np.array_equal(found.coef_, expected.coef_)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_rows_of_weight_0_are_left_out_of_a_check(client, model):
    X, y = table()
    weight = np.where(np.arange(N) % 5, 1.0, 0.0)
    found = fitted(model, X.compute(), y.compute(), weight).certificate_
    assert found.verify(X, y, weight)
    assert not found.verify(X, y)
