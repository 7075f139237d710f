"""Which classifiers take part, and the choice of C within training rows."""

import os
import time

import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model
from sklearn.metrics import log_loss, roc_auc_score

from separatrix import LinearSVC, LogisticRegression, NearestCentroid
from separatrix.compare import run
from separatrix.compare.candidates import (
    HARD_COLUMNS,
    SVM_CS,
    Candidate,
    Left,
    facts_of,
    first_candidates,
    kernel_rows,
    later_candidates,
)
from separatrix.compare.folds import stratified
from separatrix.compare.judge import LeftOutError, Problem, judge
from separatrix.compare.logistic_path import CS, LARGE_CS, choose_logistic, path_rows
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


def test_C_is_chosen_for_scores_that_mean_the_same_in_every_fold():
    """One column: each C orders the rows of a fold alike, but the scores of the smallest are an intercept, 1 or -1."""
    random = np.random.default_rng(0)
    X, y = random.standard_normal((200, 1)), np.arange(200) % 2
    X += y[:, None]
    chosen = first_candidates(facts_of(X, y, "overlapping"), seed=0)
    machine = next(candidate for candidate in chosen if candidate.key == "linear-svm")
    C = machine.choose(X, y, 0)["C"]
    problem = Problem(X, y, y, np.array([0, 1]), stratified(y, 3, 0), 0, time.monotonic() + 100)
    found = judge(machine, problem, str)
    areas = {}
    for value in SVM_CS:
        scores = np.zeros(200)
        for train, test in stratified(y, 3, 0):
            scores[test] = LinearSVC(C=value).fit(X[train], y[train]).decision_function(X[test])
        areas[value] = roc_auc_score(y, scores)
    assert areas[SVM_CS[0]] < 0.7 < areas[C] == max(areas.values())
    plain = LogisticRegression().fit(X, y)
    assert found.log_loss.value < log_loss(y, plain.predict_proba(X)) + 0.03


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
    assert svm.inner_rows >= facts.n  # scores of a machine that learned from fewer have another scale
    assert kernel_rows(20_000, 10, 2) > kernel_rows(20_000, 100, 2) > 10_000
    assert 1_500 <= kernel_rows(10**8, 100, 2) < kernel_rows(10**5, 100, 2)  # rows that are scored cost, too
    for n, d, k in [(60_000, 30, 2), (581_012, 54, 7), (9_000, 300, 10)]:
        m = kernel_rows(n, d, k)
        work = [each * (each + n / 4) * d * min(2, k - 1) for each in (m, m + 1)]
        assert work[0] <= 4.5e10 < work[1]


def test_dear_fits_hold_one_inner_fold_out_of_many_rows_and_all_of_few():
    sizes = []

    class Counted(NearestCentroid):
        def fit(self, X, y):
            sizes.append(len(y))
            return super().fit(X, y)

    n = 180
    X, y, rows = np.arange(1.0 * n)[:, None], np.arange(n) % 2, np.arange(n)
    folds = [(rows[rows // 2 % 2 == r], rows[rows // 2 % 2 != r]) for r in (0, 1)]  # 90 rows each
    problem = Problem(X, y, y, np.array([0, 1]), folds, 0, time.monotonic() + 100)
    for folded_rows, inner in ((90, 3), (89, 1)):
        sizes.clear()
        judge(Candidate("x", "x", lambda p: Counted(), folded_rows=folded_rows), problem, str)
        assert sizes == [90, *[60] * inner, 90, *[60] * inner, n]


@pytest.mark.parametrize("years", [0.0, 2000.0])
def test_a_kernel_machine_learns_the_same_however_far_a_column_lies_from_0(years):
    """Two columns whose product decides, and one of years, which says nothing: distances are what they were."""
    random = np.random.default_rng(0)
    X = random.standard_normal((240, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    X[:, 2] += years
    facts = facts_of(X, y, "overlapping")
    machine = next(each for each in later_candidates(facts, 0)[0] if each.key == "svm")
    assert ("gamma" in machine.fixed) == (years > 0)
    problem = Problem(X, y, y, np.array([0, 1]), stratified(y, 3, 0), 0, time.monotonic() + 100)
    found = judge(machine, problem, str)
    assert found.balanced_accuracy.value > 0.85
    assert found.params.items() >= dict(machine.fixed).items()


@pytest.mark.parametrize("noise", [0.0, 3.0])
def test_the_best_C_of_all_is_found_though_large_ones_are_tried_only_beyond_the_largest_of_the_others(noise):
    """scikit-learn's search over all values at once chooses the same, where a large C is best and where it is not."""
    random = np.random.default_rng(3)
    X = random.standard_normal((300, 4))
    y = (X[:, 0] + noise * random.standard_normal(300) > 0).astype(int)
    folds = stratified(y, 3, 0)
    values = sorted({*CS, *LARGE_CS})
    told = {C: np.mean([_told(C, X, y, train, test) for train, test in folds]) for C in values}
    assert choose_logistic(X, y, 0)["C"] == max(told, key=told.__getitem__)
    assert (max(told, key=told.__getitem__) > 1) == (noise == 0)


def _told(C, X, y, train, test):
    """The likelihood of held-out rows, by scikit-learn."""
    model = linear_model.LogisticRegression(C=C, tol=1e-8, max_iter=10_000).fit(X[train], y[train])
    return -log_loss(y[test], model.predict_proba(X[test]))


class Slow(NearestCentroid):
    """Takes its time."""

    seconds = 60.0

    def fit(self, X, y):
        time.sleep(self.seconds)
        return super().fit(X, y)


class Slowish(Slow):
    seconds = 0.3


@pytest.mark.skipif(os.name != "posix", reason="there are no alarms elsewhere")
def test_a_classifier_that_cannot_be_done_costs_a_fold_of_its_share():
    """Of 6 s half is its share, and a sixth of that is for a fold: the rest is for others."""
    X, y = np.random.default_rng(0).standard_normal((40, 2)), np.arange(40) % 2
    started = time.monotonic()
    problem = Problem(X, y, y, np.array([0, 1]), stratified(y, 5, 0), 0, started + 6.0)
    with pytest.raises(LeftOutError, match="6 fits left would exceed") as raised:
        judge(Candidate("centroid", "slow", lambda params: Slow()), problem, lambda part: None)
    assert raised.value.had == pytest.approx(0.5, abs=0.1)
    assert time.monotonic() - started < 2.0


@pytest.mark.skipif(os.name != "posix", reason="there are no alarms elsewhere")
def test_what_was_late_has_all_the_time_that_nobody_else_wanted():
    """Of 3 s each of six fits has .25 at first, and .45 when nobody is left; what had more is not tried again."""
    X, y = np.random.default_rng(0).standard_normal((40, 2)), np.arange(40) % 2
    problem = Problem(X, y, y, np.array([0, 1]), stratified(y, 5, 0), 0, time.monotonic() + 3.0)
    slowish = Candidate("centroid", "slowish", lambda params: Slowish(), inner_rows=0)
    slow = Candidate("centroid", "slow", lambda params: Slow(), inner_rows=0)
    told = []
    (late,) = run._judged([slowish], problem, told.append, run.UNLIMITED, 3, share=False)
    assert late.late
    hopeless = Left("slow", "a fit takes more than an hour", had=3600.0)
    entry, other = run._again([slowish, slow], [late, hopeless], problem, told.append)
    assert entry.title == "slowish"
    assert other is hopeless
    assert time.monotonic() < problem.deadline
    assert {event.what for event in told} == {"slowish"}


def test_C_is_chosen_on_as_many_rows_as_a_pass_has_time_for():
    """Rows of few entries are cheap, whatever the number of classes: all 10,000; wide ones of many classes are not."""
    assert path_rows(np.ones((20_000, 16)), 26) == 10_000
    assert path_rows(sparse.random_array((400, 2_000), density=0.045, format="csr", rng=0), 20) == 10_000
    assert 3_000 < path_rows(np.ones((5_000, 663)), 10) < 4_000
    assert path_rows(np.ones((300, 20_000)), 50) == 2_000
