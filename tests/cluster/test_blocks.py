"""What partitions may hold, and what may stand for them; without a cluster, whose workers load them in the same way."""

import warnings

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from cluster.tables import COLUMNS, fitted, labels, rows
from scipy import sparse

from separatrix import InvalidInputError, LogisticRegression, NaiveBayes, Perceptron

N, CUT = 300, 100
X, Y = rows(0, N), labels(0, N)
MODEL = LogisticRegression(tol=1e-8)


def delayed(table):
    return [dask.delayed(table[first : first + CUT]) for first in range(0, N, CUT)]


def collection(table):
    return da.from_array(table, chunks=(CUT, *table.shape[1:]), asarray=False)


@pytest.mark.parametrize(
    "kind", ["complex128", "datetime64[s]", "timedelta64[s]", "U20", "S20"], ids=lambda kind: kind[:8]
)
def test_numbers_are_not_made_of_what_is_none(kind):
    """The imaginary part would be dropped, dates counted in whatever unit they have."""
    strange = X.astype(kind)
    with pytest.raises(InvalidInputError, match=r"Partition \d of X is not numeric"):
        MODEL.fit(delayed(strange), Y)


def test_sparse_complex_numbers_are_refused_too():
    with pytest.raises(InvalidInputError, match=r"Partition 0 of X is not numeric, but of the type complex128"):
        MODEL.fit([dask.delayed(sparse.csr_matrix(X * 1j))], Y)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_what_is_masked_is_missing(kind):
    masked = np.ma.masked_array(X.astype(kind), mask=np.zeros(X.shape, dtype=bool))
    assert (
        fitted(MODEL, collection(masked), Y).coef_.tolist() == fitted(MODEL, delayed(X.astype(kind)), Y).coef_.tolist()
    )
    masked[CUT + 7, 4] = np.ma.masked
    place = rf"NaN: partition 1, row 7 of it \(row {CUT + 7} of all\), column 4"
    with pytest.raises(InvalidInputError, match=place):
        MODEL.fit(collection(masked), Y)
    certificate = fitted(MODEL, X, Y).certificate_
    with pytest.raises(ValueError, match="NaN"):
        certificate.verify(da.ma.masked_array(collection(X), collection(np.ma.getmaskarray(masked))), Y)


def frame():
    return pd.DataFrame(X, columns=list("abcdef"))


def test_columns_of_truth_values_beside_numbers_are_numbers():
    table = frame().assign(b=X[:, 1] > 0, c=np.round(X[:, 2]).astype(int))
    found = fitted(MODEL, dd.from_pandas(table, npartitions=3), Y)
    assert found.certificate_.verify(table.astype(float), Y)
    assert found.coef_ == pytest.approx(fitted(MODEL, table.astype(float), Y).coef_, rel=1e-6)


def test_frames_whose_columns_are_in_another_order_are_refused():
    first, other = frame()[:CUT], frame()[CUT:][list("abdcef")]
    wrong = [
        [dask.delayed(first), dask.delayed(other)],
        dd.from_delayed([dask.delayed(first), dask.delayed(other)], meta=frame()[:0], verify_meta=False),
    ]
    for given in wrong:
        with pytest.raises(InvalidInputError, match="Column 2 of X is 'd' in partition 1, but 'c' in partition 0"):
            MODEL.fit(given, Y)


def test_names_of_delayed_frames_are_kept():
    found = fitted(MODEL, [dask.delayed(frame()[:CUT]), dask.delayed(frame()[CUT:])], Y)
    assert found.feature_names_in_.tolist() == list("abcdef")
    assert not hasattr(fitted(MODEL, delayed(X), Y), "feature_names_in_")


def test_one_delayed_object_is_one_partition():
    weight = np.linspace(1, 2, N)
    expected = fitted(MODEL, [dask.delayed(X)], Y, weight)
    found = fitted(MODEL, dask.delayed(X), dask.delayed(Y), dask.delayed(weight))
    assert np.array_equal(found.coef_, expected.coef_)
    assert found.certificate_.verify(dask.delayed(X), dask.delayed(Y), dask.delayed(weight))
    assert np.array_equal(found.predict(dask.delayed(X)).compute(), found.predict(X))
    assert np.array_equal(found.predict(dask.delayed(X.tolist())).compute(), found.predict(X))


@pytest.mark.parametrize("held", [delayed, collection, lambda y: dask.delayed(y)], ids=["list", "array", "delayed"])
def test_labels_and_weights_of_rows_in_memory_may_be_collections(held):
    weight = np.linspace(1, 2, N)
    found = fitted(MODEL, X, held(Y), held(weight))
    assert np.array_equal(found.coef_, fitted(MODEL, X, Y, weight).coef_)


@pytest.mark.parametrize(
    "given", [dd.from_pandas(frame()["a"], npartitions=2), collection(X)[:, 0]], ids=["frame", "array"]
)
def test_one_column_by_itself_is_no_matrix(given):
    for call in (lambda: MODEL.fit(given, Y), lambda: fitted(MODEL, X, Y).predict(given)):
        with pytest.raises(InvalidInputError, match="of 1 dimension: rows and columns are expected"):
            call()


@pytest.mark.parametrize("given", [collection(X), delayed(X)], ids=["array", "delayed"])
@pytest.mark.parametrize("model", [LogisticRegression(), NaiveBayes(), Perceptron()], ids=str)
def test_predictions_are_those_of_the_fit_that_was_asked_for_them(model, given):
    """Whatever the classifier learns before they are computed."""
    model = fitted(model, X, Y)
    expected = model.decision_function(X)
    lazy = model.decision_function(given)
    if hasattr(model, "partial_fit"):
        model.partial_fit(X, 1 - Y)
        assert np.array_equal(lazy.compute(), expected)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[:, ::-1] * 3.0, 1 - Y)
    assert np.array_equal(lazy.compute(), expected)
    assert not np.array_equal(model.decision_function(given).compute(), expected)


def test_only_columns_that_are_there_are_counted():
    model = fitted(MODEL, X, Y)
    with pytest.raises(InvalidInputError, match=f"expecting {COLUMNS} features"):
        model.predict(collection(X)[:, :3])
    with pytest.raises(InvalidInputError, match="Column 'a' of X is of the type"):
        model.predict(dd.from_pandas(frame().assign(a="x"), npartitions=2))


class Labelled:
    """What arrays of xarray are: numbers in memory, which could be in a graph of Dask and are not."""

    def __init__(self, values):
        self.values, self.shape, self.dtype, self.ndim = values, values.shape, values.dtype, values.ndim

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype=dtype)

    def __len__(self):
        return len(self.values)

    def __dask_graph__(self):
        return None


def test_what_only_could_be_a_collection_is_an_array():
    expected = fitted(MODEL, X, Y)
    found = fitted(MODEL, Labelled(X), Labelled(Y))
    assert np.array_equal(found.coef_, expected.coef_)
    assert np.array_equal(found.predict(Labelled(X)), expected.predict(X))
    assert found.certificate_.verify(Labelled(X), Y)
