"""Small tables of every shape: the optimum, whichever way its solver went."""

import numpy as np
import pytest
from scipy import sparse

from separatrix import LogisticRegression
from separatrix.design import as_design
from separatrix.design.row_space import RowSpace, narrowed
from separatrix.logistic import choose
from separatrix.logistic import penalised as logistic
from separatrix.logistic.penalised import Settings, make_risk
from separatrix.losses import Logistic, Softmax
from separatrix.solvers.driver import run
from separatrix.solvers.newton import newton
from separatrix.solvers.truncated import truncated
from separatrix.targets import Targets


def table(n, d, k, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, (X @ rng.standard_normal((d, k)) * 3 / np.sqrt(d) + rng.gumbel(size=(n, k))).argmax(axis=1)


def risk_of(X, y, C=1.0, reference=False):
    targets = Targets(np.unique(y), y)
    return make_risk(as_design(X), targets, np.ones(len(y)), Settings(C, "auto", 1e-4, 100, reference))


@pytest.mark.parametrize("reference", [False, True])
@pytest.mark.parametrize("k", [2, 5])
def test_the_product_is_with_the_hessian(k, reference):
    X, y = table(50, 4, k)
    risk = risk_of(X, y, reference=reference)
    V, D = np.random.default_rng(1).standard_normal((2, 5, risk.k))
    value, gradient, bend = risk.expand(V)
    assert (value, gradient.tolist()) == (risk.value_and_gradient(V)[0], risk.value_and_gradient(V)[1].tolist())
    expected = (risk.hessian(V) @ D.ravel(order="F")).reshape(D.shape, order="F")
    np.testing.assert_allclose(risk.product(bend, D), expected, rtol=1e-12, atol=1e-12)
    total, traces = risk.loss.mean_bend(bend, risk.weight)
    B, Z = risk.basis, risk.design.dot(V)
    if k == 2:
        A = Logistic().curvature(2 * y[:, None] - 1, Z)[:, :, None]
    else:
        A = np.einsum("ka,ikl,lb->iab", B, Softmax().curvature(y, Z @ B.T), B)
    np.testing.assert_allclose(total, np.einsum("i,iab->ab", risk.weight, A), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(traces, np.trace(A, axis1=1, axis2=2), rtol=1e-12)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("units", [0.0, 3.0])
@pytest.mark.parametrize("shape", [(300, 60, 2), (200, 20, 6), (40, 100, 3)])
def test_conjugate_gradients_find_what_newton_finds(shape, units, C):
    X, y = table(*shape)
    rng = np.random.default_rng(2)
    X = X * np.exp(units * rng.standard_normal(X.shape[1])) + units * rng.standard_normal(X.shape[1])
    risk = risk_of(X, y, C)
    zero = np.zeros((risk.design.p, risk.k))
    best, _ = run(newton(risk, zero), lambda state: False, 100)
    within = logistic._within(risk, lambda: 1e-9)
    state, _ = run(truncated(risk, zero, within), lambda s: within(s.gradient, s.value), 100)
    assert within(state.gradient, state.value)
    assert state.value <= best.value * (1 + 1e-9)


@pytest.mark.parametrize("C", [0.01, 100.0])
@pytest.mark.parametrize("shape", [(900, 100, 2), (300, 250, 2), (700, 30, 8), (60, 900, 3)])
def test_the_default_is_closer_than_a_millionth(shape, C):
    X, y = table(*shape)
    model = LogisticRegression(C=C).fit(X, y)
    best = LogisticRegression(C=C, tol=1e-10).fit(X, y).certificate_
    assert model.certificate_.primal - best.dual <= 1e-6 * best.primal
    assert model.certificate_.verify(X, y)


def test_wide_sparse_rows():
    X = sparse.random_array((200, 4000), density=0.01, rng=np.random.default_rng(0), format="csr")
    y = np.asarray(X.sum(axis=1) > 20).astype(int)
    model = LogisticRegression(C=10.0).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-5
    assert model.certificate_.verify(X, y)


@pytest.mark.parametrize("twins", [False, True])
def test_row_space_keeps_scores_and_lengths(twins):
    X, _ = table(20, 90, 2)
    if twins:  # rows that depend on one another: no triangular root
        X[10:] = X[:10] * 2.0
    whole = as_design(X)
    narrow = narrowed(whole)
    assert isinstance(narrow, RowSpace)
    assert (narrow.root is None) == twins
    v = np.random.default_rng(3).standard_normal((21, 2))
    coef, intercept = narrow.user_units(v)
    np.testing.assert_allclose(X @ coef.T + intercept, narrow.dot(v), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose((coef**2).sum(axis=1), (v[:20] ** 2).sum(axis=0), rtol=1e-10)
    np.testing.assert_allclose(narrow.from_user_units(coef, intercept), v, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("classes", [2, 5])
def test_newton_takes_over_where_a_sampled_hessian_is_slow(classes, monkeypatch):
    X, y = table(2000, 20, classes)
    monkeypatch.setattr(choose, "NEWTON_MULTIPLICATIONS", 0)
    steps = {}
    for patience in (3, 10**6):
        monkeypatch.setattr(choose, "PASSES", patience)
        model = LogisticRegression(C=100.0, tol=1e-10).fit(X, y)
        assert model.certificate_.relative_gap <= 1e-10
        steps[patience] = model.n_iter_
    assert steps[3] < steps[10**6]
