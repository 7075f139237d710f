"""MinimumErrorClassifier: the fewest errors, and proven so."""

import contextlib
import time
import warnings

import numpy as np
import pytest
from contract import estimator_classes
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from separability.separability_oracles import fewest_errors, parity
from sklearn.datasets import load_breast_cancer

from separatrix import All, ConvergenceWarning, ErrorBound, MinimumErrorClassifier, SeparatrixError, Status


def assert_optimal(model, X, y, expected=None, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    assert model.errors_ == model.lower_bound_ or np.isclose(model.errors_, model.lower_bound_, rtol=1e-9)
    assert weight[model.predict(X) != y].sum() == pytest.approx(model.errors_)
    assert model.status_ is Status.FEWEST_ERRORS
    check = model.certificate_.verify(X, y, weight)
    assert check, str(check)
    if expected is not None:
        assert model.errors_ == pytest.approx(expected)


@pytest.mark.parametrize("block", range(10))
def test_equals_brute_force_on_random_problems(block):
    for seed in range(25 * block, 25 * block + 25):
        r = np.random.default_rng(seed)
        n, d = int(r.integers(3, 9)), int(r.integers(1, 6))
        X = r.normal(size=(n, d)) if seed % 2 else r.integers(-1, 2, size=(n, d)).astype(float)
        y = r.integers(0, 2, n)
        y[:2] = 0, 1
        weight = np.ones(n) if seed % 3 else r.integers(1, 4, n) / 2
        model = MinimumErrorClassifier().fit(X, y, sample_weight=weight)
        assert_optimal(model, X, y, fewest_errors(X, y, weight), weight)


@settings(max_examples=60, deadline=None)
@given(
    hnp.arrays(np.int64, st.tuples(st.integers(3, 8), st.integers(1, 3)), elements=st.integers(-2, 2)),
    st.randoms(use_true_random=False),
)
def test_equals_brute_force_on_lattices(X, random):
    y = np.array([random.randrange(2) for _ in X])
    y[:2] = 0, 1
    assert_optimal(MinimumErrorClassifier().fit(X, y), X, y, fewest_errors(X, y))


@pytest.mark.parametrize("seed", range(15))
def test_through_the_origin(seed):
    r = np.random.default_rng(seed)
    X, y = r.normal(size=(8, int(r.integers(2, 4)))), r.integers(0, 2, 8)
    y[:2] = 0, 1
    model = MinimumErrorClassifier(fit_intercept=False).fit(X, y)
    assert model.intercept_ == 0
    assert_optimal(model, X, y, fewest_errors(X, y, fit_intercept=False))


@pytest.mark.parametrize(("d", "errors"), [(2, 1), (3, 2), (4, 5)])
def test_parity(d, errors):
    X, y = parity(d)
    assert_optimal(MinimumErrorClassifier().fit(X, y), X, y, errors)


def test_100_rows_of_2_columns_with_random_labels_within_the_default_limit():
    r = np.random.default_rng(1)
    X, y = r.normal(size=(100, 2)), r.integers(0, 2, 100)
    start = time.monotonic()
    assert_optimal(MinimumErrorClassifier().fit(X, y), X, y)
    assert time.monotonic() - start < 10


def test_never_more_errors_than_another_linear_classifier():
    for seed in range(3):
        r = np.random.default_rng(seed)
        X = r.normal(size=(40, 2))
        y = (X[:, 0] + r.normal(size=40) > 0).astype(int)
        best = MinimumErrorClassifier().fit(X, y).errors_
        for other in estimator_classes():
            with warnings.catch_warnings(), contextlib.suppress(SeparatrixError):  # there is no hard margin here
                warnings.simplefilter("ignore")
                model = other().fit(X, y)
                if "coef_" in vars(model):
                    assert best <= (model.predict(X) != y).sum(), other


def test_separable_data_have_no_errors():
    X, y = load_breast_cancer(return_X_y=True)
    model = MinimumErrorClassifier().fit(X, y)
    assert_optimal(model, X, y, 0)
    assert model.certificate_.proof == "nothing"
    assert model.certificate_.trusted == ()


def test_identical_rows_are_an_immediate_bound():
    X, y = np.array([[0.0], [0], [0], [1]]), np.array([0, 1, 1, 1])
    model = MinimumErrorClassifier().fit(X, y)
    assert_optimal(model, X, y, 1)
    assert model.certificate_.proof == "identical rows"
    everywhere = MinimumErrorClassifier().fit([[2.0]] * 3, [0, 1, 1])
    assert everywhere.errors_ == everywhere.lower_bound_ == 1
    balanced = MinimumErrorClassifier().fit([[2.0]] * 2, [0, 1])
    assert balanced.errors_ == balanced.lower_bound_ == 1


def test_small_bounds_are_checked_and_large_ones_marked():
    X, y = parity(2)
    certificate = MinimumErrorClassifier().fit(X, y).certificate_
    assert certificate.proof == "enumeration"
    assert certificate.trusted == ()
    from dataclasses import replace

    assert not replace(certificate, errors=2.0, lower_bound=2.0).verify(X, y)
    assert not replace(certificate, lower_bound=1.5).verify(X, y)
    r = np.random.default_rng(0)
    X, y = r.normal(size=(60, 2)), r.integers(0, 2, 60)
    certificate = MinimumErrorClassifier().fit(X, y).certificate_
    assert certificate.proof == "search"
    assert certificate.trusted == ("lower_bound",)


def test_time_limit_gives_bounds_and_a_warning():
    r = np.random.default_rng(0)
    X, y = r.normal(size=(150, 12)), r.integers(0, 2, 150)
    start = time.monotonic()
    with pytest.warns(ConvergenceWarning, match="Raise time_limit"):
        model = MinimumErrorClassifier(time_limit=1.0).fit(X, y)
    assert time.monotonic() - start < 4
    assert model.status_ is Status.BETWEEN_BOUNDS
    assert 0 < model.lower_bound_ < model.errors_
    assert model.errors_ == (model.predict(X) != y).sum()
    assert isinstance(model.certificate_, ErrorBound)
    assert model.certificate_.verify(X, y)


def test_nothing_reaches_standard_output(capfd):
    r = np.random.default_rng(0)
    X, y = r.normal(size=(30, 6)), r.integers(0, 2, 30)
    print("before")
    MinimumErrorClassifier(time_limit=5.0).fit(X, y)
    print("after")
    assert capfd.readouterr().out == "before\nafter\n"


def test_several_classes_are_one_against_the_rest():
    r = np.random.default_rng(0)
    X, y = r.normal(size=(30, 2)), r.integers(0, 3, 30)
    model = MinimumErrorClassifier().fit(X, y)
    assert isinstance(model.certificate_, All)
    assert model.certificate_.verify(X, y)
    for c in range(3):
        assert model.errors_[c] == MinimumErrorClassifier().fit(X, y == c).errors_


@pytest.mark.parametrize("convert", [sparse.csr_array, np.float32, lambda X: X * [1e-12, 1e12], lambda X: X + 1e6])
def test_storage_scale_and_shift(convert):
    r = np.random.default_rng(0)
    X, y = np.round(r.normal(size=(40, 2)), 3), r.integers(0, 2, 40)
    expected = MinimumErrorClassifier().fit(X, y).errors_
    Y = convert(X)
    model = MinimumErrorClassifier().fit(Y, y)
    assert_optimal(model, Y, y, expected)


def test_bad_parameters():
    for limit in (0, -1, np.inf, "x"):
        with pytest.raises(ValueError, match="time_limit"):
            MinimumErrorClassifier(time_limit=limit).fit([[0.0], [1.0]], [0, 1])
