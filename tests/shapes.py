"""Rows of every shape, each with its own route through the solvers, and classifiers set to be quick on them."""

import inspect

import numpy as np
import pytest
from scipy import sparse

import separatrix

# what keeps a fit short: rows and columns that suffice to reach every route, and few iterations
MOST = {
    "SVC": (1200, 2000, {}),
    "KernelPerceptron": (1200, 2000, {"max_iter": 2}),
    "HardMarginSVC": (300, 2000, {}),
    "MinimumErrorClassifier": (40, 50, {"max_nodes": 20}),
    "LogisticRegressionCV": (14_000, 300, {"Cs": 2, "cv": 2}),
    "LinearSVC": (None, 2000, {}),
    "Perceptron": (None, None, {"max_iter": 3}),
    "CategoricalNB": (None, None, {"min_categories": 8}),
    "PocketPerceptron": (14_000, None, {"max_iter": 1}),
    "Kozinec": (None, None, {"max_iter": 3}),
    "Cascade": (14_000, 300, {"hidden": 2, "n_init": 1, "max_iter": 10}),
}


def dense(n, d, k, far):
    rng = np.random.default_rng(n + d)
    y = rng.integers(0, k, size=n)
    y[:k] = range(k)
    X = rng.normal(size=(n, d))
    X[:, :k] += far * np.eye(k)[y]
    return X, y


def words(n, d, per_row, far):
    """Rows of few entries each, of columns from frequent to rare."""
    rng = np.random.default_rng(n + d)
    y = rng.integers(0, 2, size=n)
    y[:2] = range(2)
    columns = np.minimum((d * rng.random((n, per_row)) ** 2).astype(int), d - 1)
    columns[:, 0] = y
    entries = rng.random((n, per_row)) + 0.5
    entries[:, 0] += far
    X = sparse.csr_array((entries.ravel(), (np.repeat(np.arange(n), per_row), columns.ravel())), shape=(n, d))
    X.sum_duplicates()
    return X, y


SHAPES = {
    "tiny": lambda most_n, most_d, far: dense(30, 4, 2, far),
    "tall": lambda most_n, most_d, far: dense(min(30_000, most_n), 20, 2, far),  # 4.8 MB: several chunks
    "wide": lambda most_n, most_d, far: dense(40, min(1500, most_d), 2, far),
    "sparse tall": lambda most_n, most_d, far: words(min(15_000, most_n), min(200, most_d), 25, far),  # 4.5 MB
    "sparse wide": lambda most_n, most_d, far: words(min(700, most_n), min(8000, most_d), 30, far),
    "multi-class": lambda most_n, most_d, far: dense(min(2000, most_n), 8, 4, far),
}

LARGE = ("tall", "sparse tall", "sparse wide", "multi-class")  # minutes of the contract: in a step of their own
EVERY_SHAPE = [pytest.param(shape, marks=pytest.mark.long) if shape in LARGE else shape for shape in SHAPES]


def problem(name, shape):
    """The classifier, and rows and labels of a shape; far enough apart for one that needs it."""
    rows, columns, settings = MOST.get(name, (None, None, {}))
    estimator = getattr(separatrix, name)
    if "random_state" in inspect.signature(estimator).parameters:
        settings = {**settings, "random_state": 0}
    X, y = SHAPES[shape](rows or np.inf, columns or np.inf, 30.0 if name == "HardMarginSVC" else 1.5)
    if name in ("ComplementNB", "MultinomialNB", "PoissonNB"):
        X = abs(X)
    elif name == "CategoricalNB":
        X = abs(X).floor() if sparse.issparse(X) else np.floor(abs(X))
    return estimator(**settings), X, y
