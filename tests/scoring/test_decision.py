"""Probabilities to classes: cuts tuned for a metric, against scikit-learn's metrics by brute force."""

import json

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, matthews_corrcoef

from separatrix import DataError
from separatrix.scoring.decision import Decision, _Leaders, always, metric_of_counts, plug_in, tune

BINARY = {
    "balanced_accuracy": balanced_accuracy_score,
    "accuracy": accuracy_score,
    "f1": f1_score,
    "mcc": matthews_corrcoef,
}
MANY = {**BINARY, "f1": lambda truth, codes: f1_score(truth, codes, average="macro")}


def rare(n, seed=0):
    """Probabilities that are right, of a class that is rare."""
    random = np.random.default_rng(seed)
    positive = 1 / (1 + np.exp(-(1.5 * random.normal(size=n) - 2.5)))
    return np.stack([1 - positive, positive], axis=1), (random.random(n) < positive).astype(int)


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("metric", BINARY)
def test_counts_give_scikit_learns_metrics(metric, k):
    random = np.random.default_rng(k)
    for _ in range(5):
        truth, codes = random.integers(0, k, 60), random.integers(0, k, 60)
        right, predicted, rows = (np.bincount(each, minlength=k) for each in (truth[truth == codes], codes, truth))
        expected = (BINARY if k == 2 else MANY)[metric](truth, codes)
        assert metric_of_counts(right, predicted, rows, metric) == pytest.approx(expected)


@pytest.mark.parametrize("metric", BINARY)
def test_the_cut_is_as_good_as_the_best_up_to_noise(metric):
    chances, y = rare(20_000)
    decision = tune(chances, y, metric)
    assert decision.offsets is None
    cuts = np.linspace(0.01, 0.99, 99)
    best = max(BINARY[metric](y, chances[:, 1] >= cut) for cut in cuts)
    assert BINARY[metric](y, decision.codes(chances)) >= best - 0.005
    fresh, truth = rare(20_000, seed=1)
    half = BINARY[metric](truth, fresh[:, 1] >= 0.5)
    tuned = BINARY[metric](truth, decision.codes(fresh))
    assert tuned >= half - 0.001
    if metric in ("balanced_accuracy", "f1"):
        assert tuned > half + 0.05


def test_where_probabilities_are_right_the_cut_is_at_the_share():
    chances, y = rare(20_000)
    assert tune(chances, y, "balanced_accuracy").threshold == pytest.approx(y.mean(), rel=0.2)
    few, labels = rare(60)  # a few rows would put the best cut anywhere; they do not tell it from the share
    assert tune(few, labels, "balanced_accuracy").threshold == pytest.approx(labels.mean(), rel=0.5)


@pytest.mark.parametrize(("metric", "cut"), [("balanced_accuracy", 0.5), ("accuracy", 1 - 0.129)])
def test_where_the_classes_were_taken_for_equally_frequent_the_cut_is_so_too(metric, cut):
    """Odds are then divided by those of the shares: 1 for balanced accuracy, and for accuracy the inverse of those."""
    odds = np.repeat([0.02, 0.2, 2.0], [600, 300, 100])
    y = np.concatenate([np.arange(600) < 12, np.arange(300) < 50, np.arange(100) < 67]).astype(int)
    odds *= (1 - y.mean()) / y.mean()
    level = odds / (1 + odds)
    found = tune(np.stack([1 - level, level], axis=1), y, metric, level=True)
    assert found.threshold == pytest.approx(cut, abs=1e-12)


def test_where_they_are_wrong_the_cut_is_moved():
    chances, y = rare(20_000)
    squeezed = np.stack([1 - chances[:, 1] ** 3, chances[:, 1] ** 3], axis=1)
    cut = tune(squeezed, y, "balanced_accuracy")
    assert (
        balanced_accuracy_score(y, cut.codes(squeezed)) >= balanced_accuracy_score(y, chances[:, 1] >= y.mean()) - 0.003
    )
    assert balanced_accuracy_score(y, squeezed[:, 1] >= y.mean()) < 0.7


@pytest.mark.parametrize("metric", MANY)
def test_offsets_of_more_classes_help_on_rows_not_seen(metric):
    random = np.random.default_rng(0)
    scores = random.normal(size=(8000, 4)) * 1.5 + [2, 0, 0, -2]
    y = (scores + random.gumbel(size=scores.shape)).argmax(axis=1)
    chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    decision = tune(chances[::2], y[::2], metric)
    assert decision.threshold is None
    tuned = MANY[metric](y[1::2], decision.codes(chances[1::2]))
    plain = MANY[metric](y[1::2], chances[1::2].argmax(axis=1))
    assert tuned >= plain - 0.005
    if metric == "balanced_accuracy":
        assert tuned > plain + 0.05


@pytest.mark.parametrize("metric", ["auc", "log_loss", "brier"])
def test_metrics_of_probabilities_need_no_cut(metric):
    chances, y = rare(100)
    assert tune(chances, y, metric) == Decision()
    assert (Decision().codes(chances) == chances.argmax(axis=1)).all()


def test_a_cut_is_reached_from_above():
    chances = np.array([[0.7, 0.3], [0.70001, 0.29999]])
    assert Decision(threshold=0.3).codes(chances).tolist() == [1, 0]
    three = np.array([[0.5, 0.3, 0.2]])
    assert Decision(offsets=(0.0, 0.6, 0.0)).codes(three).tolist() == [1]
    assert plug_in(np.array([0.9, 0.1]), "balanced_accuracy") == Decision(threshold=0.1)
    assert plug_in(np.array([0.9, 0.1]), "accuracy") == Decision()


@pytest.mark.parametrize(
    "decision", [Decision(), Decision(threshold=0.1234567890123), Decision(offsets=(0.1, -0.2, 0.3))]
)
def test_files_hold_it_bit_for_bit(decision):
    assert Decision.from_dict(json.loads(json.dumps(decision.to_dict()))) == decision


@pytest.mark.parametrize(
    "plain",
    [
        None,
        {"threshold": 0.5},
        {"threshold": 1.5, "offsets": None},
        {"threshold": True, "offsets": None},
        {"threshold": float("nan"), "offsets": None},
        {"threshold": 0.5, "offsets": [0.0, 0.0, 0.0]},
        {"threshold": None, "offsets": [0.0, 1.0]},
        {"threshold": None, "offsets": [0.0, 1.0, "x"]},
    ],
)
def test_what_is_no_decision_is_refused(plain):
    with pytest.raises(DataError):
        Decision.from_dict(plain)


def test_leaders_are_the_two_largest_whatever_was_moved():
    random = np.random.default_rng(0)
    logs, offsets = random.normal(size=(50, 6)).round(1), np.zeros(6)  # rounded: there are ties
    leaders = _Leaders(logs, offsets)
    for code in random.integers(0, 6, 40):
        offsets[code] = round(random.normal(), 1)
        leaders.put(code, offsets[code])
        sums = logs + offsets
        assert (leaders.first == sums.argmax(axis=1)).all()
        for other in range(6):
            rivals = sums.copy()
            rivals[:, other] = -np.inf
            assert (leaders.but(other) == rivals.argmax(axis=1)).all()


@pytest.mark.parametrize("metric", MANY)
def test_offsets_of_many_classes_are_tuned_as_well(metric):
    random = np.random.default_rng(1)
    scores = random.normal(size=(6000, 40)) + 2 * (np.arange(40) % 3 == 0)  # so that a third of them is more frequent
    y = (scores + random.gumbel(size=scores.shape)).argmax(axis=1)
    chances = np.exp(0.5 * scores)  # not sure enough, so that offsets matter
    chances /= chances.sum(axis=1, keepdims=True)
    tuned = MANY[metric](y, tune(chances, y, metric).codes(chances))
    assert tuned >= MANY[metric](y, chances.argmax(axis=1)) - 0.002  # it stops one standard error short of the best
    if metric == "balanced_accuracy":
        assert tuned >= MANY[metric](y, (np.log(chances) - np.log(np.bincount(y))).argmax(axis=1)) - 0.002


def test_a_decision_that_says_one_class_only():
    chances = np.array([[0.2, 0.8], [1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    for code in (0, 1):
        assert (always(code, 2).codes(chances[:2]) == code).all()
        three = np.column_stack([chances, np.zeros(4)])
        assert (always(code, 3).codes(three) == code).all()
