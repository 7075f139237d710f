"""Sparse models in files: what is read is what was saved, and other parameters than the certificate's are told."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from separatrix import LinearSVC, LogisticRegression, LogisticRegressionCV, load, save
from separatrix.persistence.agreement import parameter_differences

X, Y = load_breast_cancer(return_X_y=True)
IRIS, KINDS = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    ("model", "rows", "labels"),
    [
        (LogisticRegression(l1_ratio=1), X, Y),
        (LogisticRegression(l1_ratio=0.5), IRIS, KINDS),
        (LogisticRegression(penalty="l1"), X.astype(np.float32), Y),
        (LinearSVC(penalty="l1"), X, Y),
        (LinearSVC(penalty="l1", loss="squared_hinge"), IRIS, KINDS),
        (LogisticRegressionCV([0.1, 1.0], cv=3, l1_ratios=(0.5, 1.0)), X, Y),
    ],
)
def test_round_trip(tmp_path, model, rows, labels):
    model.fit(rows, labels)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.coef_, model.coef_)
    assert again.n_nonzero_ == model.n_nonzero_
    assert again.certificate_.verify(rows, labels)
    np.testing.assert_array_equal(again.certificate_.zeros, model.certificate_.zeros)
    assert parameter_differences(again) == []


def test_a_parameter_set_after_the_fit_is_told():
    model = LogisticRegression(l1_ratio=1).fit(X, Y)
    assert "l1_ratio=0.5" in parameter_differences(model.set_params(l1_ratio=0.5))[0]
    machine = LinearSVC(penalty="l1").fit(X, Y)
    assert "penalty='l2'" in parameter_differences(machine.set_params(penalty="l2"))[0]
