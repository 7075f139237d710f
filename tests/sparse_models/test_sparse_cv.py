"""LogisticRegressionCV over l1_ratios: its scores are those of fits by hand, and the choice is the rule's."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import PredefinedSplit, StratifiedKFold

from separatrix import LogisticRegression, LogisticRegressionCV
from separatrix.errors import InvalidInputError

X, Y = load_breast_cancer(return_X_y=True)
IRIS, KINDS = load_iris(return_X_y=True)
CS = [1e-3, 1e-2, 1.0]


@pytest.mark.parametrize(("rows", "labels"), [(X, Y), (IRIS, KINDS)])
def test_scores_and_weights_are_those_of_fits_by_hand(rows, labels):
    folds = list(StratifiedKFold(3).split(rows, labels))
    model = LogisticRegressionCV(CS, cv=folds, l1_ratios=(0.0, 0.5, 1.0), scoring="neg_log_loss").fit(rows, labels)
    K = 1 if labels is Y else 3
    assert model.scores_.shape == (3, 3, 3)
    assert model.coefs_paths_.shape == (3, 3, 3, K, rows.shape[1] + 1)
    for f, (train, test) in enumerate(folds):
        for i, ratio in enumerate((0.0, 0.5, 1.0)):
            for j, C in enumerate(CS):
                alone = LogisticRegression(C=C, l1_ratio=ratio, tol=1e-8).fit(rows[train], labels[train])
                P = alone.predict_proba(rows[test])
                np.testing.assert_allclose(
                    model.scores_[f, i, j], np.log(P[np.arange(len(test)), labels[test]]).mean(), rtol=1e-3
                )
                if ratio:
                    np.testing.assert_array_equal(model.coefs_paths_[f, i, j, :, :-1] != 0, alone.coef_ != 0)
    mean = model.scores_.mean(axis=0)
    best = np.unravel_index(mean.argmax(), mean.shape)
    assert (model.l1_ratio_, model.C_) == ((0.0, 0.5, 1.0)[best[0]], CS[best[1]])
    again = LogisticRegression(C=model.C_, l1_ratio=model.l1_ratio_).fit(rows, labels)
    np.testing.assert_allclose(model.coef_, again.coef_, rtol=1e-3, atol=1e-6)
    assert model.certificate_.verify(rows, labels)


def test_one_ratio_has_no_axis_of_its_own():
    model = LogisticRegressionCV(CS, cv=3, l1_ratios=(1.0,)).fit(X, Y)
    assert model.scores_.shape == (3, 3)
    assert model.coefs_paths_.shape == (3, 3, 1, X.shape[1] + 1)
    assert model.l1_ratio_ == 1.0
    assert model.n_nonzero_ == np.count_nonzero(model.coef_)
    named = LogisticRegressionCV(CS, cv=3, penalty="l1").fit(X, Y)
    np.testing.assert_array_equal(model.scores_, named.scores_)


@pytest.mark.parametrize("ratios", [(0.0,), (1.0,)])
def test_one_standard_error(ratios):
    Cs = np.logspace(-4, 1, 8)
    best = LogisticRegressionCV(Cs, cv=5, l1_ratios=ratios, scoring="neg_log_loss").fit(X, Y)
    plain = LogisticRegressionCV(Cs, cv=5, l1_ratios=ratios, scoring="neg_log_loss", choice="one_standard_error").fit(
        X, Y
    )
    np.testing.assert_array_equal(best.scores_, plain.scores_)
    mean = best.scores_.mean(axis=0)
    error = best.scores_[:, mean.argmax()].std(ddof=1) / np.sqrt(5)
    within = Cs[mean >= mean.max() - error]
    assert plain.C_ == within.min() < best.C_


def test_a_fold_without_a_class_and_a_matrix():
    parts = np.where(KINDS == 2, 0, np.arange(len(KINDS)) % 3)
    model = LogisticRegressionCV([0.1, 1.0], cv=PredefinedSplit(parts), l1_ratios=(1.0,)).fit(IRIS, KINDS)
    assert np.isneginf(model.coefs_paths_[0, :, 2, -1]).all()
    assert np.isfinite(model.coef_).all()
    labels = np.column_stack([k == KINDS for k in range(3)]).astype(int)
    several = LogisticRegressionCV([0.1, 1.0], cv=3, l1_ratios=(0.5,)).fit(IRIS, labels)
    assert several.coef_.shape == (3, 4)
    assert several.certificate_.verify(IRIS, labels)


def test_input_is_checked():
    for change in ({"l1_ratios": ()}, {"l1_ratios": (2.0,)}, {"penalty": "elasticnet", "l1_ratios": None}):
        with pytest.raises(InvalidInputError, match="l1_ratio"):
            LogisticRegressionCV(**change).fit(X, Y)
    with pytest.raises(InvalidInputError, match="choice"):
        LogisticRegressionCV(choice="simplest").fit(X, Y)


def test_without_a_penalty_a_fold_is_maximum_likelihood():
    """C=np.inf among the values to try: the ratio has no effect there."""
    folds = list(StratifiedKFold(3).split(X, Y))
    rows, labels = X[:, :3], np.arange(len(Y)) % 2
    model = LogisticRegressionCV([np.inf, 1.0], cv=folds, l1_ratios=(1.0,)).fit(rows, labels)
    for f, (train, _) in enumerate(folds):
        alone = LogisticRegression(C=np.inf).fit(rows[train], labels[train])
        np.testing.assert_allclose(model.coefs_paths_[f, 0, 0, :-1], alone.coef_[0], rtol=1e-3)
