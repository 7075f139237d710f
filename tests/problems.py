"""Problems that several tests share. Where an answer is stated, it was worked out by hand or from the definition."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Problem:
    """Rows, labels, and the hyperplane that one named method must find on them."""

    X: np.ndarray
    y: np.ndarray
    w: np.ndarray
    b: float


def four_corners():
    """Class means (0, 1) and (4, 1): their bisector is x = 2, that is 4 x - 8 = 0."""
    X = np.array([[0.0, 0.0], [0.0, 2.0], [4.0, 0.0], [4.0, 2.0]])
    return Problem(X, np.array([0, 0, 1, 1]), np.array([4.0, 0.0]), -8.0)


def staircase():
    """x = 0, 1, 2, 3 with signs -, -, +, +: slope sum (x - 1.5) y / sum (x - 1.5)² = 4 / 5, through (1.5, 0)."""
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    return Problem(X, np.array([0, 0, 1, 1]), np.array([0.8]), -1.2)


def xor():
    """No hyperplane separates it, both class means are the centre, and least squares finds w = 0."""
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    return Problem(X, np.array([0, 0, 1, 1]), np.array([0.0, 0.0]), 0.0)


def noisy(n=60, d=3, k=2, seed=0):
    """Normal noise with noisy linear labels 0..k-1: nothing is separable, nothing is degenerate."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = X @ rng.normal(size=d) + rng.normal(size=n)
    return X, np.searchsorted(np.quantile(score, np.arange(1, k) / k), score)


def islands(k=2, n=40, d=3, seed=0):
    """k classes far apart, each on a grid of quarters from 0 up: any learner certifies itself on them.

    The entries are whole multiples of 1/4 below 64, so float32 holds them, sums are exact, and counts are positive.
    """
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    X = rng.integers(0, 17, size=(n, d)) / 4.0
    X[np.arange(n), y % d] += 12.0
    X[y >= d] += 24.0
    return X, y


def counts(n=80, d=4, k=2, seed=0):
    """Small whole numbers whose rates differ between the classes; none is zero throughout a class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    X = rng.poisson(np.exp(rng.normal(size=(k, d)))[y]).astype(float)
    X[:k] += 1.0
    return X, y


def bits(n=80, d=4, k=2, seed=0):
    """0s and 1s whose probabilities differ between the classes; both occur in every class and column."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    X = (rng.random((n, d)) < rng.uniform(0.2, 0.8, size=(k, d))[y]).astype(float)
    X[:k], X[k : 2 * k] = 0.0, 1.0
    return X, y


def with_condition(n, d, condition, seed=0):
    """A matrix with singular values from 1 down to 1/condition, in random directions; and noisy labels."""
    rng = np.random.default_rng(seed)
    m = min(n, d)
    U, _ = np.linalg.qr(rng.normal(size=(n, m)))
    V, _ = np.linalg.qr(rng.normal(size=(d, m)))
    X = U * np.geomspace(1.0, 1.0 / condition, m) @ V.T * np.sqrt(n)
    return X, (rng.random(n) < 0.5).astype(int)
