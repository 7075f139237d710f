"""Feature maps against the kernels they stand for: over all pairs, in exact arithmetic, and through a machine."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_moons
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from separatrix import SVC, InvalidInputError, LinearSVC
from separatrix.features import Fourier, Landmarks, Nystroem, Polynomial
from separatrix.kernels import Laplacian, Poly, Rbf, Spectrum

MAPS = [Polynomial(), Fourier(20, random_state=0), Nystroem(n_components=15, random_state=0), Landmarks()]


@parametrize_with_checks(MAPS)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def rows(n=80, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def errors(phi, X):
    """|phi(x).phi(z) - k(x, z)| of all pairs."""
    found = phi.transform(X)
    return np.abs(found @ found.T - phi.kernel_(X, X))


# ---------------------------------------------------------------------- products of columns
@settings(max_examples=30, deadline=None)
@given(
    degree=st.integers(1, 4),
    d=st.integers(1, 4),
    coef0=st.sampled_from([0.0, 0.25, 1.0, 3.0]),
    gamma=st.sampled_from([0.5, 1.0, 4.0]),
    seed=st.integers(0, 1000),
)
def test_products_of_columns_are_the_kernel_up_to_the_stated_rounding(degree, d, coef0, gamma, seed):
    X = rows(12, d, seed) * 10.0 ** np.random.default_rng(seed).integers(-3, 4, size=d)
    phi = Polynomial(degree, gamma, coef0).fit(X)
    assert phi.kernel_ == Poly(degree, gamma, coef0)
    F = phi.transform(X)
    for i in range(4):
        for j in range(4):
            inner = sum(Fraction(a) * Fraction(b) for a, b in zip(X[i], X[j], strict=True))
            exact = (Fraction(gamma) * inner + Fraction(coef0)) ** degree
            product = sum(Fraction(a) * Fraction(b) for a, b in zip(F[i], F[j], strict=True))
            assert abs(product - exact) <= phi.error_


def test_products_have_the_exponents_and_names_they_say():
    X = rows(5, 3)
    phi = Polynomial(3).fit(X)
    F = phi.transform(X)
    for column, powers in zip(F.T, phi.powers_, strict=True):
        plain = (X**powers).prod(axis=1)
        ratio = column / plain
        np.testing.assert_allclose(ratio, ratio[0])  # the product, times a number
    names = phi.get_feature_names_out(["a", "b", "c"]).tolist()
    assert names[0] == "1"
    assert names[phi.powers_.tolist().index([1, 2, 0])] == "a b^2"
    assert len(set(names)) == len(names) == F.shape[1] == 20


def test_too_many_products_are_refused_before_they_are_made():
    with pytest.raises(InvalidInputError, match="lower degree"):
        Polynomial(degree=6).fit(rows(5, 200))
    with pytest.raises(InvalidInputError, match="coef0"):
        Polynomial(coef0=-1.0).fit(rows())


# ---------------------------------------------------------------------- random frequencies
@pytest.mark.parametrize("kernel, made", [("rbf", Rbf), ("laplacian", Laplacian)])
def test_fourier_states_the_error_of_all_pairs(kernel, made):
    X = rows(200)
    phi = Fourier(400, kernel, gamma=0.3, random_state=1).fit(X)
    assert phi.kernel_ == made(0.3)
    np.testing.assert_allclose(phi.error_, errors(phi, X).max(), rtol=1e-9)
    np.testing.assert_allclose(np.sum(phi.transform(X) ** 2, axis=1), 1.0)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_fourier_has_the_kernel_as_its_mean_and_keeps_to_its_bound(kernel):
    X, Z = rows(1, 3, 1), rows(1, 3, 2)
    found = []
    for seed in range(400):
        phi = Fourier(20, kernel, gamma=0.2, random_state=seed).fit(np.vstack([X, Z]))
        found.append((phi.transform(X) @ phi.transform(Z).T - phi.kernel_(X, Z)).item())
    assert abs(np.mean(found)) < 4 * np.std(found) / 20  # four standard errors
    assert np.mean(np.abs(found) > phi.bound_) < 0.05


def test_fourier_features_do_not_depend_on_a_shift():
    X = np.round(rows(), 3)
    near, far = (Fourier(40, gamma=0.5, random_state=0).fit(A) for A in (X, X + 2.0**20))
    np.testing.assert_allclose(near.transform(X), far.transform(X + 2.0**20), atol=1e-8)


# ---------------------------------------------------------------------- landmarks
KERNELS = ["rbf", "laplacian", "linear", Poly(2, 0.5, 1.0)]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("make", [lambda k: Nystroem(12, k, random_state=0), lambda k: Landmarks(0.05, 12, k)])
def test_no_pair_of_rows_is_off_by_more_than_stated(kernel, make):
    X = rows(60)
    phi = make(kernel).fit(X)
    assert errors(phi, X).max() <= phi.error_ + 1e-10 * phi.kernel_.diagonal(X).max()
    K, k = phi.kernel_(X, X), phi.kernel_(X, X[phi.landmarks_])
    expected = k @ np.linalg.pinv(phi.kernel_(X[phi.landmarks_], X[phi.landmarks_]), rcond=1e-11) @ k.T
    F = phi.transform(X)
    np.testing.assert_allclose(F @ F.T, expected, atol=1e-6 * K.max())
    assert phi.error_ <= np.diag(K - expected).max() + 1e-6 * K.max()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1000), tol=st.sampled_from([0.3, 0.1, 1e-2, 1e-4]), d=st.integers(1, 4))
def test_landmarks_reach_what_was_asked_and_never_get_worse(seed, tol, d):
    X = rows(70, d, seed)
    phi = Landmarks(tol).fit(X)
    assert phi.error_ <= tol
    assert errors(phi, X).max() <= tol + 1e-9
    assert (np.diff(phi.errors_) <= 0).all()
    assert len(np.unique(phi.landmarks_)) == len(phi.landmarks_) == phi.transform(X).shape[1]
    if len(phi.landmarks_) > 1:  # with one fewer it would not have stopped
        assert phi.errors_[-2] > tol


def test_a_limit_on_landmarks_is_kept_and_the_error_told():
    X = rows(200)
    few, all_rows = Landmarks(0.0, 10, gamma=3.0).fit(X), Landmarks(0.0, 10**6, gamma=3.0).fit(X)
    assert len(few.landmarks_) == 10
    assert few.error_ > 0.1
    assert f"{few.error_:.2g}" in few.claim_
    assert errors(all_rows, X).max() < 1e-9


def test_rows_that_repeat_need_one_landmark_each():
    X = np.repeat(rows(5), 20, axis=0)
    phi = Landmarks(0.0).fit(X)
    assert len(phi.landmarks_) == 5
    assert np.linalg.matrix_rank(Nystroem(100, random_state=0).fit(X).transform(X)) == 5


def test_a_linear_machine_of_the_features_is_the_machine_with_the_kernel():
    X, y = make_moons(120, noise=0.2, random_state=0)
    whole = SVC(C=1.0, gamma=1.0, tol=1e-8).fit(X, y)
    mapped = make_pipeline(Landmarks(1e-11, gamma=1.0), LinearSVC(C=1.0, tol=1e-8)).fit(X, y)
    np.testing.assert_allclose(mapped.decision_function(X), whole.decision_function(X), atol=1e-3)


def test_strings_have_landmarks_too():
    words = ["banana", "bandana", "ananas", "cabana", "kiwi", "kiwis", "savanna"]
    phi = Landmarks(1e-9, kernel=Spectrum(2)).fit(words)
    F = phi.transform(words)
    np.testing.assert_allclose(F @ F.T, Spectrum(2)(words, words), atol=1e-8)
    assert phi.transform(["bananas"]).shape == (1, len(phi.landmarks_))


# ---------------------------------------------------------------------- all of them
@pytest.mark.parametrize("phi", MAPS, ids=lambda phi: type(phi).__name__)
def test_sparse_rows_and_repeated_calls(phi):
    X = rows() * (rows(seed=1) > 0)
    first = phi.fit(X).transform(X)
    assert np.array_equal(first, phi.fit(X).transform(X))
    np.testing.assert_allclose(phi.fit(sparse.csr_array(X)).transform(sparse.csr_array(X)), first, atol=1e-9)


@pytest.mark.parametrize("phi", MAPS, ids=lambda phi: type(phi).__name__)
def test_what_is_wrong_is_named_and_changes_nothing(phi):
    X = rows()
    phi.fit(X)
    before, claim = phi.transform(X), phi.claim_
    X[7, 2] = np.nan
    with pytest.raises(InvalidInputError, match="row 7, column 2"):
        phi.fit(X)
    with pytest.raises(InvalidInputError, match="row 7, column 2"):
        phi.transform(X)
    assert np.array_equal(phi.transform(rows()), before)
    assert phi.claim_ == claim


@pytest.mark.parametrize(
    "phi", [Polynomial(), Fourier(60, random_state=0), Nystroem(200, random_state=0), Landmarks(max_landmarks=100)]
)
def test_the_number_of_threads_changes_no_bit(phi):
    X = rows(1200, 12)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            found.append((phi.fit(X).error_, phi.transform(X)))
    assert found[0][0] == found[1][0]
    np.testing.assert_array_equal(found[0][1], found[1][1])


@pytest.mark.parametrize(
    "phi, word",
    [
        (Fourier(0), "n_frequencies"),
        (Fourier(kernel="poly"), "Landmarks and Nystroem"),
        (Nystroem(kernel="sigmoid"), "positive semidefinite"),
        (Landmarks(-1.0), "tol"),
        (Landmarks(kernel="sigmoid"), "positive semidefinite"),
        (Polynomial(degree=0), "degree"),
        (Polynomial(degree=1100), "lower degree"),
    ],
    ids=str,
)
def test_bad_parameters(phi, word):
    with pytest.raises(InvalidInputError, match=word):
        phi.fit(rows())
