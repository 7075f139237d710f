"""Rows and blocks of a kernel matrix equal the matrix, for every kind of kernel, in bounded memory."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse

from separatrix.kernels import (
    FromFunction,
    Graph,
    KernelRows,
    Laplacian,
    Linear,
    Poly,
    Precomputed,
    Rbf,
    Sigmoid,
    Spectrum,
    WeisfeilerLehman,
)


def vectors(n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 6)) * (rng.random((n, 6)) < 0.7)


def words(n: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list("ACGT"), rng.integers(0, 12))) for _ in range(n)]


def trees(n: int, seed: int) -> list[Graph]:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 8, n)
    return [Graph([(i, int(rng.integers(i))) for i in range(1, s)], rng.integers(0, 3, s)) for s in sizes]


def csr(n: int, seed: int) -> sparse.csr_array:
    return sparse.csr_array(vectors(n, seed))


def product(A, B):
    return A @ B.T


CASES = {
    f"{type(kernel).__name__} {make.__name__}": (kernel, make)
    for make in (vectors, csr)
    for kernel in (Linear(), Poly(2, 0.5, 1.0), Rbf(0.3), Laplacian(0.3), Sigmoid(0.2), FromFunction(product))
} | {
    f"{kernel}": (kernel, make)
    for make, kernels in {
        words: (Spectrum(1), Spectrum(3), Spectrum(2, normalize=True)),
        trees: (WeisfeilerLehman(2), WeisfeilerLehman(1, normalize=True)),
    }.items()
    for kernel in kernels
}
N, M = 23, 17


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def case(request):
    """Kernel, training points, new points, K(training, training), K(new, training)."""
    kernel, make = request.param
    X, new = make(N, 1), make(M, 2)
    return kernel, X, new, kernel(X, X), kernel(new, X)


def near(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-13)


def test_rows_and_blocks_are_those_of_the_matrix(case):
    kernel, X, _, full, _ = case
    rows = KernelRows(kernel, X)
    assert rows.n == N
    index = np.array([4, 22, 0, 4])
    near(rows.rows(index), full[index])
    near(rows.rows(slice(3, 9)), full[3:9])
    near(rows.rows(np.arange(N) % 2 == 0), full[::2])
    near(rows.rows(5), full[[5]])
    assert rows.rows([]).shape == (0, N)
    columns = np.array([0, 7, 22, 4, 7])
    near(rows.block(index, columns), full[np.ix_(index, columns)])
    near(rows.diagonal(), np.diagonal(full))
    near(rows.diagonal(), kernel.diagonal(X))


def test_the_diagonal_agrees_to_the_last_digit(case):
    kernel, X, *_ = case
    rows = KernelRows(kernel, X)
    index = np.array([4, 22, 0, 4])
    diagonal = rows.diagonal()
    np.testing.assert_array_equal(rows.rows(index)[np.arange(4), index], diagonal[index])
    np.testing.assert_array_equal(np.diagonal(rows.block(index, index)), diagonal[index])
    assert rows.block(index, index)[0, 3] == diagonal[4]


@pytest.mark.parametrize("budget", [1, 700, 8 * 2**20])
def test_new_points_come_in_bounded_blocks(case, budget, monkeypatch):
    kernel, X, new, _, expected = case
    monkeypatch.setattr("separatrix.kernels.blocks.BLOCK_BYTES", budget)
    for index in (None, np.array([20, 3, 3]), np.array([], dtype=int)):
        wanted = expected if index is None else expected[:, index]
        seen = []
        for block, K in KernelRows(kernel, X).against(new, index):
            assert K.nbytes <= budget or len(K) == 1
            near(K, wanted[block])
            assert len(K) == block.stop - block.start
            seen.extend(range(block.start, block.stop))
        assert seen == list(range(M))
    if budget == 700:
        # Full width, the blocks are really several, and no more than needed.
        assert len(list(KernelRows(kernel, X).against(new))) == -(-M // (700 // (8 * N)))


def test_calling_a_kernel_is_blocked_too(case, monkeypatch):
    kernel, X, new, full, expected = case
    monkeypatch.setattr("separatrix.kernels.blocks.BLOCK_BYTES", 700)
    asked = []
    gram = type(kernel).gram
    monkeypatch.setattr(type(kernel), "gram", lambda self, P, Q: asked.append(len(P)) or gram(self, P, Q))
    near(kernel(X, X), full)
    near(kernel(new, X), expected)
    diagonal = 1 if isinstance(kernel, FromFunction) else 0  # it has no formula for its diagonal
    assert len(asked) == 8 + diagonal + 6
    assert max(n for n in asked if n != N) <= 3


@pytest.mark.parametrize("kernel", [Rbf(0.3), Laplacian(0.3), Linear()], ids=str)
def test_sparse_points_against_dense_training_points_and_back(kernel):
    X, new = vectors(N, 1), vectors(M, 2)
    expected = kernel(new, X)
    near(np.vstack([K for _, K in KernelRows(kernel, X).against(sparse.csr_array(new))]), expected)
    near(np.vstack([K for _, K in KernelRows(kernel, sparse.csr_array(X)).against(new)]), expected)


def test_blocks_stay_bounded_when_points_are_wider_than_many(monkeypatch):
    """Two training points of 500 columns: a block of new points is held dense, so its width counts."""
    monkeypatch.setattr("separatrix.kernels.blocks.BLOCK_BYTES", 8 * 500 * 4)
    X = np.random.default_rng(0).standard_normal((30, 500))
    assert {len(K) for _, K in KernelRows(Rbf(0.01), X[:2]).against(sparse.csr_array(X))} == {4, 2}
    asked = []
    gram = Rbf.gram
    monkeypatch.setattr(Rbf, "gram", lambda self, P, Q: asked.append(len(P)) or gram(self, P, Q))
    Rbf(0.01)(sparse.csr_array(X), X[:2])
    assert set(asked) == {4, 2}


def test_precision_of_what_is_returned(case):
    kernel, X, new, full, expected = case
    rows = KernelRows(kernel, X, dtype=np.float32)
    for K, wanted in ((rows.rows([1, 2]), full[[1, 2]]), (rows.diagonal(), np.diagonal(full))):
        assert K.dtype == np.float32
        np.testing.assert_allclose(K, wanted, rtol=1e-6)
    for block, K in rows.against(new):
        assert K.dtype == np.float32
        np.testing.assert_allclose(K, expected[block], rtol=1e-6)
    if isinstance(X, np.ndarray):
        assert KernelRows(kernel, X.astype(np.float32)).rows([0]).dtype == np.float32
        # New points are brought to the precision of the training points.
        single = KernelRows(kernel, X.astype(np.float32))
        assert {K.dtype for _, K in single.against(new)} == {np.dtype(np.float32)}


def test_what_is_returned_may_be_overwritten(case):
    kernel, X, new, full, expected = case
    rows = KernelRows(kernel, X)
    for K in (
        rows.rows([1, 2]),
        rows.block([1], [1, 2]),
        rows.diagonal(),
        *(K for _, K in rows.against(new)),
    ):
        K[...] = 7.0
    near(rows.rows(slice(None)), full)
    near(np.vstack([K for _, K in rows.against(new)]), expected)
    near(kernel(X, X), full)


def test_work_on_the_points_is_done_once(monkeypatch):
    """Strings are split when the rows are built, and never again."""
    rows = KernelRows(Spectrum(2), words(N, 1))
    monkeypatch.setattr(Spectrum, "parts", None)
    rows.rows([0, 1])
    rows.block([0], [1])
    rows.diagonal()


def test_no_training_points():
    """A perceptron that made no mistake has no support: every sum over it is empty."""
    new = vectors(M, 2)
    for kernel in (Linear(), Rbf(0.3), Laplacian(0.3), FromFunction(product)):
        assert [K.shape for _, K in KernelRows(kernel, np.empty((0, 6))).against(new)] == [(M, 0)]
    assert [K.shape for _, K in KernelRows(Spectrum(2), []).against(words(M, 2))] == [(M, 0)]


def test_can_be_pickled(case):
    kernel, X, _, full, _ = case
    near(pickle.loads(pickle.dumps(KernelRows(kernel, X))).rows([3]), full[[3]])


def test_new_points_must_fit():
    with pytest.raises(ValueError, match="5 columns"):
        list(KernelRows(Rbf(1.0), vectors(N, 1)).against(vectors(M, 2)[:, :5]))
    with pytest.raises(TypeError, match="element 0"):
        KernelRows(Spectrum(2), words(N, 1)).against([3])  # at once, not when the blocks are asked for
    assert isinstance(KernelRows(Precomputed(), np.eye(3)).kernel, Precomputed)


PLAIN = [Linear(), Poly(0, 0.5, 1.0), Poly(3, 0.5, 1.0), Rbf(0.3), Sigmoid(0.2)]


@pytest.mark.parametrize("kernel", PLAIN, ids=str)
def test_a_few_plain_rows_take_a_short_way_to_the_same_values(kernel, monkeypatch):
    rows, new = KernelRows(kernel, vectors(40, 1)), vectors(3, 2)
    expected = kernel(new, vectors(40, 1))
    monkeypatch.setattr(type(kernel), "check", None)  # the long way is closed
    ((block, K),) = rows.against(new)
    assert block == slice(0, 3)
    np.testing.assert_allclose(K, expected, rtol=1e-12, atol=1e-14)
    index = np.array([7, 2])
    ((_, K),) = rows.against(new, index)
    np.testing.assert_allclose(K, expected[:, index], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kernel", PLAIN, ids=str)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_the_short_way_is_not_for_rows_that_are_not_finite(kernel, value):
    rows, new = KernelRows(kernel, vectors(40, 1)), vectors(3, 2)
    new[1, 4] = value
    with np.errstate(all="raise"), pytest.raises(ValueError, match=r"X\[1, 4\] is"):
        list(rows.against(new))


@pytest.mark.parametrize("far", [1e4, 1e8, 1e140])
def test_the_short_way_is_not_for_rows_whose_distance_would_lose_digits(far):
    old = vectors(40, 1)
    old[7] += far
    new = old[7:8] + np.array([[0.5, 0, 0, 0, 0, 0]])
    ((_, K),) = KernelRows(Rbf(0.3), old).against(new)
    np.testing.assert_allclose(K[0, 7], np.exp(-0.3 * np.sum((new[0] - old[7]) ** 2)), rtol=1e-9)


def test_some_points_of_the_matrix_beside_others(case):
    kernel, X, _, _, _ = case
    rows = KernelRows(kernel, X)
    index = np.array([5, 2, 11])
    some, others = rows.only(index), rows.only([0, 7])
    assert (some.n, others.n) == (3, 2)
    near(some.beside(others), rows.block(index, [0, 7]))
    np.testing.assert_array_equal(some.diagonal(), rows.diagonal()[index])
    near(some.only([2, 0]).rows(slice(None)), rows.block([11, 5], [11, 5]))
