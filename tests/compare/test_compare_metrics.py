"""The figures of the leaderboard, their intervals, ties and the choice of the best, on made-up results."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.metrics import log_loss as sklearn_log_loss

from separatrix.compare import metrics, proving
from separatrix.compare.candidates import facts_of, later_candidates
from separatrix.compare.metrics import Figure, Predictions, area_under_curve, balanced_accuracy, mean_loss
from separatrix.compare.paired import Difference, difference
from separatrix.compare.ranking import choose_best, ranked
from separatrix.compare.result import Entry
from separatrix.compare.tuning import area, choose_C, sample_rows

TRUTH = np.arange(400) % 2


def wrong_at(rows):
    """Predictions that are wrong at these rows."""
    codes = TRUTH.copy()
    codes[rows] = 1 - codes[rows]
    return codes


def paired_difference(truth, best, other, k):
    """Of balanced accuracies, from predicted classes alone."""
    best, other = (Predictions(codes, None, None, np.zeros(len(truth), dtype=int)) for codes in (best, other))
    return difference("balanced_accuracy", truth, best, other, k)


def entry(title, codes, loss=None, certified=True, capped=False, key="x"):
    """A line of the leaderboard with these predictions."""
    return Entry(
        key=key,
        title=title,
        params={},
        note="",
        rows_used=400,
        predictions=Predictions(codes, None, None, np.zeros(400, dtype=int)),
        figures={
            "balanced_accuracy": balanced_accuracy(TRUTH, codes, 2),
            "auc": None,
            "log_loss": None if loss is None else Figure(loss, loss, loss),
        },
        seconds=0.0,
        model=None,
        certificate="",
        claim=None,
        status="",
        certified=certified,
        capped=capped,
    )


def test_values_are_those_of_scikit_learn():
    random = np.random.default_rng(0)
    truth = random.integers(0, 3, 300)
    codes = np.where(random.random(300) < 0.7, truth, random.integers(0, 3, 300))
    figure = balanced_accuracy(truth, codes, 3)
    assert figure.value == pytest.approx(balanced_accuracy_score(truth, codes))
    assert figure.low < figure.value < figure.high
    chances = random.dirichlet(np.ones(3), 300)
    assert mean_loss(truth, chances, "log_loss").value == pytest.approx(sklearn_log_loss(truth, chances))
    predictions = Predictions(codes, chances, chances, np.zeros(300, dtype=int))
    expected = roc_auc_score(truth, chances, multi_class="ovr")
    assert area_under_curve(truth, predictions, 3).value == pytest.approx(expected)


def test_area_is_within_folds():
    scores = np.where(TRUTH == 1, 1.0, 0.0) + np.where(np.arange(400) < 200, 100.0, 0.0)
    fold = (np.arange(400) < 200).astype(int)
    figure = area_under_curve(TRUTH, Predictions(TRUTH, scores, None, fold), 2)
    assert figure.value == 1.0
    assert 0.9 < figure.low < 1.0  # every pair in order is no proof of an area of 1


def test_a_constant_score_has_an_area_of_one_half_for_certain():
    constant = Predictions(TRUTH, np.zeros(400), None, np.zeros(400, dtype=int))
    assert area_under_curve(TRUTH, constant, 2) == Figure(0.5, 0.5, 0.5)


def test_intervals_cover():
    random = np.random.default_rng(1)
    inside, delong = 0, 0
    for _ in range(400):
        truth = np.arange(120) % 2
        codes = np.where(random.random(120) < np.where(truth == 1, 0.9, 0.8), truth, 1 - truth)
        figure = balanced_accuracy(truth, codes, 2)
        inside += figure.low <= 0.85 <= figure.high
        scores = random.normal(truth * 1.0)
        area = area_under_curve(truth, Predictions(codes, scores, None, np.zeros(120, dtype=int)), 2)
        delong += area.low <= 0.7602499 <= area.high  # Phi(1 / sqrt 2)
    assert 0.92 <= inside / 400 <= 0.99
    assert 0.91 <= delong / 400 <= 0.99


@pytest.mark.parametrize(("k", "rows", "share"), [(2, 10, 0.9), (7, 15, 0.95), (20, 8, 0.7), (20, 30, 0.5)])
def test_intervals_cover_many_small_classes(k, rows, share):
    """What is done for each class must not add up to a bias of the mean."""
    random = np.random.default_rng(k)
    truth = np.repeat(np.arange(k), rows)
    above = below = 0
    for _ in range(500):
        codes = np.where(random.random(len(truth)) < share, truth, (truth + 1) % k)
        figure = balanced_accuracy(truth, codes, k)
        assert 0.0 <= figure.low <= figure.value <= figure.high <= 1.0
        above += figure.low > share
        below += figure.high < share
    assert (above + below) / 500 <= 0.075
    assert max(above, below) / 500 <= 0.06


def test_no_error_is_no_certainty():
    figure = balanced_accuracy(np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 0, 1, 1, 1]), 2)
    assert figure.value == figure.high == 1.0
    assert figure.low < 0.7


def test_ties_are_about_the_rows_on_which_two_differ():
    best = wrong_at(range(0, 20))
    same = paired_difference(TRUTH, best, best, 2)
    assert same.tie
    assert same.value == 0
    assert paired_difference(TRUTH, best, wrong_at(range(0, 23)), 2).tie  # three more errors of 400
    clear = paired_difference(TRUTH, best, wrong_at(range(0, 40)), 2)  # twenty more, none fewer
    assert not clear.tie
    assert clear.low > 0
    assert clear.value == pytest.approx(0.05)
    # as many more errors, but many of them elsewhere: what differs is noise
    assert paired_difference(TRUTH, wrong_at(range(0, 100)), wrong_at(range(95, 200)), 2).tie


def test_false_ties_and_false_differences_are_rare():
    random = np.random.default_rng(2)
    untied = 0
    for _ in range(300):
        a, b = (np.where(random.random(400) < 0.85, TRUTH, 1 - TRUTH) for _ in range(2))
        untied += not paired_difference(TRUTH, a, b, 2).tie
    assert untied / 300 < 0.09
    assert Difference(0.1, 0.0, 0.2).tie


def test_ranking_marks_ties_and_the_best_is_the_likeliest_of_the_near():
    first = entry("first", wrong_at(range(10)))
    likely = entry("likely", wrong_at(range(10, 21)), loss=0.2)
    likelier = entry("likelier", wrong_at(range(10, 22)), loss=0.1)
    doubtful = entry("doubtful", wrong_at(range(10, 21)), loss=0.05, certified=False)
    far = entry("far", wrong_at(range(80)), loss=0.01)
    found = ranked([far, likelier, first, doubtful, likely], TRUTH, 2)
    assert [line.title for line in found] == ["first", "doubtful", "likely", "likelier", "far"]
    assert [line.tie for line in found] == [True, True, True, True, False]
    best, why = choose_best(found, TRUTH, 2)
    assert best is likelier
    assert "tied with first" in why


def test_a_tie_is_not_enough_to_save_a_worse_model():
    first = entry("first", wrong_at(range(10)))
    tied = entry("tied", wrong_at(range(12)), loss=0.1)  # two more errors of 400, and none less: about a standard error
    found = ranked([first, tied], TRUTH, 2)
    assert tied.tie
    assert not tied.behind.near
    assert choose_best(found, TRUTH, 2)[0] is first


def test_certified_before_uncertified_if_these_rows_cannot_tell_them_apart():
    first = entry("first", wrong_at(range(10)), certified=False)
    tied = entry("tied", wrong_at(range(13)))
    far = entry("far", wrong_at(range(80)))
    assert choose_best(ranked([first, tied, far], TRUTH, 2), TRUTH, 2)[0] is tied
    assert choose_best(ranked([first, far], TRUTH, 2), TRUTH, 2)[0] is first


def test_the_baseline_is_not_saved_and_a_part_of_the_rows_is_enough_for_one_that_leads():
    capped = entry("capped", wrong_at(range(2)), loss=0.1, capped=True)
    far = entry("far", wrong_at(range(60)), loss=0.2)
    close = entry("close", wrong_at(range(1, 4)), loss=0.2)
    baseline = entry("baseline", wrong_at(range(0)), key="")
    assert choose_best(ranked([far, capped, baseline], TRUTH, 2), TRUTH, 2)[0] is capped
    assert choose_best(ranked([far, close, capped, baseline], TRUTH, 2), TRUTH, 2)[0] is close


def test_samples_keep_every_class_and_the_choice_of_C_sees_training_rows_only():
    y = np.array([0] * 990 + [1] * 10)
    rows = sample_rows(y, 100, seed=0)
    assert (np.bincount(y[rows]) >= 2).all()
    assert len(rows) < 110
    assert (np.diff(rows) > 0).all()

    class Remembers:
        classes_ = np.array([0, 1])

        def __init__(self, C):
            self.C = C

        def fit(self, X, y):
            return self

        def decision_function(self, X):
            return X[:, 0] if self.C == 1.0 else -X[:, 0]

    X = np.linspace(-1, 1, 60)[:, None]
    assert choose_C(Remembers, X, (X[:, 0] > 0).astype(int), [0.1, 1.0, 10.0], most_rows=60, seed=0) == 1.0


def test_facts_of_sparse_counts():
    facts = facts_of(sparse.csr_matrix([[0.0, 2.0], [1.0, 0.0]]), np.array([0, 1]), "separable")
    assert facts.sparse
    assert facts.count_columns
    assert not facts.binary_columns


def test_a_verdict_that_floats_cannot_tell_does_not_stop_the_comparison(monkeypatch):
    import separatrix

    def undecided(X, y, max_work):
        raise separatrix.UndecidedError("rounding hides it")

    monkeypatch.setattr(separatrix, "separability", undecided)
    proof = proving.prove(np.zeros((2, 1)), np.array([0, 1]))
    assert (proof.verdict, proof.claim, proof.checks) == ("undecided", "rounding hides it", [])
    _, left = later_candidates(facts_of(np.eye(2), np.array([0, 1]), proof.verdict), seed=0)
    assert "it is open" in left[0].why


def test_a_comparison_that_gives_up_says_which_command_does_not(monkeypatch):
    random = np.random.default_rng(0)
    X, codes = random.integers(0, 3, size=(40, 6)).astype(float), random.integers(0, 2, size=40)
    X = np.column_stack([X, X[:, 0] + 1e-13 * X[:, 1]])
    monkeypatch.setattr(proving, "WORK", 1.0)
    proof = proving.prove(X, codes)
    assert proof.verdict == "undecided"
    assert proof.claim == "Not decided within max_work=1e+00 products of numbers; `separatrix separable` has no limit."


def test_large_tables_are_decided_in_a_process_that_can_be_stopped():
    X, codes = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    for rows in (X, sparse.csr_matrix(X)):
        with proving.searching(rows, codes) as search:
            proof = search.result(60)
        assert proof == proving.prove(X, codes)
        assert proof.verdict == "separable"
    with proving.searching(X, codes) as search:
        proof = search.result(0.01)
    assert proof.verdict == "undecided"
    assert "--time-limit" in proof.claim


def test_the_search_is_limited_by_counted_work_and_that_is_said(monkeypatch):
    """Three columns that together leave rows on both sides at 0: whole numbers must tell."""
    random = np.random.default_rng(0)
    X = random.integers(-2, 3, (200, 10)).astype(float)
    lead = X[:, 0] + X[:, 1] - X[:, 2]
    codes = np.where(lead == 0, random.integers(0, 2, 200), lead > 0).astype(int)
    assert proving.prove(X, codes).verdict == "quasi-separable"
    monkeypatch.setattr(proving, "WORK", 1000.0)
    proof = proving.prove(X, codes)
    assert proof.verdict == "undecided"
    assert "`separatrix separable` has no limit" in proof.claim
    assert "float" not in proof.claim


def test_what_is_too_large_follows_from_the_shape():
    codes = np.array([0, 1, 2] * 10)
    assert proving.too_much(np.zeros((30, 4)), codes) is None
    huge = np.broadcast_to(0.0, (5_000_000, 200))
    assert "Not tried" in proving.too_much(huge, codes)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(4, 60), digits=st.integers(0, 3))
def test_the_area_that_chooses_C_is_that_of_scikit_learn_also_with_ties(seed, n, digits):
    rng = np.random.default_rng(seed)
    mine, scores = rng.random(n) < 0.4, np.round(rng.normal(size=n), digits)
    mine[:2] = True, False
    assert area(mine, scores) == pytest.approx(roc_auc_score(mine, scores), abs=1e-12)


@pytest.mark.parametrize("metric", ["accuracy", "f1", "mcc"])
@pytest.mark.parametrize("k", [2, 3, 7])
def test_influence_is_what_a_row_more_changes(metric, k):
    table = np.random.default_rng(k).poisson(4.0, (k, k)) + np.diag([20.0] * k)
    n, base, change = table.sum(), metrics.value_of(table, metric), np.empty((k, k))
    for i, j in np.ndindex(k, k):
        more = table.copy()
        more[i, j] += 1e-4
        change[i, j] = (metrics.value_of(more, metric) - base) / 1e-4
    expected = change - (table * change).sum() / n
    np.testing.assert_allclose(metrics.cell_parts(table, metric), expected, rtol=1e-3, atol=1e-6)


def test_a_search_that_fails_costs_its_verdict_only(monkeypatch):
    X, codes = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2
    with proving.searching(X, codes) as search:
        search._process.kill()
        proof = search.result(60.0)
    assert proof.verdict == "undecided"
    assert "its process ended with -9" in proof.claim
    proof = proving.prove(X * 1e200, codes)
    assert proof.verdict == "undecided"
    assert proof.claim.startswith("Not decided: ")
    assert "overflows" in proof.claim
