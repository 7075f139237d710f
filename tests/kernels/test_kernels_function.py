"""Kernels given as functions: what is passed to them, and what they may return."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import chi2_kernel

from separatrix.kernels import FromFunction, KernelRows


@pytest.fixture
def X() -> np.ndarray:
    return np.random.default_rng(0).random((70, 3))


def test_is_the_function(X):
    np.testing.assert_allclose(FromFunction(chi2_kernel)(X, X[:5]), chi2_kernel(X, X[:5]), rtol=1e-14)
    np.testing.assert_allclose(FromFunction(chi2_kernel).diagonal(X), np.diagonal(chi2_kernel(X)), rtol=1e-14)


def test_float32_and_sparse_reach_the_function_as_they_are(X):
    seen = []

    def product(A, B):
        seen.append((type(A), A.dtype))
        return A @ B.T  # sparse for sparse input

    kernel = FromFunction(product)
    assert kernel(X.astype(np.float32), X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(kernel(sparse.csr_matrix(X), sparse.csr_matrix(X)), X @ X.T, rtol=1e-14)
    assert seen == [(np.ndarray, np.float32), (sparse.csr_matrix, np.float64)]


def test_objects_in_a_list():
    def common(A, B):
        assert isinstance(A, list)
        return np.array([[len(set(a) & set(b)) for b in B] for a in A])

    kernel = FromFunction(common, structured=True)
    assert kernel.structured
    A = ["abc", "bd", "x"]
    np.testing.assert_array_equal(kernel(A, A), [[3, 1, 0], [1, 2, 0], [0, 0, 1]])
    rows = KernelRows(kernel, np.array(A))
    np.testing.assert_array_equal(rows.rows([2, 0]), [[0, 0, 1], [3, 1, 0]])
    np.testing.assert_array_equal(rows.block([1], [1, 0]), [[2, 1]])


def by_shape(A, B):
    return np.zeros((len(B), len(A)))


@pytest.mark.parametrize(
    "function, fault",
    [
        (by_shape, r"by_shape must return the matrix of all pairs: shape \(4, 6\) .* got shape \(6, 4\)"),
        (lambda A, B: 1.0, r"got shape \(\)"),
        (lambda A, B: np.full((len(A), len(B)), np.nan), r"finite numbers, got nan at \[0, 0\]"),
        (lambda A, B: np.where(np.eye(4, 6, 2) > 0, -np.inf, 0.0), r"got -inf at \[0, 2\]"),
        (lambda A, B: np.ones((len(A), len(B))) * 1j, "real numbers"),
        (lambda A, B: [["a"] * len(B)] * len(A), "real numbers"),
    ],
)
def test_a_bad_result_is_named(function, fault):
    with pytest.raises(ValueError, match=fault):
        FromFunction(function)(np.ones((4, 2)), np.ones((6, 2)))


def test_a_result_beyond_float32_is_named():
    single = np.ones((2, 2), np.float32)
    with pytest.raises(ValueError, match="got inf at"):
        FromFunction(lambda A, B: np.full((len(A), len(B)), 1e60))(single, single)


def test_claims_nothing_and_cannot_be_saved():
    kernel = FromFunction(by_shape)
    assert not kernel.positive_semidefinite
    assert not kernel.structured
    assert kernel == FromFunction(by_shape) != FromFunction(chi2_kernel)
    with pytest.raises(TypeError, match="cannot be saved"):
        kernel.to_dict()
    with pytest.raises(TypeError, match="callable"):
        FromFunction(3)
