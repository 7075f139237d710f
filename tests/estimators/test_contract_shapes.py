"""What must hold on every route: the contract that depends on how a fit is solved, over data of every shape.

A fit of these sizes ends within its tolerance of the optimum, and two fits of the same problem may end at different
points. But the best objective, or the best margin, is one number, which the certificates of both bracket: brackets that
do not overlap show that one of them is wrong.
"""

import warnings
from functools import lru_cache

import numpy as np
import pytest
from contract import estimator_classes
from scipy import sparse
from shapes import EVERY_SHAPE, problem
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from separatrix.certificates import DualityGap, ErrorBound, MarginBracket

ONLINE = ("Perceptron", "PocketPerceptron", "Kozinec", "KernelPerceptron")  # they learn from rows in their order
FOLDS = ("LogisticRegressionCV",)  # which are made of the rows in their order


@pytest.fixture(params=EVERY_SHAPE)
def shape(request):
    return request.param


@pytest.fixture(params=[kind.__name__ for kind in estimator_classes()])
def name(request):
    return request.param


@pytest.fixture(autouse=True)
def few_iterations_may_run_out():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def brackets(certificate):
    """[(low, high)], one for each part, of the number that it bounds from both sides; None where it bounds none."""
    found = []
    for part in certificate.all_parts:
        if isinstance(part, DualityGap):
            found.append((part.dual, part.primal))
        elif isinstance(part, MarginBracket):
            found.append((part.lower, part.upper))
        elif isinstance(part, ErrorBound):
            found.append((part.lower_bound, part.errors))
    return found or None


@lru_cache(maxsize=8)
def fitted(name, shape):
    """The classifier fitted to rows of the shape, and these; not to be changed."""
    estimator, X, y = problem(name, shape)
    return estimator.fit(X, y), X, y


def assert_same_problem(model, rows, other, others, sign=1.0):
    """Both are certified on their own rows, weights included, and what they claim can be true of one problem."""
    first, second = (None if m.certificate_ is None else brackets(m.certificate_) for m in (model, other))
    if first is not None and second is not None:
        for (low, high), (least, most) in zip(first, second, strict=True):
            slack = 1e-9 * max(abs(high), abs(most))  # rounding, and sums in another order
            assert low <= most + slack
            assert least <= high + slack
    elif model.status_ == other.status_:
        scores, expected = model.decision_function(rows[0]), sign * other.decision_function(rows[0])
        np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-6 * np.abs(expected).max())
    for found, data in ((model, rows), (other, others)):
        assert found.certificate_ is None or found.certificate_.verify(*data)


def test_scores_and_predictions_are_those_of_the_model(name, shape):
    model, X, y = fitted(name, shape)
    k = len(model.classes_)
    scores = model.decision_function(X)
    if hasattr(model, "coef_") and model.coef_.shape[0] == (1 if k == 2 else k):
        by_hand = np.asarray(X @ model.coef_.T) + model.intercept_
        by_hand = by_hand[:, 0] if k == 2 else by_hand
        np.testing.assert_allclose(scores, by_hand, rtol=0, atol=1e-11 * np.abs(by_hand).max())
    codes = (scores >= 0).astype(int) if k == 2 else scores.argmax(axis=1)
    assert (model.predict(X) == model.classes_[codes]).all()
    few = X[:3].toarray() if sparse.issparse(X) else X[:3]
    np.testing.assert_allclose(model.decision_function(few), scores[:3], rtol=0, atol=1e-11 * np.abs(scores).max())
    assert model.certificate_ is None or model.certificate_.verify(X, y)


def test_dense_and_sparse_rows_are_one_problem(name, shape):
    model, X, y = fitted(name, shape)
    if name == "PocketPerceptron":
        pytest.skip("each visit counts the errors of one row, whose score is rounded as it is stored")
    if X.shape[0] * X.shape[1] > 3_000_000:
        X, y = X[:2000, :1000], y[:2000]
        model = clone(model).fit(X, y)
    other = X.toarray() if sparse.issparse(X) else sparse.csr_array(X)
    assert_same_problem(model, (X, y), clone(model).fit(other, y), (other, y))


def test_whole_numbers_are_one_problem(name, shape):
    model, X, y = fitted(name, shape)
    whole = (4 * X).astype(np.int64)
    floats = whole.astype(np.float64)
    assert_same_problem(clone(model).fit(floats, y), (floats, y), clone(model).fit(whole, y), (whole, y))


def test_single_precision_is_certified(name, shape):
    model, X, y = fitted(name, shape)
    rows = X.astype(np.float32)
    found = clone(model).fit(rows, y)
    assert found.certificate_ is None or found.certificate_.verify(rows, y)
    assert (found.certificate_ is None) == (model.certificate_ is None)


def test_the_order_of_the_rows_does_not_matter(name, shape):
    if name in ONLINE + FOLDS:
        pytest.skip("it depends on the order of the rows")
    model, X, y = fitted(name, shape)
    order = np.random.default_rng(0).permutation(len(y))
    assert_same_problem(model, (X, y), clone(model).fit(X[order], y[order]), (X[order], y[order]))


def test_swapped_labels_are_one_problem(name, shape):
    model, X, y = fitted(name, shape)
    if y.max() > 1 or name == "PocketPerceptron":
        pytest.skip("of two classes; the pocket counts a score of 0 as positive")
    assert_same_problem(model, (X, y), clone(model).fit(X, 1 - y), (X, 1 - y), sign=-1.0)


def test_integer_weights_are_repeated_rows(name, shape):
    model, X, y = fitted(name, shape)
    if not has_fit_parameter(model, "sample_weight") or name in ONLINE + FOLDS:
        pytest.skip("takes no weights, or they are no repetition")
    weight = np.random.default_rng(0).integers(0, 3, size=len(y))
    weight[: y.max() + 1] = 1  # a row of each class
    rows = np.repeat(np.arange(len(y)), weight)
    weighted = clone(model).fit(X, y, sample_weight=weight)
    assert_same_problem(weighted, (X, y, weight), clone(model).fit(X[rows], y[rows]), (X[rows], y[rows]))
