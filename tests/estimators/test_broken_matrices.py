"""A CSR or CSC matrix whose index leads out of it is refused by all who read one: C and SciPy would follow it.

SciPy checks an index when it makes a matrix, not what is written into it later.
"""

import numpy as np
import pytest
from contract import all_estimators, suited
from scipy import sparse
from sklearn.base import clone

from separatrix import LogisticRegression, NaiveBayes, data, separability
from separatrix.certificates._held import malformed


def beyond(X):
    X.indices[4] = 77


def negative(X):
    X.indices[-1] = -1


def falling(X):
    X.indptr[3] = X.indptr[2] - 1


def longer(X):
    X.indptr[-1] += 50


def late(X):
    X.indptr[0] = 1


FLAWS = {beyond: "77", negative: "-1", falling: "indptr falls", longer: "indptr", late: "indptr"}
SPARSE = [model for model in all_estimators() if model.__sklearn_tags__().input_tags.sparse]


@pytest.fixture(params=FLAWS, ids=lambda flaw: flaw.__name__)
def flaw(request):
    return request.param


def broken(X, flaw, form="csr_array"):
    matrix = getattr(sparse, form)(X)
    flaw(matrix)
    return matrix


@pytest.mark.parametrize("form", ["csr_array", "csr_matrix", "csc_matrix"])
@pytest.mark.parametrize("model", SPARSE, ids=lambda model: type(model).__name__)
def test_no_classifier_reads_a_broken_matrix(model, flaw, form):
    X, y, *_ = suited(model, 2)
    bad = broken(X, flaw, form)
    with pytest.raises(ValueError, match=FLAWS[flaw]):
        clone(model).fit(bad, y)
    fitted = clone(model).fit(sparse.csr_array(X), y)
    with pytest.raises(ValueError, match=FLAWS[flaw]):
        fitted.predict(bad)


def test_no_checker_reads_a_broken_matrix(flaw):
    X, y, *_ = suited(LogisticRegression(), 2)
    model = LogisticRegression().fit(X, y)
    bad = broken(X, flaw)
    with pytest.raises(ValueError, match=FLAWS[flaw]):
        model.certificate_.verify(bad, y)
    with pytest.raises(ValueError, match=FLAWS[flaw]):
        separability(bad, y)


def test_no_file_is_written_of_a_broken_matrix(flaw, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    X, y, *_ = suited(NaiveBayes(), 2)
    good, bad = sparse.csr_array(X), broken(X, flaw)
    with pytest.raises(ValueError, match=FLAWS[flaw]):
        data.open([(good, y), (bad, y)])
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("form", ["csr_array", "csc_array"])
def test_where_the_index_is_wrong_is_said_as_rows_and_columns(form):
    X = getattr(sparse, form)(np.eye(5))
    X.indices[3] = 9
    line, place = ("row", "column") if form == "csr_array" else ("column", "row")
    assert f"{line} 3 has an entry in {place} 9 of 5" in malformed(X)
    assert malformed(getattr(sparse, form)(np.eye(5))) is None
    assert malformed(sparse.csr_array((0, 3))) is None
    assert malformed(sparse.coo_array(np.eye(5))) is None


def swapped(X):
    X.data, X.indices = X.data.astype(">f8"), X.indices.astype(">i4")


def half(X):
    X.data = X.data.astype(np.float16)


def strided(X):
    X.data, X.indices = np.column_stack([X.data, X.data])[:, 0], np.column_stack([X.indices, X.indices])[:, 1]


@pytest.mark.parametrize("change", [swapped, half, strided], ids=lambda change: change.__name__)
@pytest.mark.parametrize("model", SPARSE, ids=lambda model: type(model).__name__)
def test_types_that_scipy_does_not_compute_with_are_read_all_the_same(model, change):
    X, y, *_ = suited(model, 2)
    X = X.astype(np.float16).astype(np.float64)  # so that half of the digits will do
    other, plain = broken(X, change), sparse.csr_array(X)
    fitted, same = clone(model).fit(other, y), clone(model).fit(plain, y)
    np.testing.assert_array_equal(fitted.predict(other), same.predict(plain))
    if getattr(same, "certificate_", None) is not None:
        assert fitted.certificate_.verify(other, y)


def test_a_matrix_of_one_dimension_is_refused_as_an_array_is():
    with pytest.raises(ValueError, match="Expected 2D"):
        LogisticRegression().fit(sparse.csr_array(np.arange(4.0)), [0, 1, 0, 1])
