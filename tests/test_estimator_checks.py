"""scikit-learn's own checks, on every estimator of the package, as it is and in three other settings."""

import numpy as np
import pytest
from contract import all_estimators, estimator_classes
from sklearn.utils.estimator_checks import parametrize_with_checks

from separatrix import (
    SVC,
    BernoulliNB,
    Cascade,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    HardMarginSVC,
    KernelPerceptron,
    Kozinec,
    LeastSquaresClassifier,
    LinearSVC,
    LogisticRegression,
    LogisticRegressionCV,
    MinimumErrorClassifier,
    MultinomialNB,
    NaiveBayes,
    NearestCentroid,
    Perceptron,
    PocketPerceptron,
    PoissonNB,
    RidgeClassifier,
)
from separatrix.testing import EXPECTED_FAILURES

# settings that take other ways through the code; the nodes of a search are few, since random labels use them all
SETTINGS = [
    BernoulliNB(binarize=0.5),
    BernoulliNB(alpha=0.1, fit_prior=False),
    BernoulliNB(force_alpha=False, binarize=0.5),
    Cascade(2, n_init=1, max_iter=50),
    Cascade(hidden=(3, 2), n_init=1, max_iter=50, loss="squared_error"),
    Cascade(4, C=1.0, n_init=1, max_iter=50, class_weight="balanced"),
    CategoricalNB(alpha=0.1),
    CategoricalNB(fit_prior=False),
    CategoricalNB(min_categories=4),
    ComplementNB(alpha=0.1),
    ComplementNB(force_alpha=False, alpha=2.0),
    ComplementNB(norm=True),
    GaussianNB(var_smoothing=0.1),
    GaussianNB(var_smoothing=0.0),
    GaussianNB(var_smoothing=1e-3),
    HardMarginSVC(kernel="rbf", gamma=3.0),
    HardMarginSVC(kernel="laplacian"),
    HardMarginSVC(tol=1e-2),
    KernelPerceptron(kernel="linear"),
    KernelPerceptron(kernel="poly", degree=2, shuffle=True, random_state=0),
    KernelPerceptron(kernel="laplacian", fit_intercept=False),
    Kozinec(epsilon=0.5),
    Kozinec(rule="plain"),
    Kozinec(fit_intercept=False),
    LeastSquaresClassifier(fit_intercept=False),
    LeastSquaresClassifier(class_weight="balanced"),
    LeastSquaresClassifier(max_iter=50),
    LinearSVC(loss="squared_hinge"),
    LinearSVC(fit_intercept=False, C=0.1),
    LinearSVC(class_weight="balanced", tol=1e-2, dual=False),
    LogisticRegression(solver="newton", identifiability="reference"),
    LogisticRegression(solver="lbfgs", fit_intercept=False, C=10.0, tol=1e-12),
    LogisticRegression(loss="squared_error"),
    LogisticRegressionCV(Cs=3, cv=3, scoring="neg_log_loss"),
    LogisticRegressionCV(Cs=[0.1, 1.0], cv=3, fit_intercept=False),
    LogisticRegressionCV(Cs=2, cv=3, class_weight="balanced", identifiability="reference"),
    MinimumErrorClassifier(max_nodes=20, fit_intercept=False),
    MinimumErrorClassifier(max_nodes=20, class_weight="balanced"),
    MinimumErrorClassifier(max_nodes=5),
    MultinomialNB(alpha=0.1),
    MultinomialNB(fit_prior=False),
    MultinomialNB(force_alpha=False, alpha=2.0),
    NaiveBayes(shared_variance=False),
    NaiveBayes(family="poisson"),
    NaiveBayes(family="multinomial", alpha=0.5),
    NearestCentroid("manhattan"),
    NearestCentroid("manhattan", priors="empirical", shrink_threshold=0.5),
    NearestCentroid(priors="empirical", shrink_threshold=0.1),
    Perceptron(update="batch"),
    Perceptron(update="worst", average=True),
    Perceptron(shuffle=True, tol=1e-3, random_state=0),
    PocketPerceptron(method="run", random_state=0),
    PocketPerceptron(shuffle=False, max_iter=20),
    PocketPerceptron(fit_intercept=False, random_state=0),
    PoissonNB(priors=None),
    PoissonNB(priors=None),
    PoissonNB(priors=None),
    RidgeClassifier(0.0),
    RidgeClassifier(1e4, class_weight="balanced"),
    RidgeClassifier(alpha=1e-3, fit_intercept=False),
    SVC(kernel="linear", C=10.0),
    SVC(kernel="poly", degree=2, coef0=1.0, decision_function_shape="ovo"),
    SVC(probability=True),
]
TRAIN, WEIGHTED = "check_classifiers_train", "check_class_weight_classifiers"
EQUIVALENCE = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
SPARSE = [f"check_estimator_sparse_{kind}" for kind in ("array", "matrix", "tag")]
MATRIX = [
    "check_classifiers_multilabel_representation_invariance",
    *(
        f"check_classifiers_multilabel_output_format_{method}"
        for method in ("predict", "predict_proba", "decision_function")
    ),
]
THROUGH_ORIGIN = (
    "the check wants nearly all rows in the heavy class; a hyperplane through the origin has half on each side"
)
WITHOUT_CHOICE = (PoissonNB,)  # whose parameter has one value that suits any number of classes


def expected(estimator):
    """What the mathematics forbids the class, and this setting of it."""
    of_class = EXPECTED_FAILURES.get(type(estimator).__name__, {})
    match estimator:
        case HardMarginSVC(kernel="rbf" | "laplacian"):  # which separate any labels of different points
            return dict.fromkeys(SPARSE, "the check draws equal points, of zeros, with different labels")
        case Perceptron(update="batch"):  # which adds up the rows: a weight is a count
            return {}
        case Perceptron(tol=float()):  # which stops early
            return {name: why for name, why in of_class.items() if name != WEIGHTED}
        case KernelPerceptron(kernel="linear"):
            return {**of_class, WEIGHTED: EXPECTED_FAILURES["Perceptron"][WEIGHTED]}
        case KernelPerceptron(kernel="poly", degree=2):
            return {**of_class, TRAIN: "a form of degree 2 cannot tell x from -x, and the classes lie about the origin"}
        case PocketPerceptron(shuffle=False):
            return {**of_class, WEIGHTED: EXPECTED_FAILURES["MinimumErrorClassifier"][WEIGHTED]}
        case PocketPerceptron(fit_intercept=False) | LeastSquaresClassifier(fit_intercept=False):
            return {**of_class, WEIGHTED: THROUGH_ORIGIN}
        case RidgeClassifier(fit_intercept=False):
            return {**of_class, WEIGHTED: THROUGH_ORIGIN}
        case LinearSVC(fit_intercept=False) | LogisticRegression(fit_intercept=False):
            return {**of_class, WEIGHTED: THROUGH_ORIGIN}
        case LogisticRegressionCV(fit_intercept=False):
            return {**of_class, WEIGHTED: THROUGH_ORIGIN}
        case LogisticRegressionCV(scoring="neg_log_loss"):
            return dict.fromkeys(MATRIX, "the log loss is of one label a row, and the check has a matrix of labels")
        case NaiveBayes(family="poisson" | "multinomial"):
            return EXPECTED_FAILURES["MultinomialNB"]
        case SVC(decision_function_shape="ovo"):
            return {TRAIN: "the check wants a column of scores a class; this setting asks for one a pair of classes"}
        case SVC(probability=True):
            return dict.fromkeys(EQUIVALENCE, "copies of a row fall into different folds, a row of weight 2 into one")
    return of_class


def quiet(test):
    """Some checks use columns that are constant in a class, and labels that nothing separates."""
    for kind in ("separatrix.LikelihoodWarning", "sklearn.exceptions.ConvergenceWarning"):
        test = pytest.mark.filterwarnings(f"ignore::{kind}")(test)
    return test


SLOW = (Cascade, KernelPerceptron, LogisticRegressionCV, MinimumErrorClassifier)  # a second and more for a check


@quiet
@parametrize_with_checks([e for e in all_estimators() if not isinstance(e, SLOW)], expected_failed_checks=expected)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.long  # they take minutes together: a step of their own
@quiet
@parametrize_with_checks([e for e in all_estimators() if isinstance(e, SLOW)], expected_failed_checks=expected)
def test_scikit_learn_check_of_slow_classes(estimator, check):
    check(estimator)


@pytest.mark.long
@quiet
@parametrize_with_checks(SETTINGS, expected_failed_checks=expected)
def test_scikit_learn_check_in_other_settings(estimator, check):
    check(estimator)


def test_every_class_is_checked_in_three_other_settings():
    for kind in estimator_classes():
        default = kind().get_params()
        others = [e.get_params() for e in SETTINGS if type(e) is kind]
        assert len(others) == 3, kind
        if kind not in WITHOUT_CHOICE:
            assert all(not _same(default, other) for other in others), kind


def _same(one, other):
    return all(np.array_equal(one[name], other[name]) for name in one)
