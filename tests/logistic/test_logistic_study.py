"""Likelihood, cross-entropy, gradient, Hessian, and each point's pull at the fitted weights."""

import numpy as np
import pytest
from problems import noisy
from scipy.special import expit, log_softmax, softmax
from sklearn.metrics import log_loss

from separatrix import InvalidInputError, LogisticRegression


def objective(W, X, Y, C, c, loss):
    """C sum_i c_i loss_i + 1/2 ‖w‖² for weights W (k, p), the intercept last, straight from the definition."""
    scores = np.column_stack([X, np.ones(len(X))]) @ W.T
    if scores.shape[1] > 1:
        each = -(Y * log_softmax(scores, axis=1)).sum(axis=1)
    elif loss == "log":
        each = np.logaddexp(0.0, -(2 * Y - 1) * scores[:, 0])
    else:
        each = (Y - expit(scores[:, 0])) ** 2
    return c @ each if np.isinf(C) else C * (c @ each) + 0.5 * (W[:, :-1] ** 2).sum()


def derivatives(function, v, h=1e-4):
    """Gradient and Hessian by central differences."""
    m = len(v)
    step = h * np.eye(m)
    gradient = np.array([(function(v + e) - function(v - e)) / (2 * h) for e in step])
    H = np.empty((m, m))
    for a in range(m):
        for b in range(m):
            signs = [(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]
            H[a, b] = sum(s * function(v + p * step[a] + q * step[b]) for p, q, s in signs) / (4 * h * h)
    return gradient, H


@pytest.mark.parametrize("C", [0.5, np.inf])
@pytest.mark.parametrize("loss", ["log", "squared_error"])
def test_gradient_and_hessian_of_the_stated_objective(loss, C):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    t = (rng.random(60) < expit(X @ [1.0, -0.5])).astype(int)
    other, s = rng.normal(size=(20, 2)), rng.integers(0, 2, size=20)
    c = rng.uniform(0.5, 2.0, size=20)
    model = LogisticRegression(C, loss).fit(X, t)
    v = np.append(model.coef_, model.intercept_)
    gradient, H = derivatives(lambda u: objective(u[None], other, s, C, c, loss), v)
    np.testing.assert_allclose(model.gradient(other, s, c), gradient, atol=1e-6)
    np.testing.assert_allclose(model.hessian(other, s, c), H, atol=1e-5)
    assert np.abs(model.gradient(X, t)).max() < 1e-9


@pytest.mark.parametrize("identifiability", ["symmetric", "reference"])
def test_softmax(identifiability):
    X, y = noisy(60, 2, k=3)
    model = LogisticRegression(identifiability=identifiability).fit(X, y)
    W = np.column_stack([model.coef_, model.intercept_])
    gradient, H = derivatives(
        lambda u: objective(u.reshape(W.shape), X[:20], np.eye(3)[y[:20]], 1.0, np.ones(20), "log"), W.ravel()
    )
    ours, ours_H = model.gradient(X[:20], y[:20]), model.hessian(X[:20], y[:20])
    assert ours.shape == (3, 3)
    assert ours_H.shape == (9, 9)
    if identifiability == "symmetric":
        # along weights that sum to 0 over the classes, which are all there are
        np.testing.assert_allclose(ours.ravel(), gradient, atol=1e-6)
        keep = np.kron(np.eye(3) - 1 / 3, np.eye(3))
    else:
        np.testing.assert_allclose(ours[:2].ravel(), gradient[:6], atol=1e-6)
        assert not ours[2].any()
        keep = np.diag([1.0] * 6 + [0.0] * 3)
    np.testing.assert_allclose(ours_H, keep @ H @ keep, atol=1e-5)
    assert np.abs(model.gradient(X, y)).max() < 1e-9


def test_a_matrix_has_derivatives_a_column():
    X, t = noisy(60, 2)
    Y = np.column_stack([t, X[:, 0] + np.sin(9 * X[:, 1]) > 0.3]).astype(int)
    model = LogisticRegression().fit(X, Y)
    alone = LogisticRegression().fit(X, Y[:, 1])
    rows = slice(0, 20)
    np.testing.assert_allclose(model.gradient(X[rows], Y[rows])[1], alone.gradient(X[rows], Y[rows, 1]), atol=1e-9)
    np.testing.assert_allclose(model.hessian(X[rows], Y[rows])[1], alone.hessian(X[rows], Y[rows, 1]), rtol=1e-9)
    np.testing.assert_allclose(model.pull(X, Y)[:, 1], alone.pull(X, Y[:, 1]), rtol=1e-9)
    one, other = LogisticRegression().fit(X, Y[:, 0]).log_likelihood(X, Y[:, 0]), alone.log_likelihood(X, Y[:, 1])
    assert model.log_likelihood(X, Y) == pytest.approx(one + other, rel=1e-9)


@pytest.mark.parametrize("k", [2, 4])
def test_log_likelihood_and_cross_entropy(k):
    X, y = noisy(100, 3, k=k)
    c = np.random.default_rng(0).uniform(0.5, 2.0, size=100)
    model = LogisticRegression().fit(X, y)
    mean = log_loss(y, model.predict_proba(X), sample_weight=c)
    assert model.cross_entropy(X, y, c) == pytest.approx(mean, rel=1e-12)
    assert model.log_likelihood(X, y, c) == pytest.approx(-mean * c.sum(), rel=1e-12)
    assert model.cross_entropy(X[:5], y[:5]) > 0  # also of rows that do not have every class


def test_the_log_likelihood_of_maximum_likelihood():
    X, t = noisy(60, 3)
    model = LogisticRegression(np.inf).fit(X, t)
    assert model.log_likelihood(X, t) == pytest.approx(model.log_likelihood_, rel=1e-12)


def test_labels_are_those_of_the_fit():
    X, t = noisy(60, 3)
    model = LogisticRegression().fit(X, np.array(["no", "yes"])[t])
    np.testing.assert_allclose(model.pull(X[:1], ["yes"]), expit(-model.decision_function(X[:1])), rtol=1e-12)
    with pytest.raises(InvalidInputError, match="perhaps"):
        model.pull(X[:1], ["perhaps"])


# ---------------------------------------------------------------------- each point's pull
@pytest.mark.parametrize("loss", ["log", "squared_error"])
def test_pulls_add_up_to_the_gradient(loss):
    X, t = noisy(60, 3)
    model = LogisticRegression(loss=loss).fit(X, t)
    e = t - model.predict_proba(X)[:, 1]
    p = model.predict_proba(X)[:, 1]
    np.testing.assert_allclose(model.pull(X, t), e if loss == "log" else e * p * (1 - p), rtol=1e-9)
    total = (1 if loss == "log" else 2) * model.pull(X, t) @ X
    np.testing.assert_allclose(total, model.coef_[0], rtol=1e-9)  # at the optimum they balance the penalty


def test_softmax_pulls_are_errors_of_each_class():
    X, y = noisy(60, 3, k=3)
    model = LogisticRegression().fit(X, y)
    expected = np.eye(3)[y] - softmax(model.decision_function(X), axis=1)
    np.testing.assert_allclose(model.pull(X, y), expected, atol=1e-14)


@pytest.mark.parametrize("truth", [0, 1])
def test_the_euclidean_pull_is_largest_where_the_true_class_has_one_third(truth):
    X, t = noisy(60, 1)
    model = LogisticRegression(loss="squared_error").fit(X, t)
    along = np.linspace(-30, 30, 200_001)[:, None]
    pull = np.abs(model.pull(along, np.full(len(along), truth)))
    at = np.argmax(pull)
    assert model.predict_proba(along)[at, truth] == pytest.approx(1 / 3, abs=1e-3)
    assert pull[at] == pytest.approx(4 / 27, rel=1e-6)  # (2/3)² (1/3)
    boundary = np.argmin(np.abs(model.decision_function(along)))
    assert pull[boundary] == pytest.approx(1 / 8, rel=1e-3)


def test_far_on_the_wrong_side_one_pull_fades_and_the_other_does_not():
    X, t = noisy(60, 1)
    far = np.array([[-1000.0]])
    entropy, distance = (LogisticRegression(loss=loss).fit(X, t) for loss in ("log", "squared_error"))
    wrong = int(entropy.decision_function(far)[0] < 0)
    assert abs(entropy.pull(far, [wrong])[0]) == pytest.approx(1.0)
    assert abs(distance.pull(far, [wrong])[0]) < 1e-100


@pytest.mark.parametrize("k", [2, 3])
def test_sparse_weights_say_the_same(k):
    X, y = noisy(60, 3, k)
    model, held = (LogisticRegression(C=np.inf).fit(X, y) for _ in range(2))
    held.sparsify()
    assert held.log_likelihood(X, y) == model.log_likelihood(X, y)
    assert held.summary() == model.summary()
    for name in ("gradient", "hessian", "pull"):
        np.testing.assert_array_equal(getattr(held, name)(X, y), getattr(model, name)(X, y))
    np.testing.assert_array_equal(held.conf_int(), model.conf_int())
