"""A class all of whose rows have weight 0: known, never predicted, and without effect on the others."""

import numpy as np
import pytest
from contract import all_estimators, suited
from problems import islands
from sklearn.base import clone

from separatrix import (
    SVC,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    HardMarginSVC,
    LogisticRegression,
    MultinomialNB,
    NaiveBayes,
    load,
    save,
)
from separatrix.errors import InvalidInputError

ALL = [e.set_params(random_state=0) if "random_state" in e.get_params() else e for e in all_estimators()]
ALL.append(NaiveBayes(shared_variance=False))
ESTIMATORS = pytest.mark.parametrize("estimator", ALL, ids=lambda estimator: type(estimator).__name__)


def fitted_both_ways(estimator, k, absent):
    """The fit with weights 0 for the rows of a class, and that without these rows."""
    X, y = suited(estimator, k)
    y = np.array([f"class {label}" for label in y])
    left_out = y == f"class {absent}"
    with_zeros = type(estimator)(**estimator.get_params()).fit(X, y, sample_weight=np.where(left_out, 0.0, 1.0))
    return with_zeros, type(estimator)(**estimator.get_params()).fit(X[~left_out], y[~left_out]), X, y, ~left_out


@ESTIMATORS
@pytest.mark.parametrize("absent", [0, 1, 2])
@pytest.mark.parametrize("k", [3, 4])
def test_the_others_are_as_without_its_rows(estimator, k, absent):
    model, others, X, y, kept = fitted_both_ways(estimator, k, absent)
    label = f"class {absent}"
    assert model.classes_.tolist() == np.unique(y).tolist()
    assert others.classes_.tolist() == [name for name in model.classes_ if name != label]
    np.testing.assert_array_equal(model.predict(X), others.predict(X))
    place = model.classes_ != label
    scores, of_others = model.decision_function(X), others.decision_function(X)
    assert scores.shape == (len(X), k)
    assert np.all(scores[:, ~place] == -np.inf)
    if k == 3:  # one score for two classes
        share = 0.5 if hasattr(model, "predict_proba") else 1.0
        of_others = np.column_stack([-share * of_others, share * of_others])
    np.testing.assert_array_equal(scores[:, place], of_others)
    if hasattr(model, "predict_proba"):
        probability = model.predict_proba(X)
        assert np.all(probability[:, ~place] == 0.0)
        np.testing.assert_array_equal(probability[:, place], others.predict_proba(X))
        assert np.all(model.predict_log_proba(X)[:, ~place] == -np.inf)
        np.testing.assert_array_equal(model.predict_log_proba(X)[:, place], others.predict_log_proba(X))
    if hasattr(model, "coef_") and not isinstance(model, (SVC, HardMarginSVC)):
        assert not model.coef_[~place].any()
        assert np.all(model.intercept_[~place] == -np.inf)
        np.testing.assert_allclose(scores[:, place], (X @ model.coef_.T + model.intercept_)[:, place], atol=1e-9)
    assert type(model.certificate_) is type(others.certificate_)
    assert model.certificate_.verify(X, y, kept.astype(float))


@pytest.mark.parametrize("k", [3, 4])
@pytest.mark.parametrize("model", [SVC(kernel="linear"), HardMarginSVC()])
def test_distances_are_from_the_hyperplanes_of_the_pairs_that_were_fitted(model, k):
    model, others, X, *_ = fitted_both_ways(model, k, 1)
    np.testing.assert_array_equal(model.signed_distance(X), others.signed_distance(X))


@ESTIMATORS
def test_it_survives_saving(estimator, tmp_path):
    model, others, X, y, _ = fitted_both_ways(estimator, 3, 1)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.classes_.tolist() == model.classes_.tolist()
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(again.predict(X), others.predict(X))
    # a fit to all classes forgets that one was absent
    assert again.fit(X, y).decision_function(X).min() > -np.inf


@ESTIMATORS
def test_one_class_with_a_weight_is_not_enough(estimator):
    X, y = islands(3)
    with pytest.raises(InvalidInputError, match="at least 2 classes"):
        estimator.fit(X, y, sample_weight=(y == 0).astype(float))


def test_priors_of_all_classes():
    X, y = islands(3)
    model = NaiveBayes(priors=[0.2, 0.5, 0.3]).fit(X, y, sample_weight=(y != 1).astype(float))
    np.testing.assert_allclose(model.class_prior_, [0.4, 0.0, 0.6], rtol=1e-15)


def test_the_study_of_a_model():
    X, y = islands(3)
    weight = (y != 1).astype(float)
    model = LogisticRegression(C=1.0).fit(X, y, weight)
    others = LogisticRegression(C=1.0).fit(X[y != 1], y[y != 1])
    rows = y != 1
    assert model.log_likelihood(X[rows], y[rows]) == others.log_likelihood(X[rows], y[rows])
    np.testing.assert_array_equal(model.gradient(X[rows], y[rows]), others.gradient(X[rows], y[rows]))


@pytest.mark.parametrize(
    "estimator", [BernoulliNB(), CategoricalNB(), ComplementNB(), ComplementNB(norm=True), MultinomialNB()], ids=str
)
def test_the_counts_of_every_class(estimator):
    """A row for each class, of zeros for that without weight; what is made of them is never NaN."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (60, 3)), np.arange(60) % 3
    model = clone(estimator).fit(X, y, sample_weight=(y != 1).astype(float))
    others = clone(estimator).fit(X[y != 1], y[y != 1])

    def tables(fitted):
        by_column = isinstance(fitted, CategoricalNB)
        counts = np.hstack(fitted.category_count_) if by_column else fitted.feature_count_
        return counts, np.hstack(fitted.feature_log_prob_) if by_column else fitted.feature_log_prob_

    for found, expected in zip(tables(model), tables(others), strict=True):
        assert len(found) == 3
        np.testing.assert_array_equal(found[[0, 2]], expected)
        assert not np.isnan(found).any()
    assert not tables(model)[0][1].any()
    assert (tables(model)[1][1] <= 0).all()
