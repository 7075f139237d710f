"""What a logistic fit claims is so, whatever the start, the step and the data; and a forged claim is refused."""

import itertools
import tracemalloc
import warnings
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from logistic.logistic_oracle import optimum
from scipy.special import expit
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from separatrix import LogisticRegression, LogisticRegressionCV, Status
from separatrix.errors import ConvergenceWarning, SeparationWarning
from separatrix.logistic import penalised as learner


def iris():
    """Two classes that overlap; the maximum of the likelihood is -5.949."""
    X, y = load_iris(return_X_y=True)
    return X[y > 0], y[y > 0] - 1


def noisy(seed=0, n=80, d=3, k=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=(d, k)) + 1.5 * rng.gumbel(size=(n, k))).argmax(axis=1)


def exact(X, y, coef, intercept, C, weight=None):
    """F in 60 digits."""
    mpmath.mp.dps = 60
    total = mpmath.mpf(0)
    for i, row in enumerate(np.asarray(X, dtype=np.float64)):
        scores = [
            mpmath.mpf(float(b))
            + mpmath.fsum(mpmath.mpf(float(w)) * mpmath.mpf(float(x)) for w, x in zip(ws, row, strict=True))
            for ws, b in zip(coef, intercept, strict=True)
        ]
        scores = [mpmath.mpf(0), *scores] if len(scores) == 1 else scores
        c = mpmath.mpf(1.0 if weight is None else float(weight[i]))
        total += c * (mpmath.log(mpmath.fsum(map(mpmath.exp, scores))) - scores[int(y[i])])
    return total if np.isinf(C) else C * total + mpmath.fsum(mpmath.mpf(float(w)) ** 2 for w in np.ravel(coef)) / 2


def holds(model, X, y, C, weight=None):
    """The certificate's own check accepts it, and 60 digits at these weights and at the best do not contradict it."""
    certificate = model.certificate_
    assert certificate.verify(X, y, weight), str(certificate.verify(X, y, weight))
    here = exact(X, y, certificate.coef, certificate.intercept, C, weight)
    _, coef, intercept = optimum(X, y, C, weight=weight, fit_intercept=model.fit_intercept)
    best = exact(X, y, coef.astype(float), intercept.astype(float), C, weight)
    assert certificate.primal >= here
    assert certificate.dual <= min(best, here)


# ------------------------------------------------------------------ maximum likelihood
def tables():
    X, y = load_iris(return_X_y=True)
    yield from ((X[y != k], y[y != k]) for k in range(3))
    X, y = load_wine(return_X_y=True)
    yield from ((X[y != k], y[y != k]) for k in range(3))
    yield load_breast_cancer(return_X_y=True)
    X, y = load_digits(return_X_y=True)
    yield from ((X[np.isin(y, pair)], y[np.isin(y, pair)]) for pair in ((3, 8), (1, 7)))


@pytest.mark.parametrize("solver", ["gradient", "sgd"])
@pytest.mark.parametrize("rate", [0.001, 0.01, 0.1, 0.5, 1])
def test_saturated_probabilities_are_no_optimum(solver, rate):
    for number, (X, y) in enumerate(tables()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = LogisticRegression(
                np.inf, solver=solver, learning_rate=rate, max_iter=20, random_state=0, trace=number < 3
            ).fit(X, y)
        assert model.status_ in (Status.UNCERTIFIED, Status.NO_MAXIMUM)  # 20 such steps reach no optimum of these
        assert (model.certificate_ is None) == (model.status_ is Status.UNCERTIFIED)
        if model.certificate_ is not None:
            assert model.certificate_.verify(X, y)
        if number < 3:
            last = model.trace_["weights"][-1]
            np.testing.assert_array_equal(last, np.append(model.coef_[0], model.intercept_))


@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("solver", ["auto", "newton", "lbfgs"])
@pytest.mark.parametrize("intercept", [-60.0, -800.0])
def test_a_saturated_start_is_left(intercept, solver, C):
    X, y = iris()
    model = LogisticRegression(C, solver=solver, init=[0, 0, 0, 0, intercept], tol=1e-6, trace=True).fit(X, y)
    best, *_ = optimum(X, y, C)
    assert model.status_ is Status.CERTIFIED
    assert model.trace_["weights"][0].tolist() == [0, 0, 0, 0, intercept]
    assert model.certificate_.primal <= float(best) * (1 + 1e-6)
    holds(model, X, y, C)


@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("solver", ["auto", "newton", "lbfgs"])
def test_a_warm_start_survives_other_units(solver, C):
    X, y = iris()
    model = LogisticRegression(C, solver=solver, warm_start=True).fit(X, y).fit(1000 * X, y)
    assert model.status_ is Status.CERTIFIED
    holds(model, 1000 * X, y, C)


@pytest.mark.parametrize("apart", [1e-7, 3e-8, 1e-8, 1e-10, 1e-12])
def test_columns_that_are_nearly_equal_may_separate(apart):
    rng = np.random.default_rng(0)
    t, y = rng.normal(size=60), rng.integers(0, 2, size=60)
    X = np.column_stack([t, t + apart * (2 * y - 1)])
    with pytest.warns(SeparationWarning):
        model = LogisticRegression(np.inf).fit(X, y)
    assert model.status_ is Status.NO_MAXIMUM
    assert model.certificate_.verify(X, y)


@pytest.mark.parametrize("apart", [1e-5, 1e-7, 1e-8])
def test_columns_that_are_nearly_equal_have_an_optimum_of_their_own(apart):
    rng = np.random.default_rng(0)
    t, y = rng.normal(size=60), rng.integers(0, 2, size=60)
    X = np.column_stack([t, t + apart * rng.normal(size=60)])
    model = LogisticRegression(np.inf).fit(X, y)
    assert (model.status_, model.rank_) == (Status.CERTIFIED, 3)
    holds(model, X, y, np.inf)


def test_a_column_that_repeats_another_up_to_rounding_is_named():
    rng = np.random.default_rng(0)
    t, y = rng.normal(size=60), rng.integers(0, 2, size=60)
    with pytest.warns(ConvergenceWarning, match="[Cc]olumn 1 equals column 0 up to rounding, but not exactly"):
        model = LogisticRegression(np.inf).fit(np.column_stack([t, 3 * t / 3.0000000000000004]), y)
    assert (model.status_, model.certificate_) == (Status.UNCERTIFIED, None)
    assert np.isfinite(model.coef_).all()


def test_what_rows_do_not_see_exactly_is_left_out():
    rng = np.random.default_rng(0)
    level, other = rng.integers(0, 4, size=200), rng.integers(-9, 9, size=(200, 2))
    y = (other[:, 0] / 9 + (level == 2) + rng.logistic(size=200) > 0.5).astype(int)
    onehot = (level[:, None] == np.arange(4)).astype(float)
    X = np.column_stack([onehot, other, other @ [2, -3] / 4 + 0.5, np.full(200, 0.1), onehot[:, 1] * 1e6])
    model = LogisticRegression(np.inf).fit(X, y)
    plain = LogisticRegression(np.inf).fit(np.column_stack([onehot[:, 1:], other]), y)
    assert model.status_ is Status.CERTIFIED
    assert (model.rank_, plain.rank_) == (6, 6)
    np.testing.assert_allclose(model.log_likelihood_, plain.log_likelihood_, rtol=1e-12)
    assert model.certificate_.verify(X, y)
    best, *_ = optimum(np.column_stack([onehot[:, 1:], other]), y, np.inf)
    assert model.certificate_.dual <= best <= model.certificate_.primal


def test_quasi_separation_is_never_an_optimum():
    # an exact verdict for one column: the classes' intervals, which may touch
    for xs in itertools.combinations_with_replacement(range(3), 4):
        for y in map(np.array, itertools.product((0, 1), repeat=4)):
            x = np.array(xs, dtype=float)
            a, b = x[y == 0], x[y == 1]
            if not len(a) or not len(b) or len(set(xs)) == 1:
                continue
            overlap = a.max() > b.min() and b.max() > a.min()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = LogisticRegression(np.inf).fit(x[:, None], y)
            assert model.status_ is (Status.CERTIFIED if overlap else Status.NO_MAXIMUM), (xs, y)
            assert model.certificate_.verify(x[:, None], y)


HILBERT = 1 / (np.arange(40)[:, None] + np.arange(5) + 1.0)
VANDERMONDE = np.vander(np.linspace(0, 1, 40), 7)[:, :-1]


@pytest.mark.parametrize("X", [HILBERT, VANDERMONDE], ids=["hilbert", "vandermonde"])
def test_ill_conditioned_columns(X):
    y = np.arange(40) % 5 < 2  # overlaps everywhere
    model = LogisticRegression(np.inf).fit(X, y)
    assert (model.status_, model.rank_) == (Status.CERTIFIED, X.shape[1] + 1)
    assert np.isfinite(model.standard_errors_).all()
    holds(model, X, y, np.inf)


def test_three_classes_of_many_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50_000, 60))
    y = (0.3 * X @ rng.normal(size=(60, 3)) + rng.gumbel(size=(50_000, 3))).argmax(axis=1)
    model = LogisticRegression(np.inf).fit(X, y)
    assert model.status_ is Status.CERTIFIED
    assert model.certificate_.verify(X, y)


@pytest.mark.parametrize("solver", ["auto", "lbfgs"])
def test_many_classes_in_little_memory(solver):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 8)), rng.integers(0, 100, size=2000)
    tracemalloc.start()
    model = LogisticRegression(np.inf, solver=solver).fit(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 300 * 2**20
    assert model.status_ is Status.CERTIFIED
    assert model.certificate_.verify(X, y)
    assert model.standard_errors_.shape == (100, 9)


def test_the_hessian_of_many_classes_is_that_of_each_pair():
    X, y = noisy(n=60, d=2, k=7)
    model = LogisticRegression(0.5).fit(X, y)
    H = model.hessian(X, y)
    P, Z, p = model.predict_proba(X), np.column_stack([X, np.ones(60)]), 3
    expected = 0.5 * np.einsum("ia,ab,ip,iq->apbq", P, np.eye(7), Z, Z) - 0.5 * np.einsum(
        "ia,ib,ip,iq->apbq", P, P, Z, Z
    )
    for j in range(2):  # of weights that sum to 0 over the classes
        expected[:, j, :, j] += np.eye(7) - 1 / 7
    np.testing.assert_allclose(H.reshape(7 * p, 7 * p), expected.reshape(7 * p, 7 * p), atol=1e-9)


# ------------------------------------------------------------------ claims in 60 digits, and other roads to them
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4, np.inf])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("kind", ["plain", "units", "far", "weights", "float32"])
def test_primal_is_rounded_up_and_dual_down(kind, k, C):
    X, y = noisy(1, 40, 2, k)
    weight = 10.0 ** np.random.default_rng(2).uniform(-3, 3, size=40) if kind == "weights" else None
    X = {"units": X * [1e-7, 1e9], "far": X + np.array([1e6, -1e3]), "float32": (X + 1e3).astype(np.float32)}.get(
        kind, X
    )
    for solver in ("auto", "lbfgs"):
        model = LogisticRegression(C, solver=solver).fit(X, y, sample_weight=weight)
        assert model.status_ is Status.CERTIFIED
        holds(model, X, y, C, weight)


@pytest.mark.parametrize("seed", range(40))
def test_sums_of_one_pass_agree_with_the_check(seed, monkeypatch):
    monkeypatch.setattr(learner, "SHARP_ENTRIES", 0)  # as for a large table
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(5, 200)), int(rng.integers(1, 6)), int(rng.integers(2, 5))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-6, 6, size=d) + 10.0 ** rng.uniform(-6, 6, size=d)
    y = np.unique(rng.integers(0, k, size=n), return_inverse=True)[1]
    weight = 10.0 ** rng.uniform(-6, 6, size=n)
    for solver, settings in (
        ("auto", {}),
        ("auto", {"max_iter": 1}),
        ("lbfgs", {"init": np.full(d + 1, 50.0), "max_iter": 3}),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = LogisticRegression(10.0 ** rng.uniform(-6, 6), solver=solver, **settings).fit(X, y, weight)
        if model.certificate_ is not None:
            assert model.certificate_.verify(X, y, weight), str(model.certificate_.verify(X, y, weight))


def test_float32_far_from_the_origin():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(30, 300)), int(rng.integers(1, 8))
        X = (rng.normal(size=(n, d)) + rng.normal(size=d) * 10.0 ** rng.uniform(0, 5, size=d)).astype(np.float32)
        y = ((X - X.mean(axis=0)) @ rng.normal(size=d) / np.sqrt(d) + 1.5 * rng.logistic(size=n)) > 0
        model = LogisticRegression(10.0 ** rng.integers(-2, 3)).fit(X, y)
        assert model.status_ is Status.CERTIFIED
        assert model.certificate_.verify(X, y), str(model.certificate_.verify(X, y))


# ------------------------------------------------------------------ forgeries
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tol", 1e10), ("tol", 0.0), ("tol", np.nan), ("C", 0.0), ("C", np.nan), ("loss", "hinge"), ("bound", "trust"),
        ("classes", np.array([0, 0])), ("class_weight", np.array([0.0, 1.0])), ("coef", np.full((1, 3), np.nan)),
        ("coef", np.zeros((2, 3))), ("intercept", np.zeros(2)), ("fit_intercept", 1), ("fit_intercept", False),
        ("reference", "yes"), ("task", -1), ("task", 0), ("task", True), ("primal", np.inf), ("dual", np.nan),
    ],
)  # fmt: skip
def test_a_field_without_meaning_is_named(field, value):
    X, y = noisy()
    forged = replace(LogisticRegression().fit(X, y).certificate_, **{field: value})
    with pytest.raises(ValueError, match="task|" + field if field == "task" else field):
        forged.verify(X, y)


def test_forged_bounds_are_refused():
    X, y = noisy()
    honest = LogisticRegression().fit(X, y).certificate_
    assert honest.verify(X, y)
    scale = honest.tol * honest.primal
    for change in (
        {"dual": honest.primal + 1e-3 * scale},  # above the primal
        {"dual": honest.primal * 2, "primal": honest.primal * 2},
        {"primal": honest.primal - 0.2 * scale},
        {"primal": honest.primal + 0.2 * scale},
        {"dual": honest.dual - 2 * scale},
        {"coef": honest.coef * 1.1},
        {"intercept": honest.intercept + 1e6},
        {"C": 1.001},
    ):
        assert not replace(honest, **change).verify(X, y), change
    with pytest.raises(ValueError, match="C"):
        replace(honest, C=np.inf).verify(X, y)


def test_saturated_weights_prove_nothing_without_a_penalty():
    X, y = noisy()
    honest = LogisticRegression(np.inf).fit(X, y).certificate_
    assert honest.verify(X, y)
    for size in (30.0, 1e3, 1e6, 1e200):
        W, b = np.full((1, 3), -size), np.array([size])
        with np.errstate(all="ignore"):
            value = float(np.logaddexp(0.0, -(2 * y - 1) * (X @ W[0] + b)).sum())
        assert not replace(honest, coef=W, intercept=b, primal=value, dual=value).verify(X, y)


def test_weights_of_a_reference_class_are_zero():
    X, y = noisy(k=3)
    honest = LogisticRegression(identifiability="reference").fit(X, y).certificate_
    assert honest.verify(X, y)
    with pytest.raises(ValueError, match="reference"):
        replace(honest, coef=honest.coef + 1.0).verify(X, y)
    assert not replace(LogisticRegression().fit(X, y).certificate_, coef=honest.coef).verify(X, y)


# ------------------------------------------------------------------ ends
@pytest.mark.parametrize("solver", ["auto", "newton", "lbfgs"])
def test_a_step_that_is_no_number_ends(solver):
    X, y = iris()
    with pytest.warns(ConvergenceWarning):
        model = LogisticRegression(1e150, solver=solver).fit(X * 1e100, y)
    assert np.isfinite(model.coef_).all()
    assert model.certificate_ is None or model.certificate_.verify(X * 1e100, y)


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_a_trace_of_more_columns_than_rows(C):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 100)), rng.integers(0, 2, size=40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        model = LogisticRegression(C, trace=True).fit(X, y)
    trace = model.trace_
    assert trace["weights"].shape == (model.n_iter_ + 1, 101)
    for weights, value in zip(trace["weights"], trace["objective"], strict=True):
        penalty = 0.0 if np.isinf(C) else 0.5 * weights[:-1] @ weights[:-1]
        losses = np.logaddexp(0.0, -(2 * y - 1) * (X @ weights[:-1] + weights[-1]))
        np.testing.assert_allclose(value, losses.sum() + penalty, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("Cs", [[1e-300], [1e-320], [1e-300, 1.0, 1e300]])
def test_any_C_can_be_cross_validated(Cs):
    X, y = load_breast_cancer(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LogisticRegressionCV(Cs=Cs, cv=2).fit(X[::3], y[::3])
    assert np.isfinite(model.coefs_paths_).all()


# ------------------------------------------------------------------ the rules, step by step
@pytest.mark.parametrize("C", [2.0, np.inf])
def test_newton_is_iteratively_reweighted_least_squares_from_least_squares(C):
    X, y = noisy(3)
    trace = LogisticRegression(C, solver="newton", trace=True).fit(X, y).trace_
    Z = np.column_stack([X, np.ones(len(X))])
    factor, ridge = (1.0, np.zeros(4)) if np.isinf(C) else (C, np.array([1.0, 1.0, 1.0, 0.0]))
    v = np.linalg.lstsq(Z, y.astype(float), rcond=None)[0]
    for weights in trace["weights"]:
        np.testing.assert_allclose(weights, v, rtol=1e-7, atol=1e-9)
        p = expit(Z @ v)
        h = p * (1 - p)
        response = Z @ v + (y - p) / h  # the working response, regressed on Z with the weights h
        v = np.linalg.solve(factor * (Z.T * h) @ Z + np.diag(ridge), factor * (Z.T * h) @ response)
    assert len(trace["weights"]) > 4


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_rows_that_are_no_numbers_are_refused(value):
    X, y = noisy()
    certificate = LogisticRegression().fit(X, y).certificate_
    X[3, 1] = value
    with pytest.raises(ValueError, match="NaN or infinity"):
        certificate.verify(X, y)
