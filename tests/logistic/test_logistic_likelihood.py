"""Maximum likelihood, C = inf: its optimum, its inference, and what happens where there is none."""

import numpy as np
import pytest
import statsmodels.api as sm
from logistic.logistic_oracle import objective, optimum, rounding
from problems import islands, noisy
from scipy import sparse, stats
from statsmodels.datasets import anes96, fair, spector

from separatrix import (
    ConvergenceWarning,
    Inseparable,
    InvalidInputError,
    LogisticRegression,
    SeparationWarning,
    Separator,
    Status,
)


def spector_mazzeo():
    table = spector.load_pandas()
    return table.exog, table.endog.to_numpy().astype(int)


def voters():
    """The model of statsmodels' own tests: party on log(popul + 0.1), selfLR, age, educ, income."""
    table = anes96.load_pandas()
    return table.exog.to_numpy(), table.endog.to_numpy().astype(int)


def check(X, y, **settings):
    """Certified, and at the oracle's optimum."""
    model = LogisticRegression(np.inf, tol=1e-9, **settings).fit(X, y)
    best, *_ = optimum(X, y, np.inf, reference=True, fit_intercept=model.fit_intercept)
    noise = rounding(X, model.coef_, model.intercept_, np.inf)
    reached = objective(X, y, model.coef_, model.intercept_, np.inf)
    assert reached - best <= 1e-8 * best + noise
    assert reached - best <= model.certificate_.gap + noise
    assert model.status_ is Status.CERTIFIED
    assert model.certificate_.verify(X, y), str(model.certificate_.verify(X, y))
    assert abs(model.log_likelihood_ + float(best)) <= 1e-8 * float(best) + noise
    return model


# ------------------------------------------------------------------ the optimum
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("shift", [0.0, 1e3, 1e6])
def test_maximum_likelihood_far_from_the_origin(shift, k):
    X, y = noisy(200, 3, k)
    check(X + shift, y)


@pytest.mark.parametrize("scale", [1e-6, 1e-8, 1e8])
def test_maximum_likelihood_in_any_unit(scale):
    # at 1e-6 scikit-learn's default stays at 41.05 where 22.18 is best, without a warning
    X, y = noisy()
    plain, scaled = check(X, y), check(X * scale, y)
    np.testing.assert_allclose(scaled.coef_ * scale, plain.coef_, rtol=1e-7)
    np.testing.assert_allclose(scaled.intercept_, plain.intercept_, rtol=1e-7)
    np.testing.assert_allclose(scaled.standard_errors_[:3] * scale, plain.standard_errors_[:3], rtol=1e-6)


def test_columns_of_very_different_units():
    X, y = noisy(200, 5)
    check(X * 2.0 ** np.array([-26, -13, 0, 13, 26]), y)


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_every_solver_finds_it(solver):
    check(*noisy(200, 3), solver=solver)


def test_many_rows_stop_at_tol_and_say_so():
    X, y = noisy(60_000, 80)
    model = LogisticRegression(np.inf, tol=1e-6).fit(X, y)
    assert model.status_ is Status.CERTIFIED
    assert model.certificate_.relative_gap <= 1e-6
    assert model.certificate_.verify(X, y)
    gradient = X.T @ (model.predict_proba(X)[:, 1] - y)
    H = X.T @ (model.predict_proba(X).prod(axis=1)[:, None] * X)
    assert 0.5 * gradient @ np.linalg.solve(H, gradient) <= 1e-6 * model.certificate_.primal


# ------------------------------------------------------------------ inference
def test_spector_mazzeo_equals_statsmodels():
    X, y = spector_mazzeo()
    model = LogisticRegression(np.inf).fit(X, y)
    theirs = sm.Logit(y, sm.add_constant(X, prepend=False)).fit(disp=0, tol=1e-14, maxiter=100)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), theirs.params, rtol=1e-8)
    np.testing.assert_allclose(model.standard_errors_, theirs.bse, rtol=1e-8)
    np.testing.assert_allclose(model.log_likelihood_, theirs.llf, rtol=1e-12)
    np.testing.assert_allclose(model.conf_int(), theirs.conf_int(), rtol=1e-8)
    np.testing.assert_allclose(model.conf_int(0.9), theirs.conf_int(0.1), rtol=1e-8)
    assert model.rank_ == 4


def test_spector_mazzeo_as_published():
    # Stata 11, as kept in statsmodels' tests; it read GPA in single precision
    X, y = spector_mazzeo()
    X = X.to_numpy().copy()
    X[:, 0] = X[:, 0].astype(np.float32)
    model = LogisticRegression(np.inf).fit(X, y)
    published = [2.82611297201, 0.0951576702557, 2.37868772835, -13.0213483201]
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), published, rtol=2e-10)
    errors = [1.26294114526, 0.141554207662, 1.06456430165, 4.93132462871]
    np.testing.assert_allclose(model.standard_errors_, errors, rtol=1e-10)
    np.testing.assert_allclose(model.log_likelihood_, -12.8896334653335, rtol=1e-12)


def test_voters_equal_statsmodels():
    X, y = voters()
    # their reference is the first class, ours the last: 6 - y turns the order round
    model = LogisticRegression(np.inf, identifiability="reference").fit(X, 6 - y)
    theirs = sm.MNLogit(y, sm.add_constant(X, prepend=False)).fit(disp=0, method="newton", maxiter=100, tol=1e-14)
    ours = np.column_stack([model.coef_, model.intercept_])[:-1][::-1]  # classes 1..6
    np.testing.assert_allclose(ours, np.asarray(theirs.params).T, rtol=1e-8)
    np.testing.assert_allclose(model.standard_errors_[:-1][::-1], np.asarray(theirs.bse).T, rtol=1e-8)
    np.testing.assert_allclose(model.log_likelihood_, theirs.llf, rtol=1e-12)
    np.testing.assert_array_equal(model.standard_errors_[-1], 0.0)  # fixed at 0


def test_voters_as_published():
    # Stata 11, checked there against R's nnet: class 6 against class 0, the intercept last
    X, y = voters()
    model = LogisticRegression(np.inf, identifiability="reference").fit(X, 6 - y)
    last = np.append(model.coef_[0], model.intercept_[0])
    np.testing.assert_allclose(
        last, [-0.14088069, 2.0700801, -0.00943265, 0.3219257, 0.10889408, -12.105751], rtol=5e-7
    )
    errors = [0.042138047, 0.1434089089, 0.0081338625, 0.0910979921, 0.025300888, 1.059954821]
    np.testing.assert_allclose(model.standard_errors_[0], errors, rtol=1e-7)
    np.testing.assert_allclose(model.log_likelihood_, -1461.922747312, rtol=1e-10)


def test_symmetric_standard_errors_are_those_of_the_contrasts():
    # w_c - mean_j w_j, from the covariance of the reference form by hand
    X, y = noisy(300, 2, 3)
    Z = np.column_stack([X, np.ones(300)])
    model = LogisticRegression(np.inf).fit(X, y)
    P = model.predict_proba(X)
    H = np.zeros((2, 3, 2, 3))
    for a in range(2):
        for b in range(2):
            H[a, :, b] = Z.T @ ((P[:, a] * ((a == b) - P[:, b]))[:, None] * Z)
    covariance = np.linalg.inv(H.reshape(6, 6)).reshape(2, 3, 2, 3)
    contrast = np.eye(3)[:, :2] - 1 / 3
    variance = np.einsum("ca,cb,apbp->cp", contrast, contrast, covariance)
    np.testing.assert_allclose(model.standard_errors_, np.sqrt(variance), rtol=1e-8)


def test_weighted_inference_is_that_of_repeated_rows():
    X, y = noisy(100, 3)
    times = np.random.default_rng(0).integers(1, 4, size=100)
    a = LogisticRegression(np.inf).fit(X, y, times)
    b = LogisticRegression(np.inf).fit(X.repeat(times, axis=0), y.repeat(times))
    np.testing.assert_allclose(a.standard_errors_, b.standard_errors_, rtol=1e-8)
    np.testing.assert_allclose(a.log_likelihood_, b.log_likelihood_, rtol=1e-12)


def test_standard_errors_do_not_feel_a_shift():
    X, y = noisy(100, 3)
    near, far = (LogisticRegression(np.inf).fit(Z, y) for Z in (X, X + 1e5))
    np.testing.assert_allclose(far.standard_errors_[:3], near.standard_errors_[:3], rtol=1e-6)
    # b = b' - 1e5 sum w: its variance follows from the covariance at the origin
    Z = np.column_stack([X, np.ones(100)])
    h = near.predict_proba(X).prod(axis=1)
    covariance = np.linalg.inv(Z.T @ (h[:, None] * Z))
    form = np.array([-1e5, -1e5, -1e5, 1.0])
    np.testing.assert_allclose(far.standard_errors_[3], np.sqrt(form @ covariance @ form), rtol=1e-6)


def test_sparse_inference():
    X, y = noisy(100, 3)
    a, b = (LogisticRegression(np.inf).fit(Z, y) for Z in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(a.standard_errors_, b.standard_errors_, rtol=1e-9)


def test_without_intercept():
    X, y = noisy(100, 3)
    model = check(X, y, fit_intercept=False)
    theirs = sm.Logit(y, X).fit(disp=0, tol=1e-14)
    np.testing.assert_allclose(model.coef_[0], theirs.params, rtol=1e-8)
    np.testing.assert_allclose(model.standard_errors_, theirs.bse, rtol=1e-8)


# ------------------------------------------------------------------ what is printed
def test_summary_has_every_figure():
    X, y = spector_mazzeo()
    model = LogisticRegression(np.inf).fit(X, y)
    text = model.summary()
    lines = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line.strip()}
    assert "log-likelihood -12.8896" in text
    assert str(Status.CERTIFIED) in text
    estimates = np.append(model.coef_, model.intercept_)
    for name, b, se in zip(["GPA", "TUCE", "PSI", "(intercept)"], estimates, model.standard_errors_, strict=True):
        z = b / se
        figures = [float(figure) for figure in lines[name]]
        expected = [b, se, z, 2 * stats.norm.sf(abs(z)), b - 1.959964 * se, b + 1.959964 * se]
        np.testing.assert_allclose(figures, expected, rtol=1e-3, atol=6e-4)


def test_summary_of_several_classes_names_them():
    X, y = noisy(200, 2, 3)
    text = LogisticRegression(np.inf).fit(X, np.array(["low", "mid", "top"])[y]).summary()
    assert all(f"class {name}" in text for name in ("low", "mid", "top"))


@pytest.mark.parametrize("method", ["summary", "conf_int"])
def test_inference_under_a_penalty_is_refused_with_the_reason(method):
    model = LogisticRegression(1.0).fit(*noisy())
    with pytest.raises(InvalidInputError, match="penalised"):
        getattr(model, method)()
    assert not hasattr(model, "standard_errors_")


@pytest.mark.parametrize("level", [0, 1, -0.5, 95])
def test_a_level_is_between_0_and_1(level):
    with pytest.raises(InvalidInputError, match="level"):
        LogisticRegression(np.inf).fit(*noisy()).conf_int(level)


# ------------------------------------------------------------------ no finite maximum
def separated(X, y, **settings):
    with pytest.warns(SeparationWarning) as caught:
        model = LogisticRegression(np.inf, **settings).fit(X, y)
    assert model.status_ is Status.NO_MAXIMUM
    assert model.certificate_.verify(X, y), str(model.certificate_.verify(X, y))
    assert np.isfinite(model.coef_).all()
    with pytest.raises(InvalidInputError, match="maximum likelihood"):
        model.summary()
    return model, str(caught[0].message)


@pytest.mark.parametrize("k", [2, 3])
def test_separable_classes_have_no_maximum(k):
    X, y = islands(k)
    model, message = separated(X, y)
    assert model.score(X, y) == 1.0
    assert "bias_reduction='firth'" in message
    assert "column" in message


def test_separable_classes_have_a_separator():
    X, y = islands()
    model, _ = separated(X, y)
    assert isinstance(model.certificate_, Separator)
    coef, intercept = np.asarray(model.certificate_.coef), np.asarray(model.certificate_.intercept)
    assert ((2 * y - 1) * (X @ coef[0] + intercept[0]) > 0).all()


def test_a_quasi_separable_column_is_named():
    # like NV of the endometrial study: b occurs in one class only, so its weight alone runs off
    rng = np.random.default_rng(0)
    a = rng.normal(size=80)
    y = (a + rng.normal(size=80) > 0).astype(int)
    b = (rng.random(80) < 0.4) * y
    X = np.column_stack([a, b])
    model, message = separated(X, y)
    assert isinstance(model.certificate_, Inseparable)
    assert model.certificate_.verdict == "quasi-separable"
    assert "column 1" in message
    assert "column 0" not in message
    # what is determined is the fit of the rows with b = 0
    rest = LogisticRegression(np.inf).fit(X[b == 0][:, :1], y[b == 0])
    np.testing.assert_allclose(model.coef_[0, 0], rest.coef_[0, 0], rtol=1e-3)
    assert (model.predict_proba(X[b == 1])[:, 1] > 0.99).all()


def test_separation_by_names_of_columns():
    pd = pytest.importorskip("pandas")
    X, y = islands(d=2)
    frame = pd.DataFrame(X, columns=["width", "height"])
    _, message = separated(frame, y)
    assert "'width'" in message or "'height'" in message


def test_a_separated_class_of_three():
    # classes 1 and 2 overlap, class 0 is far from both
    X, y = noisy(90, 2, 2)
    X, y = np.vstack([X, X[:20] + 50.0]), np.concatenate([y + 1, np.zeros(20, dtype=int)])
    model, _ = separated(X, y)
    assert (model.predict(X[90:]) == 0).all()


@pytest.mark.parametrize("C", [1e3, 1e6])
def test_a_penalty_makes_it_finite(C):
    X, y = islands()
    model = LogisticRegression(C).fit(X, y)
    assert model.status_ is Status.CERTIFIED
    assert model.certificate_.verify(X, y)


def test_overlap_by_a_single_row_is_overlap():
    X, y = islands()
    X, y = np.vstack([X, X[:1], X[1:2]]), np.concatenate([y, 1 - y[:1], 1 - y[1:2]])
    check(X, y)


def test_a_few_steps_are_not_called_a_maximum():
    X, y = noisy()
    with pytest.warns(ConvergenceWarning):
        model = LogisticRegression(np.inf, max_iter=1).fit(X, y)
    assert model.status_ is Status.UNCERTIFIED
    with pytest.raises(InvalidInputError, match="Not certified"):
        model.summary()


# ------------------------------------------------------------------ collinear columns
def test_duplicated_columns_share_their_weight():
    X, y = noisy(100, 2)
    plain = LogisticRegression(np.inf).fit(X, y)
    model = LogisticRegression(np.inf).fit(np.column_stack([X, X[:, 1]]), y)
    np.testing.assert_allclose(model.coef_[0], [plain.coef_[0, 0], *[plain.coef_[0, 1] / 2] * 2], rtol=1e-7)
    np.testing.assert_allclose(model.intercept_, plain.intercept_, rtol=1e-7)
    assert (plain.rank_, model.rank_) == (3, 3)
    np.testing.assert_array_equal(np.isinf(model.standard_errors_), [False, True, True, False])
    np.testing.assert_allclose(model.standard_errors_[[0, 3]], plain.standard_errors_[[0, 2]], rtol=1e-7)
    np.testing.assert_allclose(model.log_likelihood_, plain.log_likelihood_, rtol=1e-10)
    assert model.certificate_.verify(np.column_stack([X, X[:, 1]]), y)
    lines = model.summary().splitlines()
    assert [("not estimable" in line) for line in lines if line.startswith("x")] == [False, True, True]


def test_minimum_norm_is_in_the_users_units():
    # x and 3x: of all (u, v) with u + 3v fixed, the shortest is proportional to (1, 3)
    X, y = noisy(100, 1)
    X = np.round(X * 2**20) / 2**20  # so that 3x is exactly that
    model = LogisticRegression(np.inf).fit(np.column_stack([X, 3 * X]), y)
    plain = LogisticRegression(np.inf).fit(X, y).coef_[0, 0]
    np.testing.assert_allclose(model.coef_[0], [plain / 10, 3 * plain / 10], rtol=1e-7)


@pytest.mark.parametrize("value", [0.0, 1.0, 1e6])
def test_a_constant_column_says_nothing(value):
    X, y = noisy(100, 2)
    plain = LogisticRegression(np.inf).fit(X, y)
    model = LogisticRegression(np.inf).fit(np.column_stack([X, np.full(100, value)]), y)
    np.testing.assert_allclose(model.coef_[0], [*plain.coef_[0], 0.0], rtol=1e-7, atol=1e-12)
    assert model.rank_ == 3
    assert np.isinf(model.standard_errors_[2])
    np.testing.assert_allclose(model.standard_errors_[:2], plain.standard_errors_[:2], rtol=1e-7)
    # a constant is indistinguishable from the intercept, unless it is 0
    assert np.isinf(model.standard_errors_[3]) == (value != 0)


def test_collinear_columns_of_three_classes():
    X, y = noisy(150, 2, 3)
    plain = LogisticRegression(np.inf).fit(X, y)
    model = LogisticRegression(np.inf).fit(np.column_stack([X, X[:, 1]]), y)
    np.testing.assert_allclose(model.coef_[:, 1:], plain.coef_[:, [1, 1]] / 2, rtol=1e-6)
    assert model.rank_ == plain.rank_ == 3
    np.testing.assert_array_equal(np.isinf(model.standard_errors_), [[False, True, True, False]] * 3)


def test_affairs_equal_statsmodels():
    table = fair.load_pandas()
    X, y = table.exog.to_numpy(), (table.endog.to_numpy() > 0).astype(int)
    model = LogisticRegression(np.inf).fit(X, y)
    theirs = sm.Logit(y, sm.add_constant(X, prepend=False)).fit(disp=0, tol=1e-14)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), theirs.params, rtol=1e-8)
    np.testing.assert_allclose(model.standard_errors_, theirs.bse, rtol=1e-8)
