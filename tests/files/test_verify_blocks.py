"""Certificates take anything that yields blocks of rows, and read it once where that is enough."""

import numpy as np
import pytest
from files.tables import TABLES, Batches, Counted, fitted

from separatrix import (
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    LeastSquaresClassifier,
    LinearSVC,
    LogisticRegression,
    MultinomialNB,
    NaiveBayes,
    NearestCentroid,
    RidgeClassifier,
    separability,
)


@pytest.mark.parametrize("table", ["dense", "csr"])
def test_certificates_take_anything_that_yields_blocks(table):
    X, y = TABLES[table]
    weight = np.random.default_rng(1).integers(0, 3, size=len(y)).astype(float)
    for model in (LogisticRegression(), LinearSVC(loss="squared_hinge"), LeastSquaresClassifier(), NearestCentroid()):
        found = fitted(model, X, y, weight)
        batches = Batches(X, y, weight)
        for given in ((batches, y, weight), (batches, None)):
            assert str(found.certificate_.verify(*given)) == str(found.certificate_.verify(X, y, weight))
            assert found.certificate_.verify(*given)
        assert not found.certificate_.verify(Batches(X, y, weight[::-1]), None)
    proof = separability(X, y).certificate
    assert proof.verify(Batches(X, y), None)
    X = X.copy()
    X[9001, X[9001].nonzero()[-1][0]] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        proof.verify(Batches(X, y), None)
    with pytest.raises(ValueError, match="NaN"):
        found.certificate_.verify(Batches(X, y), None)


rng = np.random.default_rng(0)
COUNTS = rng.poisson(2.0, size=(30_000, 12)).astype(float)
READ = {**TABLES, "counts": (COUNTS, TABLES["dense"][1]), "0 and 1": ((COUNTS > 2).astype(float), TABLES["dense"][1])}
READINGS = [
    (LogisticRegression(), "dense", 1),
    (LogisticRegression(), "three", 1),
    (LogisticRegression(), "csr", 1),
    (LogisticRegression(l1_ratio=1.0, C=0.01), "dense", 2),  # slopes of the scores, then columns times slopes
    (LinearSVC(), "dense", 1),
    (LinearSVC(loss="squared_hinge"), "csr", 1),
    (LeastSquaresClassifier(), "dense", 2),  # means, then residuals about them
    (RidgeClassifier(), "three", 2),
    (NearestCentroid(), "dense", 1),
    (NearestCentroid(), "csr", 1),
    (GaussianNB(), "dense", 2),  # means, then spreads about them
    (MultinomialNB(), "counts", 1),
    (ComplementNB(), "counts", 1),
    (CategoricalNB(), "counts", 1),
    (NaiveBayes(family="poisson"), "counts", 1),
    (NaiveBayes(family="bernoulli"), "0 and 1", 1),
]


class Numbered(Counted):
    """Rows that are also known by their numbers, as those of a file are: a few do not count as a reading."""

    def __getitem__(self, rows):
        return self.X[rows]


@pytest.mark.parametrize(("model", "table", "readings"), READINGS, ids=str)
def test_a_proof_is_checked_in_few_readings(model, table, readings):
    X, y = READ[table]
    found = fitted(model, X, y)
    batches = Numbered(X, y)
    assert found.certificate_.verify(batches, y)
    assert batches.rows == readings * len(y)
    assert str(found.certificate_.verify(Counted(X, y), y)) == str(found.certificate_.verify(X, y))


@pytest.mark.parametrize("table", ["dense", "three", "csr"])
def test_a_proof_that_classes_overlap_is_checked_in_two_readings(table):
    X, y = TABLES[table]
    proof = separability(X, y).certificate
    batches = Counted(X, y)
    assert proof.verify(batches, y)
    assert batches.rows == 2 * len(y)  # sums and extremes, then squares in coordinates of these
    assert str(proof.verify(batches, y)) == str(proof.verify(X, y))


def test_rows_beyond_the_labels_are_no_proof():
    X, y = TABLES["dense"]
    certificate = fitted(LogisticRegression(), X, y).certificate_
    for extra in (1, 8000):
        more = np.vstack([X, X[:extra]])
        with pytest.raises(ValueError, match="There should be 30000 rows"):
            certificate.verify(Batches(more, None), y)
        with pytest.raises(ValueError, match="There should be 30000 rows"):
            certificate.verify(Batches(X[:-extra], None), y)


def test_no_blocks_are_no_rows():
    proof = separability([[0.0], [1.0]], [0, 1]).certificate
    for labels in (np.array([0, 1]), None):
        with pytest.raises(ValueError, match="There are no rows"):
            proof.verify(Batches(np.zeros((0, 1)), np.zeros(0)), labels)


def test_what_is_masked_or_weighed_in_part_is_no_data():
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    certificate = fitted(LogisticRegression(), X, y).certificate_
    with pytest.raises(ValueError, match="X masks some of its entries"):
        certificate.verify(Batches(np.ma.masked_array(X, mask=X > 2), y), None)

    class Mixed:
        def blocks(self):
            yield X[:30], y[:30], np.full(30, 2.0)
            yield X[30:], y[30:], None

    with pytest.raises(ValueError, match="Some blocks of X have weights"):
        certificate.verify(Mixed(), None)
