"""The pocket: both methods against references, on XOR and on data that cannot be separated."""

import warnings

import numpy as np
import pytest
from perceptron.perceptron_reference import separable

import separatrix
from separatrix import PocketPerceptron
from separatrix.certificates import All, ErrorBound

XOR = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])


def noisy(seed, n=60, d=3):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(n, d)).astype(float)
    return X, np.where(X[:, 0] + X[:, 1] + rng.normal(size=n) * 2 > 0, 1, -1)


def walk(X, y, draws):
    """The weights before and after every draw of the perceptron, a score of 0 predicting +1."""
    points = np.column_stack([X, np.ones(len(X))])
    w, weights, right = np.zeros(points.shape[1]), [], []
    for i in draws:
        right.append((w @ points[i] >= 0) == (y[i] > 0))
        if not right[-1]:
            w = w + y[i] * points[i]
        weights.append(w)
    return weights, right


def errors(X, y, w):
    return int(((X @ w[:-1] + w[-1] >= 0) != (y > 0)).sum())


@pytest.mark.parametrize("seed", range(5))
def test_the_ratchet_keeps_the_first_of_the_best(seed):
    X, y = noisy(seed)
    model = PocketPerceptron(max_iter=7, random_state=seed).fit(X, y)
    random = np.random.RandomState(seed)
    draws = np.concatenate([random.randint(60, size=60) for _ in range(7)])
    weights, _ = walk(X, y, draws)
    pocket, fewest = np.zeros(4), errors(X, y, np.zeros(4))
    for w in weights:
        if errors(X, y, w) < fewest:
            pocket, fewest = w, errors(X, y, w)
    assert model.errors_ == fewest
    np.testing.assert_array_equal(np.append(model.coef_, model.intercept_), pocket)
    assert model.certificate_.verify(X, y)
    assert model.certificate_.errors == fewest


@pytest.mark.parametrize("seed", range(5))
def test_the_run_is_algorithm_6_with_the_final_weights(seed):
    X, y = noisy(seed)
    model = PocketPerceptron("run", max_iter=7, random_state=seed).fit(X, y)
    random = np.random.RandomState(seed)
    draws = np.concatenate([random.randint(60, size=60) for _ in range(7)])
    weights, right = walk(X, y, draws)
    pocket, longest, run, w = np.zeros(4), 0, 0, np.zeros(4)
    for after, correct in zip(weights, right, strict=True):
        if correct:
            run += 1
            continue
        if run > longest:
            pocket, longest = w, run
        w, run = after, 0
    if run > longest:
        pocket = w
    np.testing.assert_array_equal(np.append(model.coef_, model.intercept_), pocket)
    assert model.errors_ == errors(X, y, pocket)


def test_xor_by_the_ratchet_for_every_seed():
    for seed in range(300):
        model = PocketPerceptron(random_state=seed).fit(*XOR)
        assert model.errors_ == 1
        assert model.certificate_.verify(*XOR)


@pytest.mark.skipif(not hasattr(separatrix, "MinimumErrorClassifier"), reason="MinimumErrorClassifier is not there yet")
def test_xor_has_no_fewer_errors():
    fewest = separatrix.MinimumErrorClassifier().fit(*XOR).certificate_
    assert fewest.lower_bound == 1 == PocketPerceptron(random_state=0).fit(*XOR).errors_


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("method", ["ratchet", "run"])
def test_neither_method_loops_for_ever(method, shuffle):
    model = PocketPerceptron(method, max_iter=50, random_state=0, shuffle=shuffle).fit(*XOR)
    assert model.n_iter_ == 50
    assert isinstance(model.certificate_, ErrorBound)


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("method", ["ratchet", "run"])
def test_separable_data_end_without_errors(method, shuffle):
    rng = np.random.default_rng(0)
    for seed in range(20):
        X, y = separable(rng, whole=True)
        model = PocketPerceptron(method, max_iter=2000, random_state=seed, shuffle=shuffle).fit(X, y)
        assert model.errors_ == 0
        assert model.n_iter_ < 2000


def test_the_errors_of_the_pocket_never_rise_in_the_trace():
    X, y = noisy(3)
    model = PocketPerceptron(trace=True, random_state=0, max_iter=20).fit(X, y)
    trace = model.trace_
    assert (np.diff(trace["errors"]) <= 0).all()
    assert trace["errors"][-1] == model.errors_
    of_each = [errors(X, y, w) for w in trace["weights"]]
    np.testing.assert_array_equal(trace["errors"], np.minimum.accumulate(of_each))
    assert trace["mistakes"][-1] == model.n_updates_
    run = PocketPerceptron("run", trace=True, random_state=0, max_iter=20).fit(X, y)
    np.testing.assert_array_equal(run.trace_["weights"], trace["weights"])


def test_identical_rows_with_opposite_labels_bound_the_errors():
    X = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [2.0]])
    y = np.array([0, 0, 1, 1, 1, 1])
    model = PocketPerceptron(random_state=0).fit(X, y)
    assert model.certificate_.lower_bound == 1 == model.errors_
    assert model.certificate_.proof == "identical rows"
    assert model.certificate_.verify(X, y)
    assert model.n_iter_ < 100  # it need not look further
    assert not model.certificate_.verify(X, 1 - y)


def test_weights_count_as_errors_and_several_classes_are_one_against_the_rest():
    X, y = noisy(5)
    weight = np.random.default_rng(0).integers(0, 3, size=60).astype(float)
    model = PocketPerceptron(random_state=0, class_weight={1: 2.0}).fit(X, y, weight)
    wrong = (X @ model.coef_[0] + model.intercept_ >= 0) != (y > 0)
    assert model.errors_ == (weight * np.where(y > 0, 2, 1))[wrong].sum()
    assert model.certificate_.verify(X, y, weight)
    labels = np.arange(60) % 3
    several = PocketPerceptron(random_state=0, max_iter=3).fit(X, labels)
    assert isinstance(several.certificate_, All)
    assert several.certificate_.verify(X, labels)
    assert several.errors_.shape == (3,)


def test_no_warning_on_data_that_nothing_separates():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PocketPerceptron(random_state=0, max_iter=2).fit(*noisy(0))
