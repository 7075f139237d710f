"""Generated data, from fixed random numbers: the same on every machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

Data = tuple[Any, np.ndarray]  # rows (an array or a CSR matrix with 32-bit indices) and labels


def independent(n: int, d: int) -> Data:
    """Independent normal columns; y = the sign of a score of standard deviation 3 or so and a logistic error.

    The easiest rows there are for a method that only follows gradients: the Hessian is nearly a multiple of 1.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.where(3 / np.sqrt(d) * X @ rng.normal(size=d) + rng.logistic(size=n) > 0, 1, -1)


def dense(n: int, d: int) -> Data:
    """Columns as tables have them: correlated, by ten common factors; y as above."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) + 0.5 * rng.normal(size=(n, 10)) @ rng.normal(size=(10, d))
    return X, np.where(3 / np.sqrt(d) * X @ rng.normal(size=d) + rng.logistic(size=n) > 0, 1, -1)


def units(n: int, d: int) -> Data:
    """The same, in units from 0.1 to 10."""
    X, y = dense(n, d)
    return X * 10 ** np.random.default_rng(1).uniform(-1, 1, size=d), y


def microarray(n: int, d: int) -> Data:
    """Few rows of many correlated columns, of which twenty matter."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) + 0.7 * rng.normal(size=(n, 20)) @ rng.normal(size=(20, d)) / np.sqrt(20)
    return X, np.where(X[:, :20] @ rng.normal(size=20) + rng.logistic(size=n) > 0, 1, -1)


def sparse_truth(n: int, d: int) -> Data:
    """Correlated columns, of which three of ten matter."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) + 0.5 * rng.normal(size=(n, 10)) @ rng.normal(size=(10, d))
    weights = rng.normal(size=d) * (rng.random(d) < 0.3)
    return X, np.where(X @ weights / np.sqrt(d) + rng.logistic(size=n) > 0, 1, -1)


def classes(n: int, d: int, k: int) -> Data:
    """y = the largest of k scores of normal columns, with Gumbel noise: softmax is the true model."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.argmax(X @ rng.normal(size=(d, k)) * 0.5 + rng.gumbel(size=(n, k)), axis=1)


def words(n: int, d: int, length: int) -> sparse.csr_matrix:
    """n documents of `length` words, the j-th most frequent of d with the probability ~ 1/(j + 10): their counts."""
    rng = np.random.default_rng(0)
    frequency = np.cumsum(1 / (np.arange(d) + 10.0))
    drawn = np.searchsorted(frequency, rng.random(n * length) * frequency[-1]).astype(np.int32)
    counts = sparse.csr_matrix((np.ones(n * length), drawn, np.arange(0, n * length + 1, length)), shape=(n, d))
    counts.sum_duplicates()
    return small_indices(counts)


def text(n: int, d: int, length: int) -> Data:
    """tf-idf rows of length 1, and labels of a hyperplane with noise."""
    rng = np.random.default_rng(1)
    X = weighted(words(n, d, length))
    scores = X @ rng.normal(size=d)
    return X, np.where(scores + 0.3 * scores.std() * rng.normal(size=n) > 0, 1, -1)


def weighted(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """tf-idf: counts times log(n / (rows that have the word)), then each row divided by its length."""
    n, d = counts.shape
    idf = np.log(n / np.maximum(np.bincount(counts.indices, minlength=d), 1))
    X = sparse.csr_matrix((counts.data * idf[counts.indices], counts.indices, counts.indptr), shape=counts.shape)
    length = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data /= np.repeat(np.where(length > 0, length, 1), np.diff(X.indptr))
    return X


def counted(n: int, d: int, length: int) -> Data:
    """Word counts, and labels of a hyperplane with noise."""
    rng = np.random.default_rng(1)
    X = words(n, d, length)
    scores = X @ rng.normal(size=d)
    return X, np.where(scores + scores.std() * rng.normal(size=n) > scores.mean(), 1, -1)


def rare(n: int, d: int, nonzero: int) -> Data:
    """Rows with one normal entry in each of `nonzero` groups of columns, and labels of a hyperplane with noise."""
    rng = np.random.default_rng(0)
    group = d // nonzero
    columns = rng.integers(group, size=(n, nonzero)) + np.arange(nonzero) * group
    start = np.arange(0, n * nonzero + 1, nonzero, dtype=np.int32)
    X = sparse.csr_matrix((rng.normal(size=n * nonzero), columns.ravel().astype(np.int32), start), shape=(n, d))
    scores = X @ rng.normal(size=d)
    return X, np.where(scores + scores.std() * rng.normal(size=n) > 0, 1, -1)


def one_hot(n: int, d: int, categories: int) -> Data:
    """Columns of zeros and ones for `categories` columns of labels, the j-th most frequent of each ~ 1/j."""
    rng = np.random.default_rng(0)
    sizes = np.full(categories, d // categories) + (np.arange(categories) < d % categories)
    starts = np.cumsum(sizes) - sizes
    drawn = [rng.choice(size, n, p=(1 / np.arange(1, size + 1)) / (1 / np.arange(1, size + 1)).sum()) for size in sizes]
    columns = (np.column_stack(drawn) + starts).ravel().astype(np.int32)
    first = np.arange(0, n * categories + 1, categories, dtype=np.int32)
    X = sparse.csr_matrix((np.ones(n * categories), columns, first), shape=(n, d))
    scores = X @ rng.normal(size=d)
    return X, np.where(scores + rng.logistic(size=n) > scores.mean(), 1, -1)


def blobs(n: int, d: int) -> Data:
    """Four clusters a class in ten of the columns, standardised, and 2% of the labels flipped."""
    from sklearn.datasets import make_classification

    X, y = make_classification(
        n, d, n_informative=10, n_redundant=0, n_clusters_per_class=4, flip_y=0.02, random_state=0
    )
    return (X - X.mean(axis=0)) / X.std(axis=0), np.where(y > 0, 1, -1)


def sided(n: int, d: int, separable: bool) -> Data:
    """Normal columns, each row 0.05 or more from a hyperplane on its own side, or labelled with much noise."""
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(n, d)), rng.normal(size=d)
    scores = X @ w + 0.3
    if not separable:
        return X, np.where(scores + 3 * rng.logistic(size=n) > 0, 1, -1)
    y = np.where(scores > 0, 1, -1)
    X += np.outer(0.05 * y, w / np.linalg.norm(w))
    return X, y


def small_indices(X: sparse.csr_matrix) -> sparse.csr_matrix:
    """The same matrix with 32-bit indices, sorted: what every contestant takes."""
    X.sort_indices()
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X
