"""What people do with scikit-learn's classifiers beside fitting them: other containers, sparsify, priors, scorers."""

import numpy as np
import pytest
from problems import islands, noisy

from separatrix import (
    SVC,
    GaussianNB,
    HardMarginSVC,
    KernelPerceptron,
    LinearSVC,
    LogisticRegression,
    LogisticRegressionCV,
    MultinomialNB,
    NaiveBayes,
    load,
    save,
)
from separatrix.errors import InvalidInputError
from separatrix.kernels import Spectrum

WORDS = ["aab", "aba", "bbb", "bab", "aaa", "abb"] * 3
KINDS = [0, 0, 1, 1, 0, 1] * 3


def common_letters(A, B):
    return np.array([[float(sum(p == q for p, q in zip(a, b, strict=True))) for b in B] for a in A])


def column(of):
    if of in ("pandas", "polars"):
        return pytest.importorskip(of).Series
    return {"tuple": tuple, "array": np.array, "objects": lambda words: np.array(words, dtype=object)}[of]


@pytest.mark.parametrize("kernel", [common_letters, Spectrum(1)])
@pytest.mark.parametrize("kind", [SVC, HardMarginSVC, KernelPerceptron])
@pytest.mark.parametrize("of", ["tuple", "array", "objects", "pandas", "polars"])
def test_texts_come_in_any_column(of, kind, kernel):
    make = column(of)
    listed, model = kind(kernel=kernel).fit(WORDS, KINDS), kind(kernel=kernel).fit(make(WORDS), KINDS)
    np.testing.assert_array_equal(model.decision_function(make(WORDS)), listed.decision_function(WORDS))
    assert model.certificate_.verify(make(WORDS), KINDS)
    with pytest.raises(InvalidInputError, match="0 points"):
        model.predict([])


class Elsewhere:
    """An array of another library, whose memory NumPy cannot reach."""

    def __init__(self, values):
        self.values, self.shape, self.ndim, self.dtype = values, values.shape, values.ndim, values.dtype

    def __array_namespace__(self, api_version=None):
        return np

    def __len__(self):
        return len(self.values)

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Implicit conversion is not allowed.")


@pytest.mark.parametrize("model", [LogisticRegression(), LogisticRegressionCV(2), SVC(), NaiveBayes(), LinearSVC()])
def test_arrays_of_other_libraries_are_refused_with_what_to_do(model):
    X, y = noisy(30)
    weight = np.ones(30)
    for name, given in {
        "X": (Elsewhere(X), y),
        "y": (X, Elsewhere(y)),
        "sample_weight": (X, y, Elsewhere(weight)),
    }.items():
        with pytest.raises(InvalidInputError, match=rf"{name} is a .*Elsewhere, .* pass numpy.asarray"):
            model.fit(*given)
    model.fit(X, y)
    with pytest.raises(InvalidInputError, match=r"numpy.asarray"):
        model.predict(Elsewhere(X))


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("kind", [LinearSVC, LogisticRegression])
def test_a_sparse_coef_does_all_that_an_array_does(kind, k, tmp_path):
    X, y = islands(k)
    model, held = kind().fit(X, y), kind().fit(X, y).sparsify()
    np.testing.assert_array_equal(held.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(held.signed_distance(X), model.signed_distance(X))
    if k == 2:
        np.testing.assert_array_equal(held.hyperplane_.w, model.hyperplane_.w)
    save(held, tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(again.coef_.toarray(), model.coef_)
    assert again.certificate_.verify(X, y)
    np.testing.assert_array_equal(again.densify().coef_, model.coef_)


@pytest.mark.parametrize("model", [NaiveBayes(priors=[0, 0.3, 0.7]), GaussianNB(priors=[0, 0.3, 0.7])])
def test_a_prior_of_zero_is_for_a_class_without_weight(model):
    X, y = islands(3)
    with pytest.raises(InvalidInputError, match="priors must be above 0"):
        model.fit(X, y)
    others = y != 0
    model.fit(X, y, sample_weight=others)
    alone = type(model)(priors=[0.3, 0.7]).fit(X[others], y[others])
    assert model.class_prior_.tolist() == [0.0, 0.3, 0.7]
    np.testing.assert_array_equal(model.predict_proba(X)[:, 1:], alone.predict_proba(X))
    with pytest.raises(InvalidInputError, match="class_prior"):
        MultinomialNB(class_prior=[0, -0.1, 1.1]).fit(abs(X), y, sample_weight=others)


@pytest.mark.parametrize("scoring", [{"accuracy": "accuracy"}, ["accuracy"], 3])
def test_several_scores_cannot_choose_one_C(scoring):
    X, y = noisy(30)
    with pytest.raises(InvalidInputError, match="scoring must be None, a function or the name of a score"):
        LogisticRegressionCV(2, scoring=scoring).fit(X, y)
