"""The choice of C within training rows."""

import numpy as np

from separatrix.compare.candidates import Candidate, candidates, facts_of


def logistic(X, y) -> Candidate:
    chosen, _ = candidates(facts_of(X, y, "overlapping"), seed=0)
    return next(candidate for candidate in chosen if candidate.key == "logistic")


def test_rows_in_order_do_not_mislead_it():
    # sorted by a group that matters: in consecutive folds, the rows of a group that are held out have one class only
    random = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 200)
    X = np.eye(3)[group]
    y = (random.random(600) < np.array([0.8, 0.5, 0.2])[group]).astype(int)
    choose = logistic(X, y).choose
    assert choose is not None
    assert choose(X, y, 0)["C"] >= 0.1
