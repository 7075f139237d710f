"""Every step of every rule against the same rule in rational numbers, where eta is 1/10 or 3/10 and a tie is a tie."""

import warnings
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from perceptron.perceptron_reference import floats, rational_walk
from scipy import sparse

import separatrix
from separatrix import ConvergenceWarning, Perceptron, PocketPerceptron
from separatrix.certificates._exact import exact_signs
from separatrix.outcome import Status

AND = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([-1, -1, -1, 1])
STEPS = {1.0: Fraction(1), 0.5: Fraction(1, 2), 0.3: Fraction(3, 10), 0.1: Fraction(1, 10), 0.7: Fraction(7, 10)}


def table(rng, kind):
    """A small table of whole numbers or of eighths, with labels of either sign, separable or not."""
    n, d = int(rng.integers(3, 9)), int(rng.integers(1, 4))
    X = rng.integers(-3, 4, size=(n, d)).astype(float)
    y = np.where(X @ rng.integers(-2, 3, size=d) + rng.integers(-1, 2) > 0, 1, -1)
    y[:2] = -1, 1
    return (X if kind == "whole" else X / 8), y


def first(init, X, y, intercept):
    d = X.shape[1]
    start = {"zeros": np.zeros(d + 1), "ones": np.ones(d + 1), "first": y[0] * np.append(X[0], 1.0)}.get(init)
    start = np.arange(d + 1) - 1.5 if start is None else start
    return start if intercept else start[:-1]


def permutations(seed, n):
    random = np.random.RandomState(seed)
    while True:
        yield random.permutation(n)


def learned(model, X, y, weight=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, weight)


def passes(model, most):
    """How many a plain walk is to make: all, unless the model saw that it repeats itself, and stopped."""
    return model.n_iter_ if model.status_ is Status.REPEATING else most


def separates(model, X, y):
    w, b = model.coef_[0], float(model.intercept_[0])
    return (y * exact_signs(X, w, b) > 0).all()


@pytest.mark.parametrize("init", ["zeros", "ones", "first", "array"])
@pytest.mark.parametrize("boundary", ["mistake", "positive", "correct"])
@pytest.mark.parametrize("update", ["online", "batch", "worst"])
def test_every_step_is_that_of_pen_and_paper(update, boundary, init):
    rng = np.random.default_rng([len(update), len(boundary), len(init)])
    for eta, shuffle, intercept, weighted, kind in product(
        STEPS, (False, True), (True, False), (False, True), ("whole", "eighths")
    ):
        X, y = table(rng, kind)
        weight = rng.integers(1, 5, size=len(X)) / 2 if weighted else None
        start = first(init, X, y, intercept)
        seed = int(rng.integers(100))
        model = Perceptron(
            update, eta0=eta, boundary=boundary, init=start if init == "array" else init, shuffle=shuffle,
            random_state=seed, fit_intercept=intercept, max_iter=12, trace=True,
        )  # fmt: skip
        learned(model, X, y, weight)
        orders = permutations(seed, len(X)) if shuffle else None
        walk = rational_walk(
            X,
            y,
            update,
            boundary,
            start,
            STEPS[eta],
            weight,
            orders,
            passes(model, 12),
            intercept,
            model.trace_["point"].tolist(),
        )
        np.testing.assert_array_equal(model.trace_["point"], walk.points)
        np.testing.assert_array_equal(model.trace_["mistakes"], walk.mistakes)
        expected = start + eta * floats(walk.sums)  # sums of whole numbers or eighths are exact: rounded here only
        weights = model.trace_["weights"]
        np.testing.assert_array_equal(weights if intercept else weights[:, :-1], expected)
        np.testing.assert_array_equal(model.coef_[0], expected[-1][: X.shape[1]])
        np.testing.assert_array_equal(model.intercept_[0], expected[-1][-1] if intercept else 0.0)
        assert model.n_iter_ == walk.passes
        assert model.n_updates_ == len(walk.points) - 1
        # the weights are the start and eta0 times the points used
        Z = np.column_stack([X, np.ones(len(X))]) if intercept else X
        c = np.ones(len(X)) if weight is None else weight
        np.testing.assert_array_equal(start + eta * ((model.dual_coef_ * c * y) @ Z), expected[-1])
        # risk and margin of each step
        margins = y[:, None] * (Z @ expected.T)
        np.testing.assert_allclose(
            model.trace_["objective"], (c[:, None] * np.maximum(0, -margins)).sum(axis=0), atol=1e-12
        )
        # the certificate is there exactly if the weights as stored separate strictly after a clean pass
        assert (model.certificate_ is not None) == (walk.clean and separates(model, X, y))
        assert model.certificate_ is None or model.certificate_.verify(X, y, weight)


@pytest.mark.parametrize("update", ["online", "batch", "worst"])
@pytest.mark.parametrize("init", ["zeros", "ones"])
def test_the_average_is_that_of_the_rational_walk(update, init):
    rng = np.random.default_rng(5)
    for eta in STEPS:
        for _ in range(6):
            X, y = table(rng, "whole")
            start = first(init, X, y, True)
            model = learned(Perceptron(update, eta0=eta, init=init, average=True, max_iter=9), X, y)
            walk = rational_walk(X, y, update, "mistake", start, STEPS[eta], passes=9)
            mean = [Fraction(float(b)) + STEPS[eta] * sum(column) / len(walk.after)
                    for b, column in zip(start, zip(*walk.after, strict=True), strict=True)]  # fmt: skip
            got, mean = np.append(model.coef_, model.intercept_), np.array(mean, dtype=float)
            np.testing.assert_allclose(got, mean, rtol=1e-12, atol=1e-12 * np.abs(floats(walk.after)).max())
            assert (model.certificate_ is not None) == (walk.clean and separates(model, X, y))
            assert model.certificate_ is None or model.certificate_.verify(X, y)


@pytest.mark.parametrize("eta", [0.1, 0.3, 0.7, 1e-5, 1e10])
@pytest.mark.parametrize("update", ["online", "batch", "worst"])
@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array, lambda X: X.astype(np.float32)])
def test_the_step_changes_the_length_and_nothing_else(update, eta, as_rows):
    one, other = (
        Perceptron(update).fit(as_rows(AND[0]), AND[1]),
        Perceptron(update, eta0=eta).fit(as_rows(AND[0]), AND[1]),
    )
    np.testing.assert_array_equal(one.dual_coef_, other.dual_coef_)
    assert (one.n_updates_, one.n_iter_) == (other.n_updates_, other.n_iter_)
    np.testing.assert_array_equal(other.coef_, (eta * one.coef_.astype(float)).astype(one.coef_.dtype))
    np.testing.assert_array_equal(other.intercept_, (eta * one.intercept_.astype(float)).astype(one.coef_.dtype))
    assert other.certificate_.margin == pytest.approx(one.certificate_.margin, rel=1e-6)
    assert other.certificate_.verify(as_rows(AND[0]), AND[1])


def test_and_takes_18_updates_at_every_step():
    for eta in (1.0, 0.3, 0.1):
        model = Perceptron(eta0=eta).fit(*AND)
        assert model.n_updates_ == 18
        assert model.certificate_.margin == pytest.approx(1 / np.sqrt(13))  # of (3, 2, -4), at (0, 1) and at (1, 0)


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("options", [{}, {"init": "ones"}, {"shuffle": True, "random_state": 1, "init": "first"}])
def test_without_a_trace_it_is_the_same_walk(as_rows, options):
    rng = np.random.default_rng(3)
    for eta in (0.3, 0.1):
        X, y = table(rng, "whole")
        model = learned(Perceptron(eta0=eta, max_iter=8, **options), as_rows(X), y)
        orders = permutations(1, len(X)) if "shuffle" in options else None
        start = first(options.get("init", "zeros"), X, y, True)
        walk = rational_walk(X, y, start=start, eta=STEPS[eta], orders=orders, passes=passes(model, 8))
        used = np.bincount(np.array(walk.points[1:], dtype=int), minlength=len(X))
        np.testing.assert_array_equal(model.dual_coef_, used)
        got = np.append(model.coef_, model.intercept_)
        np.testing.assert_array_equal(got, start + eta * floats(walk.sums)[-1])


# ---------------------------------------------------------------------- streams
@pytest.mark.parametrize("eta", [0.1, 0.3])
@pytest.mark.parametrize("average", [False, True])
def test_a_stream_in_chunks_is_one_walk_at_any_step(eta, average):
    rng = np.random.default_rng(8)
    for _ in range(20):
        X = rng.integers(-3, 4, size=(24, 2)).astype(float)
        y = np.where(X.sum(axis=1) > 0, 1, -1)
        y[:2] = -1, 1
        stream = Perceptron(eta0=eta, init="ones", average=average)
        for rows in np.array_split(np.arange(24), 5):
            stream.partial_fit(X[rows], y[rows], classes=[-1, 1])
        whole = learned(Perceptron(eta0=eta, init="ones", average=average, max_iter=1), X, y)
        np.testing.assert_array_equal(stream.coef_, whole.coef_)
        assert stream.n_updates_ == whole.n_updates_


def test_a_stream_whose_step_changes_on_the_way():
    rng = np.random.default_rng(9)
    compared = 0
    for _ in range(30):
        X, y = rng.normal(size=(30, 3)), np.where(np.arange(30) % 3 > 0, 1, -1)  # no ties
        stream, w = Perceptron(average=True), [Fraction(0)] * 4
        total, seen = [Fraction(0)] * 4, 0
        for rows, eta in zip(np.array_split(np.arange(30), 3), (0.1, 0.3, 2.0), strict=True):
            stream.set_params(eta0=eta).partial_fit(X[rows], y[rows], classes=[-1, 1])
            for i in rows:
                z = [Fraction(float(v)) for v in (*X[i], 1.0)]
                if int(y[i]) * sum(a * b for a, b in zip(w, z, strict=True)) <= 0:
                    w = [a + Fraction(eta) * int(y[i]) * b for a, b in zip(w, z, strict=True)]
                    compared += 1
                total, seen = [a + b for a, b in zip(total, w, strict=True)], seen + 1
        mean = np.array([float(v / seen) for v in total])
        np.testing.assert_allclose(np.append(stream.coef_, stream.intercept_), mean, rtol=1e-9, atol=1e-12)
    assert compared > 200


@pytest.mark.parametrize("eta", [0.1, 0.3, 1.0])
def test_a_warm_start_goes_on_with_the_same_walk(eta):
    rng = np.random.default_rng(10)
    for _ in range(20):
        X, y = table(rng, "whole")
        warm = Perceptron(eta0=eta, max_iter=2, warm_start=True, init="ones")
        for _ in range(3):
            learned(warm, X, y)
        walk = rational_walk(X, y, start=np.ones(X.shape[1] + 1), eta=STEPS[eta], passes=6)
        expected = 1.0 + eta * floats(walk.sums)[-1]
        np.testing.assert_array_equal(np.append(warm.coef_, warm.intercept_), expected)


def test_steps_beyond_the_floats_are_refused():
    with pytest.raises(ValueError, match="eta0"):
        Perceptron(eta0=1e308).fit([[10.0], [20.0], [30.0]], [0, 1, 1])
    with pytest.raises(ValueError, match="eta0"):
        Perceptron(eta0=1e-308, init="ones").fit([[10.0], [20.0], [30.0]], [0, 1, 1])
    tiny = learned(Perceptron(eta0=5e-324), *AND)  # (3, 2, -4) times the smallest float: exact
    assert tiny.certificate_.verify(*AND)
    average = learned(Perceptron(eta0=5e-324, average=True), *AND)
    assert average.certificate_ is None or average.certificate_.verify(*AND)


# ---------------------------------------------------------------------- the pocket
def pocketed(X, y, eta, weight, method, draws):
    """Algorithm 6, and the ratchet, in rational numbers: the walk, the pocket's errors, and the last pocket."""
    Z = [[Fraction(float(v)) for v in (*x, 1.0)] for x in X]
    c = [Fraction(float(v)) for v in weight]

    def score(w, i):
        return sum(a * b for a, b in zip(w, Z[i], strict=True))

    def errors(w):
        return sum(c[i] for i in range(len(Z)) if (score(w, i) >= 0) != (y[i] > 0))

    w = [Fraction(0)] * len(Z[0])
    weights, points, pocket, of_pocket = [w], [-1], w, [errors(w)]
    run = longest = 0
    for sweep in draws:
        before = len(points)
        for i in sweep:
            if (score(w, i) >= 0) == (y[i] > 0):
                run += 1
                continue
            if method == "run" and run > longest:
                pocket, longest = w, run
            w, run = [a + c[i] * int(y[i]) * b for a, b in zip(w, Z[i], strict=True)], 0
            if method == "ratchet" and errors(w) < errors(pocket):
                pocket = w
            weights.append(w)
            points.append(i)
            of_pocket.append(errors(pocket))
        if len(points) == before and errors(w) == 0:
            break
    if method == "run" and run > longest:
        pocket = w
    return eta * floats(weights), points, floats([of_pocket])[0], eta * floats([pocket])[0]


@pytest.mark.parametrize("eta", [1.0, 0.3, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("method", ["ratchet", "run"])
def test_every_step_of_the_pocket(method, shuffle, weighted, eta):
    rng = np.random.default_rng([len(method), shuffle, weighted])
    for seed in range(8):
        n = int(rng.integers(8, 14))
        X, y = rng.integers(-3, 4, size=(n, 2)).astype(float), np.where(rng.integers(0, 2, n), 1, -1)
        X[2], y[:3] = X[1], (-1, 1, -1)  # identical rows with opposite labels: it cannot end without errors
        X[3], y[3] = -X[1], 1
        X[4], y[4] = (9.0, 9.0), -1
        X[5], y[5] = (-9.0, -9.0), -1
        weight = rng.integers(1, 4, n) / 2 if weighted else np.ones(n)
        model = PocketPerceptron(method, eta0=eta, shuffle=shuffle, random_state=seed, max_iter=4, trace=True)
        learned(model, X, y, weight)
        random = np.random.RandomState(seed)
        draws = [random.randint(n, size=n) if shuffle else range(n) for _ in range(model.n_iter_)]
        weights, points, errors, pocket = pocketed(X, y, eta, weight, method, draws)
        if model.certificate_.lower_bound < errors.min():  # it went on to the end
            assert model.n_iter_ == 4
            np.testing.assert_array_equal(model.trace_["point"], points)
        steps = len(model.trace_["point"])
        np.testing.assert_array_equal(model.trace_["weights"], weights[:steps])
        np.testing.assert_array_equal(model.trace_["errors"], errors[:steps])
        if steps == len(points):
            np.testing.assert_array_equal(np.append(model.coef_, model.intercept_), pocket)
        wrong = (exact_signs(X, model.coef_[0], float(model.intercept_[0])) >= 0) != (y > 0)
        assert model.errors_ == model.certificate_.errors == weight[wrong].sum()  # of the weights as stored
        assert model.certificate_.verify(X, y, weight)
        assert model.status_ is Status.POCKET


@pytest.mark.parametrize("average", [False, True])
def test_a_saved_stream_goes_on_with_the_same_walk(tmp_path, average):
    rng = np.random.default_rng(11)
    X = rng.integers(-3, 4, size=(40, 2)).astype(float)
    y = np.where(X.sum(axis=1) > 0, 1, -1)
    stream = Perceptron(eta0=0.3, init="ones", average=average).partial_fit(X[:20], y[:20], classes=[-1, 1])
    separatrix.save(stream, tmp_path / "stream")
    loaded = separatrix.load(tmp_path / "stream")
    for model in (stream, loaded):
        model.partial_fit(X[20:], y[20:])
    np.testing.assert_array_equal(loaded.coef_, stream.coef_)
    assert loaded.n_updates_ == stream.n_updates_
