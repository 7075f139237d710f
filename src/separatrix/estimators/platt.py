"""Probabilities of a machine's scores: sigma(a f + c) for each pair of classes, then one distribution for all pairs.

Platt's sigmoid is fitted to scores of points that the machine has not learned from: 5 folds, the same for every fit (as
many as the rarest class has points, if these are fewer).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.metaestimators import _safe_split

from separatrix._typing import Array, Floats
from separatrix.estimators.logistic import LogisticRegression

FOLDS = 5  # as scikit-learn and libsvm have


def divisible(X: Any) -> Any:
    """The same points, as something of which some can be taken."""
    if sparse.issparse(X):
        return X.tocsr()
    return X if isinstance(X, Sequence) or hasattr(X, "shape") else np.asarray(X)


def sigmoids(machine: Any, X: Any, y: Array, weight: Floats) -> Floats:
    """(pairs, 2) numbers a and c: of the points of two classes, P(the pair's positive class | f) = sigma(a f + c).

    The positive class is the second of two, and the first of each pair of more, as in the machine's scores.
    """
    rows = np.flatnonzero(weight)
    labels, codes = np.unique(y[rows], return_inverse=True)
    counts = np.bincount(codes)
    pairs = list(combinations(range(len(labels)), 2))
    scores = np.empty((len(rows), len(pairs)))
    if counts.min() < 2:  # a class of one point cannot be left out: the scores of the machine itself must do
        points, _ = _safe_split(machine, X, y, rows, np.arange(len(y)))
        scores[:] = machine._pair_scores(points)
        splits: Any = ()
    else:
        splits = StratifiedKFold(min(FOLDS, int(counts.min()))).split(codes, codes)
    for train, test in splits:
        part = clone(machine).set_params(probability=False, decision_function_shape="ovo", break_ties=False)
        points, known = _safe_split(part, X, y, rows[train])
        others, _ = _safe_split(part, X, y, rows[test], rows[train])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a fold's machine is thrown away
            part.fit(points, known, weight[rows[train]])
        scores[test] = part.decision_function(others).reshape(len(test), len(pairs))
    found = []
    for column, (first, second) in enumerate(pairs):
        of_pair = (codes == first) | (codes == second)
        positive = codes[of_pair] == (second if len(pairs) == 1 else first)
        found.append(_sigmoid(scores[of_pair, column], positive, weight[rows[of_pair]]))
    return np.array(found)


def _sigmoid(scores: Floats, positive: Array, weight: Floats) -> Floats:
    """The most likely a and c, with Platt's targets: (m + 1) / (m + 2) instead of 1, m the weight of the class.

    A row of target t is one of class 1 with weight t, and one of class 0 with weight 1 - t.
    """
    of_1, of_0 = weight[positive].sum(), weight[~positive].sum()
    target = np.where(positive, (of_1 + 1) / (of_1 + 2), 1 / (of_0 + 2))
    rows = np.concatenate([scores, scores])[:, None]
    labels = np.repeat([1, 0], len(scores))
    model = LogisticRegression(C=np.inf).fit(rows, labels, np.concatenate([weight * target, weight * (1 - target)]))
    return np.array([model.coef_[0, 0], model.intercept_[0]])


def probabilities(scores: Floats, found: Floats, k: int) -> Floats:
    """(n, k) probabilities of points with these scores of the pairs.

    Of more than two classes, argmin over p of sum_{a<b} (r_ba p_a - r_ab p_b)² with sum p = 1, r_ab being P(a | a or
    b) (Wu, Lin, Weng 2004): a linear system for each point.
    """
    r = expit(scores * found[:, 0] + found[:, 1])
    if k == 2:
        return np.column_stack([expit(-(scores[:, 0] * found[0, 0] + found[0, 1])), r[:, 0]])
    least = 1e-7  # as libsvm has: no pair decides on its own
    r = np.clip(r, least, 1 - least)
    R = np.zeros((len(r), k, k))
    first, second = np.triu_indices(k, 1)
    R[:, first, second], R[:, second, first] = r, 1 - r
    system = np.zeros((len(r), k + 1, k + 1))
    system[:, :k, :k] = -R * R.transpose(0, 2, 1)
    system[:, np.arange(k), np.arange(k)] = (R**2).sum(axis=1)
    system[:, k, :k] = system[:, :k, k] = 1.0
    right = np.zeros((len(r), k + 1, 1))
    right[:, k] = 1.0
    p = np.clip(np.linalg.solve(system, right)[:, :k, 0], 0.0, None)
    return np.asarray(p / p.sum(axis=1, keepdims=True))
