"""bias_reduction="firth": max over beta of l(beta) + 1/2 log det I(beta)."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest
from folder import DATA, index, needs_data
from problems import noisy
from scipy import sparse
from scipy.special import expit

from separatrix import ConvergenceWarning, InvalidInputError, LogisticRegression, Stationarity, Status


def firth(**parameters):
    return LogisticRegression(np.inf, bias_reduction="firth", **parameters)


def estimates(model):
    return np.append(model.coef_, model.intercept_)


def penalised(beta, X, t, c):
    """l + 1/2 log det I in the arithmetic of mpmath, for one column and an intercept."""
    likelihood, information = mpmath.mpf(0), mpmath.matrix(2, 2)
    for x, ti, ci in zip(X[:, 0], t, c, strict=True):
        p = 1 / (1 + mpmath.exp(-(beta[0] * x + beta[1])))
        likelihood += ci * mpmath.log(p if ti else 1 - p)
        spread = ci * p * (1 - p)
        for a, za in enumerate((x, 1)):
            for b, zb in enumerate((x, 1)):
                information[a, b] += spread * za * zb
    return likelihood + mpmath.log(mpmath.det(information)) / 2


@pytest.mark.parametrize("separable", [False, True])
def test_against_the_penalised_likelihood_maximised_directly(separable):
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, size=(9, 1)) / 2.0
    t = (X[:, 0] > 0).astype(int)
    if not separable:
        t[[0, 4]] = 1 - t[[0, 4]]
    c = rng.integers(1, 4, size=9).astype(float)
    model = firth().fit(X, t, c)
    with mpmath.workdps(30):

        def equations(w, b):
            return [mpmath.diff(lambda *beta: penalised(beta, X, t, c), (w, b), order) for order in ((1, 0), (0, 1))]

        root = mpmath.findroot(equations, tuple(estimates(model) + 1e-3))
        top = penalised(list(root), X, t, c)
    np.testing.assert_allclose(estimates(model), np.array(root.tolist(), dtype=float)[:, 0], rtol=1e-9)
    assert model.penalized_log_likelihood_ == pytest.approx(float(top), rel=1e-12)
    assert model.status_ is Status.STATIONARY
    assert model.certificate_.verify(X, t, c)


@pytest.mark.parametrize("table", [[[5, 3], [2, 7]], [[4, 0], [3, 6]], [[4, 0], [0, 6]]])
def test_two_by_two_is_one_half_in_each_cell(table):
    # of a saturated model, Firth's estimate is maximum likelihood with 1/2 added to every count; zeros included
    table = np.array(table, dtype=float)
    X, t = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0, 1, 0, 1])
    model = firth().fit(X, t, table.ravel())
    logits = np.log((table[:, 1] + 0.5) / (table[:, 0] + 0.5))
    np.testing.assert_allclose(estimates(model), [logits[1] - logits[0], logits[0]], rtol=1e-10, atol=1e-12)


def test_errors_likelihood_and_inference_at_the_estimate():
    X, t = noisy(40, 3)
    model = firth().fit(X, t)
    Z = np.column_stack([X, np.ones(40)])
    p = expit(Z @ estimates(model))
    information = Z.T @ ((p * (1 - p))[:, None] * Z)
    np.testing.assert_allclose(model.standard_errors_, np.sqrt(np.diag(np.linalg.inv(information))), rtol=1e-9)
    likelihood = np.log(np.where(t == 1, p, 1 - p)).sum()
    assert model.log_likelihood_ == pytest.approx(likelihood, rel=1e-12)
    penalty = 0.5 * np.linalg.slogdet(information)[1]
    assert model.penalized_log_likelihood_ == pytest.approx(likelihood + penalty, rel=1e-12)
    assert model.conf_int().shape == (4, 2)
    assert "(intercept)" in model.summary()
    plain = LogisticRegression(np.inf).fit(X, t)
    assert plain.log_likelihood_ > model.log_likelihood_
    assert np.linalg.norm(model.coef_) < np.linalg.norm(plain.coef_)  # the bias is away from 0


def test_integer_weights_equal_repetition():
    X, t = noisy(40, 2)
    k = np.random.default_rng(0).integers(0, 4, size=40)
    weighted, repeated = firth().fit(X, t, k), firth().fit(np.repeat(X, k, axis=0), np.repeat(t, k))
    np.testing.assert_allclose(estimates(weighted), estimates(repeated), rtol=1e-9)
    np.testing.assert_allclose(weighted.standard_errors_, repeated.standard_errors_, rtol=1e-9)
    assert weighted.penalized_log_likelihood_ == pytest.approx(repeated.penalized_log_likelihood_, rel=1e-12)
    assert weighted.certificate_.verify(X, t, k)


def test_shift_and_units():
    X, t = noisy(60, 2)
    plain = firth().fit(X, t)
    scale, shift = np.array([1e-6, 1e5]), np.array([1e6, -3.0])
    # the intercept is 1e12 times a column's spread: its last digit alone moves the score by a ten-thousandth
    with pytest.warns(ConvergenceWarning, match="subtract the means"):
        model = firth().fit(X * scale + shift, t)
    assert model.certificate_ is None
    np.testing.assert_allclose(model.coef_ * scale, plain.coef_, rtol=1e-3)  # x itself has lost digits to the shift
    model = firth().fit(X * scale + shift / 1e3, t)
    scaled = firth().fit(X * scale, t)
    np.testing.assert_allclose(scaled.coef_ * scale, plain.coef_, rtol=1e-9)
    np.testing.assert_allclose(scaled.standard_errors_[:-1] * scale, plain.standard_errors_[:-1], rtol=1e-9)
    assert model.certificate_.verify(X * scale + shift / 1e3, t)


def test_swapping_the_classes_changes_the_sign():
    X, t = noisy(40, 2)
    np.testing.assert_allclose(estimates(firth().fit(X, t)), -estimates(firth().fit(X, 1 - t)), rtol=1e-9)


def test_without_intercept_and_float32():
    X, t = noisy(40, 2)
    model = firth(fit_intercept=False).fit(X, t)
    assert model.intercept_[0] == 0
    assert model.certificate_.verify(X, t)
    single = firth().fit(X.astype(np.float32), t)
    assert single.coef_.dtype == np.float32
    assert single.certificate_.verify(X.astype(np.float32), t)


def test_the_steps_gain_penalised_likelihood():
    X, t = noisy(40, 2)
    model = firth(trace=True).fit(X, t)
    assert (np.diff(model.trace_["objective"]) <= 1e-12).all()
    assert model.trace_["objective"][-1] == pytest.approx(-model.penalized_log_likelihood_, rel=1e-12)
    np.testing.assert_allclose(model.trace_["weights"][-1], estimates(model), rtol=1e-12)


def test_a_matrix_is_one_predictor_a_column():
    X, t = noisy(40, 2)
    Y = np.column_stack([t, 1 - t])
    model = firth().fit(X, Y)
    np.testing.assert_allclose(model.coef_[0], -model.coef_[1], rtol=1e-9)
    assert model.certificate_.verify(X, Y)


def test_the_certificate_does_not_hold_elsewhere():
    X, t = noisy(40, 2)
    certificate = firth().fit(X, t).certificate_
    assert isinstance(certificate, Stationarity)
    assert "log det" in certificate.claim
    assert certificate.kind is None
    moved = {**certificate.witness, "coef": certificate.witness["coef"] + 1e-5}
    assert not replace(certificate, witness=moved).verify(X, t)
    assert not certificate.verify(X, 1 - t)
    likely = LogisticRegression(np.inf).fit(X, t)
    assert not replace(
        certificate, witness={**certificate.witness, "coef": likely.coef_, "intercept": likely.intercept_}
    ).verify(X, t)
    with pytest.raises(ValueError):
        certificate.verify(np.hstack([X, X]), t)


def test_too_few_iterations():
    X, t = noisy(40, 2)
    with pytest.warns(ConvergenceWarning, match="standard errors from zero"):
        model = firth(max_iter=1, tol=1e-6).fit(X, t)
    assert model.certificate_ is None


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"C": 1.0}, "C=np.inf"),
        ({"loss": "squared_error"}, "loss='log'"),
        ({"solver": "sgd"}, "solver='auto'"),
        ({"bias_reduction": "jeffreys"}, "'firth' or None"),
    ],
)
def test_refusals(parameters, message):
    X, t = noisy(40, 2)
    with pytest.raises(InvalidInputError, match=message):
        firth().set_params(**parameters).fit(X, t)


def test_more_than_two_classes_and_dependent_columns_are_refused():
    X, y = noisy(60, 2, k=3)
    with pytest.raises(InvalidInputError, match="two classes"):
        firth().fit(X, y)
    for extra in (X[:, :1] - X[:, 1:], np.ones((60, 1))):
        with pytest.raises(InvalidInputError, match="column"):
            firth().fit(np.hstack([X, extra]), y > 0)


def test_more_weights_than_rows_are_refused_before_any_matrix_is_made():
    # 20,001 weights would need matrices of 3 GB each
    X = sparse.random_array((2000, 20_000), density=1e-3, format="csr", rng=np.random.default_rng(0))
    with pytest.raises(InvalidInputError, match="20001 weights and only 2000 rows"):
        firth().fit(X, np.arange(2000) % 2)
    X = sparse.csr_array((30_000, 20_000))
    with pytest.raises(InvalidInputError, match="GB"):
        firth().fit(X, np.arange(30_000) % 2)


@needs_data
@pytest.mark.parametrize("name", ["endometrial", "sex2"])
def test_published_tables(name):
    pd = pytest.importorskip("pandas")
    entry = index()[name]
    frame = pd.read_csv(DATA / entry["files"][0]["path"])
    result = entry["reference_results"][0]
    X, y = frame[result["terms"][1:]], frame[entry["label"]]
    model, recomputed = firth().fit(X, y), result["recomputed"]
    np.testing.assert_allclose(np.roll(estimates(model), 1), recomputed["coef"], rtol=1e-9)
    np.testing.assert_allclose(np.roll(model.standard_errors_, 1), recomputed["se"], rtol=1e-9)
    assert model.log_likelihood_ == pytest.approx(recomputed["loglik"], rel=1e-10)
    assert model.penalized_log_likelihood_ == pytest.approx(recomputed["penalised_loglik"], rel=1e-10)
    for ours, printed in zip(np.roll(estimates(model), 1), result["published"]["coef"], strict=True):
        assert ours == pytest.approx(float(printed), rel=1e-6, abs=0.51 * 10.0 ** -len(printed.partition(".")[2]))
    assert model.certificate_.verify(X, y)
