"""What is said of the weights of a model, on models with a row for each class and for each pair of classes."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from separatrix import SVC, HardMarginSVC, LogisticRegression
from separatrix.compare.explain import hardest_rows, has_class_weights, margins_of, top_coefficients
from separatrix.compare.metrics import Predictions
from separatrix.scoring.decision import Decision

NAMES = ["a", "b"]


def blobs(k):
    return make_blobs(
        40 * k, centers=20.0 * np.stack([np.cos(np.arange(k)), np.sin(np.arange(k))], axis=1), random_state=0
    )


@pytest.mark.parametrize(("k", "pairs_are_classes"), [(2, True), (3, False), (4, False)])
def test_pairs_of_classes_are_not_classes(k, pairs_are_classes):
    X, y = blobs(k)
    assert has_class_weights(HardMarginSVC().fit(X, y)) is pairs_are_classes
    assert has_class_weights(SVC(kernel="linear").fit(X, y)) is pairs_are_classes
    assert has_class_weights(LogisticRegression().fit(X, y))
    assert not has_class_weights(SVC(kernel="rbf").fit(X, y))


@pytest.mark.parametrize("k", [3, 4])
def test_the_columns_that_pulled_a_row_are_those_of_the_two_classes_in_question(k):
    X, y = blobs(k)
    codes = np.where(np.arange(len(y)) == 7, (y + 1) % k, y)
    margins = np.where(codes == y, 1.0, -1.0)
    for model in (LogisticRegression().fit(X, y), HardMarginSVC().fit(X, y)):
        entry = SimpleNamespace(model=model, predictions=SimpleNamespace(codes=codes))
        (row,) = hardest_rows(entry, margins, y, np.arange(len(y)), X, NAMES, [str(c) for c in range(k)], np.ones(2))
        assert (row.row, row.truth, row.predicted) == (7, str(y[7]), str(codes[7]))
        if isinstance(model, HardMarginSVC):
            assert row.pulls == []
        else:
            direction = model.coef_[codes[7]] - model.coef_[y[7]]
            expected = [NAMES[j] for j in range(2) if direction[j] * (X[7] - X.mean(axis=0))[j] > 0]
            assert sorted(name for name, _ in row.pulls) == expected


def test_the_largest_effects_are_in_units_of_the_table():
    X, y = blobs(3)
    model = LogisticRegression().fit(X, y)
    found, why = top_coefficients(model, X, NAMES, ["x", "y", "z"], np.array([2.0, 4.0]))
    assert "penalised" in why
    assert [c.label for c in found] == ["x", "x", "y", "y", "z", "z"]
    for c in found:
        j, row = NAMES.index(c.column), "xyz".index(c.label)
        assert c.value == pytest.approx(model.coef_[row, j] / [2.0, 4.0][j])
        assert c.effect == pytest.approx(model.coef_[row, j] * X[:, j].std())


@pytest.mark.parametrize("k", [2, 3])
def test_the_hardest_rows_are_wrong_by_the_decision_that_was_made(k):
    """With a cut away from 1/2 a row may be predicted right though another class is likelier, and the other way."""
    r = np.random.default_rng(0)
    chances = r.dirichlet(np.ones(k), size=300)
    truth = r.integers(0, k, 300)
    fold = np.arange(300) % 2
    cuts = [Decision(threshold=cut) for cut in (0.1, 0.3)] if k == 2 else [Decision(offsets=(0.0, 2.0, -1.0))] * 2
    codes = np.where(fold == 0, cuts[0].codes(chances), cuts[1].codes(chances))
    offsets = np.stack([cuts[f].log_offsets(k) for f in fold])
    margins, words = margins_of(truth, Predictions(codes, None, chances, fold, offsets))
    assert "counted from the cut" in words
    assert ((margins < 0) == (codes != truth)).all()
    assert (codes != chances.argmax(axis=1)).any()
    if k == 2:
        odds = np.log(chances[:, 1] / chances[:, 0]) - np.where(fold == 0, np.log(0.1 / 0.9), np.log(0.3 / 0.7))
        np.testing.assert_allclose(margins, np.where(truth == 1, odds, -odds), rtol=1e-9, atol=1e-12)
    X = r.normal(size=(300, 2))
    entry = SimpleNamespace(model=LogisticRegression().fit(X, truth), predictions=SimpleNamespace(codes=codes))
    found = hardest_rows(entry, margins, truth, np.arange(300), X, NAMES, [str(c) for c in range(k)], np.ones(2))
    assert len(found) == 10
    assert all(row.truth != row.predicted for row in found)
    assert [row.score for row in found] == sorted(margins)[:10]


def test_a_row_on_the_cut_counts_as_it_is_predicted():
    chances = np.array([[0.75, 0.25], [0.75, 0.25]])
    cut = Decision(threshold=0.25)
    offsets = np.tile(cut.log_offsets(2), (2, 1))
    margins, _ = margins_of(np.array([0, 1]), Predictions(cut.codes(chances), None, chances, np.zeros(2, int), offsets))
    assert margins[0] < 0 < margins[1]
