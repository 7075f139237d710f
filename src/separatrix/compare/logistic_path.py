"""The choice of C for logistic regression: a path of fits in three folds, each from the one before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import separatrix
from separatrix._typing import Array
from separatrix.compare.folds import stratified
from separatrix.compare.quiet import quietly
from separatrix.compare.tuning import FOLDS, likelihood_score, order_score, tuning_rows

PATH_ROWS = 10_000  # a path of C on more rows than these would choose the same C, later
FEWEST_ROWS = (
    2_000  # of a table of any shape: 18,821 texts in 20 classes get C = 100 from so few, where 3 to 10 is best
)
PATH_WORK = 20_000_000  # entries times classes that are scored in a pass: a path takes some 5 s on two cores
PATH_TOL = 1e-3  # of the fits: scores differ in the fourth digit, and take 3/4 of the time
CS = (1e-4, 1e-3, 1e-2, 0.1, 1.0)
LARGE_CS = (1.0, 10.0, 100.0)  # take longest: tried if 1 is the best of CS. In standard deviations, no larger C matters
SPARSE_CS = (2.0, 2_000.0)  # times the C up to which all weights are 0: ends of the values of C of an L1 penalty

Choice = dict[str, Any]
Score = Callable[[Any, Any, Array], float]


def path_rows(X: Any, k: int) -> int:
    """How many rows a path of C takes: fewer where each has many entries, or is scored for many classes."""
    entries = (X.nnz if hasattr(X, "nnz") else X.size) / X.shape[0]
    return int(np.clip(PATH_WORK / (max(entries, 1.0) * max(1, k - 1)), FEWEST_ROWS, PATH_ROWS))


def choose_logistic(X: Any, y: Array, seed: int, scoring: Score = likelihood_score, **params: Any) -> Choice:
    """By the likelihood of held-out rows, or another score."""
    rows = tuning_rows(y, path_rows(X, len(np.unique(y))), seed)
    y = y[rows]
    codes = np.unique(y, return_inverse=True)[1]
    if np.sort(np.bincount(codes))[-2] < 2:
        return {"C": 1.0}
    X = X[rows]
    cv = stratified(codes, FOLDS, seed)  # shuffled: tables are often sorted by something that matters

    def best_of(Cs: tuple[float, ...]) -> float:
        with quietly():
            path = separatrix.LogisticRegressionCV(Cs=Cs, cv=cv, scoring=scoring, tol=PATH_TOL, **params).fit(X, y)
        return float(path.C_)

    if "l1_ratios" in params:
        return {"C": best_of(sparse_Cs(X, y))}
    best = best_of(CS)
    return {"C": best_of(LARGE_CS) if best == CS[-1] else best}


def choose_balanced(X: Any, y: Array, seed: int) -> Choice:
    """By the order of held-out rows, classes balanced."""
    return choose_logistic(X, y, seed, order_score, class_weight="balanced")


def choose_sparse(X: Any, y: Array, seed: int) -> Choice:
    """With an L1 penalty."""
    return choose_logistic(X, y, seed, l1_ratios=(1.0,))


def sparse_Cs(X: Any, y: Array) -> tuple[float, ...]:
    """Powers of ten, so that folds may choose the same, from where the first columns have come in."""
    low, high = (factor / steepest(X, y) for factor in SPARSE_CS)
    return tuple(float(f"1e{power}") for power in range(int(np.ceil(np.log10(low))), int(np.floor(np.log10(high))) + 1))


def steepest(X: Any, y: Array) -> float:
    """max over classes k and columns j of |sum_i (t_ik - mean_k) x_ij|, t_ik being 1 for the rows of class k.

    Up to C = 1 / it an L1 penalty leaves all weights at 0. It is 1 for columns that say nothing.
    """
    T = (y[:, None] == np.unique(y)).astype(np.float64)
    return float(np.abs(X.T @ (T - T.mean(axis=0))).max()) or 1.0
