"""Precomputed kernels: shapes, symmetry, and rows by position."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from separatrix.kernels import KernelRows, Precomputed, PrecomputedColumns


@pytest.fixture
def K() -> np.ndarray:
    X = np.random.default_rng(2).standard_normal((9, 4))
    return X @ X.T


@pytest.fixture
def new() -> np.ndarray:
    return np.random.default_rng(3).standard_normal((5, 9))


def predicted(rows: KernelRows, points, index=None) -> np.ndarray:
    return np.vstack([K for _, K in rows.against(points, index)])


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array, sparse.coo_matrix])
def test_points_are_positions(K, new, storage):
    rows = KernelRows(Precomputed(), storage(K))
    assert rows.n == 9
    np.testing.assert_array_equal(rows.rows([4, 0, 4]), K[[4, 0, 4]])
    np.testing.assert_array_equal(rows.block([7, 2], [1, 2, 3]), K[np.ix_([7, 2], [1, 2, 3])])
    np.testing.assert_array_equal(rows.diagonal(), np.diagonal(K))
    np.testing.assert_array_equal(predicted(rows, storage(new)), new)
    np.testing.assert_array_equal(predicted(rows, storage(new), [8, 3]), new[:, [8, 3]])
    np.testing.assert_array_equal(Precomputed()(storage(new), storage(K)), new)
    np.testing.assert_array_equal(Precomputed().diagonal(storage(K)), np.diagonal(K))


def test_what_is_returned_is_not_the_users_matrix(K, new):
    k_before, new_before = K.copy(), new.copy()
    rows = KernelRows(Precomputed(), K)
    returned = [rows.rows(slice(None)), rows.block([0], [1]), rows.diagonal()]
    returned += [block for _, block in rows.against(new)]
    returned += [block for _, block in rows.against(new, slice(None))]
    for matrix in returned:
        matrix += 1.0
    np.testing.assert_array_equal(K, k_before)
    np.testing.assert_array_equal(new, new_before)


def test_columns_alone_are_enough_to_predict(new):
    rows = KernelRows(Precomputed(), PrecomputedColumns(np.array([6, 1]), n=9))
    assert rows.n == 2
    np.testing.assert_array_equal(predicted(rows, new), new[:, [6, 1]])
    np.testing.assert_array_equal(predicted(rows, new, [1]), new[:, [1]])
    for asked in (lambda: rows.rows([0]), rows.diagonal):
        with pytest.raises(ValueError, match="matrix was not kept"):
            asked()
    with pytest.raises(ValueError, match="9 columns, got 8"):
        predicted(rows, new[:, :8])
    with pytest.raises(ValueError, match="numbered 0 to 8"):
        KernelRows(Precomputed(), PrecomputedColumns(np.array([9]), n=9))


def test_shapes(K, new):
    with pytest.raises(ValueError, match=r"square matrix .* got shape \(5, 9\)"):
        KernelRows(Precomputed(), new)
    rows = KernelRows(Precomputed(), K)
    with pytest.raises(ValueError, match=r"trained on 9 points: .* 9 columns, got 8"):
        predicted(rows, new[:, :8])
    with pytest.raises(ValueError, match="must be a matrix"):
        KernelRows(Precomputed(), K[0])
    K[1, 2] = K[2, 1] = np.inf
    with pytest.raises(ValueError, match=r"the kernel matrix\[1, 2\] is inf"):
        KernelRows(Precomputed(), K)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_asymmetry_is_stated(K, storage, monkeypatch):
    monkeypatch.setattr("separatrix.kernels.blocks.BLOCK_BYTES", 200)  # in blocks of two rows
    K[7, 1] = K[1, 7] + 0.25
    K[2, 3] = K[3, 2] - 0.125
    with pytest.raises(ValueError, match=r"\|K\[i, j\] - K\[j, i\]\| is 0\.25,"):
        KernelRows(Precomputed(), storage(K))


def test_rounding_is_no_asymmetry(K):
    K[7, 1] *= 1 + 1e-12
    KernelRows(Precomputed(), K)
    single = K.astype(np.float32)
    single[7, 1] *= np.float32(1 + 1e-6)
    assert KernelRows(Precomputed(), single).rows([7]).dtype == np.float32


def test_claims_nothing():
    assert not Precomputed().positive_semidefinite
    assert not Precomputed().structured
