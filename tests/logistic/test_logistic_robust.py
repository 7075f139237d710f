"""Inputs that have broken such software before, and what the parameters promise."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from logistic.logistic_oracle import objective, optimum, rounding
from problems import islands, noisy
from scipy import sparse
from scipy.special import expit

from separatrix import (
    ConvergenceWarning,
    InvalidInputError,
    LogisticRegression,
    NoDirectionError,
    Status,
    UnsupportedParameterError,
)


def settled(model, X, y, weight=None):
    """Finite, and in one of the states that the package promises, with a certificate that holds."""
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.certificate_.verify(X, y, weight), str(model.certificate_.verify(X, y, weight))
    return model


# ------------------------------------------------------------------ probabilities, threshold, distance
@pytest.mark.parametrize("threshold", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_positive_when_the_probability_reaches_the_threshold(threshold):
    X, y = noisy(200)
    model = LogisticRegression(threshold=threshold).fit(X, y)
    P = model.predict_proba(X)[:, 1]
    clear = np.abs(P - threshold) > 1e-12
    np.testing.assert_array_equal(model.predict(X)[clear], (threshold <= P)[clear].astype(int))


def test_a_score_at_the_threshold_is_positive():
    X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    model = LogisticRegression(fit_intercept=False).fit(X, y)
    assert model.predict([[0.0]]) == [1]  # P = 1/2 exactly


def test_threshold_of_a_matrix_of_labels():
    X, y = noisy(100)
    Y = np.column_stack([y, 1 - y])
    model = LogisticRegression(threshold=0.8).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), (model.predict_proba(X) >= 0.8).astype(int))


def test_threshold_is_for_two_classes():
    with pytest.raises(InvalidInputError, match="threshold"):
        LogisticRegression(threshold=0.3).fit(*noisy(k=3))


@pytest.mark.parametrize("threshold", [-0.1, 1.1, np.nan])
def test_threshold_is_a_probability(threshold):
    with pytest.raises(InvalidInputError, match="threshold"):
        LogisticRegression(threshold=threshold).fit(*noisy())


def test_probability_is_sigma_of_distance_times_length():
    X, y = noisy()
    model = LogisticRegression().fit(X, y)
    length = np.linalg.norm(model.coef_)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(model.signed_distance(X) * length), rtol=1e-12)
    np.testing.assert_allclose(model.signed_distance(X), model.hyperplane_.signed_distance(X), rtol=1e-12)


def test_log_probabilities_where_probabilities_are_zero():
    X, y = islands()
    model = LogisticRegression(1e6).fit(X, y)
    log_p = model.predict_log_proba(X * 1e4)
    assert np.isfinite(log_p).all()
    assert log_p.min() < -800  # exp of it is 0


# ------------------------------------------------------------------ stopping
def test_warm_start_takes_fewer_steps():
    X, y = noisy(2000, 20)
    model = LogisticRegression(warm_start=True).fit(X, y)
    cold = LogisticRegression(1.1).fit(X, y)
    model.set_params(C=1.1).fit(X, y)
    assert model.n_iter_ < cold.n_iter_
    np.testing.assert_allclose(model.coef_, cold.coef_, rtol=1e-6)


def test_warm_start_from_another_shape_starts_afresh():
    model = LogisticRegression(warm_start=True).fit(*noisy(d=3))
    model.fit(*noisy(d=5))
    np.testing.assert_array_equal(model.coef_, LogisticRegression().fit(*noisy(d=5)).coef_)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_one_iteration_warns_with_the_gap_and_its_certificate_holds(solver, k):
    X, y = noisy(k=k)
    with pytest.warns(ConvergenceWarning, match=r"relative gap of \d.*max_iter") as caught:
        model = LogisticRegression(solver=solver, max_iter=1, tol=1e-12).fit(X, y)
    assert model.n_iter_ == 1
    assert model.status_ is Status.UNCERTIFIED
    assert f"{model.certificate_.relative_gap:.1e}" in str(caught[0].message)
    settled(model, X, y)
    best, *_ = optimum(X, y, 1.0)
    assert 0 < model.certificate_.primal - best <= model.certificate_.gap


@pytest.mark.parametrize("tol", [1e-2, 1e-5])
def test_tol_is_the_relative_gap(tol):
    X, y = noisy(30_000, 150)  # large enough that accuracy has a price
    model = settled(LogisticRegression(tol=tol).fit(X, y), X, y)
    assert model.certificate_.relative_gap <= tol


# ------------------------------------------------------------------ extreme C
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("C", [1e-300, 1e-100, 1e-20])
def test_a_vanishing_C_leaves_the_intercept(C, k):
    X, y = noisy(90, 3, k)
    y[:10] = 0
    model = settled(LogisticRegression(C).fit(X, y), X, y)
    share = np.bincount(y) / len(y)
    np.testing.assert_allclose(model.predict_proba(X), np.tile(share, (90, 1)), rtol=1e-6)


@pytest.mark.parametrize("C", [1e15, 1e100, 1e300])
def test_a_huge_C_is_maximum_likelihood(C):
    X, y = noisy()
    model = settled(LogisticRegression(C).fit(X, y), X, y)
    likely = LogisticRegression(np.inf).fit(X, y)
    np.testing.assert_allclose(model.coef_, likely.coef_, rtol=1e-6)
    assert model.status_ is Status.CERTIFIED


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("C", [1e300, 1e100, 1e12])
def test_a_huge_C_on_separable_classes_ends(C, k):
    X, y = islands(k)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = settled(LogisticRegression(C).fit(X, y), X, y)
    assert model.certificate_.relative_gap <= 1  # F >= 0 is known without any dual
    assert model.score(X, y) == 1.0


def test_scores_that_overflow_prove_nothing():
    X, y = islands()
    honest = LogisticRegression().fit(X, y).certificate_
    assert not replace(honest, coef=np.full((1, 3), 1e308), primal=1.0, dual=1.0).verify(X, y)


@pytest.mark.parametrize("C", [0, -1.0, np.nan, "1", None, True])
def test_C_is_a_number_above_0(C):
    with pytest.raises(InvalidInputError, match="C must be"):
        LogisticRegression(C).fit(*noisy())


# ------------------------------------------------------------------ extreme data
@pytest.mark.parametrize("size", [1e-150, 1e-100, 1e50, 1e100])
def test_entries_of_extreme_size(size):
    X, y = noisy()
    model = settled(LogisticRegression().fit(X * size, y), X * size, y)
    assert model.status_ is Status.CERTIFIED
    if size > 1:  # the penalty of such small weights is nothing: maximum likelihood
        np.testing.assert_allclose(model.coef_ * size, LogisticRegression(np.inf).fit(X, y).coef_, rtol=1e-5)
    else:  # weights that could matter cost too much: the shares of the classes
        np.testing.assert_allclose(model.predict_proba(X * size)[:, 1], y.mean(), rtol=1e-6)


@pytest.mark.parametrize("value", [1e200, 1e308, np.inf, np.nan])
def test_entries_whose_squares_overflow_are_refused_by_name(value):
    X, y = noisy()
    X[7, 2] = value
    with pytest.raises(InvalidInputError, match="row 7, column 2"):
        LogisticRegression().fit(X, y)


def test_an_outlier_of_1e100_is_survived():
    X, y = noisy()
    X[0, 0] = 1e100
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LogisticRegression().fit(X, y)
    settled(model, X, y)
    assert model.score(X, y) > 0.7


def test_scores_that_overflow_the_exponential():
    X, y = islands()
    model = LogisticRegression(1e6).fit(X, y)
    P = model.predict_proba(X * 1e6)
    assert np.isfinite(P).all()
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert set(P.ravel()) == {0.0, 1.0}


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("n, d", [(6, 30), (20, 400), (3, 1)])
def test_fewer_rows_than_columns(n, d, k):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, d)), np.arange(n) % k
    model = settled(LogisticRegression(tol=1e-9).fit(X, y), X, y)
    assert model.certificate_.relative_gap <= 1e-9
    # the weights are a combination of the rows: what is orthogonal to them costs and gains nothing
    _, _, directions = np.linalg.svd(X, full_matrices=True)
    if d > n:
        assert np.abs(model.coef_ @ directions[n:].T).max() <= 1e-9 * np.abs(model.coef_).max()


def test_one_column_by_hand():
    # x = ±1 with labels 0, 1 and no intercept: sigma(-w) 2 C = w
    X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    w = LogisticRegression(3.0, fit_intercept=False, tol=1e-12).fit(X, y).coef_[0, 0]
    assert abs(6.0 / (1 + np.exp(w)) - w) <= 1e-10


@pytest.mark.parametrize("value", [0.0, 1.0, -1e6])
def test_a_constant_column_has_no_weight(value):
    X, y = noisy()
    plain = LogisticRegression().fit(X, y)
    Z = np.column_stack([X, np.full(60, value)])
    model = settled(LogisticRegression().fit(Z, y), Z, y)
    assert abs(model.coef_[0, 3]) <= 1e-12
    np.testing.assert_allclose(model.coef_[0, :3], plain.coef_[0], rtol=1e-8)


def test_duplicated_columns_share_under_a_penalty():
    X, y = noisy()
    model = LogisticRegression().fit(np.column_stack([X, X[:, :1]]), y)
    assert abs(model.coef_[0, 0] - model.coef_[0, 3]) <= 1e-9
    # two columns of weight w/2 cost half of what one of weight w does
    root2 = LogisticRegression().fit(X * [np.sqrt(2), 1, 1], y)
    np.testing.assert_allclose(model.coef_[0, 0] * 2, root2.coef_[0, 0] * np.sqrt(2), rtol=1e-7)


def test_all_columns_constant():
    X, y = np.ones((10, 2)), np.arange(10) % 3 == 0
    model = settled(LogisticRegression().fit(X, y), X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 0.4, rtol=1e-9)
    with pytest.raises(NoDirectionError):
        model.set_params().signed_distance(X) if not model.coef_.any() else pytest.skip("rounding gave a direction")


def test_identical_rows_with_opposite_labels():
    X, y = np.array([[2.0, 1.0]] * 4 + [[0.0, 0.0]] * 2), np.array([0, 1, 0, 1, 0, 1])
    model = settled(LogisticRegression(np.inf).fit(X, y), X, y)
    np.testing.assert_allclose(model.predict_proba(X), 0.5)


def test_a_rare_class():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 4))
    y = np.zeros(5000, dtype=int)
    y[:3] = 1
    model = settled(LogisticRegression(tol=1e-9).fit(X, y), X, y)
    best, *_ = optimum(X, y, 1.0)
    assert objective(X, y, model.coef_, model.intercept_, 1.0) <= best * (1 + 1e-8)


def test_weights_over_many_magnitudes():
    X, y = noisy(100)
    weight = 10.0 ** np.random.default_rng(0).uniform(-8, 8, size=100)
    model = settled(LogisticRegression(tol=1e-9).fit(X, y, weight), X, y, weight)
    best, *_ = optimum(X, y, 1.0, weight=weight)
    reached = objective(X, y, model.coef_, model.intercept_, 1.0, weight)
    assert reached - best <= 1e-8 * best + rounding(X, model.coef_, model.intercept_, 1.0, weight)


def test_wide_sparse_rows():
    rng = np.random.default_rng(0)
    X = sparse.random_array((300, 20_000), density=0.002, rng=rng, format="csr")
    y = np.arange(300) % 2
    model = settled(LogisticRegression(10.0, tol=1e-6).fit(X, y), X, y)
    assert model.certificate_.relative_gap <= 1e-6


def test_labels_of_any_kind():
    X, y = noisy()
    plain = LogisticRegression().fit(X, y).coef_
    for labels in (y.astype(np.int8), y.astype(bool), y.astype(float), np.array(["no", "yes"])[y], 2 * y - 1):
        np.testing.assert_array_equal(LogisticRegression().fit(X, labels).coef_, plain)


def test_input_is_not_changed_and_may_be_strided_or_read_only():
    X, y = noisy(100, 4)
    plain = LogisticRegression().fit(X, y).coef_
    kept = X.copy()
    X.flags.writeable = y.flags.writeable = False
    for Z in (X, np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], X[::-1][::-1]):
        np.testing.assert_allclose(LogisticRegression().fit(Z, y).coef_, plain, rtol=1e-10)
    np.testing.assert_array_equal(X, kept)


def test_one_class_is_an_error_that_says_so():
    X, _ = noisy()
    with pytest.raises(InvalidInputError, match="only one class"):
        LogisticRegression().fit(X, np.zeros(60))
    weight = np.zeros(60)
    weight[:5] = 1.0
    with pytest.raises(InvalidInputError, match="only one class"):
        LogisticRegression().fit(X, np.arange(60) >= 30, weight)


@pytest.mark.parametrize("name", ["multi_class"])
def test_parameters_of_scikit_learn_that_have_no_meaning_here(name):
    with pytest.raises(UnsupportedParameterError, match=name):
        LogisticRegression(**{name: 1})


def test_a_failed_fit_leaves_the_model_as_it_was():
    X, y = noisy()
    model = LogisticRegression().fit(X, y)
    before = model.coef_
    with pytest.raises(InvalidInputError):
        model.set_params(C=-1.0).fit(X, y)
    assert model.coef_ is before
