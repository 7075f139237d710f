"""Kernels of CSR rows by their definitions: within their bounds, and without the rows being written out."""

import numpy as np
import pytest
from scipy import sparse

from separatrix import SVC
from separatrix.certificates import _kernels
from separatrix.certificates._data import EPS, TINY
from separatrix.certificates._kernels import gram

KERNELS = [
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 3, "gamma": 0.3, "coef0": 1.0},
    {"kernel": "sigmoid", "gamma": 0.1, "coef0": -0.5},
    {"kernel": "rbf", "gamma": 0.2},
    {"kernel": "laplacian", "gamma": 0.2},
]
named = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel["kernel"])


def rows(n, d, per, seed, scale=1.0):
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, d), density=per / d, format="csr", rng=rng)
    X.data[:] = scale * rng.normal(size=X.nnz)
    return X


def twice(X):
    """The same rows with each entry in two parts, and out of order."""
    out = sparse.csr_array(
        (
            np.concatenate([np.append(0.75 * part, 0.25 * part)[::-1] for part in np.split(X.data, X.indptr[1:-1])]),
            np.concatenate([np.append(part, part)[::-1] for part in np.split(X.indices, X.indptr[1:-1])]),
            2 * X.indptr,
        ),
        shape=X.shape,
    )
    assert not out.has_canonical_format
    return out


@named
@pytest.mark.parametrize("scale", [1.0, 1e3])  # of large entries differences are summed, not products
@pytest.mark.parametrize("make", [lambda X: X, twice])
def test_within_the_bound_on_rounding(kernel, scale, make):
    kernel = {**kernel, "gamma": kernel["gamma"] / scale} if "gamma" in kernel else kernel
    A, B = make(rows(15, 400, 12, 0, scale)), make(rows(9, 400, 7, 1, scale))
    B = sparse.vstack([B, A[:3], 1.01 * A[3:6]], format="csr")
    before = A.copy()
    with np.errstate(all="ignore"):
        K, size, rounded = gram(kernel, A, B)
        exact = gram(kernel, A.toarray(), B.toarray(), np.longdouble)[0]
        assert (np.abs(K - exact) <= rounded * EPS * size + TINY).all()
        assert (np.abs(exact) > 0.1).any()
    assert rounded < 100  # by the entries of a row, not by its 400 columns
    for kept, now in ((before.data, A.data), (before.indices, A.indices), (before.indptr, A.indptr)):
        assert np.array_equal(kept, now)


@pytest.mark.parametrize("kind", ["rbf", "laplacian"])
def test_squares_that_overflow_are_no_numbers_that_are_not(kind):
    A = rows(6, 50, 10, 0, 1e250)
    with np.errstate(all="ignore"):
        K, size, _ = gram({"kernel": kind, "gamma": 1.0}, A, A)
    assert np.array_equal(K, np.eye(6))
    assert np.isfinite(size).all()


@named
@pytest.mark.parametrize("scale", [1.0, 1e5])
def test_rows_are_not_written_out(kernel, scale, monkeypatch):
    written = _kernels.dense

    def small(x, *real):
        assert np.prod(x.shape) <= 100_000
        return written(x, *real)

    monkeypatch.setattr(_kernels, "dense", small)
    A = rows(30, 1_000_000, 10, 0, scale)
    assert gram(kernel, A, A[:20])[0].shape == (30, 20)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear"])
def test_a_machine_of_wide_sparse_rows_verifies(kernel):
    X = rows(60, 20_000, 15, 0)
    y = np.arange(60) % 2
    model = SVC(kernel=kernel, gamma=0.5).fit(X, y)
    assert model.status_.certified
    assert model.certificate_.verify(X, y)
    assert not model.certificate_.verify(X, 1 - y)


@named
def test_more_digits_are_kept(kernel):
    A = np.random.default_rng(0).normal(size=(5, 3))
    K, size, _ = gram(kernel, A, A, np.longdouble)
    assert K.dtype == size.dtype == np.longdouble
    double = K.astype(np.float64)
    assert np.finfo(np.longdouble).eps == EPS or (double != K).any()
