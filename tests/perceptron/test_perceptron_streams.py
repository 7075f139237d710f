"""partial_fit, warm starts, and everything that can be asked wrongly."""

import warnings

import numpy as np
import pytest
from perceptron.perceptron_reference import separable
from scipy import sparse

from separatrix import (
    ConvergenceWarning,
    InvalidInputError,
    KernelPerceptron,
    Kozinec,
    Perceptron,
    PocketPerceptron,
)
from separatrix.outcome import Status


@pytest.mark.parametrize("average", [False, True])
def test_chunks_of_a_stream_are_one_pass(average):
    X, y = separable(np.random.default_rng(0), n=60, d=3, whole=True)
    stream = Perceptron(average=average)
    for rows in np.array_split(np.arange(60), 4):
        stream.partial_fit(X[rows], y[rows], classes=[-1, 1])
    with pytest.warns(ConvergenceWarning):
        whole = Perceptron(average=average, max_iter=1).fit(X, y)
    np.testing.assert_allclose(stream.coef_, whole.coef_, rtol=1e-13)
    np.testing.assert_allclose(stream.intercept_, whole.intercept_, rtol=1e-13)
    assert stream.n_updates_ == whole.n_updates_
    assert stream.false_positives_ == whole.false_positives_
    assert stream.status_ is Status.STREAM
    assert stream.n_iter_ == 4
    assert not hasattr(stream, "dual_coef_")


@pytest.mark.parametrize("update", ["batch", "worst"])
def test_a_stream_of_one_update_rules(update):
    X, y = separable(np.random.default_rng(1), n=200, d=5, gap=0.001)
    stream = Perceptron(update)
    for _ in range(5):
        stream.partial_fit(X, y, classes=[-1, 1])
    with pytest.warns(ConvergenceWarning):
        fit = Perceptron(update, max_iter=5).fit(X, y)
    np.testing.assert_array_equal(stream.coef_, fit.coef_)


def test_streams_of_three_classes_and_of_chunks_with_one():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(30, 2)), np.repeat([0, 1, 2], 10)
    stream = Perceptron()
    for rows in np.array_split(np.arange(30), 3):
        stream.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    assert stream.coef_.shape == (3, 2)
    with pytest.raises(InvalidInputError, match="classes"):
        stream.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(InvalidInputError, match="must be passed on the first call"):
        Perceptron().partial_fit(X, y)
    with pytest.raises(InvalidInputError, match="not in classes"):
        stream.partial_fit(X, y + 1)


def test_a_failed_or_interrupted_chunk_leaves_the_stream_as_it_was(monkeypatch):
    X, y = separable(np.random.default_rng(3), n=20, d=2)
    stream = Perceptron().partial_fit(X, y, classes=[-1, 1])
    before = {name: np.copy(value) for name, value in vars(stream).items() if name.endswith("_")}

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("separatrix.perceptron.perceptron.hyperplanes", interrupt)
    with pytest.raises(KeyboardInterrupt):
        stream.partial_fit(-X, y)
    monkeypatch.undo()
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(stream, name), value)
    again = Perceptron().partial_fit(X, y, classes=[-1, 1]).partial_fit(-X, y)
    np.testing.assert_array_equal(stream.partial_fit(-X, y).coef_, again.coef_)


def test_a_warm_start_goes_on_where_the_fit_before_ended():
    X, y = separable(np.random.default_rng(4), n=40, d=4, gap=0.02)
    cold = Perceptron(max_iter=10_000).fit(X, y)
    warm = Perceptron(max_iter=1, warm_start=True)
    passes = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        while getattr(warm, "certificate_", None) is None and passes < 10_000:
            warm.fit(X, y)
            passes += 1
    np.testing.assert_array_equal(warm.coef_, cold.coef_)
    assert passes == cold.n_iter_


def test_warnings_do_not_stop_a_warm_start():
    X, y = separable(np.random.default_rng(4), n=40, d=4, gap=0.02)
    warm = Perceptron(max_iter=1, warm_start=True)
    with pytest.warns(ConvergenceWarning):
        first = warm.fit(X, y).coef_
    other = Perceptron(max_iter=1)
    with pytest.warns(ConvergenceWarning):
        np.testing.assert_array_equal(other.fit(X, y).coef_, first)
    with pytest.raises(InvalidInputError, match="warm_start"):
        warm.fit(X[:, :2], y)
    with pytest.raises(InvalidInputError, match="warm_start"):
        warm.fit(X, y * 2)


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_iter": 0}, {"max_iter": -1}, {"max_iter": 2.5}, {"eta0": 0}, {"eta0": -1.0}, {"eta0": np.nan},
        {"eta0": np.inf}, {"update": "sgd"}, {"boundary": "zero"}, {"init": "random"}, {"init": [1.0]},
        {"init": [np.nan, 0, 0]}, {"shuffle": "yes"}, {"trace": "no"},
    ],
)  # fmt: skip
def test_bad_parameters_are_named(parameters):
    with pytest.raises(InvalidInputError, match=next(iter(parameters))):
        Perceptron(**parameters).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])


@pytest.mark.parametrize(
    "model",
    [
        PocketPerceptron(max_iter=0), PocketPerceptron("best"), PocketPerceptron(eta0=-1), Kozinec(epsilon=0),
        Kozinec(epsilon=1.5), Kozinec(rule="gilbert"), Kozinec(max_iter=0), KernelPerceptron(max_iter=0),
    ],
)  # fmt: skip
def test_bad_parameters_of_the_others(model):
    with pytest.raises(InvalidInputError, match="must be"):
        model.fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_entries_that_are_not_finite_are_found_by_the_loop_itself(as_rows, bad):
    X = np.ones((50, 3))
    X[30, 1] = bad
    with pytest.raises(InvalidInputError, match=r"row 30, column 1"):
        Perceptron().fit(as_rows(X), np.arange(50) % 2)
    with pytest.raises(InvalidInputError, match=r"row 30, column 1"):
        Perceptron().partial_fit(as_rows(X), np.arange(50) % 2, classes=[0, 1])


def test_scores_that_overflow():
    with pytest.raises(InvalidInputError, match="overflow"):
        Perceptron(eta0=1e300).fit([[1e10, 1.0], [2e10, 1.0], [3e10, 1.0]], [0, 1, 0])
    with pytest.raises(InvalidInputError):
        Perceptron().fit([[1e200, 1.0], [-2e200, 1.0], [3e200, 1.0]], [0, 1, 0])


@pytest.mark.parametrize("make", [Perceptron, PocketPerceptron, Kozinec, KernelPerceptron])
@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
def test_input_is_not_changed(make, as_rows):
    X, y = separable(np.random.default_rng(5), n=20, d=3)
    rows, weight = as_rows(X), np.ones(20)
    for part in (getattr(rows, "data", rows), y, weight):
        getattr(part, "flags", y.flags).writeable = False
    model = make()
    model.fit(rows, y, weight)
    np.testing.assert_array_equal(rows.toarray() if sparse.issparse(rows) else rows, X)


def test_a_stream_goes_on_from_the_weights_of_a_loaded_model():
    X, y = separable(np.random.default_rng(6), n=40, d=3, whole=True)
    stream = Perceptron().partial_fit(X[:20], y[:20], classes=[-1, 1])
    loaded = Perceptron()
    vars(loaded).update({name: value for name, value in vars(stream).items() if name != "_states"})
    np.testing.assert_array_equal(loaded.partial_fit(X[20:], y[20:]).coef_, stream.partial_fit(X[20:], y[20:]).coef_)
    with pytest.raises(InvalidInputError, match="balanced"):
        Perceptron(class_weight="balanced").partial_fit(X, y, classes=[-1, 1])
