"""A fit to rows on workers: the partitions decide every bit, who holds them none."""

import gc
import json
import subprocess
import sys
import time

import dask.array as da
import numpy as np
import pytest
from cluster.tables import COLUMNS, PARTS, ROWS, array, at_pass, fitted, in_csr, labels, rows, table
from distributed import Client, LocalCluster, futures_of
from files.tables import plain

from separatrix import (
    SVC,
    Cascade,
    GaussianNB,
    HardMarginSVC,
    InvalidInputError,
    KernelPerceptron,
    Kozinec,
    LeastSquaresClassifier,
    LinearSVC,
    LogisticRegression,
    LogisticRegressionCV,
    MinimumErrorClassifier,
    NaiveBayes,
    NearestCentroid,
    Perceptron,
    PocketPerceptron,
    RidgeClassifier,
    logistic_path,
    mistake_bound,
    separability,
)
from separatrix.design import partitions, parts
from separatrix.design.partitions_dask import Cluster, held
from separatrix.features import Polynomial
from separatrix.loops import library

pytestmark = pytest.mark.long  # starts processes: a step of its own

MODELS = [
    LogisticRegression(tol=1e-8),
    LogisticRegression(C=np.inf),
    LogisticRegression(l1_ratio=1, C=0.01),
    LogisticRegression(class_weight="balanced", solver="lbfgs"),
    LinearSVC(),
    LinearSVC(loss="squared_hinge"),
    NaiveBayes(),
    GaussianNB(),
    NearestCentroid(),
    LeastSquaresClassifier(),
    Perceptron(max_iter=2),
    Kozinec(max_iter=3),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_workers_and_threads_give_the_same_bits_and_a_certificate_that_holds(model, two_workers):
    X, y = table()
    here = fitted(model, X, y)
    with two_workers.as_current():
        there = fitted(model, X, y)
        assert plain(there) == plain(here)
        if there.certificate_ is not None:
            assert there.certificate_.verify(X, y)
            assert not there.certificate_.verify(X, da.where(X[:, 0] > 0, 1 - y, y))


def test_one_two_and_three_workers_give_the_same_bits(two_workers):
    X, y = table()
    expected = plain(fitted(LogisticRegression(tol=1e-8), X, y))
    for n in (1, 3):
        with LocalCluster(n_workers=n, threads_per_worker=n, dashboard_address=":0") as cluster, Client(cluster):
            assert plain(fitted(LogisticRegression(tol=1e-8), X, y)) == expected
    with two_workers.as_current():
        assert plain(fitted(LogisticRegression(tol=1e-8), X, y)) == expected


@pytest.mark.parametrize("model", [LogisticRegression(), NaiveBayes(), LeastSquaresClassifier()], ids=str)
def test_one_large_partition_is_the_fit_in_memory(model):
    X, y = rows(0, 120_000), labels(0, 120_000)
    found = fitted(model, da.from_array(X, chunks=X.shape), da.from_array(y, chunks=y.shape))
    expected = fitted(model, X, y)
    scores = [each.decision_function(X[:100]) for each in (found, expected)]
    assert np.array_equal(*scores)


def test_the_optimum_is_that_of_the_rows_in_memory(client):
    X, y = table()
    weight = da.random.RandomState(0).uniform(0.5, 2.0, size=len(y), chunks=ROWS).persist()
    found = fitted(LogisticRegression(tol=1e-8), X, y, weight)
    expected = fitted(LogisticRegression(tol=1e-8), X.compute(), y.compute(), weight.compute())
    assert found.certificate_.primal == pytest.approx(expected.certificate_.primal, rel=2e-8)
    assert found.certificate_.verify(X, y, weight)
    assert found.certificate_.verify(X.compute(), y.compute(), weight.compute())
    assert not found.certificate_.verify(X, y)


def test_labels_and_weights_of_numpy_are_as_good(client):
    X, y = table()
    weight = np.linspace(0.5, 2.0, len(y))
    found = fitted(LogisticRegression(), X, y.compute(), weight)
    assert plain(found) == plain(fitted(LogisticRegression(), X, y, da.from_array(weight, chunks=5000)))


def test_sparse_blocks_stay_sparse(client):
    X, (_, y) = array(in_csr), table()
    for model in (LogisticRegression(), NaiveBayes(), LinearSVC(loss="squared_hinge")):
        found = fitted(model, X, y)
        assert found.certificate_.verify(X, y)
    with held(X, y, None) as (rows, _, _):
        assert rows.sparse
        assert rows.nnz == sum(in_csr(i).nnz for i in range(PARTS))


def test_a_pass_sends_weights_of_the_model_and_gets_sums(client, monkeypatch):
    """Labels and weights go once; of the rows no more comes back than a sample."""
    sent, taken, before = [], [], partitions.Partitions._asked

    def asked(self, places, rows, keys, job):
        orders = {}
        call = self._holder.call

        def watched(given, job):
            orders.update(given)
            return call(given, job)

        monkeypatch.setattr(self._holder, "call", watched)
        found = before(self, places, rows, keys, job)
        monkeypatch.setattr(self._holder, "call", call)
        sent.append(
            sum(piece[1].values.nbytes for order in orders.values() for piece in order.rows if piece and piece[1])
        )
        if job.fn is parts.rows_of:
            taken.append(sum(part.shape[0] for part in found.values()))
        return found

    monkeypatch.setattr(partitions.Partitions, "_asked", asked)
    n = 20_000 * PARTS
    X = array(lambda i: rows(i, 20_000), shape=(20_000, COLUMNS))
    y = array(lambda i: labels(i, 20_000), shape=(20_000,), dtype=int)
    found = fitted(LogisticRegression(solver="lbfgs"), X, y)
    assert len(sent) > 5
    assert n < sum(sent) <= (1 + 1) * n + 8 * PARTS  # codes, as compiled passes and as blocks read them; one weight
    assert sum(taken) < n / 100
    assert found.status_.name == "CERTIFIED"


@pytest.mark.parametrize(
    "array",
    [
        np.ones(5),
        np.array([0.0, -0.0]),
        np.array([-0.0, 1.0, -0.0]),
        np.full(4, np.nan),
        np.array([1, -128, 127]),
        np.array([[300, -2], [3, 4]]),
        np.array([2**62, -1]),
        np.array([2**63], dtype=np.uint64),
        np.array([True, False]),
        np.zeros((0,)),
        np.arange(12.0).reshape(6, 2)[::2],
    ],
    ids=str,
)
def test_what_is_sent_arrives_as_it_was(array):
    packed = parts.Packed.of(array)
    found = packed.array()
    assert found.dtype == array.dtype
    assert found.shape == array.shape
    assert found.tobytes() == array.tobytes()
    assert found.flags.c_contiguous
    assert packed.values.nbytes <= array.nbytes
    assert parts.Packed.of(np.ones(1000)).values.nbytes == 8
    assert parts.Packed.of(np.arange(100)).values.nbytes == 100


@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (3000, 6), (70_000, 5), (40, 9000)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
def test_a_partition_is_looked_through_once_for_its_mark_and_the_ends_of_columns(shape, dtype):
    X = (1000 * np.random.default_rng(0).normal(size=shape)).astype(dtype)
    part = parts.load(X, 0)
    assert np.array_equal(part.ends, [X.min(axis=0), X.max(axis=0)])
    for row, column in ((0, 0), (shape[0] - 1, shape[1] - 1), (shape[0] // 2, shape[1] // 2)):
        other = X.copy()
        other[row, column] += 1
        assert parts.load(other, 0).fingerprint != part.fingerprint
    assert parts.load(X.copy(), 0).fingerprint == part.fingerprint


def test_an_array_that_changed_in_place_is_sent_again(client):
    X, y = table()
    with held(X, y, None) as (rows, _, _):
        values = np.arange(float(len(y)))
        first = rows.call(_sum, (values,))
        values[-1] += 1.0
        second = rows.call(_sum, (values,))
    assert second[-1] == first[-1] + 1.0
    assert second[:-1] == first[:-1]


def _sum(part, first, pieces):
    return float(pieces[0].sum())


def test_everything_is_freed_at_the_end_and_after_an_interrupt(client, monkeypatch):
    X, y = table()
    model = fitted(LogisticRegression(), X, y)
    before = plain(model)
    _wait_until_free(client)

    def interrupt(_):
        raise KeyboardInterrupt

    with at_pass(3, monkeypatch, interrupt), pytest.raises(KeyboardInterrupt):
        model.set_params(C=0.1).fit(X, y)
    assert plain(model) == before
    _wait_until_free(client)


def test_labels_are_freed_after_a_long_wait_though_nobody_collects_garbage(client, monkeypatch):
    """Dask's own error of a wait that was too long keeps what was waited for alive; labels that are kept stay."""
    X, y = table()
    kept = da.random.RandomState(0).uniform(0.5, 2.0, size=len(y), chunks=ROWS).persist()
    _wait_until_free(client, besides=kept)
    monkeypatch.setattr("separatrix.design.partitions_dask.POLL", 1e-4)
    gc.disable()
    try:
        fitted(NaiveBayes(), X, y, kept)
        _wait_until_free(client, besides=kept)
        assert np.isfinite(kept.sum().compute())
    finally:
        gc.enable()


def _wait_until_free(client, besides=()):
    own = {future.key for future in futures_of(besides)} if len(besides) else set()
    for _ in range(1200):
        if {key for keys in client.has_what().values() for key in keys} <= own:
            return
        time.sleep(0.05)
    raise AssertionError(client.has_what())


def test_predictions_are_lazy_collections(client):
    X, y = table()
    model = fitted(LogisticRegression(), X, da.where(y == 1, "yes", "no"))
    Xn = X.compute()
    for method in ("predict", "decision_function", "predict_proba", "predict_log_proba", "signed_distance"):
        found = getattr(model, method)(X)
        expected = getattr(model, method)(Xn)
        assert isinstance(found, da.Array)
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        assert np.array_equal(found.compute(), expected)
    assert model.classes_.tolist() == ["no", "yes"]
    with pytest.raises(InvalidInputError, match="expecting 6 features"):
        model.predict(X[:, :3])


@pytest.mark.parametrize(
    "model, method",
    [
        (NearestCentroid(priors="empirical"), "predict_proba"),
        (NearestCentroid(priors="empirical"), "predict_log_proba"),
        (NaiveBayes(), "predict_joint_log_proba"),
        (RidgeClassifier(), "decision_function"),
    ],
    ids=str,
)
def test_what_only_some_classifiers_say_is_lazy_too(client, model, method):
    X, y = table()
    model = fitted(model, X, y)
    found = getattr(model, method)(X)
    assert isinstance(found, da.Array)
    assert np.array_equal(found.compute(), getattr(model, method)(X.compute()))


def test_feature_maps_say_how_to_map_a_collection():
    X, _ = table()
    phi = Polynomial()
    with pytest.raises(InvalidInputError, match="map_blocks"):
        phi.fit(X)
    phi.fit(X.partitions[0].compute())
    with pytest.raises(InvalidInputError, match="map_blocks"):
        phi.transform(X)
    assert np.array_equal(X.map_blocks(phi.transform, dtype=float).compute(), phi.transform(X.compute()))


def test_functions_go_through_partitions_too(client):
    X, y = table()
    found = separability(X, y)
    assert found.verdict == "overlapping"
    assert found.verify(X, y)
    path = logistic_path(X, y, C_min=1e-3, C_max=2e-3, tol=0.1)
    assert path.verify(X, y)


@pytest.mark.parametrize(
    "model",
    [
        SVC(),
        Cascade(),
        HardMarginSVC(),
        KernelPerceptron(),
        MinimumErrorClassifier(),
        PocketPerceptron(),
        LogisticRegressionCV(),
    ],
    ids=str,
)
def test_the_others_say_why_not_and_what_to_use_before_anything_is_loaded(model):
    X = array(_never)
    with pytest.raises(InvalidInputError, match=r"does not learn from rows on workers: .* Use "):
        model.fit(X, np.zeros(len(X)))
    with pytest.raises(InvalidInputError, match="use 'auto'"):
        LogisticRegression(solver="sgd").fit(X, np.zeros(len(X)))
    with pytest.raises(InvalidInputError, match="mistake_bound does not learn"):
        mistake_bound(X, np.zeros(len(X)))
    with pytest.raises(InvalidInputError, match="takes Dask collections by fit"):
        NaiveBayes().partial_fit(X, np.zeros(len(X)), classes=[0, 1])


def _never(i):
    raise AssertionError("loaded")


def test_dask_is_imported_by_those_who_use_it_only():
    code = (
        "import sys, json, numpy as np, separatrix\n"
        "separatrix.LogisticRegression().fit([[0.0], [1.0], [2.0]], [0, 1, 1]).predict([[1.0]])\n"
        "print(json.dumps([name for name in sys.modules if name.split('.')[0] in ('dask', 'distributed')]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


def test_a_task_has_one_thread_of_blas(client):
    X, y = table()
    with held(X, y, None) as (rows, _, _):
        found = rows.call(_blas_threads, ())
    assert len(found) == PARTS
    assert {count for counts in found for count in counts} == {1}


def _blas_threads(part, first, pieces):
    from threadpoolctl import threadpool_info

    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_all_workers_use_the_lowest_level(client, monkeypatch):
    """One worker says that it is of an older kind: all go by its library, to the same bits."""
    X, y = table()
    expected = plain(fitted(LogisticRegression(), X, y))
    lowest, load = min(2, library.level()), Cluster.load
    monkeypatch.setattr(Cluster, "load", lambda self: [told._replace(level=lowest) for told in load(self)])
    assert plain(fitted(LogisticRegression(), X, y)) == expected
    assert set(client.run(library.level).values()) == {lowest}


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(tol=1e-7),
        LogisticRegression(C=np.inf),
        LogisticRegression(l1_ratio=0.5, C=0.01),
        LinearSVC(),
        NaiveBayes(),
        LeastSquaresClassifier(),
    ],
    ids=str,
)
def test_three_classes_have_the_same_optimum(model):
    X, y = table()
    y = y + (X[:, 3] > 2)
    found, expected = fitted(model, X, y), fitted(model, X.compute(), y.compute())
    assert found.status_ == expected.status_
    assert found.certificate_.verify(X.compute(), y.compute())
    scores = expected.decision_function(X[:500].compute())
    assert found.decision_function(X[:500].compute()) == pytest.approx(scores, abs=1e-4 * np.abs(scores).max())


def test_columns_of_a_matrix_y(client):
    X, y = table()
    matrix = da.stack([y, 1 - y, (X[:, 1] > 0).astype(int)], axis=1)
    found = fitted(LogisticRegression(), X, matrix)
    assert found.certificate_.verify(X, matrix)
    assert found.predict(X).shape == (ROWS * PARTS, 3)
    assert np.array_equal(found.predict(X).compute(), found.predict(X.compute()))
