"""Cascades against finite differences, 50-digit arithmetic, logistic regression, and plain gradient descent."""

from dataclasses import replace
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris, make_moons

from separatrix import Cascade, ConvergenceWarning, InvalidInputError, LogisticRegression, Stationarity, load, save
from separatrix.cascade.learner import deviations
from separatrix.cascade.network import Network
from separatrix.design import as_design
from separatrix.targets import signs

XOR = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])


def network(k=2, hidden=(3, 2), squared=False, n=7, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X, codes, weight = rng.normal(size=(n, d)), np.arange(n) % k, rng.random(n) + 0.5
    design = as_design(X, True)
    sizes = (d, *hidden, 1 if k == 2 else k)
    made = Network(design, signs(codes, k, 0.0), weight, sizes, squared)
    theta = rng.normal(size=sum((m + 1) * o for m, o in pairwise(sizes)))
    return made, theta, X, codes


def exactly(made, theta, X, codes):
    """F in 50 digits."""
    with mpmath.workdps(50):
        total = mpmath.mpf(0)
        layers = [[[mpmath.mpf(float(v)) for v in row] for row in V] for V in made.layers(theta)]
        for x, code, c in zip(X, codes, made.weight, strict=True):
            a = [mpmath.mpf(float(v)) for v in x]
            for place, V in enumerate(layers):
                a = [mpmath.fdot(a, [row[o] for row in V[:-1]]) + V[-1][o] for o in range(len(V[0]))]
                if place < len(layers) - 1:
                    a = [1 / (1 + mpmath.exp(-s)) for s in a]
            if len(a) == 1:
                P, t = [1 / (1 + mpmath.exp(-a[0]))], [mpmath.mpf(int(code == 1))]
                own = P[0] if code == 1 else 1 - P[0]
            else:
                E = [mpmath.exp(s) for s in a]
                P, t = [e / sum(E) for e in E], [mpmath.mpf(int(code == o)) for o in range(len(a))]
                own = P[code]
            loss = sum((p - q) ** 2 for p, q in zip(P, t, strict=True)) if made.squared else -mpmath.log(own)
            total += mpmath.mpf(float(c)) * loss
        return total + sum(v**2 for V in layers for row in V[:-1] for v in row) / 2


@settings(max_examples=12, deadline=None)
@given(
    k=st.integers(2, 4),
    hidden=st.sampled_from([(), (2,), (3, 2)]),
    squared=st.booleans(),
    seed=st.integers(0, 100),
)
def test_value_and_gradient_are_those_of_50_digits(k, hidden, squared, seed):
    made, theta, X, codes = network(k, hidden, squared, n=5, seed=seed)
    value, gradient = made.value_and_gradient(theta)
    np.testing.assert_allclose(value, float(exactly(made, theta, X, codes)), rtol=1e-12)
    for j in np.random.default_rng(seed).permutation(len(theta))[:4]:
        with mpmath.workdps(50):
            h = mpmath.mpf(2) ** -40
            step = np.zeros(len(theta))
            step[j] = float(h)
            there, back = (exactly(made, theta + sign * step, X, codes) for sign in (1, -1))
            # theta ± h is a float64: the steps as taken
            wide = mpmath.mpf(float((theta + step)[j])) - mpmath.mpf(float((theta - step)[j]))
            slope = float((there - back) / wide)
        np.testing.assert_allclose(gradient[j], slope, rtol=1e-6, atol=1e-6)


def test_without_hidden_layers_it_is_logistic_regression():
    X, y = load_iris(return_X_y=True)
    for rows, labels in ((X[y > 0], y[y > 0]), (X, y)):
        Z = (rows - rows.mean(axis=0)) / rows.std(axis=0)
        reference = LogisticRegression(C=3.0, tol=1e-10).fit(Z, labels)
        model = Cascade(hidden=(), C=3.0, tol=1e-8).fit(rows, labels)
        np.testing.assert_allclose(model.predict_proba(rows), reference.predict_proba(Z), atol=1e-5)
        assert model.objective_ >= reference.certificate_.dual - 1e-9
        np.testing.assert_allclose(model.objective_, reference.certificate_.primal, rtol=1e-6)


@pytest.mark.parametrize("loss", ["log", "squared_error"])
def test_xor_parity_and_two_moons(loss):
    X, y = XOR
    assert (Cascade(hidden=2, C=1000, loss=loss, n_init=10).fit(X, y).predict(X) == y).all()
    bits = np.array([[i >> j & 1 for j in range(3)] for i in range(8)])
    odd = bits.sum(axis=1) % 2
    assert (Cascade(hidden=6, C=1000, loss=loss, n_init=10).fit(bits, odd).predict(bits) == odd).all()
    X, y = make_moons(300, noise=0.1, random_state=0)
    model = Cascade(loss=loss).fit(X, y)
    assert model.score(X, y) > 0.98 > LogisticRegression().fit(X, y).score(X, y)
    assert model.certificate_.verify(X, y)


def test_gradient_descent_is_the_plain_rule():
    X, y = make_moons(40, noise=0.2, random_state=1)
    rate, steps = 0.01, 25
    with pytest.warns(ConvergenceWarning):
        model = Cascade(3, solver="gradient", learning_rate=rate, max_iter=steps, n_init=1, trace=True).fit(X, y)
    design = as_design(X, True).centred(np.ones(40))
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(deviations(design, np.ones(40)), X.std(axis=0))
    theta = np.asarray(model.trace_["weights"])[0]
    W, b, v, c = theta[:6].reshape(2, 3), theta[6:9], theta[9:12], theta[12]
    for step in range(steps + 1):
        np.testing.assert_allclose(
            np.asarray(model.trace_["weights"])[step], np.concatenate([W.ravel(), b, v, [c]]), rtol=1e-9, atol=1e-12
        )
        A = 1 / (1 + np.exp(-(Z @ W + b)))
        R = 10.0 * (1 / (1 + np.exp(-(A @ v + c))) - y)
        back = np.outer(R, v) * A * (1 - A)
        W, b, v, c = (
            W - rate * (Z.T @ back + W),
            b - rate * back.sum(axis=0),
            v - rate * (A.T @ R + v),
            c - rate * R.sum(),
        )


def test_descent_without_a_rate_never_rises():
    X, y = make_moons(60, noise=0.2, random_state=1)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        model = Cascade(3, solver="gradient", max_iter=60, n_init=1, trace=True).fit(X, y)
    assert (np.diff(model.trace_["objective"]) <= 0).all()


def test_more_starts_are_never_worse_and_the_best_is_kept():
    X, y = XOR
    values = [Cascade(2, 100.0, n_init=n).fit(X, y).objective_ for n in (1, 2, 5, 10)]
    assert values == sorted(values, reverse=True)
    model = Cascade(2, 100.0, n_init=10, trace=True).fit(X, y)
    assert model.trace_["objective"][-1] == model.objective_ == values[-1]


# ---------------------------------------------------------------------- what is claimed
@pytest.mark.parametrize("loss", ["log", "squared_error"])
@pytest.mark.parametrize("k", [2, 3])
def test_the_check_finds_the_gradient_that_the_network_has(loss, k):
    X, y = load_iris(return_X_y=True)
    X, y = (X, y) if k == 3 else (X[y > 0], y[y > 0])
    model = Cascade((4, 3), loss=loss).fit(X, y)
    certificate = model.certificate_
    assert certificate.verify(X, y)
    witness = dict(certificate.witness)
    for name in ("coefs", "intercepts"):
        worst = witness[name].copy()
        worst[np.argmax(np.abs(worst))] += 0.1
        assert not replace(certificate, witness={**witness, name: worst}).verify(X, y)
    assert not replace(certificate, witness={**witness, "C": 20.0}).verify(X, y)
    other = "log" if loss == "squared_error" else "squared_error"
    assert not replace(certificate, witness={**witness, "loss": other}).verify(X, y)
    assert not certificate.verify(X[::-1], y)
    for name, value in (
        ("tol", 2.0), ("sizes", np.array([5, 4, 3, len(set(y))])), ("scale", -witness["scale"]), ("loss", "hinge"),
        ("coefs", witness["coefs"][:-1]),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=name):
            replace(certificate, witness={**witness, name: value}).verify(X, y)


def test_the_rounding_of_the_check_is_bounded_by_what_it_says():
    made, theta, X, codes = network(2, (3,), n=30)
    layers = made.layers(theta)
    for squared in (False, True):
        witness = {
            "sizes": np.array([3, 3, 1]),
            "coefs": np.concatenate([V[:-1].ravel() for V in layers]),
            "intercepts": np.concatenate([V[-1] for V in layers]),
            "scale": np.ones(3),
            "C": 1.0,
            "loss": "squared_error" if squared else "log",
            "tol": 1.0,
        }
        certificate = Stationarity("cascade", np.array([0, 1]), None, 2.0**-52, witness)
        check = certificate.verify(X, codes, made.weight).checks[0]
        centred = replace(made, design=as_design(X, True).centred(made.weight), squared=squared)
        shifted = theta.copy()
        shifted[9:12] += centred.design.shift @ layers[0][:-1]  # the same scores, about the mean
        _, gradient = centred.value_and_gradient(shifted)
        expected = np.abs(gradient).max() / made.scale
        assert abs(check.figure - expected) <= check.rounding + 1e-13


def test_an_end_before_the_end_says_how_far_it_came():
    X, y = make_moons(100, noise=0.2, random_state=0)
    with pytest.warns(ConvergenceWarning, match="above tol=1e-05"):
        model = Cascade(max_iter=3).fit(X, y)
    assert model.certificate_ is None
    assert not model.status_.certified


# ---------------------------------------------------------------------- data
def test_units_storage_and_weights_do_not_matter():
    X, y = make_moons(80, noise=0.2, random_state=0)
    model = Cascade(3, n_init=1).fit(X, y)
    P = model.predict_proba(X)
    odd = X * [1e6, 1e-6] + [1e7, 5.0]
    np.testing.assert_allclose(Cascade(3, n_init=1).fit(odd, y).predict_proba(odd), P, atol=1e-3)
    rows = sparse.csr_array(X)
    np.testing.assert_allclose(Cascade(3, n_init=1).fit(rows, y).predict_proba(rows), P, atol=1e-6)
    twice = np.arange(80) % 3 == 0
    weighted = Cascade(3, n_init=1).fit(X, y, 1.0 + twice)
    repeated = Cascade(3, n_init=1).fit(np.vstack([X, X[twice]]), np.append(y, y[twice]))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-4)
    constant = np.column_stack([X, np.full(80, 0.1)])
    found = Cascade(3, n_init=1).fit(constant, y)
    assert found.certificate_.verify(constant, y)


@pytest.mark.parametrize("k", [2, 3])
def test_a_model_of_float32_is_one(k, tmp_path):
    """The certificate is of the weights that float32 holds, and finds their gradient as small as it says."""
    X, y = load_iris(return_X_y=True)
    X, y = (X, y) if k == 3 else (X[y > 0], y[y > 0])
    single = X.astype(np.float32)
    model = Cascade((4, 3)).fit(single, y)
    assert {W.dtype for W in (*model.coefs_, *model.intercepts_)} == {np.dtype(np.float32)}
    assert model.predict_proba(single).dtype == np.float32
    assert model.certificate_.verify(single, y)
    np.testing.assert_array_equal(
        model.certificate_.witness["coefs"], np.concatenate([W.ravel() for W in model.coefs_]).astype(np.float64)
    )
    wrong = {**model.certificate_.witness, "coefs": model.certificate_.witness["coefs"] + 1e-12}
    with pytest.raises(ValueError, match="float32 does not"):
        replace(model.certificate_, witness=wrong).verify(single, y)
    save(model, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict_proba(single), model.predict_proba(single))
    np.testing.assert_allclose(model.predict_proba(single), model.predict_proba(single.astype(np.float64)), atol=1e-4)
    with pytest.warns(
        ConvergenceWarning, match="above tol=1e-10"
    ):  # float32 cannot hold weights so close to a valley's
        assert Cascade(3, tol=1e-10, max_iter=3000, n_init=1).fit(single, y).certificate_ is None


def test_it_is_saved_and_refused_when_it_is_not_that_of_its_certificate(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = Cascade((3, 2)).fit(X, y)
    save(model, tmp_path / "model.separatrix")
    again = load(tmp_path / "model.separatrix")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.certificate_.verify(X, y)
    model.coefs_[1][0, 0] += 1.0
    with pytest.raises(Exception, match="coefs_"):
        save(model, tmp_path / "other.separatrix")


@pytest.mark.parametrize(
    "settings, word",
    [
        ({"hidden": 0}, "hidden"),
        ({"hidden": (3, 0.5)}, "hidden"),
        ({"hidden": 3.5}, "hidden"),
        ({"hidden": None}, "hidden"),
        ({"hidden": "8"}, "hidden"),
        ({"loss": ["log"]}, "loss"),
        ({"C": np.inf}, "C must"),
        ({"loss": "hinge"}, "loss"),
        ({"solver": "adam"}, "solver"),
        ({"learning_rate": -1.0}, "learning_rate"),
        ({"learning_rate": 0.1}, "learning_rate is for solver='gradient'"),
        ({"n_init": 0}, "n_init"),
        ({"solver": "gradient", "learning_rate": 1e300}, "learning_rate"),
        ({"C": 1e308}, "moderate C"),
        ({"C": 1e308, "solver": "gradient"}, "moderate C"),
    ],
    ids=str,
)
def test_bad_parameters(settings, word):
    with pytest.raises(InvalidInputError, match=word):
        Cascade(**settings).fit(*XOR)
