"""What a whole comparison says of a table, where classes are told apart in pairs or columns are many."""

from __future__ import annotations

import io
import os

import numpy as np
import pytest
from compare.tables import csv as table_of
from compare.tables import rare_table
from sklearn.datasets import make_blobs

from separatrix import MinimumErrorClassifier, NearestCentroid
from separatrix.compare import run
from separatrix.compare.wording import certificate_words
from separatrix.data import read_table
from separatrix.loops.threads import set_threads


def csv(X, y, names):
    lines = [",".join([*names, "y"])]
    lines += [",".join([*map(repr, row), f"class {label}"]) for row, label in zip(X.tolist(), y, strict=True)]
    return io.BytesIO("\n".join(lines).encode())


def keep(monkeypatch, *keys):
    """Compare these classifiers and the baseline only."""
    first, later = run.first_candidates, run.later_candidates

    def few(chosen):
        return [each for each in chosen if each.key in keys or (not each.key and not each.reference)]

    monkeypatch.setattr(run, "first_candidates", lambda facts, seed: few(first(facts, seed)))
    monkeypatch.setattr(run, "later_candidates", lambda facts, seed: (few(later(facts, seed)[0]), []))


@pytest.mark.parametrize("k", [3, 4])
def test_weights_of_pairs_are_not_shown_as_those_of_classes(k, monkeypatch):
    in_a_row = 20.0 * np.arange(k)[:, None] * [1.0, 0.5]  # so that least squares hardly sees those in the middle
    X, y = make_blobs(20 * k, centers=in_a_row, random_state=0)
    keep(monkeypatch, "hard-margin", "least-squares")
    found = run.compare(read_table(csv(X, y, ["a", "b"]), target="y"), folds=2)
    assert found.best.title == "hard-margin SVM"
    assert found.coefficients_of == "least squares"
    assert {each.label for each in found.coefficients} == {f"class {c}" for c in range(k)}


def test_kinds_are_counted_over_all_columns(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 8)), np.arange(30) % 2
    monkeypatch.setattr(run, "MOST_COLUMNS", 3)
    keep(monkeypatch, "centroid")
    found = run.compare(read_table(csv(X, y, "abcdefgh"), target="y"), folds=2)
    assert len(found.columns) == 3
    assert sum(found.kinds.values()) == found.n_columns == 8


@pytest.mark.parametrize(("contradictions", "words"), [(0, "0 errors"), (1, "1 error"), (2, "2 errors")])
def test_one_error_is_no_errors(contradictions, words):
    X = np.array([[0.0], [1.0], [2.0], [3.0], *[[3.0]] * contradictions, *[[3.0]] * contradictions])
    y = np.array([0, 0, 1, 1, *[0] * contradictions, *[1] * contradictions])
    model = MinimumErrorClassifier().fit(X, y)
    assert certificate_words(model.certificate_, model.status_) == f"{words}, the fewest possible"


def test_a_classifier_that_fails_costs_the_others_nothing(monkeypatch):
    X, y = make_blobs(60, centers=2, random_state=0)
    keep(monkeypatch, "centroid", "least-squares")
    monkeypatch.setattr(NearestCentroid, "fit", lambda self, X, y: 1 / 0)
    found = run.compare(read_table(csv(X, y, ["a", "b"]), target="y"), folds=2)
    assert [(left.title, left.why) for left in found.left] == [
        ("nearest centroid", "it failed (ZeroDivisionError: division by zero)")
    ]
    assert found.best.title == "least squares"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_comparison_finds_the_same_with_a_fork_and_without():
    def compared(fork):
        return run.compare(read_table(table_of(*rare_table(200)), target="y"), folds=2, fork=fork)

    set_threads(2)  # it forks only where there is a second core
    try:
        one, two = compared(False), compared(True)
    finally:
        set_threads(None)
    assert [entry.title for entry in one.entries] == [entry.title for entry in two.entries]
    assert [left.title for left in one.left] == [left.title for left in two.left]
    for a, b in zip(one.entries, two.entries, strict=True):
        assert (a.params, a.command, a.claim, a.decision) == (b.params, b.command, b.claim, b.decision)
        np.testing.assert_array_equal(a.predictions.probabilities, b.predictions.probabilities)
        assert getattr(a.model, "coef_", np.zeros(0)).tobytes() == getattr(b.model, "coef_", np.zeros(0)).tobytes()
    assert one.best.title == two.best.title
