"""What the theory promises, on random separable problems with an independently certified margin."""

import numpy as np
import pytest
from perceptron.perceptron_reference import best_margin, homogeneous, separable

from separatrix import KernelPerceptron, Perceptron

SLACK = 1 + 1e-9  # the margin is rounded


@pytest.mark.parametrize("block", range(5))
def test_updates_stay_within_the_bound(block):
    rng = np.random.default_rng(block)
    for _ in range(100):
        X, y = separable(rng)
        gamma, _ = best_margin(X, y)
        R = np.linalg.norm(homogeneous(X, y), axis=1).max()
        bound = R**2 / gamma**2 * SLACK
        for update in ("online", "worst"):
            model = Perceptron(update, max_iter=10**6).fit(X, y)
            assert 0 < model.n_updates_ <= bound
            assert model.certificate_.verify(X, y)
        batch = Perceptron("batch", max_iter=10**6).fit(X, y)
        assert batch.n_updates_ <= len(X) * bound
        assert batch.dual_coef_.sum() <= len(X) * bound
        eta = float(rng.uniform(0.1, 3))
        start = rng.normal(size=X.shape[1] + 1) * rng.uniform(0, 10)
        for update in ("online", "worst"):
            model = Perceptron(update, init=start, eta0=eta, max_iter=10**6).fit(X, y)
            assert model.n_updates_ <= bound + 2 * np.linalg.norm(start) / (eta * gamma) * SLACK


def test_the_proof_holds_at_every_step():
    rng = np.random.default_rng(0)
    for _ in range(20):
        X, y = separable(rng)
        gamma, v = best_margin(X, y)
        R = np.linalg.norm(homogeneous(X, y), axis=1).max()
        weights = Perceptron(trace=True, max_iter=10**6).fit(X, y).trace_["weights"]
        steps = np.arange(len(weights))
        assert (weights @ v >= steps * gamma - 1e-9).all()
        assert (np.linalg.norm(weights, axis=1) <= R * np.sqrt(steps) + 1e-9).all()


def test_a_step_adds_eta_times_the_square_to_its_own_score():
    rng = np.random.default_rng(1)
    for _ in range(20):
        X, y = separable(rng)
        eta = float(rng.uniform(0.2, 2))
        trace = Perceptron(eta0=eta, init="ones", trace=True, max_iter=10**6).fit(X, y).trace_
        weights, points = trace["weights"], trace["point"]
        Z = homogeneous(X, y)
        for before, after, i in zip(weights[:-1], weights[1:], points[1:], strict=True):
            assert Z[i] @ after == pytest.approx(Z[i] @ before + eta * Z[i] @ Z[i])
            assert Z[i] @ before <= 0


def test_the_kernel_perceptron_with_the_linear_kernel_makes_the_same_mistakes():
    rng = np.random.default_rng(2)
    for _ in range(100):
        X, y = separable(rng, whole=True)
        primal = Perceptron(trace=True, max_iter=10**6).fit(X, y)
        dual = KernelPerceptron("linear", trace=True, max_iter=10**6).fit(X, y)
        np.testing.assert_array_equal(dual.trace_["point"], primal.trace_["point"])
        alpha = np.zeros(len(X))
        alpha[dual.support_] = np.abs(dual.dual_coef_[0])
        np.testing.assert_array_equal(alpha, primal.dual_coef_)
        np.testing.assert_array_equal(dual.dual_coef_ @ dual.support_vectors_, primal.coef_)
        np.testing.assert_array_equal(dual.intercept_, primal.intercept_)


@pytest.mark.parametrize("update", ["online", "batch", "worst"])
def test_the_step_changes_only_the_length_from_zero_weights(update):
    rng = np.random.default_rng(3)
    for _ in range(30):
        X, y = separable(rng, whole=True)
        one = Perceptron(update, max_iter=10**6).fit(X, y)
        for eta in (0.25, 8.0):
            other = Perceptron(update, eta0=eta, max_iter=10**6).fit(X, y)
            np.testing.assert_array_equal(other.coef_, eta * one.coef_)
            np.testing.assert_array_equal(other.dual_coef_, one.dual_coef_)
            assert other.n_updates_ == one.n_updates_
