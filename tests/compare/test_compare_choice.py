"""Which classifiers take part, and the choice of C within training rows."""

import time

import numpy as np
import pytest

from separatrix import NearestCentroid
from separatrix.compare.candidates import HARD_COLUMNS, Candidate, candidates, facts_of
from separatrix.compare.judge import Problem, judge
from separatrix.outcome import Status


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


def test_too_many_columns_for_a_hard_margin_are_a_reason_not_a_wait():
    y = np.array([0, 1] * 5)
    for columns, fits in ((HARD_COLUMNS, True), (HARD_COLUMNS + 1, False)):
        chosen, left = candidates(facts_of(np.ones((10, columns)), y, "separable"), seed=0)
        assert ("hard-margin" in {candidate.key for candidate in chosen}) == fits
        assert ("hard-margin SVM" in {each.title for each in left}) != fits


class Stubborn(NearestCentroid):
    """Certified only where C is at most 1."""

    def __init__(self, C=1.0):
        super().__init__()
        self.C = C

    def fit(self, X, y):
        super().fit(X, y)
        if self.C > 1:
            self.status_ = Status.UNCERTIFIED
        return self


@pytest.mark.parametrize(("C", "ends", "certified"), [(1.0, 1.0, True), (10.0, 1.0, True), (1000.0, 10.0, False)])
def test_C_is_lowered_until_the_fit_is_certified(C, ends, certified):
    X, y = np.arange(20.0)[:, None], np.repeat([0, 1], 10)
    rows = np.arange(20)
    folds = [(rows[rows % 2 == r], rows[rows % 2 != r]) for r in (0, 1)]
    problem = Problem(X, y, y, np.array([0, 1]), folds, 0, time.monotonic() + 100)
    found = judge(Candidate("x", "x", lambda p: Stubborn(**p), choose=lambda X, y, seed: {"C": C}), problem, str)
    assert found.params == {"C": ends}
    assert found.certified == certified
    assert ("C lowered" in found.note) == (C > 1)
