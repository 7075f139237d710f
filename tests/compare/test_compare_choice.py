"""Which classifiers take part, and the choice of C within training rows."""

import time

import numpy as np
import pytest

from separatrix import NearestCentroid
from separatrix.compare.candidates import (
    HARD_COLUMNS,
    Candidate,
    facts_of,
    first_candidates,
    kernel_rows,
    later_candidates,
)
from separatrix.compare.judge import Problem, judge
from separatrix.outcome import Status


def logistic(X, y) -> Candidate:
    chosen = first_candidates(facts_of(X, y, "overlapping"), seed=0)
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
        chosen, left = later_candidates(facts_of(np.ones((10, columns)), y, "separable"), seed=0)
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


def test_C_is_chosen_though_a_class_is_rare():
    random = np.random.default_rng(0)
    X = random.standard_normal((300, 5))
    y = random.integers(0, 2, 300)
    y[:1] = 2  # one row, which is in no sample's every fold
    assert logistic(X, y).choose(X, y, 0)["C"] < 1.0  # noise: a strong penalty, not what is taken for want of folds


def test_C_of_each_fold_is_said_where_it_is_another(monkeypatch):
    X, y = np.arange(30.0)[:, None], np.repeat([0, 1], 15)
    rows = np.arange(30)
    folds = [(rows[rows % 3 != r], rows[rows % 3 == r]) for r in range(3)]
    problem = Problem(X, y, y, np.array([0, 1]), folds, 0, time.monotonic() + 100)
    choose = {20: 0.5, 30: 0.25}
    candidate = Candidate("x", "x", lambda p: Stubborn(**p), choose=lambda X, y, seed: {"C": choose[len(y)]})
    assert "0.5, 0.5, 0.5; in the fit to all rows: 0.25" in judge(candidate, problem, str).note
    same = Candidate("x", "x", lambda p: Stubborn(**p), choose=lambda X, y, seed: {"C": 0.5})
    assert "C in the folds" not in judge(same, problem, str).note


def test_kernel_machines_learn_from_as_many_rows_as_the_shape_allows():
    facts = facts_of(np.ones((4000, 40)), np.arange(4000) % 2, "overlapping")
    svm = next(each for each in later_candidates(facts, 0)[0] if each.key == "svm")
    assert svm.most_rows is None
    assert kernel_rows(20_000, 10, 2) > kernel_rows(20_000, 100, 2) > 10_000
    assert 1_500 <= kernel_rows(10**8, 100, 2) < kernel_rows(10**5, 100, 2)  # rows that are scored cost, too
    for n, d, k in [(60_000, 30, 2), (581_012, 54, 7), (9_000, 300, 10)]:
        m = kernel_rows(n, d, k)
        work = [each * (each + n / 4) * d * min(2, k - 1) for each in (m, m + 1)]
        assert work[0] <= 6e10 < work[1]
