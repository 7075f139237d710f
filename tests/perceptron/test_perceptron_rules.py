"""The update rules, against a reference that shares nothing with them."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from perceptron.perceptron_reference import homogeneous, reference, separable
from scipy import sparse
from sklearn.datasets import load_iris

from separatrix import ConvergenceWarning, Perceptron
from separatrix.certificates import All, Separator
from separatrix.outcome import Status

AND = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 0, 0, 1])

WRONG = {
    "mistake": lambda score, label: label * score <= 0,
    "positive": lambda score, label: (score >= 0) != (label > 0),
    "correct": lambda score, label: label * score < 0,
}


@pytest.mark.parametrize("boundary", WRONG)
@pytest.mark.parametrize("init", ["zeros", "ones", "first", "array"])
def test_online_is_the_reference(boundary, init):
    rng = np.random.default_rng(0)
    for _ in range(25):
        X, y = separable(rng, whole=True)
        start = {"zeros": 0 * X[0], "ones": 1 + 0 * X[0], "first": y[0] * X[0], "array": X[-1]}[init]
        start = np.append(start, {"zeros": 0, "ones": 1, "first": y[0], "array": -2}[init])
        eta = 0.5
        expected, used = reference(X, y, eta, start, wrong=WRONG[boundary])
        model = Perceptron(
            eta0=eta, init=start if init == "array" else init, boundary=boundary, trace=True, max_iter=10_000
        )
        if not (homogeneous(X, y) @ expected[-1] > 0).all():
            with pytest.warns(ConvergenceWarning, match="strictly"):
                model.fit(X, y)
            assert model.certificate_ is None
            assert model.status_ is Status.UNSTRICT
        else:
            model.fit(X, y)
            assert model.certificate_.verify(X, y)
        np.testing.assert_array_equal(model.trace_["weights"], expected)
        np.testing.assert_array_equal(model.trace_["point"][1:], used)
        np.testing.assert_array_equal(model.trace_["mistakes"], np.arange(len(expected)))
        alpha = np.bincount(np.array(used, dtype=int), minlength=len(X))
        np.testing.assert_array_equal(model.dual_coef_, alpha)
        assert model.dual_coef_.dtype.kind == "i"
        assert model.n_updates_ == len(used)
        assert model.false_positives_ == alpha[y < 0].sum()
        assert model.false_negatives_ == alpha[y > 0].sum()
        w = start + eta * alpha @ homogeneous(X, y)
        np.testing.assert_array_equal(np.append(model.coef_[0], model.intercept_), w)


def test_batch_and_worst_by_hand():
    X, y = np.array([[1.0], [2.0], [-1.0]]), np.array([1, -1, 1])
    # batch from 0: all wrong; sum of y (x, 1) = (1-2-1, 1-1+1) = (-2, 1); then scores -1, -3, 3: only the first wrong
    trace = Perceptron("batch", trace=True).fit(X, y).trace_
    np.testing.assert_array_equal(trace["weights"][:3], [[0, 0], [-2, 1], [-1, 2]])
    np.testing.assert_array_equal(trace["point"][1:], -1)
    np.testing.assert_array_equal(trace["mistakes"][:3], [0, 3, 4])
    # worst from 0: all at 0, the first is taken: (1, 1); then y score = 2, -3, 0: the second: (-1, 0); 1, ...
    trace = Perceptron("worst", trace=True).fit(X, y).trace_
    np.testing.assert_array_equal(trace["weights"][:3], [[0, 0], [1, 1], [-1, 0]])
    np.testing.assert_array_equal(trace["point"][:3], [-1, 0, 1])


@pytest.mark.parametrize("update", ["online", "batch", "worst"])
def test_risk_and_margin_of_the_trace(update):
    X, y = separable(np.random.default_rng(5), n=20, d=2)
    trace = Perceptron(update, trace=True, max_iter=10_000).fit(X, y).trace_
    for risk, margin, w in zip(trace["objective"], trace["margin"], trace["weights"], strict=True):
        scores = homogeneous(X, y) @ w
        assert risk == pytest.approx(np.maximum(0, -scores).sum())
        assert margin == pytest.approx(scores.min() / np.linalg.norm(w[:-1]) if w[:-1].any() else 0.0)
    assert trace["margin"][-1] > 0


def _with_long_indices(X):
    rows = sparse.csr_array(X)
    return sparse.csr_array((rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)), shape=X.shape)


@pytest.mark.parametrize("update", ["online", "batch", "worst"])
def test_every_storage_gives_the_same(update):
    X, y = separable(np.random.default_rng(6), n=40, d=4, whole=True)
    expected = Perceptron(update, max_iter=10_000).fit(X, y)
    variants = [
        np.asfortranarray(X), X[::-1][::-1], X.astype(np.float32), X.astype(int), X.astype(np.int8),
        sparse.csr_matrix(X), sparse.csc_array(X), sparse.coo_array(X), sparse.csr_array(X.astype(np.float32)),
        _with_long_indices(X), X.tolist(),
    ]  # fmt: skip
    for rows in variants:
        model = Perceptron(update, max_iter=10_000).fit(rows, y)
        np.testing.assert_array_equal(model.coef_, expected.coef_)
        np.testing.assert_array_equal(model.dual_coef_, expected.dual_coef_)
        assert model.certificate_.verify(rows, y)
        assert model.coef_.dtype == (np.float32 if getattr(rows, "dtype", None) == np.float32 else np.float64)


def _in_parts(X, dtype=float):
    """CSR rows with every entry twice, half of it each time, and not in order."""
    rows = sparse.csr_array(X)
    parts = [np.tile(part[a:b], 2) for part in (rows.indices, rows.data / 2) for a, b in pairwise(rows.indptr)]
    indices, halves = np.concatenate(parts[: len(X)]), np.concatenate(parts[len(X) :])
    return sparse.csr_array((halves.astype(dtype), indices, 2 * rows.indptr), shape=X.shape)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"init": "first"},
        {"average": True},
        {"trace": True},
        {"shuffle": True, "random_state": 0},
        {"update": "batch"},
        {"update": "worst"},
    ],
)
@pytest.mark.filterwarnings("ignore:.*averaged weights:separatrix.ConvergenceWarning")
def test_an_entry_in_several_parts_counts_as_their_sum(options):
    X, y = separable(np.random.default_rng(9), n=40, d=4, whole=True)
    weight = np.where(np.arange(40) % 7 == 3, 0.0, 1.0)
    rows = _in_parts(X)
    before = rows.copy()
    assert rows.nnz == 2 * np.count_nonzero(X)
    for given in (None, weight):
        expected = Perceptron(max_iter=10_000, **options).fit(X, y, given)
        model = Perceptron(max_iter=10_000, **options).fit(rows, y, given)
        np.testing.assert_array_equal(model.coef_, expected.coef_)
        np.testing.assert_array_equal(model.dual_coef_, expected.dual_coef_)
        assert model.status_ is expected.status_
        if expected.certificate_ is None:
            assert "average" in options
        else:
            assert model.certificate_.margin == pytest.approx(expected.certificate_.margin, rel=1e-12)
            assert model.certificate_.verify(rows, y, given)
    for part in ("data", "indices", "indptr"):  # as they were: neither added up nor sorted
        np.testing.assert_array_equal(getattr(rows, part), getattr(before, part))


def test_parts_that_do_not_add_up_as_numbers():
    X, y = separable(np.random.default_rng(10), n=40, d=6, whole=True)
    yes = _in_parts(X > 0, bool)  # True and True is True
    stream = Perceptron().partial_fit(yes, y, classes=[-1, 1])
    np.testing.assert_array_equal(stream.coef_, Perceptron().partial_fit(X > 0, y, classes=[-1, 1]).coef_)
    with pytest.raises(ValueError, match="NaN: row 5"):
        Perceptron().fit(_in_parts(np.where(np.arange(40)[:, None] == 5, np.nan, X)), y)


@pytest.mark.parametrize("options", [{}, {"average": True}, {"fit_intercept": False, "eta0": 0.25}])
@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array, _with_long_indices])
def test_recorded_update_by_update_it_is_the_same_walk(as_rows, options):
    rng = np.random.default_rng(11)
    for noise in (0, 1):
        X, y = separable(rng, n=50, d=4, whole=True)
        y[rng.permutation(50)[:noise]] *= -1
        for labels in (y, np.where(X[:, 0] > 1, 5, y)):  # two classes, three classes
            fits = [Perceptron(max_iter=40, trace=trace, **options) for trace in (False, True)]
            for model in fits:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    model.fit(as_rows(X), labels)
            for name in ("coef_", "intercept_", "dual_coef_", "n_updates_", "n_iter_"):
                np.testing.assert_array_equal(getattr(fits[0], name), getattr(fits[1], name))


def test_a_score_that_overflows_is_named():
    X, y = separable(np.random.default_rng(12), n=30, d=3)
    for broken in (np.nan, np.inf):
        with pytest.raises(ValueError, match="row 29, column 2"):
            Perceptron().fit(np.where((np.arange(30)[:, None] == 29) & (np.arange(3) == 2), broken, X), y)
    with pytest.raises(ValueError, match="overflow"):
        Perceptron(init=np.full(4, 1e300)).fit(1e20 * X, y)


@pytest.mark.parametrize("update", ["online", "batch", "worst"])
def test_the_average_is_that_of_the_weights_after_every_point(update):
    X, y = separable(np.random.default_rng(8), n=12, d=3, whole=True)
    trace = Perceptron(update, trace=True, max_iter=10_000).fit(X, y)
    model = Perceptron(update, average=True, max_iter=10_000)
    weights, points = trace.trace_["weights"], trace.trace_["point"]
    if update == "online":  # the weights after each point of each pass
        steps, now, used = [], 0, list(points[1:])
        for _ in range(trace.n_iter_):
            for i in range(len(X)):
                if used and used[0] == i and homogeneous(X, y)[i] @ weights[now] <= 0:
                    used.pop(0)
                    now += 1
                steps.append(weights[now])
    else:
        steps = [*weights[1:], weights[-1]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the average need not separate
        model.fit(X, y)
    separates = (homogeneous(X, y) @ np.mean(steps, axis=0) > 0).all()
    assert (model.certificate_ is not None) == separates
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), np.mean(steps, axis=0), rtol=1e-12)


def test_weights_scale_the_step():
    X, y = separable(np.random.default_rng(9), n=15, d=2, whole=True)
    weight = np.random.default_rng(0).integers(0, 4, size=15).astype(float)
    model = Perceptron(trace=True, max_iter=10_000).fit(X, y, weight)
    for before, after, i in zip(
        model.trace_["weights"][:-1], model.trace_["weights"][1:], model.trace_["point"][1:], strict=True
    ):
        np.testing.assert_array_equal(after - before, weight[i] * homogeneous(X, y)[i])
    assert model.dual_coef_.shape == (15,)
    assert not model.dual_coef_[weight == 0].any()
    assert model.certificate_.verify(X, y, weight)
    by_class = Perceptron(class_weight={1: 3.0}, max_iter=10_000).fit(X, y)
    by_row = Perceptron(max_iter=10_000).fit(X, y, np.where(y > 0, 3.0, 1.0))
    np.testing.assert_array_equal(by_class.coef_, by_row.coef_)


def test_without_an_intercept():
    X, y = AND[0] - 0.75, AND[1] * 2 - 1
    model = Perceptron(fit_intercept=False, init=[1.0, -1.0]).fit(X, y)
    assert model.intercept_ == 0
    assert model.certificate_.verify(X, y)
    np.testing.assert_array_equal(model.coef_[0], [1.0, -1.0] + (model.dual_coef_ * y) @ X)


def test_more_than_two_classes_one_against_the_rest():
    X = np.array([[0.0, 5], [0, 6], [5, -3], [6, -3], [-5, -3], [-6, -4]])
    y = np.array(["north", "north", "east", "east", "west", "west"])
    model = Perceptron().fit(X, y)
    assert isinstance(model.certificate_, All)
    assert all(isinstance(part, Separator) for part in model.certificate_.parts)
    assert model.certificate_.verify(X, y)
    assert model.coef_.shape == (3, 2)
    assert model.dual_coef_.shape == (3, 6)
    for k, label in enumerate(model.classes_):
        alone = Perceptron().fit(X, np.where(y == label, 1, -1))
        np.testing.assert_array_equal(model.coef_[k], alone.coef_[0])
        np.testing.assert_array_equal(model.dual_coef_[k], alone.dual_coef_)
        assert model.n_updates_[k] == alone.n_updates_
        assert model.false_positives_[k] == alone.false_positives_
    assert (model.predict(X) == y).all()


def test_passes_that_run_out_are_told_with_their_mistakes():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(
        ConvergenceWarning, match=r"max_iter=7 .*mistakes on 100 rows.*separability.*mistake_bound"
    ) as caught:
        model = Perceptron(max_iter=7).fit(X[50:], y[50:])
    assert "PocketPerceptron" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert model.status_ is Status.UNCERTIFIED
    assert model.certificate_ is None
    assert model.n_iter_ == 7
    # the mistakes stated are those of the last pass
    longer, shorter = model.n_updates_, 0
    with pytest.warns(ConvergenceWarning):
        shorter = Perceptron(max_iter=6).fit(X[50:], y[50:]).n_updates_
    assert f"with {longer - shorter} mistakes" in str(caught[0].message)


def test_shuffling_is_reproducible_and_differs():
    X, y = separable(np.random.default_rng(10), n=30, d=3)
    fits = [Perceptron(shuffle=True, random_state=seed, max_iter=10_000).fit(X, y) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)
    assert (fits[0].coef_ != fits[2].coef_).any()
    assert all(fit.certificate_.verify(X, y) for fit in fits)


def test_a_weight_is_a_repetition_for_the_batch_rule_only():
    X, y = separable(np.random.default_rng(11), n=25, d=3, whole=True)
    weight = np.random.default_rng(0).integers(1, 4, size=25)
    repeated = np.repeat(np.arange(25), weight)
    for update, equal in (("batch", True), ("online", False)):
        weighted = Perceptron(update, max_iter=10_000).fit(X, y, weight)
        other = Perceptron(update, max_iter=10_000).fit(X[repeated], y[repeated])
        assert np.array_equal(weighted.coef_, other.coef_) == equal
