"""The optimum of the stated objective: against oracles that share no code, and by what must hold of any optimum."""

import json
from dataclasses import replace

import clarabel
import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from logistic.logistic_oracle import objective, optimum, rounding
from problems import islands, noisy
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression as Rival
from statsmodels.datasets import anes96, fair, spector

from separatrix import ConvergenceWarning, LogisticRegression, Status
from separatrix.certificates import Certificate

EPS = np.finfo(float).eps


def breast_cancer():
    return load_breast_cancer(return_X_y=True)


def iris():
    return load_iris(return_X_y=True)


def wine():
    return load_wine(return_X_y=True)


def digits():
    """Threes against eights: columns that are constant, and classes that are separable."""
    X, y = load_digits(return_X_y=True)
    return X[np.isin(y, (3, 8))], (y[np.isin(y, (3, 8))] == 8).astype(int)


def students():
    table = spector.load_pandas()
    return table.exog.to_numpy(), table.endog.to_numpy().astype(int)


def affairs():
    table = fair.load_pandas()
    return table.exog.to_numpy()[::5], (table.endog.to_numpy() > 0).astype(int)[::5]


def voters():
    table = anes96.load_pandas()
    return table.exog.to_numpy(), table.endog.to_numpy().astype(int)


TABLES = {f.__name__: f for f in (breast_cancer, iris, wine, digits, students, affairs, voters)}


def spread(d):
    """Column scales from 1e-8 to 1e8, powers of 2 so that multiplying rounds nothing."""
    return 2.0 ** np.round(np.linspace(-26.6, 26.6, d))


def check(X, y, C, **settings):
    """Fit with tol=1e-9 and hold the objective against the oracle's; return the model."""
    reference = settings.get("identifiability") == "reference"
    model = LogisticRegression(C, tol=1e-9, **settings).fit(X, y)
    best, _, _ = optimum(X, y, C, fit_intercept=model.fit_intercept, reference=reference)
    reached = objective(X, y, model.coef_, model.intercept_, C)
    noise = rounding(X, model.coef_, model.intercept_, C)
    certificate = model.certificate_
    assert reached <= best * (1 + 1e-8) + noise
    assert certificate.gap >= 0
    assert reached - best <= certificate.gap + noise  # the gap is true
    assert certificate.dual <= best
    assert reached <= certificate.primal <= reached + 0.05 * 1e-9 * best + noise  # rounded up, within what is allowed
    assert model.status_ is Status.CERTIFIED
    assert certificate.relative_gap <= 1e-9
    assert certificate.verify(X, y), str(certificate.verify(X, y))
    return model


# ------------------------------------------------------------------ the oracle itself
def test_the_oracle_is_stationary_in_forty_digits():
    X, y = noisy()
    _, W, b = optimum(X, y, 1.0)
    with mpmath.workdps(40):
        w = [mpmath.mpf(str(v)) for v in W[0]]
        e = []
        for row, label in zip(X, y, strict=True):
            score = mpmath.fsum(mpmath.mpf(float(x)) * v for x, v in zip(row, w, strict=True)) + mpmath.mpf(str(b[0]))
            e.append(1 / (1 + mpmath.exp(-score)) - int(label))
        gradient = [mpmath.fsum(r * mpmath.mpf(float(x)) for r, x in zip(e, column, strict=True)) for column in X.T]
        assert max(abs(g + v) for g, v in zip(gradient, w, strict=True)) < 1e-16
        assert abs(mpmath.fsum(e)) < 1e-16


# ------------------------------------------------------------------ objectives
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("table", TABLES)
def test_objective_of_real_tables(table, C):
    check(*TABLES[table](), C)


@pytest.mark.parametrize("shift", [1e3, 1e4, 1e6])
@pytest.mark.parametrize("table", ["students", "iris", "breast_cancer"])
def test_objective_far_from_the_origin(table, shift):
    X, y = TABLES[table]()
    check(X + shift, y, 1.0)


@pytest.mark.parametrize("table", ["students", "iris", "wine", "breast_cancer", "voters"])
def test_objective_in_any_units(table):
    X, y = TABLES[table]()
    check(X * spread(X.shape[1]), y, 1.0)


@pytest.mark.parametrize("table", ["students", "wine", "breast_cancer", "voters"])
def test_objective_in_any_units_far_from_the_origin(table):
    # here the last bit of b moves the gradient by more than tol allows, and the decrement certifies instead
    X, y = TABLES[table]()
    check((X + 1e3) * spread(X.shape[1]), y, 1.0)


def test_what_cannot_be_certified_is_said_and_still_optimal():
    # the same with a class that is separable: rows far on their side bound the decrement badly
    X, y = iris()
    X = (X + 1e3) * spread(4)
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        model = LogisticRegression(tol=1e-9).fit(X, y)
    assert model.status_ is Status.UNCERTIFIED
    best, *_ = optimum(X, y, 1.0)
    reached = objective(X, y, model.coef_, model.intercept_, 1.0)
    assert reached <= best * (1 + 1e-8)
    assert reached - best <= model.certificate_.gap
    assert model.certificate_.verify(X, y)


@pytest.mark.parametrize("shift", [1e3, 1e4, 1e6])
def test_shifted_noise_has_the_optimum_of_the_noise(shift):
    # scikit-learn's default stops at 26.92 where 25.32 is best, without a warning
    X, y = noisy()
    model = check(X + shift, y, 1.0)
    moved, *_ = optimum((X + shift) - shift, y, 1.0)
    assert abs(model.certificate_.primal - float(moved)) <= 1e-8 * float(moved)


def test_what_float64_can_hold_at_a_billion():
    # entries of 1e9 + noise keep seven digits of the noise, and a score of such a row rounds at 1e-7
    X, y = noisy()
    far = X + 1e9
    model = LogisticRegression(tol=1e-9).fit(far, y)
    best, *_ = optimum(far, y, 1.0)
    reached = objective(far, y, model.coef_, model.intercept_, 1.0)
    assert reached - best <= rounding(far, model.coef_, model.intercept_, 1.0)
    assert model.certificate_.verify(far, y)
    near = LogisticRegression(tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.coef_, near.coef_, rtol=1e-4)
    assert abs(model.score(far, y) - near.score(X, y)) <= 1 / 60


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_every_solver_finds_it(solver):
    check(*students(), 1.0, solver=solver)
    check(*iris(), 1.0, solver=solver)


@pytest.mark.parametrize("intercept", [True, False])
def test_against_scikit_learn_on_centred_rows(intercept):
    X, y = breast_cancer()
    centre = X.mean(axis=0) if intercept else np.zeros(X.shape[1])
    rival = Rival(C=0.1, solver="newton-cholesky", tol=1e-12, max_iter=1000, fit_intercept=intercept).fit(X - centre, y)
    model = LogisticRegression(0.1, tol=1e-9, fit_intercept=intercept).fit(X, y)
    np.testing.assert_allclose(model.coef_, rival.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, rival.intercept_ - rival.coef_ @ centre, rtol=1e-6)


def test_against_an_exponential_cone():
    """min C sum t_i + 1/2 ‖w‖² with log(1 + exp(u_i)) <= t_i: exp(u_i - t_i) + exp(-t_i) <= 1, by Clarabel."""
    X, y = noisy(40, 2)
    n, d = X.shape
    sign = 2.0 * y - 1
    # variables (w, b, t, p, q); cones (u - t, 1, p), (-t, 1, q) in the closure of {s exp(r/s) <= z}; p + q <= 1
    size = d + 1 + 3 * n
    A, b, cones = [], [], []
    for i in range(n):
        for part in (0, 1):
            row = np.zeros((3, size))
            if part == 0:
                row[0, :d], row[0, d] = sign[i] * X[i], sign[i]  # -(u) with u = -y(w.x + b)
            row[0, d + 1 + i] += 1.0
            row[2, d + 1 + n + part * n + i] = -1.0
            A.append(row)
            b.append([0.0, 1.0, 0.0])
            cones.append(clarabel.ExponentialConeT())
    simplex = np.zeros((n, size))
    simplex[np.arange(n), d + 1 + n + np.arange(n)] = simplex[np.arange(n), d + 1 + 2 * n + np.arange(n)] = 1.0
    A.append(simplex)
    b.append(np.ones(n))
    cones.append(clarabel.NonnegativeConeT(n))
    P = sparse.csc_matrix((np.ones(d), (range(d), range(d))), shape=(size, size))
    q = np.concatenate([np.zeros(d + 1), np.full(n, 2.0), np.zeros(2 * n)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    solution = clarabel.DefaultSolver(P, q, sparse.csc_matrix(np.vstack(A)), np.concatenate(b), cones, settings).solve()
    model = LogisticRegression(2.0, tol=1e-9).fit(X, y)
    assert abs(model.certificate_.primal - solution.obj_val) <= 1e-8 * solution.obj_val


# ------------------------------------------------------------------ what holds of any optimum
@given(st.integers(0, 10**6))
def test_the_gap_is_never_negative_and_always_true(seed):
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(3, 40)), int(rng.integers(1, 6)), int(rng.integers(2, 4))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, size=d)
    y = np.concatenate([np.arange(k), rng.integers(0, k, size=n)])[:n]
    C = float(10.0 ** rng.uniform(-3, 3))
    model = LogisticRegression(C).fit(X, y)
    noise = rounding(X, model.coef_, model.intercept_, C)
    best, *_ = optimum(X, y, C)
    assert model.certificate_.gap >= 0
    assert -noise <= model.certificate_.primal - best <= model.certificate_.gap + noise
    assert model.certificate_.verify(X, y)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("settings", [{}, {"class_weight": {0: 2.0, 1: 0.5}}, {"class_weight": "balanced"}])
def test_weight_is_repetition(k, settings):
    X, y = noisy(80, 4, k)
    times = np.random.default_rng(1).integers(0, 4, size=80)
    weighted = LogisticRegression(tol=1e-9, **settings).fit(X, y, sample_weight=times)
    repeated = LogisticRegression(tol=1e-9, **settings).fit(X.repeat(times, axis=0), y.repeat(times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, rtol=1e-9, atol=1e-12)
    assert weighted.certificate_.verify(X, y, times)
    assert not weighted.certificate_.verify(X, y)  # with other weights it is not the optimum


def test_rows_of_weight_zero_are_not_looked_at():
    X, y = noisy()
    wild = np.vstack([X, np.full((1, 3), 1e100)])
    model = LogisticRegression().fit(wild, np.append(y, 1), sample_weight=np.append(np.ones(60), 0))
    np.testing.assert_array_equal(model.coef_, LogisticRegression().fit(X, y).coef_)


def test_class_weight_multiplies_the_sample_weight():
    X, y = noisy(k=3)
    factors = np.array([1.0, 2.0, 0.25])
    weight = np.linspace(0.5, 2, 60)
    given_both = LogisticRegression(class_weight=dict(enumerate(factors))).fit(X, y, weight)
    multiplied = LogisticRegression().fit(X, y, weight * factors[y])
    np.testing.assert_allclose(given_both.coef_, multiplied.coef_, rtol=1e-10)
    assert given_both.certificate_.verify(X, y, weight)


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
@pytest.mark.parametrize("k", [2, 4])
def test_sparse_equals_dense(container, k):
    rng = np.random.default_rng(0)
    X, y = noisy(120, 6, k)
    X[rng.random(X.shape) < 0.6] = 0.0
    X[:, 0] += 1e4  # a full column far from the origin: centring must not make the others dense
    dense = LogisticRegression(tol=1e-9).fit(X, y)
    model = LogisticRegression(tol=1e-9).fit(container(X), y)
    np.testing.assert_allclose(model.coef_, dense.coef_, rtol=1e-7, atol=1e-10)
    assert model.certificate_.verify(container(X), y)
    np.testing.assert_array_equal(model.predict(container(X)), dense.predict(X))


def test_float32_in_float32_out_and_certified_as_rounded():
    X, y = noisy(200, 5)
    model = LogisticRegression(tol=1e-6).fit(X.astype(np.float32), y)
    assert model.coef_.dtype == model.intercept_.dtype == np.float32
    np.testing.assert_array_equal(model.certificate_.coef, model.coef_.astype(float))
    assert model.certificate_.verify(X.astype(np.float32), y)
    best, *_ = optimum(X.astype(np.float32), y, 1.0)
    assert objective(X.astype(np.float32), y, model.coef_, model.intercept_, 1.0) <= best * (1 + 1e-6)


@pytest.mark.parametrize("kind", [int, np.uint8, bool])
def test_whole_numbers_are_numbers(kind):
    X, y = islands(n=60)
    X = (X > 4).astype(kind)
    a, b = LogisticRegression().fit(X, y), LogisticRegression().fit(X.astype(float), y)
    np.testing.assert_array_equal(a.coef_, b.coef_)


# ------------------------------------------------------------------ several classes
@pytest.mark.parametrize("table", ["iris", "wine", "voters"])
def test_symmetric_weights_sum_to_zero(table):
    model = check(*TABLES[table](), 0.5)
    size = np.abs(model.coef_).max()
    assert np.abs(model.coef_.sum(axis=0)).max() <= 1e-12 * size
    assert abs(model.intercept_.sum()) <= 1e-10 * max(np.abs(model.intercept_).max(), size)


@pytest.mark.parametrize("table", ["iris", "wine"])
def test_reference_weights_of_the_last_class_are_zero(table):
    model = check(*TABLES[table](), 0.5, identifiability="reference")
    np.testing.assert_array_equal(model.coef_[-1], 0.0)
    assert model.intercept_[-1] == 0.0


def test_without_penalty_symmetric_and_reference_are_one_model():
    X, y = noisy(300, 3, 3)
    a = LogisticRegression(np.inf).fit(X, y)
    b = LogisticRegression(np.inf, identifiability="reference").fit(X, y)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-8)
    np.testing.assert_allclose(a.coef_ - a.coef_[-1], b.coef_, rtol=1e-7, atol=1e-9)


def test_names_of_classes_do_not_matter():
    X, y = noisy(90, 3, 3)
    plain = LogisticRegression().fit(X, y)
    place = np.array([2, 0, 1])  # class c is now called names[c], which sorts to place[c]
    names = np.array(["r", "p", "q"])
    named = LogisticRegression().fit(X, names[y])
    np.testing.assert_allclose(named.coef_[place], plain.coef_, rtol=1e-8, atol=1e-11)
    np.testing.assert_array_equal(named.predict(X), names[plain.predict(X)])


def test_swapping_two_classes_flips_the_sign():
    X, y = noisy()
    a, b = LogisticRegression().fit(X, y), LogisticRegression().fit(X, 1 - y)
    np.testing.assert_allclose(a.coef_, -b.coef_, rtol=1e-10)
    np.testing.assert_allclose(a.intercept_, -b.intercept_, rtol=1e-9)


@given(st.integers(0, 10**6))
def test_rotations_and_the_order_of_rows_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    X, y = noisy(50, 4, seed=seed % 7)
    Q, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    order = rng.permutation(50)
    a = LogisticRegression(tol=1e-10).fit(X, y)
    b = LogisticRegression(tol=1e-10).fit((X @ Q)[order], y[order])
    assert abs(a.certificate_.primal - b.certificate_.primal) <= 1e-10 * a.certificate_.primal
    np.testing.assert_allclose(b.coef_ @ Q.T, a.coef_, rtol=1e-6, atol=1e-9)


def test_a_matrix_of_labels_is_independent_columns():
    X, _ = noisy(100, 3)
    Y = (X @ np.random.default_rng(3).normal(size=(3, 4)) + np.random.default_rng(4).normal(size=(100, 4)) > 0).astype(
        int
    )
    model = LogisticRegression().fit(X, Y)
    for j in range(4):
        alone = LogisticRegression().fit(X, Y[:, j])
        np.testing.assert_allclose(model.coef_[j], alone.coef_[0], rtol=1e-10)
        np.testing.assert_allclose(model.predict_proba(X)[:, j], alone.predict_proba(X)[:, 1], rtol=1e-10)
    np.testing.assert_array_equal(model.predict(X), (model.predict_proba(X) >= 0.5).astype(int))
    assert model.certificate_.verify(X, Y)
    assert len(model.certificate_.parts) == 4


# ------------------------------------------------------------------ the certificate
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("C", [1.0, np.inf])
def test_a_certificate_of_other_weights_fails(C, k):
    X, y = noisy(200, 3, k)
    certificate = LogisticRegression(C, tol=1e-9).fit(X, y).certificate_
    assert certificate.verify(X, y)
    assert not replace(certificate, coef=np.asarray(certificate.coef) * (1 + 1e-3)).verify(X, y)
    assert not replace(certificate, dual=certificate.primal * (1 + 1e-6)).verify(X, y)
    assert not certificate.verify(X, np.roll(y, 1))


@pytest.mark.parametrize("k", [2, 3])
def test_a_certificate_survives_json(k):
    X, y = noisy(k=k)
    certificate = LogisticRegression().fit(X, y).certificate_
    again = Certificate.from_dict(json.loads(json.dumps(certificate.to_dict())))
    assert again.verify(X, y)
    assert again.claim == certificate.claim
    assert (again.primal, again.dual, again.gap) == (certificate.primal, certificate.dual, certificate.gap)


def test_the_claim_states_the_objective():
    X, y = noisy()
    assert (
        "2.5 sum_i c_i log(1 + exp(-y_i (w.x_i + b))) + 1/2 ‖w‖²"
        in LogisticRegression(2.5).fit(X, y).certificate_.claim
    )
    assert "softmax" in LogisticRegression().fit(*noisy(k=3)).certificate_.claim
