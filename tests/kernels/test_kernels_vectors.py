"""Kernels on vectors: the formulas, in every storage and precision, and where they lose digits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.metrics import pairwise

from separatrix.kernels import Laplacian, Linear, Poly, Rbf, Sigmoid

PAIRS = [
    (Linear(), pairwise.linear_kernel),
    (Poly(3, 0.3, 0.7), lambda A, B: pairwise.polynomial_kernel(A, B, degree=3, gamma=0.3, coef0=0.7)),
    (Poly(6, 0.2, 1.0), lambda A, B: pairwise.polynomial_kernel(A, B, degree=6, gamma=0.2, coef0=1.0)),
    (Rbf(0.2), lambda A, B: pairwise.rbf_kernel(A, B, gamma=0.2)),
    (Laplacian(0.2), lambda A, B: pairwise.laplacian_kernel(A, B, gamma=0.2)),
    (Sigmoid(0.1, -0.3), lambda A, B: pairwise.sigmoid_kernel(A, B, gamma=0.1, coef0=-0.3)),
]
KERNELS = [kernel for kernel, _ in PAIRS]
SPREAD = [Rbf(0.2), Laplacian(0.2)]


def points(rng: np.random.Generator, n: int, d: int = 7) -> np.ndarray:
    """Points with many exact zeros, so that sparse storage is really exercised."""
    return rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.mark.parametrize("kernel, reference", PAIRS, ids=[str(kernel) for kernel, _ in PAIRS])
def test_formula_agrees_with_scikit_learn(kernel, reference, rng):
    A, B = points(rng, 13), points(rng, 9)
    expected = reference(A, B)
    np.testing.assert_allclose(kernel(A, B), expected, rtol=1e-10, atol=1e-10)
    diagonal = np.diagonal(reference(A, A))
    np.testing.assert_allclose(kernel.diagonal(A), diagonal, rtol=1e-10, atol=1e-10)
    P = kernel.represent(A)
    for _ in range(2):  # asking changes nothing
        np.testing.assert_allclose(kernel.gram_diagonal(P), diagonal, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("left", [np.asarray, sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
@pytest.mark.parametrize("right", [np.asarray, sparse.csr_matrix, sparse.coo_array])
def test_storage_does_not_matter(kernel, left, right, rng):
    A, B = points(rng, 11), points(rng, 8)
    A[3] = 0.0
    np.testing.assert_allclose(kernel(left(A), right(B)), kernel(A, B), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(kernel.diagonal(left(A)), kernel.diagonal(A), rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_duplicate_entries_of_a_sparse_matrix_are_summed(kernel):
    # (0, 1) is stored twice, as 1 and 2: the row is (0, 3), and neither |1| + |2|... nor 1² + 2² of it.
    twice = sparse.csr_array((np.array([1.0, -3.0, 2.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    stored = twice.data.copy()
    np.testing.assert_allclose(kernel(twice, twice), kernel(twice.toarray(), twice.toarray()), rtol=1e-14)
    assert twice.nnz == 3
    np.testing.assert_array_equal(twice.data, stored)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_float32_in_float32_out(kernel, storage, rng):
    A, B = points(rng, 11).astype(np.float32), points(rng, 8).astype(np.float32)
    K = kernel(storage(A), storage(B))
    assert K.dtype == np.float32
    assert kernel.diagonal(storage(A)).dtype == np.float32
    np.testing.assert_allclose(K, kernel(A.astype(float), B.astype(float)), rtol=1e-4, atol=1e-5)
    # One side in float64: the result has its precision, not that of the other.
    fine = B + 1e-9 * rng.standard_normal(B.shape)  # lost when rounded to float32
    for left, right in ((A, fine), (fine, A)):
        mixed = kernel(storage(left), storage(right))
        assert mixed.dtype == np.float64
        np.testing.assert_allclose(mixed, kernel(left.astype(float), right.astype(float)), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_other_types_and_layouts(kernel, rng):
    A = rng.integers(-3, 4, size=(10, 6))
    expected = kernel(A.astype(float), A.astype(float))
    for same in (
        A,
        A.astype(np.int8),
        A.astype(np.float16),
        np.asfortranarray(A),
        A[::-1][::-1],
        A.astype(object),
    ):
        K = kernel(same, same)
        assert K.dtype == np.float64
        np.testing.assert_allclose(K, expected, rtol=1e-13)
    mask = A > 0
    np.testing.assert_allclose(kernel(mask, mask), kernel(mask.astype(float), mask.astype(float)), rtol=1e-14)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_symmetric_and_semidefinite_as_claimed(kernel, storage, rng):
    X = storage(points(rng, 40))
    K = kernel(X, X)
    np.testing.assert_allclose(K, K.T, rtol=1e-13, atol=1e-14)
    if kernel.positive_semidefinite:
        eigenvalues = np.linalg.eigvalsh(K)
        assert eigenvalues[0] >= -1e-13 * len(K) * eigenvalues[-1]


@pytest.mark.parametrize("kernel", [Sigmoid(1.0, -1.0), Poly(1, 1.0, -1.0), Poly(3, 1.0, -1.0)], ids=str)
def test_no_claim_where_there_is_a_counterexample(kernel):
    origin = np.zeros((1, 2))
    assert kernel(origin, origin)[0, 0] < 0
    assert not kernel.positive_semidefinite


def test_which_kernels_claim_to_be_semidefinite():
    claimed = [
        k.positive_semidefinite for k in (Linear(), Poly(2), Poly(2, 1.0, -1.0), Rbf(1.0), Laplacian(1.0), Sigmoid(1.0))
    ]
    assert claimed == [True, True, False, True, True, False]
    assert not any(kernel.structured for kernel in KERNELS)


def exact_rbf(A: np.ndarray, B: np.ndarray, gamma: float) -> np.ndarray:
    gaps = A[:, None].astype(np.longdouble) - B[None].astype(np.longdouble)
    return np.exp(-gamma * (gaps**2).sum(-1)).astype(float)


@pytest.mark.parametrize("shift", [0.0, 1e6, 1e9, -1e12])
def test_rbf_survives_a_shift(shift, rng):
    A, B = rng.standard_normal((12, 4)) + shift, rng.standard_normal((15, 4)) + shift
    np.testing.assert_allclose(Rbf(0.5)(A, B), exact_rbf(A, B, 0.5), rtol=1e-12)


def test_a_shift_costs_no_time(rng, monkeypatch):
    """Centred points need no differences of pairs, which are slow; two far clusters do."""
    pairs = []
    monkeypatch.setattr("separatrix.kernels.distances.row_blocks", lambda count, *_: pairs.append(count) or [])
    X = rng.standard_normal((12, 4))
    Rbf(0.5)(X + 1e9, X + 1e9)
    assert pairs == []
    X[::2] += 1e9
    Rbf(0.5)(X, X)
    assert pairs == [2 * 6 * 6]  # the pairs within a cluster; those across are at zero whatever their digits


def test_rbf_survives_a_shift_in_float32(rng):
    A = (rng.standard_normal((12, 4)) * 100 + 1e5).astype(np.float32)
    np.testing.assert_allclose(Rbf(1e-4)(A, A[::-1].copy()), exact_rbf(A, A[::-1], 1e-4), rtol=1e-4)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("far", [1e5, 1e9, 1e15])
def test_rbf_of_two_far_clusters(storage, far, rng):
    """No centre is near both clusters: distances within them are lost unless they come from differences."""
    X = rng.standard_normal((20, 3))
    X[10:] += far
    K = Rbf(0.5)(storage(X), storage(X))
    np.testing.assert_allclose(K, exact_rbf(X, X, 0.5), rtol=1e-9, atol=0)
    np.testing.assert_allclose(Rbf(0.5)(storage(X[:7]), storage(X)), exact_rbf(X[:7], X, 0.5), rtol=1e-9, atol=0)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("far", [1e7, 1e12])
def test_laplacian_far_from_the_origin(storage, far, rng):
    X = rng.standard_normal((15, 3)) + far
    gaps = abs(X[:, None] - X[None]).sum(-1)
    np.testing.assert_allclose(Laplacian(0.5)(storage(X), storage(X[:9])), np.exp(-0.5 * gaps[:, :9]), rtol=1e-9)


@pytest.mark.parametrize("kernel", SPREAD, ids=str)
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_a_point_is_exactly_like_itself(kernel, storage, rng):
    X = storage(points(rng, 300, 40) * 100)
    K = kernel(X, X)
    assert (np.diagonal(K) == 1.0).all()
    assert (kernel.diagonal(X) == 1.0).all()
    assert K.max() == 1.0


@given(
    arrays(np.float64, (5, 3), elements=st.floats(-1e8, 1e8)),
    arrays(np.float64, (4, 3), elements=st.floats(-1e8, 1e8)),
    st.floats(1e-6, 1e3),
)
def test_rbf_against_differences(A, B, gamma):
    expected = exact_rbf(A, B, gamma)
    for K in (Rbf(gamma)(A, B), Rbf(gamma)(sparse.csr_array(A), sparse.csr_array(B))):
        np.testing.assert_allclose(K, expected, rtol=1e-8, atol=1e-300)
        assert (K <= 1).all()


@given(
    arrays(np.float64, (5, 3), elements=st.floats(-1e8, 1e8)),
    arrays(np.float64, (4, 3), elements=st.floats(-1e8, 1e8)),
    st.floats(1e-6, 1e3),
)
def test_laplacian_against_differences(A, B, gamma):
    gaps = abs(A[:, None].astype(np.longdouble) - B[None].astype(np.longdouble)).sum(-1)
    expected = np.exp(-gamma * gaps).astype(float)
    for K in (Laplacian(gamma)(A, B), Laplacian(gamma)(sparse.csr_array(A), sparse.csr_array(B))):
        np.testing.assert_allclose(K, expected, rtol=1e-8, atol=1e-300)


@pytest.mark.parametrize("kernel", [Linear(), Poly(2), Sigmoid(1e-305), Rbf(1.0)], ids=str)
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_overflow_is_an_error_that_says_what_to_do(kernel, storage):
    X = storage(np.array([[1e200, 1.0], [-1e200, 1e200]]))
    with pytest.raises(ValueError, match="scale the columns"):
        kernel(X, X)


def test_overflow_of_a_power_names_the_settings_to_lower():
    with pytest.raises(ValueError, match="lower gamma or degree"):
        Poly(20)(np.full((2, 2), 1e30), np.ones((2, 2)))
    with pytest.raises(ValueError, match="lower gamma or degree"):
        Poly(20).diagonal(np.full((2, 2), 1e30))
    with pytest.raises(ValueError, match="overflows float32"):
        Poly(3)(np.full((2, 2), 1e10, np.float32), np.full((2, 2), 1e10, np.float32))


@pytest.mark.parametrize("kernel", [Rbf(1e300), Laplacian(1e308)], ids=str)
def test_a_gamma_that_overflows_is_an_error(kernel):
    with pytest.raises(ValueError, match="lower gamma"):
        kernel(sparse.csr_array(np.eye(3) * 1e10), sparse.csr_array(np.eye(3) * 2e10))
    with pytest.raises(ValueError, match="lower gamma"):
        Rbf(1.5e308)(np.eye(3) * 1e-160, np.eye(3))
    with pytest.raises(ValueError, match="overflows float32"):
        Rbf(1e39)(np.eye(3, dtype=np.float32), np.zeros((2, 3), np.float32))


def test_saturation_is_not_overflow():
    big = np.array([[1e100], [-1e100]])
    np.testing.assert_array_equal(Sigmoid(1.0)(big, big), [[1.0, -1.0], [-1.0, 1.0]])
    # Distances beyond the range of exp, and even of float64, are similarities of zero.
    np.testing.assert_array_equal(Rbf(1.0)(big, big), np.eye(2))
    np.testing.assert_array_equal(Laplacian(1.0)(big * 1e208, big * 1e208), np.eye(2))


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_bad_points_are_named(kernel):
    good = np.ones((4, 3))
    bad = good.copy()
    bad[2, 1] = np.nan
    for storage in (np.asarray, sparse.csr_array):
        with pytest.raises(ValueError, match=r"\[2, 1\] is nan"):
            kernel(storage(bad), storage(good))
        with pytest.raises(ValueError, match=r"3 columns.* 2"):
            kernel(storage(good), storage(good[:, :2]))
    with pytest.raises(ValueError, match="one point per row"):
        kernel(np.ones(3), good)
    with pytest.raises(TypeError, match="Spectrum"):
        kernel(np.array([["a", "b"]]), good)
    with pytest.raises(TypeError, match="real numbers"):
        kernel(good * 1j, good)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_no_points_give_an_empty_matrix(kernel, storage):
    some, none = storage(np.ones((3, 2))), storage(np.empty((0, 2)))
    assert kernel(some, none).shape == (3, 0)
    assert kernel(none, some).shape == (0, 3)
    assert kernel.diagonal(none).shape == (0,)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_inputs_are_not_changed(kernel, rng):
    A, B = points(rng, 6), points(rng, 5)
    A.setflags(write=False)
    B.setflags(write=False)
    kernel(A, B)
    kernel.diagonal(A)
    S = sparse.csc_matrix(A)
    before = [part.copy() for part in (S.data, S.indices, S.indptr)]
    kernel(S, S)
    for part, was in zip((S.data, S.indices, S.indptr), before, strict=True):
        np.testing.assert_array_equal(part, was)
