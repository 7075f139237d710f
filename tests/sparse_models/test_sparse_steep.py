"""Separable classes and a large C: the optimum is reached by way of smaller C, where Newton steps alone are short."""

import numpy as np
import pytest

from separatrix import LinearSVC, LogisticRegression
from separatrix.sparse_models import fit
from separatrix.sparse_models.fit import FEW


def separable(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=d) > 0).astype(int)


@pytest.mark.parametrize("shape", [(400, 60), (60, 200)])
@pytest.mark.parametrize("C", [1e3, 1e6])
def test_the_optimum_of_separable_classes_is_reached(shape, C):
    X, y = separable(*shape)
    model = LinearSVC(penalty="l1", loss="squared_hinge", C=C).fit(X, y)
    assert model.status_.certified
    assert model.n_iter_ < 200
    assert model.certificate_.verify(X, y)


def test_steps_are_counted_on_the_way():
    X, y = separable(400, 60)
    with pytest.warns(Warning, match="Stopped after"):
        model = LinearSVC(penalty="l1", loss="squared_hinge", C=1e6, max_iter=15).fit(X, y)
    assert model.n_iter_ <= 16


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_where_few_steps_do_no_other_way_is_gone(C, monkeypatch):
    def gone(*args):
        raise AssertionError("the way by smaller C was gone")

    monkeypatch.setattr(fit, "gentle", gone)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 50))
    y = (X[:, 0] + rng.normal(size=1000) > 0).astype(int)
    for model in (LinearSVC(penalty="l1", loss="squared_hinge", C=C), LogisticRegression(l1_ratio=1.0, C=C)):
        assert model.fit(X, y).status_.certified
        assert np.max(model.n_iter_) <= 2 * FEW
