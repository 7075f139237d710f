"""The hard margin, with and without intercept: against a QP solver, rational arithmetic, and forgers."""

import tracemalloc
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

import clarabel
import numpy as np
import pytest
from scipy import sparse

from separatrix import SVC, HardMarginSVC, LinearSVC, NotSeparableError, UndecidedError
from separatrix.certificates import Certificate, Inseparable, KernelInseparable, KernelMarginBracket, MarginBracket
from separatrix.design import as_design
from separatrix.outcome import Status
from separatrix.solvers import interior_point
from separatrix.svm.linear.hard_margin import widest

KERNELS = {
    "linear": lambda A: A @ A.T,
    "poly": lambda A: (0.5 * A @ A.T + 1.0) ** 3,
    "rbf": lambda A: np.exp(-0.5 * ((A[:, None] - A) ** 2).sum(axis=2)),
}
SETTINGS = {"gamma": 0.5, "degree": 3, "coef0": 1.0}


def best_margin(K, y, intercept):
    """max over ‖w‖ = 1 (and b) of the smallest y f: clarabel, on min 1/2 ‖w‖² subject to y (L w + b) >= 1, K = L L'."""
    values, V = np.linalg.eigh(K)
    L = V * np.sqrt(np.maximum(values, 0.0))
    m = L.shape[1]
    A = sparse.csc_matrix(-y[:, None] * np.column_stack([L, np.ones((len(y), int(intercept)))]))
    P = sparse.block_diag([sparse.eye(m), sparse.csc_matrix((int(intercept), int(intercept)))], format="csc")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    cones = [clarabel.NonnegativeConeT(len(y))]
    solution = clarabel.DefaultSolver(P, np.zeros(P.shape[0]), A, -np.ones(len(y)), cones, settings).solve()
    assert "Solved" in str(solution.status)
    return 1.0 / np.sqrt(2 * solution.obj_val)


def shortest(Z, norm):
    """min of sum_j norm_j v_j² over Z v >= 1 in rational arithmetic, as (square, v), or None: over all sets that bind.

    ``Z`` is a list of rows of Fractions. Coordinates with norm 0 (the intercept) are free.
    """
    best = None
    d = len(Z[0])
    for size in range(1, d + 1):
        for S in combinations(range(len(Z)), size):
            # stationarity: norm v = sum_S mu_i z_i, and z_i v = 1 on S
            system = [
                [Fraction(norm[j]) if k == j else Fraction(0) for k in range(d)] + [-Z[i][j] for i in S] + [Fraction(0)]
                for j in range(d)
            ]
            system += [list(Z[i]) + [Fraction(0)] * size + [Fraction(1)] for i in S]
            v = solved(system)
            if v is None or any(sum(a * b for a, b in zip(z, v[:d], strict=True)) < 1 for z in Z):
                continue
            square = sum(n * a * a for n, a in zip(norm, v[:d], strict=True))
            if best is None or square < best:
                best = square
    return best


def solved(rows):
    """The solution of a square linear system of Fractions, or None if it is singular."""
    rows = [row[:] for row in rows]
    n = len(rows)
    for c in range(n):
        pivot = next((r for r in range(c, n) if rows[r][c] != 0), None)
        if pivot is None:
            return None
        rows[c], rows[pivot] = rows[pivot], rows[c]
        rows[c] = [a / rows[c][c] for a in rows[c]]
        for r in range(n):
            if r != c and rows[r][c] != 0:
                factor = rows[r][c]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[c], strict=True)]
    return [row[-1] for row in rows]


def separated(seed, n=30, d=3, gap=0.2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    w = rng.normal(size=d)
    y = np.where(X @ w > 0, 1, -1)
    return X + gap * y[:, None] * w / np.linalg.norm(w), y


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("seed", range(4))
def test_the_margin_is_that_of_a_qp_solver(seed, kernel, intercept):
    X, y = separated(seed)
    best = best_margin(KERNELS[kernel](X), y.astype(float), intercept)
    for model in (
        HardMarginSVC(kernel, **SETTINGS, fit_intercept=intercept),
        *([LinearSVC(C=np.inf, fit_intercept=intercept)] if kernel == "linear" else []),
        SVC(C=np.inf, kernel=kernel, **SETTINGS, fit_intercept=intercept),
    ):
        model.fit(X, y)
        certificate = model.certificate_
        assert certificate.verify(X, y)
        assert certificate.lower <= best * (1 + 1e-8)
        assert certificate.upper >= best * (1 - 1e-8)
        assert certificate.upper - certificate.lower <= 1e-4 * certificate.upper
        assert model.margin_ == pytest.approx(best, rel=1e-4)
        assert (model.predict(X) == y).all()
        if not intercept:
            assert not np.any(model.intercept_)
        assert Certificate.from_dict(certificate.to_dict()).verify(X, y)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_bracket_holds_the_rational_margin_of_small_tables_or_there_is_none(intercept):
    rng = np.random.default_rng(5)
    separable = 0
    for _ in range(60):
        n, d = int(rng.integers(2, 6)), int(rng.integers(1, 3))
        X, y = rng.integers(-3, 4, size=(n, d)), np.where(np.arange(n) % 2 == 0, 1, -1)
        ones = [[Fraction(1)]] * n if intercept else [[]] * n
        Z = [
            [int(s) * (Fraction(int(a))) for a in row] + [int(s) * o for o in one]
            for s, row, one in zip(y, X, ones, strict=True)
        ]
        square = shortest(Z, [1] * d + [0] * intercept)
        for kernel in ("linear", lambda A, B: np.asarray(A, dtype=float) @ np.asarray(B, dtype=float).T):
            model = HardMarginSVC(kernel, fit_intercept=intercept)
            if square is None:
                with pytest.raises(NotSeparableError) as caught:
                    model.fit(X, y)
                assert caught.value.certificate.verify(X, y)
                continue
            certificate = model.fit(X, y).certificate_
            assert certificate.verify(X, y)
            assert Fraction(certificate.lower) ** 2 * square <= 1
            assert Fraction(certificate.upper) ** 2 * square >= 1
        separable += square is not None
    assert 10 < separable < 50


def test_through_the_origin_is_another_problem():
    X, y = np.array([[1.0, 1.0], [3.0, 1.0]]), [0, 1]
    assert HardMarginSVC().fit(X, y).margin_ == pytest.approx(1.0)
    model = HardMarginSVC(fit_intercept=False).fit(X, y)
    # the best line through 0 halves the angle between (1, 1) and (3, 1), in units of the nearer point's height
    w = np.array([1.0, -1.0]) * 1.0
    assert model.intercept_ == 0
    assert (X @ model.coef_[0] * [-1, 1]).min() == pytest.approx(1.0)
    assert model.margin_ >= (X @ w * [-1, 1]).min() / np.sqrt(2)
    for kernel in ("linear", "poly"):  # x and 2x on different sides of the origin: no
        with pytest.raises(NotSeparableError) as caught:
            HardMarginSVC(kernel, fit_intercept=False).fit([[1.0], [2.0]], y)
        assert caught.value.certificate.verify([[1.0], [2.0]], y)
        assert not caught.value.certificate.verify([[-1.0], [2.0]], y)
        assert HardMarginSVC(kernel).fit([[1.0], [2.0]], y).status_ is Status.BRACKETED


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_pairs_of_classes_without_intercept(kernel):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 2)) + 8 * np.array([[0.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])[y]
    model = HardMarginSVC(kernel, fit_intercept=False).fit(X, y)
    assert model.certificate_.verify(X, y)
    assert model.score(X, y) == 1.0
    assert not model.intercept_.any()
    X[0] = X[1]
    with pytest.raises(NotSeparableError) as caught:
        HardMarginSVC(kernel, fit_intercept=False).fit(X, y)
    proof = caught.value.certificate
    assert isinstance(proof, KernelInseparable)
    assert not proof.fit_intercept
    assert proof.verify(X, y)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_bound_of_several_classes_is_proved_and_small(intercept):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(3000, 6)), np.arange(3000) % 3
    with pytest.raises(NotSeparableError) as caught:
        HardMarginSVC(fit_intercept=intercept).fit(X, y)
    proof = caught.value.certificate
    assert proof.verify(X, y)
    assert 0 < proof.margin_bound < 1e-12 * np.abs(X).max()
    assert not replace(proof, margin_bound=0.5 * proof.margin_bound).verify(X, y)


def test_a_class_that_the_others_surround_has_a_proof_about_the_labels_as_given():
    X, y = np.array([[0.0], [1], [2], [3], [4], [5]]), np.array(["a", "a", "b", "b", "c", "c"])
    with pytest.raises(NotSeparableError, match="'b' from the others") as caught:
        LinearSVC(C=np.inf).fit(X, y)
    assert caught.value.certificate.verify(X, y)
    assert not caught.value.certificate.verify(X, np.array(["a", "a", "a", "a", "b", "c"]))


@pytest.mark.parametrize("seed", [18, 19, 35, 85, 131, 178, 185, 278, 334])
def test_a_polynomial_is_solved_where_kernel_values_have_too_few_digits(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 3))
    score = [
        X @ rng.normal(size=3),
        X.prod(axis=1),
        X[:, 0] ** 3 - X[:, 1] + 0.3 * X[:, 2] ** 2 * X[:, 0],
        X[:, 0] + 0.5 * X[:, 1] ** 2 * X[:, 2],
    ][seed % 4]
    y = (score > 0).astype(int)
    model = HardMarginSVC("poly").fit(X, y)
    assert model.status_ is Status.BRACKETED
    assert model.certificate_.verify(X, y)
    assert (model.predict(X) == y).all()


def test_systems_of_wide_rows_are_no_larger_than_the_number_of_rows(monkeypatch):
    orders = []
    factor = interior_point.positive_definite
    monkeypatch.setattr(interior_point, "positive_definite", lambda M: orders.append(len(M)) or factor(M))
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10, 2000)), np.arange(10) % 2
    for intercept in (True, False):
        for model in (HardMarginSVC(fit_intercept=intercept), LinearSVC(C=np.inf, fit_intercept=intercept)):
            model.fit(X, y)
            assert model.certificate_.verify(X, y)
            best = best_margin(X @ X.T, np.where(y == 1, 1.0, -1.0), intercept)
            assert model.margin_ == pytest.approx(best, rel=1e-6)
    assert orders
    assert max(orders) <= 11
    X[1] = X[0]
    with pytest.raises(NotSeparableError) as caught:
        HardMarginSVC().fit(X, y)
    assert caught.value.certificate.verify(X, y)


@pytest.mark.parametrize("model", [HardMarginSVC(), LinearSVC(C=np.inf)], ids=["SVC", "LinearSVC"])
def test_of_many_rows_those_that_bind_are_found(model):
    rng, n = np.random.default_rng(0), 30_000
    y = np.arange(n) % 2
    depth = 1.0 + rng.uniform(0.01, 3.0, n)
    side = rng.normal(size=(n, 2))
    depth[[20_001, 20_002]], side[[20_001, 20_002]] = 1.0, 0.25  # opposite each other, so that no margin exceeds 1
    u = np.array([2.0, -1.0, 2.0]) / 3.0
    X = np.outer(np.where(y == 1, depth, -depth), u) + side @ np.array([[1.0, 2.0, 0.0], [2.0, 0.0, -2.0]])
    model.fit(X, y)
    assert model.margin_ == pytest.approx(1.0, rel=1e-9)
    np.testing.assert_allclose(model.coef_[0], u, atol=1e-9)
    assert set(model.support_) == {20_001, 20_002}
    assert model.certificate_.verify(X, y)


@pytest.mark.parametrize("rows", [60, 400])
def test_sparse_rows_stay_sparse(rows):
    X = sparse.random_array((rows, 20_000), density=0.002, rng=np.random.default_rng(1), format="csr")
    y = (X @ np.random.default_rng(0).normal(size=20_000) > 0).astype(int)
    for model in (HardMarginSVC(), LinearSVC(C=np.inf), HardMarginSVC(fit_intercept=False)):
        tracemalloc.start()
        model.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2e8  # a matrix of the columns has 3.2e9 bytes
        assert model.certificate_.verify(X, y)
        assert model.certificate_.upper - model.certificate_.lower <= 1e-4 * model.certificate_.upper


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e9])
def test_columns_far_from_the_origin(offset):
    """Data are what they are after rounding: the bracket holds the margin of the rounded rows about their centre."""
    X, y = separated(3)
    X = X + offset
    model = HardMarginSVC().fit(X, y)
    assert model.status_ is Status.BRACKETED
    certificate = model.certificate_
    assert certificate.verify(X, y)
    about = X - X[0]  # exact, but for the last digit
    best = best_margin(about @ about.T, y.astype(float), True)
    assert certificate.lower <= best * (1 + 1e-7)
    assert certificate.upper >= best * (1 - 1e-7)


def forged(X, y, certificate, **fields):
    """Whether verify refuses: by a false result, or by a `ValueError` that names what is malformed."""
    try:
        return not replace(certificate, **fields).verify(X, y)
    except ValueError:
        return True


def wrong_fields(c):
    """Fields that no certificate of this kind may have."""
    nan = np.full(len(c.alpha), np.nan)
    some = {
        "lower": [c.lower * 1.0001, c.upper * 1.1, np.nan, np.inf, True, "0.1"],
        "upper": [c.upper * 0.9999, c.lower * 0.9, 0.0, -1.0, np.nan, -np.inf],
        "alpha": [nan, -c.alpha, 0 * c.alpha, np.where(np.arange(len(c.alpha)) == 0, -1, 1) * c.alpha, c.alpha[:-1],
                  c.alpha * np.inf, [], [[1.0]]],
        "points": [c.points + 1000, -c.points - 1, c.points.astype(float), c.points * 0, c.points[:-1], []],
        "positive": [2, -1, 7, True, 1.0, None, 1 - c.positive],
        "negative": [c.positive, 5, -1, True],
        "classes": [np.array([1, 0]), np.array([0, 0]), np.array([0, np.nan]), np.array([[0, 1]]), np.array([0])],
        "fit_intercept": [not c.fit_intercept, 1, None, "yes"],
        "space": ["", "feature" if c.space != "feature" else "input", None, 3],
    }  # fmt: skip
    return [(name, value) for name, values in some.items() for value in values]


@pytest.mark.parametrize("intercept", [True, False])
def test_forged_brackets_of_a_hyperplane(intercept):
    X, y = separated(2)
    y = (y > 0).astype(int)
    certificate = HardMarginSVC(fit_intercept=intercept).fit(X, y).certificate_
    assert certificate.verify(X, y)
    v = np.asarray(certificate.direction)
    more = [("direction", value) for value in (v * 0, v * np.nan, -v, v[:-1], v + 0.1 * np.abs(v).max(), [], v[None])]
    for name, value in wrong_fields(certificate) + more:
        assert forged(X, y, certificate, **{name: value}), (name, value)
    assert replace(certificate, direction=v * 2.0**900).verify(X, y)  # the same direction
    assert not certificate.verify(X, 1 - y)
    for entry in (np.nan, np.inf):
        bad = X.copy()
        bad[4] = entry
        with pytest.raises(ValueError, match=r"finite|NaN"):
            certificate.verify(bad, y)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kernel", ["poly", "rbf"])
def test_forged_brackets_in_feature_space(kernel, intercept):
    X, y = separated(2)
    y = (y > 0).astype(int)
    certificate = HardMarginSVC(kernel, **SETTINGS, fit_intercept=intercept).fit(X, y).certificate_
    assert isinstance(certificate, KernelMarginBracket)
    assert certificate.verify(X, y)
    e = np.asarray(certificate.expansion)
    kernels = [{"kernel": "other"}, {}, None, {**certificate.kernel, "gamma": 0.7}]
    more = [("expansion", value) for value in (e * 0, e * np.nan, -e, e[:-1])]
    more += [("intercept", value) for value in (1e15, 1e200, np.nan, None, 0.5)] + [("kernel", k) for k in kernels]
    for name, value in wrong_fields(certificate) + more:
        assert forged(X, y, certificate, **{name: value}), (name, value)
    bad = X.copy()
    bad[4] = np.nan
    with pytest.raises(ValueError, match=r"finite|NaN"):
        certificate.verify(bad, y)


def test_forged_proofs_that_nothing_separates():
    X, y = np.array([[0.0, 1], [1, 0], [0, 0], [1, 1]]), np.array([0, 0, 1, 1])
    for kernel in ({"kernel": "linear"}, {"kernel": "poly", "degree": 1, "gamma": 1.0, "coef0": 1.0}):
        proof = KernelInseparable(np.array([0, 1]), 1, 0, kernel, np.arange(4), np.ones(4), 0.0).stated(X, y)
        assert proof.verify(X, y)
        for weights in (np.array([1, 1, 1, 2.0]), np.array([1e300, 1, 1, 1]), -np.ones(4), np.zeros(4),
                        np.array([np.nan, 1, 1, 1]), np.array([1e-300, 1, 1, 1])):  # fmt: skip
            assert forged(X, y, proof, weights=weights)
            assert forged(X, y, proof, weights=weights, margin_bound=1e6)
        for name, value in (("margin_bound", np.nan), ("margin_bound", -1.0), ("points", np.array([0, 1, 2, 2])),
                            ("positive", 3), ("negative", 1), ("fit_intercept", None)):  # fmt: skip
            assert forged(X, y, proof, **{name: value}), (name, value)
        # separable data have no proof, however large the stated bound
        assert forged(X + np.array([[0, 0], [0, 0], [5, 5], [5, 5]]), y, proof, margin_bound=1e6)


def test_no_bracket_separates_overlapping_data_far_from_the_origin():
    """At 1e12 the rounding of scores is about 1e-4: it proves nothing."""
    X, y = np.array([[0.0, 1], [1, 0], [0, 0], [1, 1]]) + 1e12, np.array([0, 0, 1, 1])
    rng = np.random.default_rng(0)
    for _ in range(200):
        w = rng.normal(size=2)
        b = -float(w @ X.mean(axis=0)) * (1 + rng.choice([0.0, 1e-16, -1e-16]))
        for lower in (1e-12, 1e-5, 1e-3, 0.1):
            bracket = MarginBracket(
                np.array([0, 1]), 1, True, lower, 1.0, np.append(w, b), np.arange(4), np.ones(4), space="input"
            )
            assert not bracket.verify(X, y)


def test_balance_counts():
    """Weights out of balance see b, which is free: they bound nothing."""
    X, y = np.array([[0.0], [2.0]]), np.array([0, 1])
    bracket = MarginBracket(np.array([0, 1]), 1, True, 0.9, 1.0, np.array([1.0, -1.0]), [0, 1], [1.0, 1.0], "input")
    bracket = replace(bracket, points=np.array([0, 1]), alpha=np.ones(2))
    assert bracket.verify(X, y)
    for alpha in ([1.0, 1.1], [1.0, 0.0], [1.0, 1.0 + 1e-9]):
        assert not replace(bracket, upper=1.0 if alpha[1] > 1 else 0.5, alpha=np.array(alpha)).verify(X, y)


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e8, 1e140])
def test_units_do_not_matter(scale):
    X, y = separated(4)
    for intercept in (True, False):
        reference = HardMarginSVC(fit_intercept=intercept).fit(X, y)
        try:
            model = HardMarginSVC(fit_intercept=intercept).fit(X * scale, y)
        except (NotSeparableError, UndecidedError):
            pytest.fail("separable at another scale")
        assert model.certificate_.verify(X * scale, y)
        assert model.margin_ / scale == pytest.approx(reference.margin_, rel=1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("gap", "offset"), list(product([1e-3, 1e-6, 1e-10, 1e-14, 0.0], [0.0, 1.0, 1e6, 1e12])))
def test_nearly_touching_classes_have_a_bracket_that_is_proved_or_an_error_that_is(gap, offset):
    X, y = offset + np.array([[0.0, 0], [1, 0], [0, gap], [1, gap]]), np.array([0, 0, 1, 1])
    if X[2, 1] == X[0, 1]:
        with pytest.raises(NotSeparableError) as caught:
            HardMarginSVC().fit(X, y)
        assert isinstance(caught.value.certificate, Inseparable)
        assert caught.value.certificate.verify(X, y)
        return
    model = HardMarginSVC().fit(X, y)
    true = (Fraction(X[2, 1]) - Fraction(X[0, 1])) / 2
    assert Fraction(model.certificate_.lower) <= true <= Fraction(model.certificate_.upper)
    assert model.certificate_.verify(X, y)
    assert (model.status_ is Status.BRACKETED) == (
        model.certificate_.upper - model.certificate_.lower <= 1e-4 * model.certificate_.upper
    )


@pytest.mark.parametrize("max_iter", range(1, 10))
def test_no_more_steps_are_taken_than_were_asked_for(max_iter):
    random = np.random.default_rng(0)
    X = random.standard_normal((200, 4))
    y = np.sign(X @ [1.0, -2.0, 0.5, 1.0])
    assert widest(as_design(X), y, 1e-12, max_iter).n_iter <= max_iter
