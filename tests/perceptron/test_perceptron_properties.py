"""Properties that hold for any whole-number data, found by hypothesis."""

import warnings

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from perceptron.perceptron_reference import homogeneous
from scipy import sparse

from separatrix import ConvergenceWarning, KernelPerceptron, Kozinec, Perceptron, PocketPerceptron


@st.composite
def problems(draw):
    n, d = draw(st.integers(2, 10)), draw(st.integers(1, 4))
    X = draw(arrays(np.int64, (n, d), elements=st.integers(-5, 5))).astype(float)
    y = draw(arrays(np.int64, n, elements=st.sampled_from([-1, 1])))
    y[:2] = -1, 1
    return X, y


def quiet(model, X, y, sample_weight=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, sample_weight)


@settings(max_examples=60, deadline=None)
@given(problems(), st.sampled_from(["online", "batch", "worst"]), st.sampled_from(["mistake", "positive", "correct"]))
def test_weights_are_the_sum_of_the_points_used(problem, update, boundary):
    X, y = problem
    model = quiet(Perceptron(update, boundary=boundary, max_iter=30, eta0=0.5), X, y)
    w = np.append(model.coef_[0], model.intercept_)
    np.testing.assert_array_equal(w, 0.5 * model.dual_coef_ @ homogeneous(X, y))
    assert model.false_positives_ + model.false_negatives_ == model.dual_coef_.sum()
    strict = bool((homogeneous(X, y) @ w > 0).all())
    assert (model.certificate_ is not None) == (strict and model.status_.name == "SEPARATED")
    if model.certificate_ is not None:
        assert model.certificate_.verify(X, y)
    rare = quiet(Perceptron(update, boundary=boundary, max_iter=30, eta0=0.5), sparse.csr_array(X), y)
    np.testing.assert_array_equal(rare.dual_coef_, model.dual_coef_)


@settings(max_examples=60, deadline=None)
@given(problems(), st.sampled_from(["ratchet", "run"]), st.integers(0, 5))
def test_the_pocket_counts_its_errors(problem, method, seed):
    X, y = problem
    model = PocketPerceptron(method, max_iter=5, random_state=seed).fit(X, y)
    assert model.errors_ == (model.predict(X) != y).sum()
    assert model.certificate_.verify(X, y)
    assert model.certificate_.lower_bound <= model.errors_


@settings(max_examples=60, deadline=None)
@given(problems(), st.sampled_from(["wolfe", "plain"]), st.sampled_from([None, 0.5, 1e-4]))
def test_the_bracket_of_kozinec_always_holds(problem, rule, epsilon):
    X, y = problem
    model = quiet(Kozinec(epsilon, rule=rule, max_iter=200), X, y)
    assert model.certificate_.verify(X, y)
    assert model.certificate_.lower <= model.certificate_.upper
    if model.certificate_.lower > 0:
        assert (y * model.decision_function(X) > 0).all()


@settings(max_examples=40, deadline=None)
@given(problems(), st.sampled_from(["linear", "rbf", "poly"]))
def test_the_kernel_perceptron_proves_what_it_claims(problem, kernel):
    X, y = problem
    model = quiet(KernelPerceptron(kernel, gamma=0.5, coef0=1.0, max_iter=50), X, y)
    if model.certificate_ is not None:
        assert model.certificate_.verify(X, y)
        assert (model.predict(X) == y).all()
    K = _gram(kernel, model.support_vectors_, X)
    f, terms = model.dual_coef_[0] @ K + model.intercept_, np.abs(model.dual_coef_[0]) @ np.abs(K)
    np.testing.assert_allclose(model.decision_function(X), f, rtol=0, atol=1e-12 * terms.max())  # f may cancel


def _gram(kernel, A, B):
    if kernel == "rbf":
        return np.exp(-0.5 * ((A[:, None] - B) ** 2).sum(axis=2))
    return A @ B.T if kernel == "linear" else (0.5 * A @ B.T + 1.0) ** 3
