"""Rows of small whole numbers are checked as the same numbers in float64 are, and labels are one a row."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from separatrix import SVC, HardMarginSVC, LeastSquaresClassifier, LinearSVC, LogisticRegression, MinimumErrorClassifier
from separatrix.certificates import KernelSeparator
from separatrix.design import as_design
from separatrix.separation import sides

RNG = np.random.default_rng(0)
LOWEST = RNG.choice([-128, -128, -128, 0, 5], size=(60, 4)).astype(np.int8)  # |-128| is no number of this type
MIXED = (LOWEST[:, 0] + RNG.integers(-90, 90, 60) > -60).astype(int)
APART = (LOWEST.astype(float) @ [3.0, 1, 2, 0] > -400).astype(int)
MODELS = [
    (LogisticRegression(), MIXED),
    (LogisticRegression(l1_ratio=1.0, C=0.01), MIXED),
    (LogisticRegression(C=np.inf), MIXED),
    (LinearSVC(C=1e-4), MIXED),
    (LinearSVC(C=1e-4, loss="squared_hinge"), MIXED),
    (LinearSVC(C=1e-4, loss="squared_hinge", penalty="l1"), MIXED),
    (SVC(kernel="linear", C=1e-4), MIXED),
    (SVC(gamma=1e-4), MIXED),
    (HardMarginSVC(), APART),
    (MinimumErrorClassifier(), MIXED),
    (LeastSquaresClassifier(), MIXED),
]


@pytest.mark.parametrize(("model", "y"), MODELS, ids=lambda value: str(value)[:60] if hasattr(value, "fit") else "")
def test_the_lowest_number_of_a_type_is_as_long_as_it_is(model, y):
    certificate = model.fit(LOWEST.astype(float), y).certificate_
    found = certificate.verify(sparse.csr_matrix(LOWEST), y)
    assert found
    assert all(check.rounding >= 0 for check in found.checks)
    assert found.checks == certificate.verify(sparse.csr_matrix(LOWEST.astype(float)), y).checks


@pytest.mark.parametrize("name", ["format", "dtype"])
def test_columns_named_as_what_matrices_have(name):
    table = pd.DataFrame(LOWEST[:, :2].astype(float), columns=[name, "other"])
    model = LogisticRegression().fit(table, MIXED)
    assert model.certificate_.verify(table, MIXED)
    table[name] = 2**53 + 1  # which float64 does not hold
    with pytest.raises(ValueError, match="column 0 of X exactly"):
        model.certificate_.verify(table, MIXED)


def test_a_matrix_of_labels_is_refused_by_the_claim_about_a_kernel():
    claim = KernelSeparator(np.arange(3), 1, {"kernel": "linear"}, np.array([0]), np.array([1.0]), 0.0, 0.5)
    with pytest.raises(ValueError, match="one label a row"):
        claim.verify(np.ones((3, 1)), np.ones((3, 3), int))  # as many columns as rows: NumPy would stretch the labels


def test_rows_on_the_boundary_are_decided_together(monkeypatch):
    asked = []

    def counted(x, w, b):
        asked.append(len(x))
        return exact(x, w, b)

    exact = sides.exact_signs
    monkeypatch.setattr(sides, "exact_signs", counted)
    X = np.vstack([np.random.default_rng(1).normal(size=(50, 20)), np.zeros((300, 20))])
    _, signs = sides.sides(as_design(sparse.csr_matrix(X)), np.linspace(0.1, 1.7, 20), 0.0)
    assert (signs[50:] == 0).all()
    assert (signs[:50] == np.sign(X[:50] @ np.linspace(0.1, 1.7, 20))).all()
    assert asked == [300]
