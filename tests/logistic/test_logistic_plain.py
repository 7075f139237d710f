"""The rules as the notes print them, step by step against plain loops: Newton's whole step, SGD, streams."""

import warnings

import numpy as np
import pytest
from problems import noisy
from scipy import sparse
from scipy.special import expit, softmax

from separatrix import ConvergenceWarning, InvalidInputError, LogisticRegression, Status, load, save


def homogeneous(X):
    return np.column_stack([X, np.ones(len(X))])


def studied(**options):
    """A fit of a rule that may stop early."""

    def fit(X, y, weight=None):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return LogisticRegression(**options).fit(X, y, weight)

    return fit


# ---------------------------------------------------------------------- Newton and Raphson
def newton_step(v, Z, t, C, loss):
    """v - H⁻¹ g of C sum l + 1/2 ‖w‖², the intercept last and free."""
    p = expit(Z @ v)
    ridge = np.diag(np.append(np.ones(Z.shape[1] - 1), 0.0)) if np.isfinite(C) else 0.0
    C = C if np.isfinite(C) else 1.0
    e, q = p - t, p * (1 - p)
    slope, bend = (e, q) if loss == "log" else (2 * e * q, 2 * q * (q + e * (1 - 2 * p)))
    g, H = C * Z.T @ slope + ridge @ v if np.ndim(ridge) else Z.T @ slope, C * Z.T @ (bend[:, None] * Z) + ridge
    return v - np.linalg.solve(H, g)


@pytest.mark.parametrize("C", [0.5, 20.0, np.inf])
@pytest.mark.parametrize("init", ["zeros", "least_squares"])
def test_newton_without_damping_is_the_rule(C, init):
    X, t = noisy(60, 3)
    model = LogisticRegression(C, solver="newton", damping=False, init=init, trace=True).fit(X, t)
    weights, Z = model.trace_["weights"], homogeneous(X)
    v = np.zeros(4) if init == "zeros" else np.linalg.lstsq(Z, t.astype(float), rcond=None)[0]
    assert len(weights) >= 4
    for step in weights:
        np.testing.assert_allclose(step, v, rtol=1e-7, atol=1e-10)
        v = newton_step(v, Z, t, C, "log")
    assert model.certificate_.verify(X, t)
    assert model.status_ is Status.CERTIFIED


def test_newton_on_the_squared_error_is_the_rule():
    X, t = noisy(80, 2)
    model = LogisticRegression(0.5, "squared_error", "newton", "zeros", damping=False, trace=True).fit(X, t)
    v = np.zeros(3)
    for step in model.trace_["weights"]:
        np.testing.assert_allclose(step, v, rtol=1e-7, atol=1e-10)
        v = newton_step(v, homogeneous(X), t, 0.5, "squared_error")
    assert model.certificate_.verify(X, t)


def test_whole_steps_may_diverge_where_damped_ones_do_not():
    X, t = noisy(60, 3)
    far = {"solver": "newton", "init": [9.0, -9.0, 9.0, 5.0]}
    assert LogisticRegression(**far).fit(X, t).status_ is Status.CERTIFIED
    with pytest.raises(InvalidInputError, match="damping=True") as caught:
        LogisticRegression(**far, C=np.inf, damping=False).fit(X, t)
    assert caught.value.parameter == "damping"


@pytest.mark.parametrize(
    "wrong",
    [
        {"damping": False},
        {"damping": False, "solver": "gradient"},
        {"schedule": "constant"},
        {"schedule": "falling", "solver": "sgd"},
        {"replacement": True, "solver": "newton"},
    ],
)
def test_what_belongs_to_another_solver_is_refused(wrong):
    X, t = noisy(20, 2)
    with pytest.raises(InvalidInputError, match=next(iter(wrong))):
        LogisticRegression(**wrong).fit(X, t)


# ---------------------------------------------------------------------- one point at a time
@pytest.mark.parametrize("replacement", [False, True])
@pytest.mark.parametrize("schedule", ["constant", "decay"])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_sgd_is_the_rule(schedule, replacement, make):
    X, t = noisy(40, 3)
    C, eta, n, passes = 2.0, 0.03, 40, 3
    model = studied(
        C=C, solver="sgd", learning_rate=eta, schedule=schedule, replacement=replacement, max_iter=passes, trace=True,
        random_state=5,
    )(make(X), t)  # fmt: skip
    random, v, expected, points = np.random.RandomState(5), np.zeros(4), [np.zeros(4)], [-1]
    for m in range(1, passes + 1):
        step = eta if schedule == "constant" else eta * 10 / (9 + m)
        for i in random.randint(n, size=n) if replacement else random.permutation(n):
            z = np.append(X[i], 1.0)
            e = t[i] - expit(z @ v)
            v = v * np.append(np.full(3, 1 - step / n), 1.0) + step * C * e * z
            expected.append(v)
            points.append(i)
    np.testing.assert_array_equal(model.trace_["point"], points)
    np.testing.assert_allclose(model.trace_["weights"], expected, rtol=1e-9, atol=1e-12)
    assert (len(set(points[1 : n + 1])) < n) == replacement


def test_at_a_constant_step_the_weights_hover():
    X, t = noisy(40, 3)
    least = LogisticRegression().fit(X, t).certificate_.primal
    ends = {}
    for schedule in ("constant", "decay"):
        model = studied(solver="sgd", schedule=schedule, max_iter=300, tol=1e-12, trace=True, random_state=0)(X, t)
        ends[schedule] = (model.trace_["objective"][-200:] - least).mean()
        assert model.status_ is Status.UNCERTIFIED
    assert ends["constant"] > 5 * ends["decay"]


# ---------------------------------------------------------------------- streams
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("loss", ["log", "squared_error"])
def test_a_stream_is_a_step_for_each_row(loss, make):
    X, t = noisy(60, 3)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=60)
    model, v, C = LogisticRegression(3.0, loss), np.zeros(4), 3.0
    steepest = 0.25 if loss == "log" else (39 + 55 * np.sqrt(33)) / 2304
    for m, part in enumerate((slice(0, 10), slice(10, 35), slice(35, 60)), 1):
        model.partial_fit(make(X[part]), t[part], classes=[0, 1], sample_weight=weight[part])
        n = part.stop - part.start
        Z, c = homogeneous(X[part]), weight[part]
        eta = 10 / (9 + m) / (steepest * (C * c * (Z**2).sum(axis=1)).max() + 1 / n)
        for z, y, k in zip(Z, t[part], c, strict=True):
            p = expit(z @ v)
            pull = (y - p) if loss == "log" else 2 * (y - p) * p * (1 - p)
            v = v * np.append(np.full(3, 1 - eta / n), 1.0) + eta * C * k * pull * z
        np.testing.assert_allclose(np.append(model.coef_, model.intercept_), v, rtol=1e-9, atol=1e-12)
    assert model.status_ is Status.STREAM
    assert model.certificate_ is None
    assert model.n_iter_.tolist() == [3]


def test_a_stream_of_three_classes():
    X, y = noisy(60, 2, 3)
    model, W = LogisticRegression(learning_rate=0.05, schedule="constant", solver="sgd"), np.zeros((3, 3))
    for part in (slice(0, 30), slice(30, 60)):
        model.partial_fit(X[part], y[part], classes=[0, 1, 2])
        for z, code in zip(homogeneous(X[part]), y[part], strict=True):
            change = 0.05 * (np.eye(3)[code] - softmax(W @ z))
            W[:, :2] *= 1 - 0.05 / 30
            W += np.outer(change, z)
    np.testing.assert_allclose(np.column_stack([model.coef_, model.intercept_]), W, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_a_stream_goes_on_after_a_fit_and_after_a_file(tmp_path):
    X, t = noisy(60, 3)
    model = LogisticRegression().fit(X[:30], t[:30])
    fitted = np.append(model.coef_, model.intercept_)
    other = LogisticRegression().fit(X[:30], t[:30])
    for part in (slice(30, 45), slice(45, 60)):
        model.partial_fit(X[part], t[part])
        save(other.partial_fit(X[part], t[part]), tmp_path / "model")
        other = load(tmp_path / "model")
    assert not np.array_equal(np.append(model.coef_, model.intercept_), fitted)
    np.testing.assert_array_equal(model.coef_, other.coef_)
    assert model.n_iter_ == 2
    assert model.status_ is Status.STREAM
    assert not hasattr(model, "standard_errors_")


def test_what_a_stream_cannot_have_is_refused():
    X, t = noisy(20, 2)
    with pytest.raises(InvalidInputError, match="classes"):
        LogisticRegression().partial_fit(X, t)
    assert not hasattr(LogisticRegression(class_weight="balanced"), "partial_fit")
    for wrong in ({"l1_ratio": 0.5}, {"bias_reduction": "firth", "C": np.inf}):
        model = LogisticRegression(**wrong)
        with pytest.raises(InvalidInputError, match=next(iter(wrong))):
            model.partial_fit(X, t, classes=[0, 1])
        assert not hasattr(model, "coef_")
    matrix = np.column_stack([t, 1 - t])
    with pytest.raises(InvalidInputError, match="a label a row"):
        LogisticRegression().partial_fit(X, matrix, classes=[0, 1])
    with pytest.raises(InvalidInputError, match="diverge"):
        LogisticRegression(learning_rate=1e300, solver="sgd").partial_fit(1e3 * X, t, classes=[0, 1])


@pytest.mark.parametrize("damping", [True, False])
def test_a_hessian_that_is_too_large_is_refused_before_it_is_made(damping):
    X = sparse.random_array((300, 20_000), density=1e-3, format="csr", rng=np.random.default_rng(0))
    y = np.arange(300) % 2
    with pytest.raises(InvalidInputError, match="20,001 weights would take 3 GB: use solver='auto'"):
        LogisticRegression(solver="newton", damping=damping).fit(X, y)
    assert LogisticRegression().fit(X, y).certificate_.verify(X, y)
