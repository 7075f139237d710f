"""What every estimator of the package promises, whichever it is: attributes, inputs, weights, errors, and no surprises.

The estimators are found by `contract.all_estimators`, so that a new one is held to this without being named.
"""

import inspect
import pickle
from copy import deepcopy

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.utils
from contract import all_estimators, estimator_classes, suited
from problems import islands
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import has_fit_parameter

from separatrix import (
    Hyperplane,
    LikelihoodWarning,
    NaiveBayes,
    NearestCentroid,
    NoDirectionError,
    Status,
    UnsupportedParameterError,
    save,
)
from separatrix.errors import SeparatrixError
from separatrix.estimators.base import Classifier

_ONLINE = {
    "test_integer_weights_equal_repeated_rows": "a weight scales the step of an online rule",
    "test_the_order_of_the_rows_does_not_matter": "an online rule learns from the rows in their order",
}

# {class name: {test name: why it cannot hold}}
SKIPPED = {
    "HardMarginSVC": {
        "test_scores_are_those_of_the_hyperplanes": "three classes have a hyperplane for each pair, and a vote",
        "test_renaming_three_classes_renames_the_predictions_only": "coef_ has the pairs in the order of the names",
    },
    "Perceptron": _ONLINE,
    "PocketPerceptron": {
        **_ONLINE,
        "test_swapping_the_labels_changes_the_sign_only": "a score of 0 is positive, so mirrored weights may err more",
        "test_renaming_three_classes_renames_the_predictions_only": "each class in its turn draws rows at random",
    },
    "Kozinec": _ONLINE,
    "KernelPerceptron": _ONLINE,
    "LogisticRegressionCV": {
        "test_integer_weights_equal_repeated_rows": "the folds of repeated rows are not those of weighted ones",
        "test_the_order_of_the_rows_does_not_matter": "the folds are made of the rows in their order",
    },
}

# these square the entries, so that 1e200 is out of their range; others may take it if they can prove what they found
FORMULAS = ("LeastSquaresClassifier", "NaiveBayes", "NearestCentroid")


@pytest.fixture(params=all_estimators(), ids=lambda estimator: type(estimator).__name__)
def estimator(request):
    reason = SKIPPED.get(type(request.param).__name__, {}).get(request.node.originalname)
    if reason:
        pytest.skip(reason)
    copied = clone(request.param)
    if "decision_function_shape" in copied.get_params():  # votes jump where the score of a pair is 0
        copied.set_params(decision_function_shape="ovo")
    return copied.set_params(random_state=0) if "random_state" in copied.get_params() else copied


def test_every_skipped_test_exists():
    for reasons in SKIPPED.values():
        for name, reason in reasons.items():
            assert callable(globals()[name])
            assert reason


def weighted(estimator):
    if not has_fit_parameter(estimator, "sample_weight"):
        pytest.skip("takes no weights")


def assert_same(model, other, X, sign=1.0, tolerance=1e-7):
    """The same scores on X, and the same weights if it has any, up to the sign."""
    scores, others = np.asarray(model.decision_function(X)), sign * np.asarray(other.decision_function(X))
    np.testing.assert_allclose(scores, others, rtol=0, atol=tolerance * np.abs(others).max())
    if hasattr(model, "coef_"):
        for name in ("coef_", "intercept_"):
            value, expected = getattr(model, name), sign * getattr(other, name)
            size = max(np.abs(other.coef_).max(), np.abs(expected).max())
            np.testing.assert_allclose(value, expected, rtol=0, atol=tolerance * size)


# ---------------------------------------------------------------------- attributes
@pytest.mark.parametrize("k", [2, 3])
def test_fitted_attributes(estimator, k):
    X, y = suited(estimator, k)
    assert estimator.fit(X, y) is estimator
    assert estimator.classes_.tolist() == list(range(k))
    assert estimator.n_features_in_ == X.shape[1]
    assert np.all(np.asarray(estimator.n_iter_) >= 1)
    assert isinstance(estimator.status_, Status)
    verification = estimator.certificate_.verify(X, y)
    assert verification, str(verification)
    assert isinstance(estimator.certificate_.claim, str)
    assert estimator.predict(X).shape == y.shape
    if hasattr(estimator, "coef_"):
        rows = 1 if k == 2 else k
        assert estimator.coef_.shape == (rows, X.shape[1])
        assert estimator.intercept_.shape == (rows,)
        assert np.isfinite(estimator.coef_).all()
        assert np.isfinite(estimator.intercept_).all()


@pytest.mark.parametrize("k", [2, 3])
def test_scores_are_those_of_the_hyperplanes(estimator, k):
    X, y = suited(estimator, k)
    scores = estimator.fit(X, y).decision_function(X)
    assert scores.shape == ((len(X),) if k == 2 else (len(X), k))
    if not hasattr(estimator, "coef_"):
        return
    by_hand = X @ estimator.coef_.T + estimator.intercept_
    distances = by_hand / np.sqrt((estimator.coef_**2).sum(axis=1))
    for values, expected in ((scores, by_hand), (estimator.signed_distance(X), distances)):
        expected = expected[:, 0] if k == 2 else expected
        np.testing.assert_allclose(values, expected, rtol=1e-13, atol=1e-13 * np.abs(expected).max())


@pytest.mark.parametrize("k", [2, 3])
def test_predictions_follow_from_the_scores(estimator, k):
    X, y = suited(estimator, k)
    if "decision_function_shape" in estimator.get_params():
        estimator.set_params(decision_function_shape="ovr")
    scores = estimator.fit(X, y).decision_function(X)
    codes = (scores >= 0).astype(int) if k == 2 else scores.argmax(axis=1)
    assert (estimator.predict(X) == codes).all()
    assert estimator.score(X, y) == (codes == y).mean()


def test_only_two_classes_have_a_hyperplane(estimator):
    X, y = suited(estimator, 2)
    estimator.fit(X, y)
    if not hasattr(estimator, "coef_"):
        assert not hasattr(estimator, "hyperplane_")
        return
    plane = estimator.hyperplane_
    assert plane == Hyperplane(estimator.coef_[0], float(estimator.intercept_[0]))
    np.testing.assert_allclose(plane.signed_distance(X), estimator.signed_distance(X), rtol=1e-12, atol=1e-12)
    estimator.fit(*suited(estimator, 3))
    assert not hasattr(estimator, "hyperplane_")


def test_a_score_of_exactly_0_is_positive(estimator):
    X, y = suited(estimator, 2)
    estimator.fit(X, y)
    if not hasattr(estimator, "coef_"):
        pytest.skip("no weights to put a point between")
    estimator.coef_, estimator.intercept_ = np.array([[1.0, -1.0, 0.0]]), np.array([0.0])
    assert estimator.predict([[2.0, 2.0, 7.0]])[0] == estimator.classes_[1]
    assert estimator.predict(np.array([[2.0, 2.0, 7.0]]))[0] == estimator.classes_[1]


def test_without_direction_there_is_no_distance(estimator):
    X, y = suited(estimator, 2)
    estimator.fit(X, y)
    if not hasattr(estimator, "coef_"):
        pytest.skip("not linear")
    estimator.coef_ = np.zeros_like(estimator.coef_)
    with pytest.raises(NoDirectionError):
        estimator.signed_distance(X)


def test_probabilities_follow_from_the_scores(estimator):
    for k in (2, 3):
        X, y = suited(estimator, k)
        estimator.fit(X, y)
        if not hasattr(estimator, "predict_proba"):
            return
        P, logs = estimator.predict_proba(X), estimator.predict_log_proba(X)
        assert P.shape == (len(X), k)
        np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
        assert (P >= 0).all()
        assert np.isfinite(logs).all()
        np.testing.assert_allclose(np.exp(logs), P, rtol=1e-9, atol=1e-300)
        assert (estimator.classes_[P.argmax(axis=1)] == estimator.predict(X)).mean() == 1.0


def test_a_refit_on_other_classes_leaves_nothing_behind(estimator):
    fresh = clone(estimator).fit(*suited(estimator, 2))
    again = estimator.fit(*suited(estimator, 3)).fit(*suited(estimator, 2))
    assert vars(fresh).keys() == vars(again).keys()
    assert_same(again, fresh, suited(estimator, 2)[0])


# ---------------------------------------------------------------------- inputs
def containers():
    return {
        "Fortran order": np.asfortranarray,
        "list": np.ndarray.tolist,
        "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
        "negative strides": lambda X: X[::-1].copy()[::-1],
        "csr_array": sparse.csr_array,
        "csr_matrix": sparse.csr_matrix,
        "csc_array": sparse.csc_array,
        "csc_matrix": sparse.csc_matrix,
        "coo_array": sparse.coo_array,
        "coo_matrix": sparse.coo_matrix,
        "pandas": lambda X: pd.DataFrame(X, columns=["a", "b", "c"]),
        "polars": lambda X: pl.DataFrame(X, schema=["a", "b", "c"]),
        "objects": lambda X: X.astype(object),
    }


@pytest.mark.parametrize("container", containers())
@pytest.mark.parametrize("k", [2, 3])
def test_any_container_gives_the_same_model(estimator, container, k):
    X, y = suited(estimator, k)
    wrap = containers()[container]
    if sparse.issparse(wrap(X)) and not estimator.__sklearn_tags__().input_tags.sparse:
        pytest.skip("its tags say that it takes no sparse rows")
    reference = clone(estimator).fit(X, y)
    model = estimator.fit(wrap(X), y)
    scores, expected = model.decision_function(wrap(X)), reference.decision_function(X)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-7 * np.abs(expected).max())
    assert (model.predict(wrap(X)) == reference.predict(X)).all()
    assert model.certificate_.verify(wrap(X), y)
    names = getattr(model, "feature_names_in_", None)
    assert (names is not None) == (container in ("pandas", "polars"))


@pytest.mark.filterwarnings("ignore::separatrix.LikelihoodWarning")  # booleans that never vary within a class
@pytest.mark.parametrize("dtype", [np.float16, np.int64, np.int8, np.uint8, bool])
def test_number_types_give_a_double_model(estimator, dtype):
    X, y = suited(estimator, 2)
    X = np.floor(X) if dtype is not bool else X > 6
    model, reference = clone(estimator).fit(X.astype(dtype), y), estimator.fit(X.astype(float), y)
    scores, expected = model.decision_function(X.astype(dtype)), reference.decision_function(X.astype(float))
    assert scores.dtype == np.float64
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("k", [2, 3])
def test_single_precision_gives_a_single_precision_model(estimator, k):
    X, y = suited(estimator, k)
    rows = X.astype(np.float32)
    model = clone(estimator).fit(rows, y)
    if hasattr(model, "coef_"):
        assert model.coef_.dtype == np.float32
        assert model.intercept_.dtype == np.float32
    verification = model.certificate_.verify(rows, y)
    assert verification, str(verification)
    reference = estimator.fit(X, y)
    scores, expected = model.decision_function(rows), reference.decision_function(X)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-4 * np.abs(expected).max())
    assert (model.predict(rows) == reference.predict(X)).all()


def test_read_only_input_is_enough_and_nothing_is_changed(estimator):
    for wrap in (np.ascontiguousarray, np.asfortranarray, sparse.csr_array, pd.DataFrame):
        X, y = suited(estimator, 2)
        if wrap is sparse.csr_array and not estimator.__sklearn_tags__().input_tags.sparse:
            continue
        rows, weight = wrap(X), np.linspace(1.0, 2.0, len(y))
        arguments = [rows, y, weight] if has_fit_parameter(estimator, "sample_weight") else [rows, y]
        before = deepcopy(arguments)
        for array in (*([rows.data, rows.indices, rows.indptr] if sparse.issparse(rows) else []), y, weight):
            array.setflags(write=False)
        if isinstance(rows, np.ndarray):
            rows.setflags(write=False)
        model = clone(estimator).fit(*arguments)
        model.predict(rows)
        model.decision_function(rows)
        model.certificate_.verify(*arguments)
        for given, expected in zip(arguments, before, strict=True):
            if sparse.issparse(given):
                assert (given != expected).nnz == 0
                assert np.array_equal(given.indices, expected.indices)
            else:
                assert np.array_equal(np.asarray(given), np.asarray(expected))


def test_a_memory_map_is_enough(estimator, tmp_path):
    X, y = suited(estimator, 2)
    X.tofile(tmp_path / "x")
    rows = np.memmap(tmp_path / "x", dtype=float, mode="r", shape=X.shape)
    assert_same(clone(estimator).fit(rows, y), estimator.fit(X, y), X)


@pytest.mark.parametrize(
    "labels",
    [
        ["ham", "spam"],
        [False, True],
        np.array([1, 2], dtype=np.int8),
        np.array([1, 255], dtype=np.uint8),
        [-1.0, 1.0],
        np.array(["ham", "spam"], dtype=object),
    ],
    ids=["text", "bool", "int8", "uint8", "float", "objects"],
)
def test_any_labels(estimator, labels):
    X, codes = suited(estimator, 2)
    labels = np.asarray(labels)
    y = labels[codes]
    model = clone(estimator).fit(X, y)
    assert model.classes_.tolist() == sorted(labels.tolist())
    assert model.classes_.dtype == labels.dtype
    predicted = model.predict(X)
    assert predicted.dtype == labels.dtype
    assert model.certificate_.verify(X, y)
    assert_same(model, estimator.fit(X, codes), X, tolerance=0.0)
    assert (predicted == labels[estimator.predict(X)]).all()


@pytest.mark.parametrize("series", [pd.Series, pd.Categorical, pl.Series, list, tuple], ids=lambda kind: kind.__name__)
def test_labels_in_any_series(estimator, series):
    X, codes = suited(estimator, 2)
    y = np.array(["ham", "spam"])[codes]
    model = clone(estimator).fit(X, series(y.tolist()))
    assert model.classes_.tolist() == ["ham", "spam"]
    assert (model.predict(X) == np.array(["ham", "spam"])[estimator.fit(X, codes).predict(X)]).all()


# ---------------------------------------------------------------------- symmetries
def test_swapping_the_labels_changes_the_sign_only(estimator):
    X, y = suited(estimator, 2)
    assert_same(clone(estimator).fit(X, 1 - y), estimator.fit(X, y), X, sign=-1.0)


def test_renaming_three_classes_renames_the_predictions_only(estimator):
    X, y = suited(estimator, 3)
    names = np.array(["c", "a", "b"])  # sorted: a, b, c are the codes 1, 2, 0
    model, reference = clone(estimator).fit(X, names[y]), estimator.fit(X, y)
    assert (model.predict(X) == names[reference.predict(X)]).all()
    if hasattr(model, "coef_"):
        size = np.abs(reference.coef_).max()
        np.testing.assert_allclose(model.coef_, reference.coef_[[1, 2, 0]], rtol=0, atol=1e-7 * size)


@pytest.mark.parametrize("k", [2, 3])
def test_the_order_of_the_rows_does_not_matter(estimator, k):
    X, y = suited(estimator, k)
    reference = clone(estimator).fit(X, y)
    for seed in range(2):
        order = np.random.default_rng(seed).permutation(len(X))
        assert_same(clone(estimator).fit(X[order], y[order]), reference, X)


# ---------------------------------------------------------------------- weights
@pytest.mark.parametrize("k", [2, 3])
def test_integer_weights_equal_repeated_rows(estimator, k):
    weighted(estimator)
    X, y = suited(estimator, k)
    weight = np.random.default_rng(0).integers(0, 4, size=len(X))
    repeated = clone(estimator).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    model = estimator.fit(X, y, sample_weight=weight)
    assert_same(model, repeated, X)
    assert model.certificate_.verify(X, y, weight)


@pytest.mark.parametrize("k", [2, 3])
def test_weight_0_equals_leaving_the_row_out(estimator, k):
    weighted(estimator)
    X, y = suited(estimator, k)
    kept = np.arange(len(X)) % 3 > 0
    more_X, more_y = X.copy(), y.copy()
    more_X[~kept], more_y[~kept] = 999.0, (y[~kept] + 1) % k
    model = clone(estimator).fit(more_X, more_y, sample_weight=kept.astype(float))
    assert_same(model, estimator.fit(X[kept], y[kept]), X, tolerance=1e-12)
    assert model.certificate_.verify(more_X, more_y, kept)


def test_weights_of_1_are_no_weights(estimator):
    weighted(estimator)
    X, y = suited(estimator, 2)
    reference = clone(estimator).fit(X, y)
    for weight in (np.ones(len(X)), [1] * len(X), np.ones(len(X), dtype=bool), 1.0):
        assert_same(clone(estimator).fit(X, y, sample_weight=weight), reference, X, tolerance=1e-12)


def test_class_weights_multiply_into_the_sample_weights(estimator):
    if "class_weight" not in estimator.get_params():
        pytest.skip("has no class_weight")
    X, y = suited(estimator, 2)
    weight = np.random.default_rng(0).integers(1, 4, size=len(X)).astype(float)
    by_class = np.bincount(y, weights=weight)
    for class_weight, factors in (
        ({0: 2.0, 1: 0.5}, np.array([2.0, 0.5])),
        ({1: 3.0}, np.array([1.0, 3.0])),
        ("balanced", weight.sum() / (2 * by_class)),
    ):
        model = clone(estimator).set_params(class_weight=class_weight).fit(X, y, sample_weight=weight)
        assert_same(model, clone(estimator).fit(X, y, sample_weight=weight * factors[y]), X)
        assert model.certificate_.verify(X, y, weight)


# ---------------------------------------------------------------------- errors
def spoiled(change):
    def spoil(X, y):
        X = X.copy()
        X[5, 1] = change
        return X, y, None

    return spoil


def weights_of(weight):
    return lambda X, y: (X, y, weight(np.ones(len(X)), y))


def put(array, index, value):
    array = array.copy() if isinstance(array, np.ndarray) else list(array)
    array[index] = value
    return array


BAD = {
    "NaN": (spoiled(np.nan), ["NaN", "row 5", "column 1"]),
    "infinity": (spoiled(np.inf), ["infinity", "row 5", "column 1"]),
    "minus infinity": (spoiled(-np.inf), ["infinity", "row 5", "column 1"]),
    "1e200": (spoiled(1e200), ["1e+200", "row 5", "column 1"]),
    "one class": (lambda X, y: (X, y * 0, None), ["class"]),
    "one class with weight": (weights_of(lambda w, y: w * (y == 0)), ["class", "weight"]),
    "no rows": (lambda X, y: (X[:0], y[:0], None), ["0 sample"]),
    "no columns": (lambda X, y: (X[:, :0], y, None), ["0 feature"]),
    "a single column as a vector": (lambda X, y: (X[:, 0], y, None), ["1D", "reshape"]),
    "too few labels": (lambda X, y: (X, y[:-1], None), ["inconsistent"]),
    "no labels": (lambda X, y: (X, None, None), ["y"]),
    "labels in two columns": (lambda X, y: (X, np.column_stack([y + 1, y + 2]), None), ["y"]),
    "continuous labels": (lambda X, y: (X, X[:, 0] + 0.123, None), ["label type"]),
    "a NaN label": (lambda X, y: (X, put(y.astype(float), 7, np.nan), None), ["y", "NaN", "row 7"]),
    "None among the labels": (lambda X, y: (X, put(y.astype(str).tolist(), 7, None), None), ["y", "row 7"]),
    "NaN among text": (lambda X, y: (X, put(y.astype(str).astype(object), 7, np.nan), None), ["y", "row 7"]),
    "NaN in a list of text": (lambda X, y: (X, put(y.astype(str).tolist(), 7, np.nan), None), ["y", "row 7"]),
    "labels of two types": (lambda X, y: (X, put(y.astype(object), 3, "one"), None), ["y", "int", "str"]),
    "a list of labels of two types": (lambda X, y: (X, put(y.tolist(), 3, "one"), None), ["y", "int", "str"]),
    "too few weights": (weights_of(lambda w, y: w[:-1]), ["sample_weight", "shape"]),
    "a matrix of weights": (weights_of(lambda w, y: w[:, None]), ["sample_weight", "shape"]),
    "a negative weight": (weights_of(lambda w, y: put(w, 3, -1.0)), ["sample_weight", "egative", "row 3"]),
    "a NaN weight": (weights_of(lambda w, y: put(w, 3, np.nan)), ["sample_weight", "NaN"]),
    "an infinite weight": (weights_of(lambda w, y: put(w, 3, np.inf)), ["sample_weight", "inf"]),
    "no weight at all": (weights_of(lambda w, y: w * 0), ["sample_weight", "zero"]),
    "weights that overflow": (weights_of(lambda w, y: w * 1e308), ["sample_weight"]),
    "weights that vanish": (weights_of(lambda w, y: w * 1e-320), ["sample_weight"]),
    "text in place of numbers": (lambda X, y: (np.full(X.shape, "a"), y, None), ["a"]),
    "complex numbers": (lambda X, y: (X + 1j, y, None), ["omplex"]),
    "masked entries": (
        lambda X, y: (np.ma.array(X, mask=put(np.zeros(X.shape, bool), 7, True)), y, None),
        ["X", "row 7"],
    ),
    "dates": (lambda X, y: (X.astype("i8").astype("datetime64[D]"), y, None), ["dates"]),
}


def may_take_large(estimator, X, y):
    """Whether the estimator takes such numbers, and then that it proves what it found."""
    if type(estimator).__name__ in FORMULAS:
        return False
    try:
        model = clone(estimator).fit(X, y)
    except ValueError:
        return False
    assert model.certificate_.verify(X, y)
    return True


@pytest.mark.parametrize("bad", BAD)
def test_bad_training_data_are_a_value_error_that_says_where(estimator, bad):
    spoil, words = BAD[bad]
    X, y, weight = spoil(*suited(estimator, 2))
    arguments = {} if weight is None else {"sample_weight": weight}
    if arguments:
        weighted(estimator)
    if bad == "1e200" and may_take_large(estimator, X, y):
        return
    with pytest.raises(ValueError) as caught:
        estimator.fit(X, y, **arguments)
    for word in words:
        assert word in str(caught.value)
    assert not hasattr(estimator, "classes_")


@pytest.mark.parametrize("bad", ["NaN", "infinity", "1e200"])
@pytest.mark.parametrize("wrap", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_bad_entries_are_named_by_column_name(estimator, bad, wrap):
    spoil, words = BAD[bad]
    X, y, _ = spoil(*suited(estimator, 2))
    frame = wrap({"age": X[:, 0], "height": X[:, 1], "weight": X[:, 2]})
    if bad == "1e200" and may_take_large(estimator, X, y):
        return
    with pytest.raises(ValueError) as caught:
        estimator.fit(frame, y)
    for word in [*words, "'height'"]:
        assert word in str(caught.value)


@pytest.mark.parametrize("bad", ["NaN", "infinity", "1e200"])
def test_bad_entries_of_sparse_rows_are_named(estimator, bad):
    if not estimator.__sklearn_tags__().input_tags.sparse:
        pytest.skip("takes no sparse rows")
    spoil, words = BAD[bad]
    X, y, _ = spoil(*suited(estimator, 2))
    if bad == "1e200" and may_take_large(estimator, X, y):
        return
    with pytest.raises(ValueError) as caught:
        estimator.fit(sparse.csr_array(X), y)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_bad_points_are_refused_however_few(estimator, value):
    X, y = suited(estimator, 2)
    model = estimator.fit(np.column_stack([X, np.ones(len(X))]), y)  # most give the last column no weight
    methods = [
        name for name in ("predict", "decision_function", "signed_distance", "predict_proba") if hasattr(model, name)
    ]
    for n in (1, 2, 50):
        for column in (1, 3):
            points = np.ones((n, 4))
            points[-1, column] = value
            for rows in (points, np.asfortranarray(points), points.astype(np.float32), points.tolist()):
                for method in methods:
                    with pytest.raises(ValueError) as caught:
                        getattr(model, method)(rows)
                    for word in ("NaN" if np.isnan(value) else "infinity", f"row {n - 1}", f"column {column}"):
                        assert word in str(caught.value)


def test_points_of_another_width_are_refused(estimator):
    X, y = suited(estimator, 2)
    model = estimator.fit(X, y)
    for points in (X[:1, :2], np.ones((3, 4)), X[:0], X[0], sparse.csr_array(X[:, :2])):
        with pytest.raises((ValueError, TypeError)):
            model.predict(points)


def test_prediction_needs_a_fit(estimator):
    for method in ("predict", "decision_function", "predict_proba", "signed_distance"):
        if method in dir(type(estimator)):
            with pytest.raises((NotFittedError, AttributeError)):
                getattr(estimator, method)([[1.0, 2.0, 3.0]])


def test_errors_of_our_own_are_known_by_their_class(estimator):
    X, y = suited(estimator, 2)
    with pytest.raises(SeparatrixError):
        estimator.fit(X, y * 0)


# ---------------------------------------------------------------------- a fit that fails
def assert_untouched(model, before, X, scores):
    assert vars(model).keys() == before.keys()
    for name, value in before.items():
        assert vars(model)[name] is value, name
    assert np.array_equal(model.decision_function(X), scores)


@pytest.mark.parametrize("bad", ["NaN", "one class", "too few labels", "no rows", "labels of two types"])
def test_a_refit_that_fails_leaves_the_model_as_it_was(estimator, bad):
    X, y = suited(estimator, 3)
    model = estimator.fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    before, scores = dict(vars(model)), model.decision_function(frame)
    other_X, other_y, _ = BAD[bad][0](*islands(2, d=5))
    with pytest.raises(ValueError):
        model.fit(other_X, other_y)
    assert_untouched(model, before, frame, scores)


def test_an_interrupted_refit_leaves_the_model_as_it_was(estimator, monkeypatch):
    X, y = suited(estimator, 3)
    model = estimator.fit(X, y)
    before, scores = dict(vars(model)), model.decision_function(X)

    def interrupt(self, *args, **kwargs):
        self.coef_ = self.anything_ = 0
        raise KeyboardInterrupt

    for name in ("_learn", "_publish"):
        if name == "_learn" and type(model).fit is not Classifier.fit:
            continue  # it learns in its own way
        with monkeypatch.context() as patch:
            patch.setattr(type(model), name, interrupt)
            with pytest.raises(KeyboardInterrupt):
                model.fit(*suited(model, 2, d=5))
        assert_untouched(model, before, X, scores)


def test_a_first_fit_that_is_interrupted_leaves_no_model(estimator, monkeypatch):
    X, y = suited(estimator, 2)
    before = dict(vars(estimator))

    def interrupt(self, *args, **kwargs):
        self.classes_ = 0
        raise KeyboardInterrupt

    monkeypatch.setattr(type(estimator), "_publish", interrupt)
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(X, y)
    assert vars(estimator) == before


# ---------------------------------------------------------------------- the short way for a few rows
@pytest.mark.parametrize("k", [2, 3])
def test_a_single_row_scores_as_it_does_among_others(estimator, k):
    X, y = suited(estimator, k)
    model = estimator.fit(X, y)
    together = model.decision_function(X)
    size = np.abs(together).max()
    for row in range(5):
        one = X[row : row + 1]
        for rows in (one, one.tolist(), one.astype(np.float32), np.asfortranarray(one), one.astype(object)):
            np.testing.assert_allclose(model.decision_function(rows)[0], together[row], rtol=0, atol=1e-12 * size)
            assert model.predict(rows)[0] == model.predict(X)[row]
        assert (model.decision_function(one) == model.decision_function(one.tolist())).all()


def test_large_points_are_taken_or_refused_whatever_they_come_in(estimator):
    X, y = suited(estimator, 2)
    model = estimator.fit(X, y)
    for value in (1e100, 1e200, 1e307, -1e307):
        point, answers = np.array([[value, 0.0, value / 2]]), []
        for rows in (point, point.tolist(), sparse.csr_array(point)):
            try:
                answers.append(model.decision_function(rows)[0])
            except ValueError:
                answers.append(None)
        if None in answers:
            assert answers == [None] * 3
        else:
            assert np.isfinite(answers).all()
            np.testing.assert_allclose(answers, answers[0], rtol=1e-12)


# ---------------------------------------------------------------------- scikit-learn's customs
def test_clones_are_equal_and_unfitted(estimator):
    X, y = suited(estimator, 2)
    estimator.fit(X, y)
    copied = clone(estimator)
    assert copied.get_params().keys() == estimator.get_params().keys()
    assert not hasattr(copied, "classes_")
    assert_same(copied.fit(X, y), estimator, X, tolerance=0.0)


def through_pickle(model):
    return pickle.loads(pickle.dumps(model))


@pytest.mark.parametrize("copy", [through_pickle, deepcopy])
def test_copies_predict_and_are_saved_the_same(estimator, copy, tmp_path):
    X, y = suited(estimator, 3)
    model = estimator.fit(X, y)
    again = copy(model)
    save(model, tmp_path / "model.separatrix")
    save(again, tmp_path / "copy.separatrix")
    assert (tmp_path / "copy.separatrix").read_bytes() == (tmp_path / "model.separatrix").read_bytes()
    assert_same(again, model, X, tolerance=0.0)
    assert again.status_ is model.status_
    assert again.certificate_.verify(X, y)


def test_parameters_are_those_of_the_signature(estimator):
    names = [name for name in inspect.signature(type(estimator).__init__).parameters if name != "self"]
    assert sorted(names) == sorted(estimator.get_params())
    for name, value in estimator.get_params().items():
        assert getattr(estimator, name) is value


@pytest.mark.parametrize("kind", estimator_classes(), ids=lambda kind: kind.__name__)
def test_scikit_learn_parameters_are_taken_or_refused_with_advice(kind):
    names = ["GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB"]
    namesakes = {"NaiveBayes": names}.get(kind.__name__, [kind.__name__])
    theirs = dict(sklearn.utils.discovery.all_estimators("classifier"))
    ours = set(kind().get_params())
    for name in namesakes:
        for parameter in theirs[name]().get_params() if name in theirs else ():
            assert (parameter in ours) != (parameter in kind._elsewhere), parameter
    for parameter, advice in kind._elsewhere.items():
        assert len(advice.split()) >= 2
        with pytest.raises(UnsupportedParameterError) as caught:
            kind(**{parameter: None})
        assert isinstance(caught.value, TypeError)
        assert repr(parameter) in str(caught.value)
        assert advice in str(caught.value)
    with pytest.raises(TypeError):
        kind(no_such_parameter=1)


def test_warnings_point_at_the_line_that_called_fit():
    with pytest.warns(LikelihoodWarning) as caught:
        NaiveBayes().fit([[0.0], [0.0], [1.0], [1.0]], [0, 0, 1, 1])
    assert [warning.filename for warning in caught] == [__file__]


# ---------------------------------------------------------------------- many rows: labels are not sorted
@pytest.mark.parametrize("order", ["sorted", "mixed", "late", "first"])
@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("dtype", [int, float, str, bool])
def test_the_labels_of_many_rows(order, k, dtype):
    if dtype is bool and k > 2:
        pytest.skip("there are two booleans")
    n = 12_000
    y = {
        "sorted": np.sort(np.arange(n) % k),
        "mixed": np.arange(n) % k,
        "late": np.where(np.arange(n) < n - k, 0, np.arange(n) % k),
        "first": np.where(np.arange(n) < n - k, k - 1, np.arange(n) % k),
    }[order].astype(dtype)
    X = np.random.default_rng(0).normal(size=(n, 1))
    model = NearestCentroid().fit(X, y)
    labels = np.unique(y)
    assert model.classes_.tolist() == labels.tolist()
    expected = [[X[y == label].mean()] for label in labels]
    np.testing.assert_allclose(model.centroids_, expected, rtol=1e-10, atol=1e-14)
