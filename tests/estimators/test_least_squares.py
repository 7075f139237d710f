"""LeastSquaresClassifier: against NumPy's lstsq, and against exact arithmetic where rounding is the question."""

import warnings

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import noisy, staircase, with_condition, xor
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from separatrix import InvalidInputError, LeastSquaresClassifier, NoDirectionError, Status
from separatrix.design import DenseDesign, SparseDesign
from separatrix.formulas import least_squares


def signs(y):
    """(n, tasks): the ±1 targets of labels 0..k-1, or of a 0/1 matrix."""
    if y.ndim == 2:
        return 2.0 * y - 1.0
    k = y.max() + 1
    return (2.0 * y - 1.0)[:, None] if k == 2 else np.where(y[:, None] == np.arange(k), 1.0, -1.0)


def solution(X, y, weight=None, intercept=True):
    """coef (tasks, d) and intercept (tasks,) of minimum norm, by NumPy's lstsq on weighted, centred data."""
    weight = np.ones(len(X)) if weight is None else weight
    T = signs(y)
    centre = weight @ X / weight.sum() if intercept else np.zeros(X.shape[1])
    mean = weight @ T / weight.sum() if intercept else np.zeros(T.shape[1])
    root = np.sqrt(weight)[:, None]
    W = np.linalg.lstsq(root * (X - centre), root * (T - mean), rcond=None)[0]
    return W.T, mean - centre @ W


def exact_solution(X, y, rank, intercept=True):
    """The same in 60 digits: pinv of the centred matrix of known rank, from its singular values."""
    with mpmath.workdps(60):
        A = mpmath.matrix(X.tolist())
        T = mpmath.matrix(signs(y).tolist())
        n, d, tasks = A.rows, A.cols, T.cols
        if intercept:
            for M, columns in ((A, d), (T, tasks)):
                for j in range(columns):
                    mean = mpmath.fsum(M[i, j] for i in range(n)) / n
                    for i in range(n):
                        M[i, j] -= mean
        U, s, V = mpmath.svd_r(A)
        C = U.T * T
        for i in range(len(s)):
            for j in range(tasks):
                C[i, j] = C[i, j] / s[i] if i < rank else 0
        W = V.T * C
        return np.array(W.T.tolist(), dtype=float)


def assert_matches(model, X, coef, intercept, tolerance=1e-10):
    size = np.abs(coef).max()
    np.testing.assert_allclose(model.coef_, coef, rtol=0, atol=tolerance * size)
    np.testing.assert_allclose(model.intercept_, intercept, rtol=0, atol=tolerance * max(1.0, np.abs(intercept).max()))


# ---------------------------------------------------------------------- the plain case
def test_by_hand():
    problem = staircase()
    model = LeastSquaresClassifier().fit(problem.X, problem.y)
    np.testing.assert_allclose(model.coef_[0], problem.w, rtol=1e-15)
    np.testing.assert_allclose(model.intercept_[0], problem.b, rtol=1e-15)
    assert model.rank_ == 1
    assert model.status_ is Status.FORMULA


def test_what_no_line_explains_has_no_direction():
    problem = xor()
    model = LeastSquaresClassifier().fit(problem.X, problem.y)
    np.testing.assert_allclose(model.coef_, 0.0, atol=1e-15)
    np.testing.assert_allclose(model.intercept_, 0.0, atol=1e-15)
    if not model.coef_.any():
        with pytest.raises(NoDirectionError):
            model.signed_distance(problem.X)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("make", [np.ascontiguousarray, np.asfortranarray, sparse.csr_array])
def test_weights_are_those_of_lstsq(k, intercept, weighted, make):
    X, y = noisy(90, 4, k)
    X = X + 0.3
    weight = np.random.default_rng(0).uniform(0.2, 3.0, size=90) if weighted else None
    model = LeastSquaresClassifier(fit_intercept=intercept).fit(make(X), y, weight)
    coef, b = solution(X, y, weight, intercept)
    assert_matches(model, X, coef, b)
    if not intercept:
        assert (model.intercept_ == 0).all()
    assert model.rank_ == 4
    assert model.status_ is Status.FORMULA
    assert model.certificate_.verify(X, y, weight)


def test_a_0_1_matrix_is_one_regression_a_column():
    X, _ = noisy(90, 4)
    rng = np.random.default_rng(1)
    Y = (X @ rng.normal(size=(4, 3)) + rng.normal(size=(90, 3)) > 0).astype(int)
    weight = rng.uniform(0.5, 2.0, size=90)
    for labels in (Y, Y.astype(float), Y.astype(bool), sparse.csr_array(Y), Y.tolist()):
        model = LeastSquaresClassifier().fit(X, labels, weight)
        assert_matches(model, X, *solution(X, Y, weight))
        assert model.coef_.shape == (3, 4)
        assert model.classes_.tolist() == [0, 1, 2]
        assert (model.predict(X) == (model.decision_function(X) >= 0)).all()
        assert model.predict(X).shape == Y.shape
        assert not hasattr(model, "hyperplane_")
        assert model.certificate_.verify(X, labels, weight)
    for column in range(3):
        single = LeastSquaresClassifier().fit(X, Y[:, column], weight)
        np.testing.assert_allclose(model.coef_[column], single.coef_[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("columns", [[0, 0], [1, 1], [0, 1]])
def test_a_column_of_the_matrix_may_be_all_0_or_all_1(columns):
    X, y = noisy()
    Y = np.column_stack([y, np.full(60, columns[0]), np.full(60, columns[1])])
    model = LeastSquaresClassifier().fit(X, Y)
    np.testing.assert_allclose(model.coef_[1:], 0.0, atol=1e-15)
    assert (model.predict(X)[:, 1:] == columns).all()
    assert model.certificate_.verify(X, Y)


@pytest.mark.parametrize("bad", [2, -1, 0.5])
def test_a_matrix_of_other_numbers_is_refused(bad):
    X, y = noisy()
    Y = np.column_stack([y, 1 - y]).astype(float)
    Y[3, 1] = bad
    with pytest.raises(InvalidInputError, match="0 and 1"):
        LeastSquaresClassifier().fit(X, Y)


def test_class_weights_have_no_meaning_for_a_matrix():
    X, y = noisy()
    with pytest.raises(InvalidInputError, match="class_weight"):
        LeastSquaresClassifier(class_weight="balanced").fit(X, np.column_stack([y, 1 - y]))


@pytest.mark.parametrize("k", [2, 3])
def test_class_weights_multiply_into_the_sample_weights(k):
    X, y = noisy(90, 4, k)
    y = np.where(np.arange(90) < 20, 0, y)  # uneven classes
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=90)
    by_class = np.bincount(y, weights=weight)
    factors = {"balanced": weight.sum() / (k * by_class), "dict": np.array([2.0, 0.5, 1.0])[:k]}
    for name, class_weight in (("balanced", "balanced"), ("dict", {0: 2.0, 1: 0.5})):
        model = LeastSquaresClassifier(class_weight=class_weight).fit(X, y, weight)
        assert_matches(model, X, *solution(X, y, weight * factors[name][y]))
        np.testing.assert_allclose(model.certificate_.class_weight, factors[name], rtol=1e-14)
        assert model.certificate_.verify(X, y, weight)
        assert not model.certificate_.verify(X, y, weight * factors[name][y])


@pytest.mark.parametrize(
    "parameters, words",
    [
        ({"class_weight": {7: 1.0}}, ["class_weight", "7"]),
        ({"class_weight": {0: 0.0}}, ["class_weight", "above 0"]),
        ({"class_weight": {0: -1.0}}, ["class_weight"]),
        ({"class_weight": {0: np.nan}}, ["class_weight"]),
        ({"class_weight": {0: "much"}}, ["class_weight"]),
        ({"class_weight": {0: [1.0, 2.0]}}, ["class_weight"]),
        ({"class_weight": [1.0, 2.0]}, ["class_weight"]),
        ({"class_weight": "even"}, ["class_weight", "even"]),
        ({"max_iter": 0}, ["max_iter"]),
        ({"max_iter": -3}, ["max_iter"]),
        ({"max_iter": None}, ["max_iter"]),
        ({"max_iter": "many"}, ["max_iter"]),
        ({"max_iter": 1.5}, ["max_iter"]),
        ({"fit_intercept": "no"}, ["fit_intercept"]),
    ],
    ids=repr,
)
def test_bad_parameters(parameters, words):
    with pytest.raises(InvalidInputError) as caught:
        LeastSquaresClassifier(**parameters).fit(*noisy())
    for word in words:
        assert word in str(caught.value)


# ---------------------------------------------------------------------- singular: the minimum norm
def singular_problems():
    rng = np.random.default_rng(0)
    X, y = noisy(40, 4)
    scales = np.array([1e8, 1e-8, 1.0, 1e4])
    wide, _ = noisy(12, 20)
    wide_y = np.arange(12) % 2
    return {
        "duplicated columns": (np.hstack([X, X[:, :2]]), y, 4),
        "a combination of columns": (np.column_stack([X, X @ [1.0, -2.0, 0.5, 0.0]]), y, 4),
        "a constant column": (np.column_stack([X, np.full(40, 0.1)]), y, 4),
        "a constant column far away": (np.column_stack([X, np.full(40, 1e9 + 0.1)]), y, 4),
        "a column of zeros": (np.column_stack([X, np.zeros(40)]), y, 4),
        "all columns equal": (np.repeat(X[:, :1], 5, axis=1), y, 1),
        "as many rows as columns": (rng.normal(size=(10, 10)), np.arange(10) % 2, 9),
        "fewer rows than columns": (wide, wide_y, 11),
        "fewer rows, repeated": (np.vstack([wide[:6], wide[:6]]), wide_y, 5),
        "fewer rows, repeated columns": (np.hstack([wide[:, :5]] * 4), wide_y, 5),
        "columns from 1e-8 to 1e8, some twice": (np.hstack([X * scales, X[:, 2:3]]), y, 4),
        "fewer rows, columns from 1e-4 to 1e4": (wide * 10.0 ** rng.integers(-4, 5, size=20), wide_y, 11),
        "fewer rows, columns of 1e-8 and 1e8": (wide * np.where(np.arange(20) < 15, 1e-8, 1e8), wide_y, 11),
        "two rows": (np.array([[1.0, 2.0, 3.0], [2.0, 2.0, 1.0]]), np.array([0, 1]), 1),
    }


@pytest.mark.parametrize("name", singular_problems())
@pytest.mark.parametrize("make", [np.ascontiguousarray, sparse.csr_array])
def test_the_solution_of_minimum_norm(name, make):
    X, y, rank = singular_problems()[name]
    model = LeastSquaresClassifier().fit(make(X), y)
    assert model.rank_ == rank
    assert model.status_ is Status.MINIMUM_NORM
    coef = exact_solution(X, y, rank)
    # each weight in the unit of its column: a share of the score
    unit = X.std(axis=0)
    shares, expected = model.coef_ * unit, coef * unit
    np.testing.assert_allclose(shares, expected, rtol=0, atol=1e-7 * np.abs(expected).max())
    assert np.linalg.norm(model.coef_) <= np.linalg.norm(coef) * (1 + 1e-7)
    assert model.certificate_.verify(X, y)


@pytest.mark.parametrize("name", ["duplicated columns", "fewer rows than columns", "as many rows as columns"])
def test_the_solution_of_minimum_norm_without_intercept(name):
    X, y, rank = singular_problems()[name]
    rank = {"fewer rows than columns": 12, "as many rows as columns": 10}.get(name, rank)
    model = LeastSquaresClassifier(fit_intercept=False).fit(X, y)
    assert model.rank_ == rank
    coef = exact_solution(X, y, rank, intercept=False)
    np.testing.assert_allclose(model.coef_, coef, rtol=0, atol=1e-10 * np.abs(coef).max())


@pytest.mark.parametrize("shape", [(6, 2), (3, 6), (300, 3)])
@pytest.mark.parametrize("value", [0.0, 0.1, 1e9])
@pytest.mark.parametrize("dense", [True, False])
def test_nothing_but_constant_columns(shape, value, dense, monkeypatch):
    if not dense:
        monkeypatch.setattr(least_squares, "ROTATED", 0)
    y = np.arange(shape[0]) % 2
    y[0] = 1
    model = LeastSquaresClassifier().fit(np.full(shape, value), y)
    assert (model.coef_ == 0).all()
    assert model.rank_ == 0
    np.testing.assert_allclose(model.intercept_, (2 * y - 1).mean(), atol=1e-15)
    assert model.certificate_.verify(np.full(shape, value), y)


# ---------------------------------------------------------------------- ill-conditioned
def residual(model, X, y):
    return np.linalg.norm(signs(y) - np.reshape(model.decision_function(X), (len(X), -1)))


def best_residual(X, y):
    """In 60 digits, from a QR factorisation of (X, 1)."""
    with mpmath.workdps(60):
        A = mpmath.matrix(np.column_stack([X, np.ones(len(X))]).tolist())
        t = mpmath.matrix(signs(y).tolist())
        return float(mpmath.qr_solve(A, t)[1])


@pytest.mark.parametrize("condition", [1e2, 1e6, 1e8, 1e10, 1e12])
@pytest.mark.parametrize("make", [np.ascontiguousarray, sparse.csr_array])
def test_fitted_values_of_ill_conditioned_data_are_as_good_as_lstsqs(condition, make):
    X, y = with_condition(60, 6, condition)
    if condition < 1e12:
        model = LeastSquaresClassifier().fit(make(X), y)
        assert model.certificate_.verify(X, y)
    else:  # weights of 1e11 move the scores by rounding more than any check could tell from 0
        with pytest.warns(ConvergenceWarning, match="nearly depends"):
            model = LeastSquaresClassifier().fit(make(X), y)
        assert model.certificate_ is None
    assert model.rank_ == 6
    best = best_residual(X, y)
    coef, b = solution(X, y)
    theirs = np.linalg.norm(signs(y) - (X @ coef.T + b))
    # both residuals exceed the best by rounding; ours may do so by some times theirs
    assert residual(model, X, y) - best <= 10 * max(theirs - best, 1e-12 * best) + 1e-16 * condition


def test_fitted_values_of_a_hilbert_matrix():
    X = 1.0 / (np.arange(40)[:, None] + np.arange(8) + 1.0)
    y = (np.arange(40) % 3 == 0).astype(int)
    model = LeastSquaresClassifier().fit(X, y)
    assert model.rank_ == 8
    assert residual(model, X, y) <= best_residual(X, y) * (1 + 1e-8)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_the_unit_of_a_column_does_not_matter(scale):
    X, y = noisy(50, 4)
    units = np.array([1.0, scale, 1.0, 1.0 / scale])
    here, there = LeastSquaresClassifier().fit(X, y), LeastSquaresClassifier().fit(X * units, y)
    np.testing.assert_allclose(there.coef_ * units, here.coef_, rtol=1e-10)
    assert there.rank_ == 4
    assert there.certificate_.verify(X * units, y)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("make", [np.ascontiguousarray, sparse.csr_array])
def test_a_shift_changes_nothing(k, make):
    X, y = noisy(60, 3, k)
    X = np.round(X * 1024) / 1024  # so that adding 1e9 is exact
    here, there = LeastSquaresClassifier().fit(X, y), LeastSquaresClassifier().fit(make(X + 1e9), y)
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=0, atol=1e-12)
    assert (there.predict(X + 1e9) == here.predict(X)).all()
    assert there.certificate_.verify(X + 1e9, y)


@pytest.mark.parametrize("shape", [(60, 3), (10, 15)])
@pytest.mark.parametrize("scale", [1e-140, 1e140])
def test_large_and_small_numbers(shape, scale):
    X, _ = noisy(*shape)
    y = np.arange(shape[0]) % 2
    here, there = LeastSquaresClassifier().fit(X, y), LeastSquaresClassifier().fit(X * scale, y)
    np.testing.assert_allclose(there.decision_function(X * scale), here.decision_function(X), rtol=1e-9, atol=1e-12)
    assert there.certificate_.verify(X * scale, y)


@pytest.mark.parametrize("shape", [(60, 3), (10, 15)])
@pytest.mark.parametrize("scale", [1e-148, 1e-160, 1e-162, 1e-200, 1e-300])
def test_a_column_whose_square_underflows_is_an_error_and_not_a_zero(shape, scale):
    X, _ = noisy(*shape)
    X[:, 1] *= scale
    with pytest.raises(InvalidInputError, match="column 1"):
        LeastSquaresClassifier().fit(X, np.arange(shape[0]) % 2)


@settings(max_examples=50)
@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(1, 12), st.booleans())
def test_small_problems_of_any_shape(seed, n, d, intercept):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(n, d)).astype(float)  # often of deficient rank
    y = rng.integers(0, 2, size=n)
    y[:2] = 0, 1
    model = LeastSquaresClassifier(fit_intercept=intercept).fit(X, y)
    coef, b = solution(X, y, intercept=intercept)
    np.testing.assert_allclose(model.coef_, coef, rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.intercept_, b, rtol=0, atol=1e-10)
    assert model.rank_ == np.linalg.matrix_rank(X - X.mean(axis=0) * intercept)
    assert model.certificate_.verify(X, y)


# ---------------------------------------------------------------------- every route
def take(route, monkeypatch):
    """Force a route: by the shape, through the Gram matrix of wide rows, or LSMR."""
    if route == "Gram matrix of the rows":
        monkeypatch.setattr(least_squares, "ROTATED", 0)
    elif route == "LSMR":
        monkeypatch.setattr(least_squares, "FACTORED_ORDER", -1)
        for design in (DenseDesign, SparseDesign):
            monkeypatch.setattr(design, "nbytes", property(lambda self: 0.0))


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("make", [np.ascontiguousarray, sparse.csr_array])
@pytest.mark.parametrize("route", ["by shape", "Gram matrix of the rows", "LSMR"])
def test_every_route_for_wide_data_gives_the_same(route, k, weighted, intercept, make, monkeypatch):
    X, _ = noisy(30, 50)
    X = X + 0.2
    y = np.arange(30) % k
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=30) if weighted else None
    take(route, monkeypatch)
    model = LeastSquaresClassifier(fit_intercept=intercept).fit(make(X), y, weight)
    assert_matches(model, X, *solution(X, y, weight, intercept))
    assert model.rank_ == (None if route == "LSMR" else 30 - intercept)
    assert model.status_ is Status.MINIMUM_NORM
    assert model.certificate_.verify(X, y, weight)


@pytest.mark.parametrize("make", [np.ascontiguousarray, sparse.csr_array])
@pytest.mark.parametrize("route", ["by shape", "Gram matrix of the rows", "LSMR"])
def test_every_route_finds_the_minimum_norm_of_repeated_rows(route, make, monkeypatch):
    X, _ = noisy(10, 50)
    X, y = np.vstack([X, X[:4]]), np.arange(14) % 2  # equal rows with opposite labels: no exact fit
    y[10:] = 1 - y[:4]
    take(route, monkeypatch)
    model = LeastSquaresClassifier().fit(make(X), y)
    assert_matches(model, X, *solution(X, y))
    assert model.rank_ == (None if route == "LSMR" else 9)
    assert model.certificate_.verify(X, y)


@pytest.mark.parametrize("make", [np.ascontiguousarray, sparse.csr_array])
@pytest.mark.parametrize("extra", ["nothing", "duplicates", "a constant"])
@pytest.mark.parametrize("route", ["by shape", "LSMR"])
def test_every_route_for_tall_data_gives_the_same(route, extra, make, monkeypatch):
    X, y = noisy(20, 6, 3)
    more = {"nothing": X[:, :0], "duplicates": X[:, :3], "a constant": np.full((20, 1), 7.0)}[extra]
    X = np.hstack([X, more])
    take(route, monkeypatch)
    model = LeastSquaresClassifier().fit(make(X), y)
    assert_matches(model, X, *solution(X, y))
    assert model.rank_ == (None if route == "LSMR" else 6)
    assert model.certificate_.verify(X, y)


@pytest.mark.parametrize("condition", [1e3, 1e6])
@pytest.mark.parametrize("route", ["by shape", "Gram matrix of the rows"])
def test_wide_and_ill_conditioned(route, condition, monkeypatch):
    X, y = with_condition(25, 60, condition)
    y[:2] = 0, 1
    take(route, monkeypatch)
    model = LeastSquaresClassifier().fit(X, y)
    assert model.rank_ == 24
    assert residual(model, X, y) <= 1e-14 * condition  # an exact fit exists
    coef, _ = solution(X, y)
    np.testing.assert_allclose(np.linalg.norm(model.coef_), np.linalg.norm(coef), rtol=1e-8)


@pytest.mark.parametrize("condition", [1e8, 1e10, 1e12])
def test_a_gram_matrix_that_lost_the_rank_is_not_the_last_word(condition, monkeypatch):
    # squared, such a condition drowns in rounding: LSMR takes over, or the fit says that it has no proof
    take("Gram matrix of the rows", monkeypatch)
    X, y = with_condition(25, 60, condition)
    y[:2] = 0, 1
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = LeastSquaresClassifier().fit(X, y)
    assert residual(model, X, y) < 0.1 * np.sqrt(25)
    if model.certificate_ is None:
        assert model.status_ is Status.UNCERTIFIED
        assert [warning.category for warning in caught] == [ConvergenceWarning]
    else:
        assert model.certificate_.verify(X, y)
        assert not caught


def test_columns_that_lsmr_cannot_balance_get_a_warning_and_no_certificate(monkeypatch):
    X, y = noisy(20, 6)
    units = np.array([1e8, 1e-8, 1.0, 1e4, 1e-4, 1.0])
    take("LSMR", monkeypatch)
    with pytest.warns(ConvergenceWarning, match="scale the columns"):
        model = LeastSquaresClassifier().fit(X * units, y)
    assert model.certificate_ is None
    assert model.status_ is Status.UNCERTIFIED
    assert np.isfinite(model.coef_).all()


def test_lsmr_that_runs_out_says_so(monkeypatch):
    X, y = with_condition(20, 15, 1e4)
    y[:2] = 0, 1
    take("LSMR", monkeypatch)
    with pytest.warns(ConvergenceWarning, match="max_iter") as caught:
        model = LeastSquaresClassifier(max_iter=2).fit(X, y)
    assert "2 iterations" in str(caught[0].message)
    assert model.n_iter_ == 2
    assert model.certificate_ is None
    assert model.status_ is Status.UNCERTIFIED
    enough = LeastSquaresClassifier(max_iter=5000).fit(X, y)
    assert enough.certificate_.verify(X, y)


def test_a_long_wide_sparse_matrix_goes_to_lsmr_by_itself():
    X = sparse.random_array((4500, 4200), density=2e-3, format="csr", rng=np.random.default_rng(0))
    w = np.random.default_rng(1).normal(size=4200)
    y = (X @ w + 0.1 * np.random.default_rng(2).normal(size=4500) > 0).astype(int)
    model = LeastSquaresClassifier().fit(X, y)
    assert model.rank_ is None
    assert model.n_iter_ > 10
    # the gradient, by hand: centred columns against the residual
    r = signs(y)[:, 0] - model.decision_function(X)
    assert abs(r.mean()) < 1e-8
    length = np.sqrt((X.multiply(X)).sum(axis=0) / 4500 - (X.sum(axis=0) / 4500) ** 2)
    assert (np.abs(X.T @ r / 4500 - X.sum(axis=0) / 4500 * r.mean()) <= 1e-8 * np.maximum(length, 1e-300)).all()
