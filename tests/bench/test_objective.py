"""The referee: objectives evaluated outside all contestants, against hand computations."""

import numpy as np
import pytest
from scipy import sparse

from benchmarks.objective import Expansion, Weights, objective
from benchmarks.problems import Problem, Source

NOTHING = Source("nothing", lambda scale: (None, np.empty(0)))
X = np.array([[1.0, 0.0], [0.0, 2.0], [-1.0, 1.0]])
Y = np.array([1, -1, -1])
COEF, INTERCEPT = np.array([[0.5, -1.0]]), np.array([0.25])
MARGINS = np.array([0.75, 1.75, 1.25])  # y (w.x + b) by hand


@pytest.mark.parametrize(
    ("task", "loss"),
    [
        ("logistic", np.log(1 + np.exp(-MARGINS)).sum()),
        ("hinge", 0.25),
        ("squared hinge", 0.0625),
    ],
)
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_two_classes(task, loss, storage):
    problem = Problem("by hand", task, NOTHING, C=3.0)
    assert objective(problem, storage(X), Y, Weights(COEF, INTERCEPT)) == pytest.approx(3 * loss + 0.625, rel=1e-14)


def test_softmax():
    W, b, y = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, -1.0]]), np.array([0.0, 0.5, -0.5]), np.array([0, 1, 2])
    scores = X @ W.T + b
    by_hand = sum(-np.log(np.exp(s[c]) / np.exp(s).sum()) for s, c in zip(scores, y, strict=True))
    problem = Problem("by hand", "softmax", NOTHING, C=2.0)
    assert objective(problem, X, y, Weights(W, b)) == pytest.approx(2 * by_hand + 0.5 * 7.0, rel=1e-14)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_gaussian_kernel(storage):
    k01, k02, k12 = np.exp(-0.1 * 5), np.exp(-0.1 * 5), np.exp(-0.1 * 2)  # squared distances 5, 5 and 2
    a, b = 0.5, -0.25  # of the rows 0 and 2
    scores = np.array([a + b * k02, a * k01 + b * k12, a * k02 + b]) + 0.1
    by_hand = 2 * np.maximum(0, 1 - Y * scores).sum() + 0.5 * (a * a + 2 * a * b * k02 + b * b)
    problem = Problem("by hand", "rbf", NOTHING, C=2.0, gamma=0.1)
    found = Expansion(np.array([0, 2]), np.array([a, b]), 0.1)
    assert objective(problem, storage(X), Y, found) == pytest.approx(by_hand, rel=1e-14)
