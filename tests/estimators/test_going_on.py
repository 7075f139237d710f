"""Fits that go on from a model: streams and warm starts, after whatever was done with it before."""

import numpy as np
import pytest
from problems import islands, noisy

from separatrix import (
    SVC,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    InvalidInputError,
    LinearSVC,
    LogisticRegression,
    Perceptron,
)

pytestmark = pytest.mark.filterwarnings("ignore::separatrix.ConvergenceWarning")
STREAMS = [
    Perceptron(max_iter=20),
    Perceptron(max_iter=20, average=True),
    LogisticRegression(),
    LinearSVC(),
    LinearSVC(loss="squared_hinge"),
]
WARM = [
    Perceptron(max_iter=20),
    LogisticRegression(),
    LogisticRegression(l1_ratio=1.0),
    LinearSVC(),
    LinearSVC(loss="squared_hinge", penalty="l1"),
    SVC(),
]


def named(models):
    return pytest.mark.parametrize("model", models, ids=str)


def again(model, **changed):
    return type(model)(**{**model.get_params(), **changed})


@named([*STREAMS, GaussianNB(), ComplementNB(), CategoricalNB(min_categories=30)])
def test_a_stream_does_not_go_on_from_a_class_without_weight(model):
    X, y = islands(3)
    X = np.abs(np.round(X))
    model = again(model).fit(X, y, (y != 1).astype(float))
    before = model.predict(X)
    with pytest.raises(InvalidInputError, match="fit anew"):
        model.partial_fit(X, y)
    np.testing.assert_array_equal(model.predict(X), before)


@named(WARM)
def test_a_warm_start_from_fewer_classes_with_a_weight(model):
    """It is that of a fit to the rows of these classes; all classes need a start of their own."""
    X, y = islands(3)
    weight = (y != 1).astype(float)
    twice = again(model, warm_start=True).fit(X, y, weight).fit(X, y, weight)
    without = again(model, warm_start=True).fit(X[y != 1], y[y != 1]).fit(X[y != 1], y[y != 1])
    assert twice.classes_.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(twice.predict(X), without.predict(X))
    if isinstance(model, Perceptron):
        with pytest.raises(InvalidInputError, match="classes"):
            twice.fit(X, y)
    else:
        cold = again(model).fit(X, y)
        assert twice.fit(X, y).certificate_.verify(X, y)
        np.testing.assert_allclose(twice.decision_function(X), cold.decision_function(X), rtol=1e-4, atol=1e-4)


@named(STREAMS)
def test_an_intercept_that_is_no_longer_wanted_is_gone(model):
    X, y = noisy(60, 3)
    X += 2.5
    model = again(model).fit(X, y)
    assert model.intercept_.all()
    model.set_params(fit_intercept=False).partial_fit(X, y)
    assert not model.intercept_.any()
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_[0], rtol=1e-12)


@named(STREAMS)
def test_weights_held_as_a_sparse_matrix_are_the_same_start(model):
    X, y = noisy(60, 3)
    dense, thin = again(model).fit(X, y), again(model).fit(X, y).sparsify()
    for fitted in (dense, thin):
        fitted.partial_fit(X, y)
    np.testing.assert_array_equal(dense.coef_, thin.coef_)
    dense, thin = (again(model, warm_start=True).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(dense.fit(X, y).coef_, thin.sparsify().fit(X, y).coef_)


def test_a_stream_with_a_reference_class_begins_at_the_same_model():
    X, y = noisy(60, 2, 3)
    symmetric, reference = (LogisticRegression(learning_rate=1e-12, solver="sgd").fit(X, y) for _ in range(2))
    symmetric.partial_fit(X, y)
    reference.set_params(identifiability="reference").partial_fit(X, y)
    assert not reference.coef_[-1].any()
    assert reference.intercept_[-1] == 0
    np.testing.assert_allclose(reference.predict_proba(X), symmetric.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("C", ["much", None, np.inf, 0.0, np.nan])
def test_what_is_no_C_is_refused(C):
    X, y = noisy(20, 2)
    with pytest.raises(InvalidInputError, match="C must be"):
        LinearSVC(C).partial_fit(X, y, classes=[0, 1])


@named([*STREAMS, GaussianNB()])
def test_labels_of_a_stream_are_named_plainly(model):
    X, y = noisy(20, 2)
    with pytest.raises(InvalidInputError, match="must be passed on the first call"):
        again(model).partial_fit(X, y)
    with pytest.raises(InvalidInputError, match=r"classes=\[1\] has only one class"):
        again(model).partial_fit(X, y, classes=[1])
    with pytest.raises(InvalidInputError, match=r"labels \[0\], which are not in classes=\[1, 2\]"):
        again(model).partial_fit(X, y, classes=[1, 2])
    with pytest.raises(InvalidInputError, match=r"classes=\[1, 2\] is not the same as on last call .*: \[0, 1\]"):
        again(model).partial_fit(X, y, classes=[0, 1]).partial_fit(X, y, classes=[1, 2])
