"""What a hinge certificate claims, against exact arithmetic and a QP solver; and claims that must be refused."""

import os
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import clarabel
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from problems import noisy
from scipy import sparse

from separatrix import SVC, LinearSVC, Status
from separatrix.certificates import All, HingeGap
from separatrix.certificates._kernels import gram
from separatrix.design import as_design
from separatrix.errors import InvalidInputError
from separatrix.kernels import Graph, Rbf, Spectrum, WeisfeilerLehman, resolve
from separatrix.svm import svc as learner
from separatrix.svm.linear import machine, soft


def exact_objective(w, b, X, y, U, squared=False):
    """1/2 ‖w‖² + sum_i U_i loss, without rounding: every float is a fraction."""
    w, b = [Fraction(float(v)) for v in w], Fraction(float(b))
    total = sum(v * v for v in w) / 2
    for x, sign, u in zip(X, y, U, strict=True):
        slack = 1 - int(sign) * (sum(Fraction(float(a)) * v for a, v in zip(x, w, strict=True)) + b)
        if slack > 0:
            total += u * (slack * slack if squared else slack)
    return total


def exact_dual(alpha, X, y, U, intercept, squared):
    """sum alpha - 1/2 ‖sum alpha_i y_i x_i‖² - sum alpha_i² / (4 U_i) if squared, the heavier class scaled down."""
    alpha, y = [Fraction(float(a)) for a in alpha], [int(sign) for sign in y]
    if intercept:
        plus, minus = (sum(a for a, sign in zip(alpha, y, strict=True) if sign == side) for side in (1, -1))
        if not plus or not minus:
            return Fraction(0)
        share = {1: min(Fraction(1), minus / plus), -1: min(Fraction(1), plus / minus)}
        alpha = [a * share[sign] for a, sign in zip(alpha, y, strict=True)]
    value = sum(alpha)
    if squared:
        value -= sum(a * a / (4 * Fraction(float(u))) for a, u in zip(alpha, U, strict=True))
    for column in X.T:
        u = sum(a * sign * Fraction(float(x)) for a, sign, x in zip(alpha, y, column, strict=True) if a)
        value -= u * u / 2
    return value


def box_optimum(K, y, U):
    """max sum alpha - 1/2 alpha'YKY alpha over 0 <= alpha <= U: clarabel."""
    n = len(y)
    options = clarabel.DefaultSettings()
    options.verbose = False
    options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = 1e-11
    P = sparse.csc_matrix(np.triu(K * np.outer(y, y)))
    A = sparse.vstack([-sparse.eye(n), sparse.eye(n)], format="csc")
    right = np.concatenate([np.zeros(n), U])
    solver = clarabel.DefaultSolver(P, -np.ones(n), A, right, [clarabel.NonnegativeConeT(2 * n)], options)
    return -solver.solve().obj_val


def adversarial(seed):
    """A table with units, offsets, weights and a C that leave rounding little room."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 40)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, d))
    y = np.where(X @ rng.normal(size=d) + rng.logistic(size=n) > 0, 1, -1)
    y[:2] = 1, -1
    X = X * 10.0 ** rng.choice([-8, 0, 0, 8], size=d) + rng.choice([0, 0, 1e6]) * rng.choice([0, 1], size=d)
    if seed % 4 == 1:
        X[n // 2 :] = X[: n - n // 2]
    weight = rng.choice([1e-12, 1.0, 1e12], n) if seed % 3 == 0 else np.ones(n)
    return X, y, weight, 10.0 ** rng.uniform(-6, 8)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "SVC"])
@pytest.mark.parametrize("seed", range(40))
def test_the_stated_objective_is_not_below_the_true_one_and_the_bound_not_above(seed, loss):
    X, y, weight, C = adversarial(seed)
    intercept = seed % 5 != 0
    if loss == "SVC":
        model = SVC(C=C, kernel="linear", fit_intercept=intercept).fit(X, y, weight)
    else:
        model = LinearSVC(C=C, loss=loss, fit_intercept=intercept).fit(X, y, weight)
    claim = model.certificate_
    if claim is None:
        assert model.status_ is Status.UNCERTIFIED
        return
    U = [Fraction(C) * Fraction(float(c)) for c in weight]
    true = exact_objective(model.coef_[0], model.intercept_[0], X, y, U, loss == "squared_hinge")
    assert true <= Fraction(claim.primal) <= true * (1 + Fraction(1, 10) * Fraction(claim.tol))
    # the objective at any other point is not below the bound
    assert Fraction(claim.dual) <= true
    zero = exact_objective(0 * model.coef_[0], 0.0, X, y, U, loss == "squared_hinge")
    assert Fraction(claim.dual) <= zero
    assert claim.verify(X, y, weight), str(claim.verify(X, y, weight))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kernel", ["rbf", "poly", "laplacian"])
@pytest.mark.parametrize("seed", range(30))
def test_a_kernel_machine_that_is_handed_out_passes_its_own_check(seed, kernel):
    X, y, weight, C = adversarial(seed)
    model = SVC(C=C, kernel=kernel, fit_intercept=bool(seed % 2)).fit(X, y, weight)
    if model.certificate_ is not None:
        assert model.certificate_.verify(X, y, weight), str(model.certificate_.verify(X, y, weight))
    else:
        assert model.status_ is Status.UNCERTIFIED


@pytest.mark.parametrize("kernel", ["rbf", "poly", "laplacian", "linear", "precomputed"])
@pytest.mark.parametrize("seed", range(12))
def test_without_an_intercept_the_objective_is_that_of_a_qp_solver(seed, kernel):
    rng = np.random.default_rng(seed)
    X, y = noisy(int(rng.integers(10, 50)), 3, seed=seed)
    weight, C = rng.uniform(0.2, 3.0, len(y)), 10.0 ** rng.integers(-2, 3)
    signs = np.where(y == 1, 1.0, -1.0)
    name = "rbf" if kernel == "precomputed" else kernel
    K = resolve(name, gamma=0.5, degree=2, coef0=1.0, X=X)(X, X)
    data = K if kernel == "precomputed" else X
    model = SVC(C=C, kernel=kernel, gamma=0.5, degree=2, coef0=1.0, fit_intercept=False).fit(data, y, weight)
    assert model.status_ is Status.CERTIFIED
    assert model.intercept_.tolist() == [0.0]
    assert model.certificate_.verify(data, y, weight)
    np.testing.assert_allclose(model.certificate_.primal, box_optimum(K, signs, C * weight), rtol=1e-6)
    np.testing.assert_allclose(signs * model.decision_function(data) + model.slack_ >= 1 - 1e-9, True)
    if kernel == "linear":
        plain = LinearSVC(C=C, fit_intercept=False).fit(X, y, weight)
        np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-6)


def test_without_an_intercept_multipliers_need_not_balance_and_labels_differ():
    X, y = noisy(80, 2)
    free, through = SVC(gamma=1.0).fit(X, y), SVC(gamma=1.0, fit_intercept=False).fit(X, y)
    assert abs(free.dual_coef_.sum()) < 1e-9 < abs(through.dual_coef_.sum())
    assert not np.array_equal(free.predict(X), through.predict(X)) or abs(free.intercept_[0]) < 0.1
    assert not replace(through.certificate_, fit_intercept=True).verify(X, y)


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_without_an_intercept_many_points_and_a_warm_start(C, monkeypatch):
    X, y = noisy(2300, 3)
    model = SVC(C=C, gamma=0.5, fit_intercept=False, warm_start=True).fit(X, y)
    assert model.status_ is Status.CERTIFIED
    assert model.certificate_.verify(X, y)
    again = model.fit(X, y)
    assert again.certificate_.verify(X, y)
    # the same descent on few points, where a QP solver can tell
    monkeypatch.setattr("separatrix.svm.kernel_svm.held_in_full", lambda n: n <= 10)
    few = SVC(C=C, gamma=0.5, fit_intercept=False, tol=1e-6).fit(X[:300], y[:300])
    assert few.status_ is Status.CERTIFIED
    expected = box_optimum(Rbf(0.5)(X[:300], X[:300]), np.where(y[:300] == 1, 1.0, -1.0), np.full(300, C))
    np.testing.assert_allclose(few.certificate_.primal, expected, rtol=2e-6)


def test_without_an_intercept_several_classes():
    X, y = noisy(90, 3)
    y = y + (X[:, 0] > 0.5)
    model = SVC(fit_intercept=False, decision_function_shape="ovo").fit(X, y)
    assert model.certificate_.verify(X, y)
    assert not model.intercept_.any()
    for column, (a, c) in enumerate([(0, 1), (0, 2), (1, 2)]):
        rows = (y == a) | (y == c)
        alone = SVC(gamma=model.kernel_.gamma, fit_intercept=False).fit(X[rows], y[rows] == a)
        np.testing.assert_allclose(model.decision_function(X)[:, column], alone.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("classes", [2, 4])
def test_weights_are_the_sum_of_the_signed_multipliers(classes, intercept):
    rng = np.random.default_rng(classes)
    X = rng.normal(size=(90, 4))
    y = (X @ rng.normal(size=(4, classes)) + rng.normal(size=(90, classes))).argmax(axis=1)  # of noise alone w is 0
    model = LinearSVC(C=2.0, fit_intercept=intercept).fit(X, y)
    assert model.dual_coef_.shape == (1 if classes == 2 else classes, len(model.support_))
    np.testing.assert_allclose(model.dual_coef_ @ X[model.support_], model.coef_, rtol=0, atol=1e-6)
    signs = np.where(y[model.support_] == np.arange(classes)[:, None], 1, -1)[1 if classes == 2 else 0 :]
    assert (model.dual_coef_ * signs >= 0).all()
    assert np.abs(model.dual_coef_).max() <= 2.0
    if classes == 2:
        theirs = SVC(C=2.0, kernel="linear", fit_intercept=intercept).fit(X, y)
        order = np.argsort(theirs.support_)
        np.testing.assert_allclose(model.dual_coef_[0], theirs.dual_coef_[0][order], atol=1e-6)
    squared = LinearSVC(C=2.0, loss="squared_hinge", fit_intercept=intercept).fit(X, y)
    np.testing.assert_allclose(squared.dual_coef_ @ X[squared.support_], squared.coef_, atol=1e-6)
    slack = squared.slack_.reshape(len(X), -1).T[:, squared.support_]
    np.testing.assert_allclose(np.abs(squared.dual_coef_), 4.0 * slack, atol=1e-6)


def test_rows_that_are_all_0_have_a_certificate_without_nan():
    X, y = np.zeros((4, 1)), [0, 1, 0, 1]
    for loss in ("hinge", "squared_hinge"):
        model = LinearSVC(fit_intercept=False, loss=loss).fit(X, y)
        assert model.coef_.tolist() == [[0.0]]
        assert model.certificate_.primal == pytest.approx(4.0)
        assert model.certificate_.dual == pytest.approx(4.0)
        assert model.certificate_.verify(X, y)


def test_machine_precision_only_where_it_costs_next_to_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12_000, 40))
    y = X @ rng.standard_normal(40) + rng.standard_normal(12_000) > 0
    monkeypatch.setattr(soft, "interior_point", None)  # twenty Gram matrices of all rows, to digits nobody asked for
    model = LinearSVC().fit(X, y)
    assert model.status_ is Status.CERTIFIED
    assert model.certificate_.verify(X, y)


# ---------------------------------------------------------------------- forgeries


def refused(certificate, X, y, weight=None):
    """Whether a claim is found false, or not well formed."""
    try:
        return not certificate.verify(X, y, weight)
    except ValueError:
        return True


X0, Y0 = noisy(40, 3)
HONEST = {
    "linear": LinearSVC().fit(X0, Y0).certificate_,
    "squared": LinearSVC(loss="squared_hinge").fit(X0, Y0).certificate_,
    "origin": LinearSVC(fit_intercept=False).fit(X0, Y0).certificate_,
    "rbf": SVC().fit(X0, Y0).certificate_,
    "poly": SVC(kernel="poly", coef0=1.0).fit(X0, Y0).certificate_,
    "laplacian": SVC(kernel="laplacian").fit(X0, Y0).certificate_,
    "rbf origin": SVC(fit_intercept=False).fit(X0, Y0).certificate_,
}


@pytest.mark.parametrize("kind", HONEST)
@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("intercept", [1e200, 1e15, -1e300, 1.0, float("nan"), float("inf"), True]),
        ("tol", [1e12, 1.0000001, 0.0, -1.0, float("nan"), float("inf")]),
        ("C", [0.0, -1.0, float("nan"), float("inf"), 1e-3, 1e3, 1.01, True]),
        ("positive", [0, 7, -1, True, 1.0, None]),
        ("negative", [1, 7, -1, False, 0.5]),
        ("loss", ["hinge²", None]),
        ("primal", [float("nan"), float("inf"), 0.0, 1e300, -1.0]),
        ("dual", [float("nan"), float("inf"), 1e300]),
        (
            "class_weight",
            [np.zeros(2), np.array([1.0, -1.0]), np.array([1.0, np.nan]), np.ones(3), np.array([2.0, 1.0])],
        ),
        ("classes", [np.array([1, 0]), np.array([0, 0, 1]), np.array([0]), np.array([0, 2])]),
        ("fit_intercept", ["yes", None, 2]),
    ],
)
def test_a_field_that_makes_the_claim_false_is_refused(kind, field, values):
    honest = HONEST[kind]
    assert honest.verify(X0, Y0)
    for value in values:
        if field == "class_weight" and value is None:
            continue
        assert refused(replace(honest, **{field: value}), X0, Y0), value


@pytest.mark.parametrize("kind", HONEST)
def test_witnesses_that_do_not_fit_are_refused(kind):
    honest = HONEST[kind]
    points, alpha = np.asarray(honest.points), np.asarray(honest.alpha)
    nan = alpha.copy()
    nan[0] = np.nan
    for change in (
        {"alpha": nan},
        {"alpha": -alpha},
        {"alpha": alpha * 1e10},
        {"alpha": alpha[:-1]},
        {"alpha": np.append(alpha, 1.0)},
        {"points": points[:-1]},
        {"points": np.full_like(points, points[0])},
        {"points": points + 1000},
        {"points": points - 1000},
        {"points": points.astype(float)},
        {"points": points[::-1].copy()},
    ):
        assert refused(replace(honest, **change), X0, Y0), change
    if honest.kernel is None:
        for coef in (honest.coef[:-1], np.append(honest.coef, 0.0), honest.coef * np.nan, -honest.coef, None):
            assert refused(replace(honest, coef=coef), X0, Y0)
        assert refused(replace(honest, kernel={"kernel": "linear"}), X0, Y0)
    else:
        e = np.asarray(honest.expansion)
        for expansion in (e[:-1], e * np.nan, 0 * e, -e, e * 1e200, None):
            assert refused(replace(honest, expansion=expansion), X0, Y0)
        assert refused(replace(honest, coef=np.ones(3)), X0, Y0)
    if not honest.fit_intercept:
        assert refused(replace(honest, intercept=1e-300), X0, Y0)
    bad = X0.copy()
    bad[0, 0] = np.nan
    assert refused(honest, bad, Y0)
    for weight in (np.full(40, np.nan), -np.ones(40), np.zeros(40), np.ones(39)):
        assert refused(honest, X0, Y0, weight)


@pytest.mark.parametrize("kind", HONEST)
@pytest.mark.parametrize("times", [1.5, 3.0, 10.0])
def test_claims_false_by_a_few_allowances_are_refused(kind, times):
    honest = HONEST[kind]
    allowance = 0.1 * honest.tol * honest.primal
    assert refused(replace(honest, primal=honest.primal + times * allowance), X0, Y0)
    assert refused(replace(honest, primal=honest.primal - times * allowance), X0, Y0)
    assert refused(replace(honest, dual=honest.primal + times * allowance), X0, Y0)
    assert refused(replace(honest, dual=honest.dual - 10 * times * allowance), X0, Y0)  # a gap above tol


@pytest.mark.parametrize(
    "kernel",
    [
        {"kernel": "laplacian", "gamma": -1.0},
        {"kernel": "rbf", "gamma": 0.0},
        {"kernel": "rbf", "gamma": float("nan")},
        {"kernel": "rbf", "gamma": True},
        {"kernel": "rbf"},
        {"kernel": "rbf", "gamma": 1.0, "coef0": 1.0},
        {"kernel": "poly", "degree": 1.5, "gamma": 1.0, "coef0": 0.0},
        {"kernel": "poly", "degree": -1, "gamma": 1.0, "coef0": 0.0},
        {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": float("inf")},
        {"kernel": "spectrum", "k": 0, "normalize": False},
        {"kernel": "spectrum", "k": 2, "normalize": 1},
        {"kernel": "weisfeiler-lehman", "h": 2_000_000_000, "normalize": False},
        {"kernel": "weisfeiler-lehman", "h": -1, "normalize": False},
        {"kernel": "unknown"},
        {},
        "rbf",
        3,
    ],
)
def test_settings_that_make_no_kernel_are_refused_by_name(kernel):
    with pytest.raises(ValueError, match="kernel"):
        replace(HONEST["rbf"], kernel=kernel).verify(X0, Y0)


def test_matrices_that_are_no_kernel_are_refused():
    K = Rbf(0.5)(X0, X0)
    honest = SVC(kernel="precomputed").fit(K, Y0).certificate_
    assert honest.verify(K, Y0)
    lopsided = K.copy()
    lopsided[0, 1] += 0.1
    with pytest.raises(ValueError, match="symmetric"):
        honest.verify(lopsided, Y0)
    with pytest.raises(ValueError, match="square"):
        honest.verify(K[:, :-1], Y0)
    assert refused(honest, K - 1.5 * np.eye(40), Y0)
    assert refused(replace(honest, kernel={"kernel": "sigmoid", "gamma": 1.0, "coef0": -2.0}), X0, Y0)


def test_an_indefinite_matrix_gives_no_bound_though_primal_and_dual_agree():
    # with K = -1: alpha = (1, 1) has P = D = 3, and w = 0 has P = 2
    K, y = -np.eye(2), np.array([1, 0])
    forged = HingeGap(
        primal=3.0, dual=3.0, tol=1e-4, loss="hinge", C=1.0, classes=np.array([0, 1]), class_weight=None,
        positive=1, negative=0, fit_intercept=True, coef=None, intercept=0.0, kernel={"kernel": "precomputed"},
        points=np.array([0, 1]), alpha=np.ones(2), expansion=np.array([1.0, -1.0]),
    )  # fmt: skip
    found = forged.verify(K, y)
    assert not found
    assert [check.name.split(",")[0] for check in found.checks if not check] == [
        "kernel matrix not positive semidefinite (or not tested)"
    ]


def test_a_dual_out_of_balance_proves_nothing():
    # equal points, one against two: at b = 0 the objective is 3, and alpha = 1 has D = 3; but at b = 1 it is 2
    X, y = np.zeros((3, 1)), np.array([0, 1, 1])
    honest = LinearSVC(C=1.0).fit(X, y).certificate_
    assert honest.verify(X, y)
    assert honest.primal == pytest.approx(2.0)
    forged = replace(honest, intercept=0.0, points=np.arange(3), alpha=np.ones(3), primal=3.0, dual=3.0)
    assert not forged.verify(X, y)
    assert replace(forged, fit_intercept=False).verify(X, y)  # of hyperplanes through the origin it is true


# ---------------------------------------------------------------------- the rest


def test_steps_of_a_graph_kernel_are_bounded():
    with pytest.raises(InvalidInputError, match="h must be at most 1000"):
        WeisfeilerLehman(2_000_000_000)
    graphs = [Graph([(0, 1)], "ab"), Graph([(0, 1)], "aa"), Graph([], "b"), Graph([], "a")]
    model = SVC(kernel=WeisfeilerLehman(1000)).fit(graphs, [0, 1, 0, 1])
    assert model.certificate_ is None or model.certificate_.verify(graphs, [0, 1, 0, 1])


@pytest.mark.parametrize(
    "bad",
    [
        {"gamma": -1},
        {"gamma": "half"},
        {"degree": 1.5},
        {"degree": -2},
        {"coef0": "a"},
        {"kernel": "rbv"},
        {"kernel": 3},
    ],
    ids=str,
)
def test_bad_settings_are_typed_errors_that_name_the_parameter(bad):
    with pytest.raises(InvalidInputError, match=next(iter(bad))):
        SVC(**{"kernel": "poly", **bad}).fit(X0, Y0)
    with pytest.raises(InvalidInputError, match="k must be"):
        Spectrum(0)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("intercept", [True, False])
def test_many_small_pairs_are_solved_together_and_as_well_as_alone(kernel, intercept, monkeypatch):
    rng = np.random.default_rng(1)
    y = np.repeat(np.arange(20), rng.integers(1, 5, 20))
    X = rng.normal(size=(len(y), 3)) + 2 * rng.normal(size=(20, 3))[y]
    alone, solve = [], learner.soft_margin
    monkeypatch.setattr(learner, "soft_margin", lambda *args: alone.append(1) or solve(*args))
    model = SVC(kernel=kernel, gamma=0.2, fit_intercept=intercept).fit(X, y)
    assert len(alone) <= 0.1 * 190
    assert model.status_ is Status.CERTIFIED
    assert isinstance(model.certificate_, All)
    assert model.certificate_.verify(X, y)
    monkeypatch.setattr(learner, "all_pairs", lambda *args: [None] * len(args[-2]))
    single = SVC(kernel=kernel, gamma=0.2, fit_intercept=intercept).fit(X, y)
    for one, other in zip(model.certificate_.parts, single.certificate_.parts, strict=True):
        assert isinstance(one, HingeGap)
        np.testing.assert_allclose(one.primal, other.primal, rtol=1e-8)
        assert one.dual <= other.primal
        assert other.dual <= one.primal
    agree = np.isclose(model.decision_function(X), single.decision_function(X), atol=1e-6)
    assert agree.mean() > 0.98


EQUAL_FITS = """
import sys, hashlib
import numpy as np
from sklearn.datasets import load_iris, make_classification
from separatrix import SVC, LinearSVC

tables = [
    ([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1]),
    load_iris(return_X_y=True),
    make_classification(700, 8, random_state=0),
    make_classification(2600, 6, flip_y=0.2, random_state=1),
]
for number, (X, y) in enumerate(tables):
    digests = set()
    for repeat in range(3):
        model = SVC(gamma=0.5, C=3.0).fit(X, y)
        parts = (model.dual_coef_, model.intercept_, model.support_, model.slack_)
        digests.add(hashlib.sha256(b"".join(np.ascontiguousarray(p).tobytes() for p in parts)).hexdigest())
        SVC(kernel="poly", C=10.0 ** repeat).fit(*tables[repeat % 2])  # other fits in between
        LinearSVC(C=1.0 + repeat).fit(*tables[1])
    print(number, *sorted(digests))
"""


def test_equal_fits_give_equal_bits_whatever_ran_before_and_however_many_threads():
    results = []
    for count in ("1", "2"):
        environment = {**os.environ, "OMP_NUM_THREADS": count}
        run = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", EQUAL_FITS],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        results.append(run.stdout)
    assert [len(line.split()) for line in results[0].splitlines()] == [2, 2, 2, 2]
    assert results[0] == results[1]


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_kernel_values_of_no_support_vectors_are_none_and_no_warning(kernel):
    """A fit that runs out of iterations may have none."""
    X = np.array([[0.0, 1.0], [2.0, 0.5], [3.0, 1.0]])
    K, size, _ = gram({"kernel": kernel, "gamma": 0.5}, X, X[:0], np.float64)
    assert K.shape == size.shape == (3, 0)


@pytest.mark.filterwarnings("ignore::separatrix.ConvergenceWarning")
@pytest.mark.parametrize("wide", [False, True])
@given(
    seed=st.integers(0, 10**6),
    loss=st.sampled_from(["hinge", "squared_hinge"]),
    intercept=st.booleans(),
    unit=st.sampled_from([1e-6, 1.0, 1e4]),
    far=st.sampled_from([0.0, 3.0, 1e5]),
    C=st.sampled_from([1e-3, 1.0, 100.0]),
)
def test_claims_from_sums_at_hand_hold(wide, seed, loss, intercept, unit, far, C):
    """Those of many rows are bounded by the largest entry alone; here every machine is stated so, if it can be."""
    rng = np.random.default_rng(seed)
    n, d = (40, 90) if wide else (300, 4)
    X = (rng.normal(size=(n, d)) + far) * unit * 10.0 ** rng.integers(-2, 3, d)
    y = np.where(X @ (rng.normal(size=d) / np.abs(X).max(axis=0)) + 0.3 * rng.normal(size=n) > 0, 1, -1)
    y[:2] = 1, -1
    weight = rng.uniform(0.5, 2.0, n)
    design, bound = as_design(sparse.csr_matrix(X) if wide else X, intercept), C * weight
    found = soft.soft_margin(design, y.astype(float), bound, 1e-4, 1000, loss == "squared_hinge")
    assert found.sums is not None
    claimed = machine._at_hand(found, found.sums, design, y.astype(float), bound, loss == "squared_hinge")
    assume(np.isfinite(claimed.doubt))
    squared = loss == "squared_hinge"
    assert claimed.primal >= exact_objective(found.w, found.b, X, y, bound, squared)
    assert claimed.dual <= exact_dual(found.alpha, X, y, bound, intercept, squared)
    assert claimed.primal <= found.primal + claimed.doubt * claimed.primal
    assert claimed.dual >= found.dual - claimed.doubt * claimed.primal
