"""C sum_i loss_i + 1/2 ‖w‖² (or ‖w‖₁) in float64, from what a contestant hands over and the data alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from benchmarks.problems import Problem

BLOCK = 500  # rows of the kernel matrix at a time


@dataclass(frozen=True)
class Weights:
    """Scores X coef' + intercept: one row of `coef` for two classes, else one each."""

    coef: np.ndarray
    intercept: np.ndarray


@dataclass(frozen=True)
class Expansion:
    """Scores sum_j coef_j k(x_j, x) + intercept over the support rows j."""

    support: np.ndarray
    coef: np.ndarray
    intercept: float


Solution = Weights | Expansion


def objective(problem: Problem, X: Any, y: np.ndarray, found: Solution) -> float:
    """The primal objective of the problem at what was found."""
    if isinstance(found, Expansion):
        scores = kernel_scores(X, problem.gamma, found)
        square = float(found.coef @ (scores - found.intercept)[found.support])
        return problem.C * float(np.maximum(0, 1 - y * scores).sum()) + 0.5 * square
    coef = np.asarray(found.coef, dtype=np.float64)
    scores = np.asarray(X @ coef.T) + np.asarray(found.intercept, dtype=np.float64)
    penalty = float(np.abs(coef).sum()) if problem.sparse else 0.5 * float((coef * coef).sum())
    return problem.C * float(losses(problem.task, y, scores).sum()) + penalty


def losses(task: str, y: np.ndarray, scores: np.ndarray) -> np.ndarray:
    if task == "softmax":
        return np.asarray(logsumexp(scores, axis=1) - scores[np.arange(len(y)), y])
    margins = y * scores[:, 0]
    if task == "logistic":
        return np.logaddexp(0, -margins)
    slack = np.maximum(0, 1 - margins)
    return slack if task == "hinge" else slack * slack


def kernel_scores(X: Any, gamma: float, found: Expansion) -> np.ndarray:
    """sum_j coef_j exp(-gamma ‖x_j - x_i‖²) + intercept for every row x_i."""
    X = X.toarray() if sparse.issparse(X) else X
    squares = (X * X).sum(axis=1)
    points, lengths = X[found.support], squares[found.support]

    def block(start: int) -> np.ndarray:
        rows = slice(start, start + BLOCK)
        distances = X[rows] @ points.T
        distances *= -2
        distances += squares[rows, None]
        distances += lengths
        np.maximum(distances, 0, out=distances)
        distances *= -gamma
        return np.asarray(np.exp(distances, out=distances) @ found.coef)

    with ThreadPoolExecutor(2) as threads:
        return np.concatenate(list(threads.map(block, range(0, len(X), BLOCK)))) + found.intercept
