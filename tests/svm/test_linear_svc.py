"""LinearSVC against a quadratic-programming solver, its KKT conditions, and invariances."""

import warnings

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.svm import SVC as SklearnSVC

from separatrix import ConvergenceWarning, InvalidInputError, LinearSVC, NotSeparableError
from separatrix.certificates import Certificate, HingeGap, MarginBracket
from separatrix.design import as_design
from separatrix.solvers import coordinate_descent
from separatrix.svm import linear_svc
from separatrix.svm.linear import choose, small_table, soft


def objective(w, b, X, y, bound, loss="hinge"):
    slack = np.maximum(0.0, 1.0 - y * (X @ w + b))
    return 0.5 * w @ w + bound @ (slack**2 if loss == "squared_hinge" else slack)


def quadratic_program(X, y, bound, loss="hinge", intercept=True):
    """The objective at the weights that clarabel finds, over the variables (w, b, xi)."""
    n, d = X.shape
    columns = np.column_stack([X, np.ones(n)]) if intercept else X
    p = columns.shape[1]
    hessian = np.concatenate([np.ones(d), np.zeros(p - d), 2 * bound if loss == "squared_hinge" else np.zeros(n)])
    linear = np.concatenate([np.zeros(p), np.zeros(n) if loss == "squared_hinge" else bound])
    A = sp.vstack(
        [
            sp.hstack([sp.csc_matrix(-y[:, None] * columns), -sp.identity(n)]),
            sp.hstack([sp.csc_matrix((n, p)), -sp.identity(n)]),
        ]
    ).tocsc()
    options = clarabel.DefaultSettings()
    options.verbose = False
    options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = 1e-11
    right = np.concatenate([-np.ones(n), np.zeros(n)])
    solver = clarabel.DefaultSolver(
        sp.diags(hessian).tocsc(), linear, A, right, [clarabel.NonnegativeConeT(2 * n)], options
    )
    solution = np.array(solver.solve().x)
    return objective(solution[:d], solution[d] if intercept else 0.0, X, y, bound, loss)


def random_problem(seed, n, d, kind):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(X @ rng.standard_normal(d) + rng.logistic(size=n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    if kind == "duplicated points":
        X[n // 2 :] = X[: n - n // 2]
    if kind == "collinear":
        X[:, -1] = X[:, 0]
    if kind == "far apart":
        X += 5.0 * y[:, None]
    return X, y, rng


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("kind", ["plain", "duplicated points", "collinear", "far apart"])
@settings(max_examples=12)
@given(
    st.integers(0, 10**6),
    st.integers(4, 40),
    st.integers(1, 6),
    st.floats(-4, 4),
    st.booleans(),
)
def test_objective_is_that_of_a_qp_solver(kind, loss, seed, n, d, log_C, intercept):
    X, y, rng = random_problem(seed, n, d, kind)
    weight = rng.uniform(0.1, 3.0, n)
    C = 10.0**log_C
    model = LinearSVC(C=C, loss=loss, fit_intercept=intercept).fit(X, y, weight)
    best = quadratic_program(X, y, C * weight, loss, intercept)
    reached = objective(model.coef_[0], model.intercept_[0], X, y, C * weight, loss)
    assert reached <= best + 1e-6 * abs(best)
    assert model.certificate_.dual <= best + 1e-7 * abs(best)
    assert model.certificate_.verify(X, y, weight), str(model.certificate_.verify(X, y, weight))


@pytest.mark.parametrize("C", [1e-8, 1e-3, 1.0, 1e4, 1e8, 1e12])
@pytest.mark.parametrize("columns", [10, 30])
def test_every_C_is_certified(C, columns):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :columns]
    model = LinearSVC(C=C).fit(X, y)
    assert model.certificate_.relative_gap < 1e-6
    assert model.certificate_.verify(X, y)


@pytest.mark.parametrize("scale", [1e-100, 1e-12, 1e12, 1e100])
def test_scale_of_the_columns_and_C_go_together(scale):
    # w.x is unchanged if x is multiplied by s, w divided by s, and C divided by s²
    X, y, _ = random_problem(1, 50, 3, "plain")
    plain = LinearSVC(C=2.0).fit(X, y)
    scaled = LinearSVC(C=2.0 / scale**2).fit(X * scale, y)
    assert scaled.coef_ * scale == pytest.approx(plain.coef_, rel=1e-6)
    assert scaled.intercept_ == pytest.approx(plain.intercept_, rel=1e-6, abs=1e-9)
    assert scaled.certificate_.verify(X * scale, y)


def test_the_lone_point_far_away_returns_at_once():
    model = LinearSVC().fit([[0], [1e100]], [0, 1])
    assert model.coef_[0, 0] == pytest.approx(2e-100)
    assert model.intercept_[0] == pytest.approx(-1.0)
    assert model.certificate_.relative_gap < 1e-9


def test_same_model_as_a_linear_kernel():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(0)) / X.std(0)
    ours = LinearSVC(C=0.5).fit(X, y)
    theirs = SklearnSVC(kernel="linear", C=0.5, tol=1e-10).fit(X, y)
    assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-6)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-6)
    assert set(theirs.support_) == set(ours.support_)


def test_support_vectors_are_all_that_matters():
    X, y = load_breast_cancer(return_X_y=True)
    full = LinearSVC().fit(X, y)
    only = LinearSVC().fit(X[full.support_], y[full.support_])
    assert len(full.support_) < len(X) / 5
    assert only.certificate_.primal == pytest.approx(full.certificate_.primal, rel=1e-9)
    assert only.coef_ == pytest.approx(full.coef_, rel=1e-6)


def test_rows_outside_the_margin_have_no_slack_and_no_multiplier():
    X, y = load_breast_cancer(return_X_y=True)
    model = LinearSVC(C=0.1).fit(X, y)
    margins = np.where(y == 1, 1, -1) * model.decision_function(X)
    assert model.slack_ == pytest.approx(np.maximum(0, 1 - margins), abs=1e-12)
    assert (margins[model.support_] <= 1 + 1e-6).all()
    assert set(np.flatnonzero(margins < 1 - 1e-6)) <= set(model.support_)
    assert model.margin_ == pytest.approx(1 / np.linalg.norm(model.coef_))


@given(st.integers(0, 10**6))
@settings(max_examples=20)
def test_weights_are_repetitions(seed):
    X, y, rng = random_problem(seed, 30, 3, "plain")
    weight = rng.integers(0, 4, 30)
    weight[:2] = 1
    weighted = LinearSVC().fit(X, y, weight)
    repeated = LinearSVC().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=1e-9)
    assert weighted.coef_ == pytest.approx(repeated.coef_, rel=1e-5, abs=1e-7)


@given(st.integers(0, 10**6), st.sampled_from([0.0, 1e3, 1e6]))
@settings(max_examples=15)
def test_shift_rotation_and_label_flip(seed, shift):
    X, y, rng = random_problem(seed, 40, 3, "plain")
    base = LinearSVC().fit(X, y)
    Q, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    turned = LinearSVC().fit(X @ Q + shift, y)
    assert turned.coef_ @ Q.T == pytest.approx(base.coef_, rel=1e-4, abs=1e-5)
    flipped = LinearSVC().fit(X, -y)
    assert flipped.coef_ == pytest.approx(-base.coef_, rel=1e-5, abs=1e-7)


def test_interval_of_intercepts_gives_its_midpoint():
    # with C this small both points have the multiplier C, and any b in [-1 + 2C, 1 - 2C] is optimal
    C = 0.1
    model = LinearSVC(C=C).fit([[-1.0], [1.0]], [0, 1])
    assert model.coef_[0, 0] == pytest.approx(2 * C)
    assert model.intercept_[0] == pytest.approx(0.0, abs=1e-12)
    shifted = LinearSVC(C=C).fit([[2.0], [4.0]], [0, 1])
    assert shifted.intercept_[0] == pytest.approx(-3.0 * 2 * C)


@pytest.mark.parametrize("rows", [[[1.0], [1.0], [1.0]], [[0.0], [0.0], [0.0]]])
def test_all_points_equal(rows):
    model = LinearSVC().fit(rows, [0, 1, 1])
    assert not model.coef_.any()
    assert model.predict(rows).tolist() == [1, 1, 1]
    assert model.certificate_.primal == pytest.approx(2.0)


class TestHardMargin:
    def test_two_points(self):
        model = LinearSVC(C=np.inf).fit([[0.0, 0.0], [2.0, 2.0]], [0, 1])
        assert isinstance(model.certificate_, MarginBracket)
        assert model.margin_ == pytest.approx(np.sqrt(2))
        assert model.certificate_.lower == pytest.approx(np.sqrt(2))
        assert model.certificate_.upper == pytest.approx(np.sqrt(2))

    @given(st.integers(0, 10**6))
    @settings(max_examples=20)
    def test_margin_is_that_of_a_qp_solver(self, seed):
        X, y, _ = random_problem(seed, 30, 3, "far apart")
        if not isinstance(_fit_or_proof(X, y), LinearSVC):
            return
        model = LinearSVC(C=np.inf).fit(X, y)
        best = quadratic_program(X, y, np.full(30, 1e9))
        assert model.margin_ == pytest.approx(1 / np.sqrt(2 * best), rel=1e-5)
        assert model.certificate_.verify(X, y)

    def test_breast_cancer(self):
        X, y = load_breast_cancer(return_X_y=True)
        model = LinearSVC(C=np.inf).fit(X, y)
        assert model.score(X, y) == 1.0
        bracket = model.certificate_
        assert bracket.upper - bracket.lower <= 1e-9 * bracket.upper
        assert bracket.verify(X, y)

    def test_xor_has_a_proof(self):
        X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
        with pytest.raises(NotSeparableError) as caught:
            LinearSVC(C=np.inf).fit(X, y)
        assert caught.value.certificate.verify(X, y)


def _fit_or_proof(X, y):
    try:
        return LinearSVC(C=np.inf).fit(X, y)
    except NotSeparableError as error:
        return error


def test_each_class_against_the_rest():
    X, y = load_iris(return_X_y=True)
    model = LinearSVC(C=3.0).fit(X, y)
    for c in range(3):
        alone = LinearSVC(C=3.0).fit(X, y == c)
        assert model.coef_[c] == pytest.approx(alone.coef_[0], abs=1e-6)
        assert model.intercept_[c] == pytest.approx(alone.intercept_[0], abs=1e-6)
    assert model.certificate_.verify(X, y)


def test_sparse_rows_give_the_same_optimum():
    rng = np.random.default_rng(0)
    X = sp.random(300, 60, density=0.1, random_state=0, format="csr")
    y = np.where(X @ rng.standard_normal(60) + 0.1 * rng.standard_normal(300) > 0, "b", "a")
    dense = LinearSVC().fit(X.toarray(), y)
    sparse = LinearSVC().fit(X, y)
    assert sparse.certificate_.primal == pytest.approx(dense.certificate_.primal, rel=1e-9)
    assert sparse.certificate_.verify(X, y)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [0.1, 1.0, 3.0])
def test_coordinate_descent_reaches_the_same_optimum(monkeypatch, C, intercept):
    rng = np.random.default_rng(1)
    X = sp.random(400, 50, density=0.2, random_state=1, format="csr")
    y = np.where(X @ rng.standard_normal(50) + 0.3 * rng.standard_normal(400) > 0.1, 1, 0)
    exact = LinearSVC(C=C, fit_intercept=intercept).fit(X, y)
    monkeypatch.setattr(choose, "SMALL", 0)
    monkeypatch.setattr(soft, "method", lambda shape, squared: "descent")
    descent = LinearSVC(C=C, fit_intercept=intercept, tol=1e-6, max_iter=20_000).fit(X, y)
    assert descent.certificate_.relative_gap <= 1e-6
    assert descent.certificate_.primal == pytest.approx(exact.certificate_.primal, rel=2e-6)
    assert descent.certificate_.verify(X, y)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [0.1, 1.0])
def test_newton_steps_go_on_from_a_brief_descent(monkeypatch, C, intercept):
    rng = np.random.default_rng(4)
    X = sp.random(3000, 30, density=0.2, random_state=4, format="csr")
    y = np.where(X @ rng.standard_normal(30) + 0.3 * rng.standard_normal(3000) > 0.1, 1, 0)
    weight = rng.uniform(0.5, 2.0, size=3000)
    exact = LinearSVC(C=C, fit_intercept=intercept).fit(X, y, weight)
    monkeypatch.setattr(choose, "SMALL", 0)
    monkeypatch.setattr(soft, "method", lambda shape, squared: "brief")
    monkeypatch.setattr(soft, "BRIEF", 10)
    monkeypatch.setattr(soft, "interior_point", None)  # nothing falls back on it
    model = LinearSVC(C=C, fit_intercept=intercept, tol=1e-7).fit(X, y, weight)
    assert model.n_iter_ > 10
    assert model.certificate_.relative_gap <= 1e-7
    assert model.certificate_.primal == pytest.approx(exact.certificate_.primal, rel=1e-7)
    assert model.certificate_.verify(X, y, weight)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("shape", [(200, 300), (300, 200), (120, 2500)])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_correlated_columns_about_as_many_as_rows_are_certified(loss, shape, C):
    rng = np.random.default_rng(0)
    n, d = shape
    X = rng.normal(size=shape) + 0.5 * rng.normal(size=(n, 10)) @ rng.normal(size=(10, d))
    y = np.where(3 / np.sqrt(d) * X @ rng.normal(size=d) + rng.logistic(size=n) > 0, 1.0, -1.0)
    model = LinearSVC(C=C, loss=loss).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-4
    assert model.certificate_.verify(X, y)
    R = X if d <= n else np.linalg.qr(X.T)[1].T  # of wide rows, the same program in the space that they span
    best = quadratic_program(R, y, np.full(n, C), loss=loss)
    assert model.certificate_.primal <= (1 + 1e-4) * best


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [1e-4, 0.1, 1.0, 100.0])
def test_newton_steps_from_a_sample_give_the_optimum_of_all_rows(monkeypatch, C, intercept, storage):
    rng = np.random.default_rng(6)
    X = sp.random(4000, 20, density=0.3, random_state=6).toarray()
    y = np.where(X @ rng.standard_normal(20) + 0.3 * rng.standard_normal(4000) > 0.1, 1, 0)
    X = X + 3.0 if storage is np.asarray else X
    weight = rng.uniform(0.5, 2.0, size=4000)
    exact = LinearSVC(C=C, fit_intercept=intercept).fit(storage(X), y, weight)
    monkeypatch.setattr(choose, "SMALL", 0)
    monkeypatch.setattr(soft, "interior_point", None)  # nothing falls back on it
    model = LinearSVC(C=C, fit_intercept=intercept, tol=1e-7).fit(storage(X), y, weight)
    assert model.certificate_.relative_gap <= 1e-7
    assert model.certificate_.primal == pytest.approx(exact.certificate_.primal, rel=1e-7)
    assert model.coef_ == pytest.approx(exact.coef_, abs=2e-3 * np.abs(exact.coef_).max())
    assert model.certificate_.verify(X, y, weight)


@pytest.mark.parametrize("order", [1, -1])
def test_a_sample_of_rows_sorted_by_class_or_of_one_class_is_no_harm(monkeypatch, order):
    rng = np.random.default_rng(7)
    X = rng.standard_normal((4000, 10))
    y = (X[:, 0] + 0.5 * rng.standard_normal(4000) > 2.8).astype(int)  # so few that a sample may hold none
    X, y = X[np.argsort(y)[::order]], np.sort(y)[::order]
    exact = LinearSVC().fit(X, y)
    monkeypatch.setattr(choose, "SMALL", 0)
    model = LinearSVC(tol=1e-6).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-6
    assert model.certificate_.primal == pytest.approx(exact.certificate_.primal, rel=1e-6)
    assert model.certificate_.verify(X, y)


def test_certificate_survives_json_and_fails_on_other_weights():
    import json

    X, y = load_breast_cancer(return_X_y=True)
    certificate = LinearSVC().fit(X, y).certificate_
    assert isinstance(certificate, HingeGap)
    again = Certificate.from_dict(json.loads(json.dumps(certificate.to_dict(), allow_nan=False)))
    assert again.verify(X, y)
    plain = certificate.to_dict()
    plain["coef"]["array"] = [1.001 * value for value in plain["coef"]["array"]]
    assert not Certificate.from_dict(plain).verify(X, y)
    other = y.copy()
    other[:5] = 1 - other[:5]
    assert not certificate.verify(X, other)


def test_running_out_of_iterations_says_what_was_reached():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(UserWarning, match="relative gap of"):
        model = LinearSVC(max_iter=2).fit(X, y)
    assert model.certificate_.verify(X, y)  # of the gap that was reached
    assert model.certificate_.relative_gap > 1e-4


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"C": 0}, "C must be"),
        ({"C": -1.0}, "C must be"),
        ({"loss": "log"}, "'hinge' or 'squared_hinge'"),
        ({"tol": 0}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be"),
    ],
)
def test_bad_parameters_are_named(parameters, match):
    with pytest.raises(ValueError, match=match):
        LinearSVC(**parameters).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_warm_start_along_a_path_needs_fewer_passes_for_the_same_optimum(monkeypatch, loss):
    monkeypatch.setattr(choose, "FACTORED_ORDER", 10)
    monkeypatch.setattr(choose, "SMALL", 0)
    monkeypatch.setattr(choose, "ROTATED", 0)
    rng = np.random.default_rng(2)
    X = sp.random(600, 80, density=0.2, random_state=2, format="csr")
    y = np.where(X @ rng.standard_normal(80) + 0.3 * rng.standard_normal(600) > 0.1, 1, 0)
    model = LinearSVC(loss=loss, warm_start=True, tol=1e-6, max_iter=20_000)
    for C in (0.5, 0.55):
        model.set_params(C=C).fit(X, y)
    cold = LinearSVC(C=0.55, loss=loss, tol=1e-6, max_iter=20_000).fit(X, y)
    assert model.n_iter_ < cold.n_iter_
    assert model.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=2e-6)
    assert model.certificate_.verify(X, y)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_few_rows_and_many_columns_are_solved_in_their_row_space(storage):
    rng = np.random.default_rng(5)
    X = sp.random(60, 3000, density=0.05, random_state=5).toarray()
    y = np.where(X @ rng.standard_normal(3000) + rng.standard_normal(60) > 0, 1.0, -1.0)
    model = LinearSVC(C=10.0, tol=1e-6).fit(storage(X), y)
    # in the row space the same program has 60 variables
    R = np.linalg.qr(X.T)[1].T
    best = quadratic_program(R, y, np.full(60, 10.0))
    assert model.certificate_.primal == pytest.approx(best, rel=1e-6)
    assert model.certificate_.verify(X, y)


def random_text(n, d, seed):
    """Rows of a few words each, of which some are in most rows."""
    rng = np.random.default_rng(seed)
    words = np.minimum(rng.zipf(1.3, (n, 12)) - 1, d - 1)
    X = sp.csr_matrix((np.ones(words.size), (np.repeat(np.arange(n), 12), words.ravel())), shape=(n, d))
    X.sum_duplicates()
    X = sp.csr_matrix(X.multiply(1 / np.sqrt(X.multiply(X).sum(axis=1))))
    y = np.where(X @ rng.standard_normal(d) + 0.3 * rng.standard_normal(n) > 0, 1, -1)
    return X, y


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_long_sparse_rows_are_certified(loss, C, intercept):
    X, y = random_text(3000, 2500, 0)
    model = LinearSVC(C=C, loss=loss, fit_intercept=intercept, tol=1e-6).fit(X, y)
    reached = objective(model.coef_[0], model.intercept_[0], X, y, np.full(len(y), C), loss)
    assert reached == pytest.approx(model.certificate_.primal, rel=1e-12)
    assert model.certificate_.relative_gap <= 1e-6
    assert model.certificate_.verify(X, y), str(model.certificate_.verify(X, y))


def test_order_of_the_rows_does_not_slow_coordinate_descent():
    X, y = random_text(3000, 2500, 1)
    shuffled = LinearSVC(tol=1e-6).fit(X, y)
    order = np.argsort(y, kind="stable")  # runs of rows are then of one class
    by_class = LinearSVC(tol=1e-6).fit(X[order], y[order])
    assert by_class.certificate_.primal == pytest.approx(shuffled.certificate_.primal, rel=2e-6)
    assert by_class.n_iter_ < 3 * shuffled.n_iter_


def test_coordinate_descent_is_deterministic():
    X, y = random_text(3000, 2500, 2)
    assert np.array_equal(LinearSVC().fit(X, y).coef_, LinearSVC().fit(X, y).coef_)


def test_uncertified_wide_rows_end_in_a_warning_with_the_bound():
    X, y = random_text(3000, 2500, 3)
    with pytest.warns(UserWarning, match="relative gap of"):
        model = LinearSVC(C=1e6, max_iter=3).fit(X, y)
    assert model.certificate_.verify(X, y)


def test_a_soft_margin_does_not_ask_whether_rows_that_rounding_hides_can_be_separated():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 160))
    y = X @ rng.normal(size=160) + 10 * rng.normal(size=600) > 0
    with pytest.warns(UserWarning, match="relative gap of"):
        model = LinearSVC(tol=1e-8, fit_intercept=False, max_iter=200).fit((X + 1e7).astype(np.float32), y)
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("intercept", [True, False])
def test_a_few_rows_much_alike_do_not_make_all_others_wait(monkeypatch, intercept):
    rng = np.random.default_rng(0)
    X = sp.random_array((3000, 20_000), density=2e-3, rng=rng, format="csr")
    X.data[:] = 1 / np.sqrt(40)
    y = np.where(rng.random(3000) < 0.5, 1, -1)
    near = X[:60] + 0.1 * sp.random_array((60, 20_000), density=2e-3, rng=rng, format="csr")
    X, y = sp.csr_matrix(sp.vstack([X, near])), np.append(y, y[:60])
    model = LinearSVC(C=10.0, fit_intercept=intercept, tol=1e-8).fit(X, y)
    assert model.certificate_.verify(X, y)
    monkeypatch.setattr(coordinate_descent, "MOST", 1.0)  # so that no rows are swept alone
    slower = LinearSVC(C=10.0, fit_intercept=intercept, tol=1e-8).fit(X, y)
    assert model.certificate_.primal == pytest.approx(slower.certificate_.primal, rel=2e-8)
    assert model.n_iter_ < 0.6 * slower.n_iter_


def test_a_descent_that_may_not_sweep_says_that_it_knows_nothing():
    """A leap may use up the last sweeps that are allowed."""
    r = np.random.default_rng(0)
    X = sp.csr_array(r.normal(size=(30, 3)))
    y = np.where(r.normal(size=30) > 0, 1.0, -1.0)
    ascent = coordinate_descent.CoordinateDescent(X, y, np.ones(30), np.zeros(30), True, np.zeros(30), 0.0)
    assert ascent.descend(1e-3, 0) == np.inf
    assert ascent.epochs == 0
    assert not ascent.alpha.any()
    assert 0 <= ascent.descend(1e-3, 50) < np.inf


@pytest.mark.parametrize("shape", [(120, 4), (40, 90)])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_a_small_table_has_the_optimum_of_other_methods(C, intercept, loss, shape, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape) + 5.0
    y = np.where(X[:, 0] + rng.normal(size=shape[0]) > 5.0, 1, -1)
    weight = rng.uniform(0.5, 2.0, size=shape[0])
    table = small_table.small_table(as_design(X, intercept), C * weight)
    machine = table.machine(y.astype(float), 1e-4, 1000, loss == "squared_hinge")
    if machine is None:  # separable rows and a large C: the loop may say that it did not get there
        assert shape == (40, 90)
        assert (C, loss) == (100.0, "hinge")
    else:
        assert machine.relative_gap <= small_table.PRECISE
    small = LinearSVC(loss=loss, C=C, fit_intercept=intercept).fit(X, y, weight)
    monkeypatch.setattr(linear_svc, "small_table", lambda design, bound: None)
    other = LinearSVC(loss=loss, C=C, fit_intercept=intercept, tol=1e-9).fit(X, y, weight)
    assert small.certificate_.verify(X, y, weight)
    np.testing.assert_allclose(small.certificate_.primal, other.certificate_.primal, rtol=1e-8)
    np.testing.assert_allclose(small.coef_, other.coef_, rtol=1e-4, atol=1e-4 * np.abs(other.coef_).max())
    np.testing.assert_allclose(small.coef_, small.dual_coef_ @ X[small.support_], rtol=1e-7, atol=1e-9)


def test_a_small_table_gives_way_where_its_numbers_say_nothing():
    y = np.array([1.0, -1.0, 1.0, -1.0])
    assert small_table.small_table(as_design(np.full((4, 2), 1.7e308), True), np.ones(4)) is None
    table = small_table.small_table(as_design(np.full((4, 2), 1e200) * y[:, None], True), np.ones(4))
    assert table.machine(y, 1e-4, 1000, squared=False) is None


@pytest.mark.parametrize("n", [60, 30_000])  # the larger is not checked after the fit, so what it claims must hold
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize(
    "C, light", [(1e-100, 1e-100), (1e-200, 1e-100), (1e-250, 1e-100), (1e-306, 1.0), (1e-300, 1e-6)]
)
def test_costs_at_the_end_of_floats(n, loss, C, light):
    r = np.random.default_rng(0)
    X, weight = r.normal(size=(n, 5)), np.where(np.arange(n) % 2, 1.0, light)
    y = (X[:, 0] > 0).astype(int)
    model = LinearSVC(C=C, loss=loss)
    if loss == "squared_hinge" and C * light < 2.3e-308:
        with pytest.raises(InvalidInputError, match="C times the weight of row 0 is"):
            model.fit(X, y, sample_weight=weight)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y, sample_weight=weight)
    assert model.certificate_ is None or model.certificate_.verify(X, y, sample_weight=weight)
    assert np.isfinite(model.coef_).all()
