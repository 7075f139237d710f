"""Scores to probabilities: against scikit-learn, in files, and at the ends."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.calibration import _sigmoid_calibration
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import log_loss

from separatrix import DataError, LinearSVC, LogisticRegression
from separatrix.scoring.calibration import Calibration, class_scores, fit_calibration, log_odds


def scored(n, seed=0, shift=-1.0):
    """Scores, and labels that follow them: P = sigmoid(2 s + shift)."""
    random = np.random.default_rng(seed)
    scores = random.normal(size=n)
    return scores, (random.random(n) < 1 / (1 + np.exp(-(2 * scores + shift)))).astype(int)


def test_few_rows_have_a_sigmoid_that_is_platts():
    scores, y = scored(300)
    found = fit_calibration(scores, y, 2)
    assert found.kind == "sigmoid"
    a, b = _sigmoid_calibration(scores, y)
    ((slope, shift),) = found.maps[0]
    assert (slope, shift) == pytest.approx((-a, -b), rel=1e-4)
    chances = found.probabilities(scores)
    assert chances[:, 1] == pytest.approx(1 / (1 + np.exp(a * scores + b)), abs=1e-5)
    assert chances.sum(axis=1) == pytest.approx(1)


def test_a_thousand_rows_of_the_rarer_class_have_steps():
    scores, y = scored(4000)
    assert min(np.bincount(y)) >= 1000
    found = fit_calibration(scores, y, 2)
    assert found.kind == "isotonic"
    chances = found.probabilities(scores)[:, 1]
    assert 0 < chances.min() <= chances.max() < 1
    steps = IsotonicRegression(out_of_bounds="clip").fit(scores, y).predict(scores)
    inside = (steps > steps.min()) & (steps < steps.max())
    assert inside.sum() > 3000
    assert np.abs(chances - steps)[inside].max() < 0.05
    fresh, truth = scored(4000, seed=1)
    assert log_loss(truth, found.probabilities(fresh)) < log_loss(truth, 1 / (1 + np.exp(-(2 * fresh - 1)))) + 0.01


def test_separable_scores_do_not_make_it_certain():
    scores = np.linspace(-1, 1, 40)
    y = (scores > 0).astype(int)
    sigmoid = fit_calibration(scores, y, 2, "sigmoid").probabilities(scores)
    assert sigmoid[:, 1].sum() == pytest.approx(20 * 21 / 22 + 20 / 22)  # the sum of Platt's targets
    assert sigmoid[:, 0].min() > 1e-4
    steps = fit_calibration(scores, y, 2, "isotonic").probabilities(scores)
    assert steps[[-1, 0], [0, 1]] == pytest.approx(1 / 21)  # 20 rows and one of the other class


def test_scores_that_point_the_wrong_way_or_nowhere_say_the_share():
    scores, y = scored(500)
    for useless in (-scores, np.zeros(500)):
        chances = fit_calibration(useless, y, 2).probabilities(useless)[:, 1]
        assert chances == pytest.approx(y.mean(), abs=0.005)


def test_more_classes_have_a_map_each_and_sum_to_one():
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 3))
    y = (X + random.gumbel(size=X.shape) * 0.7).argmax(axis=1)
    model = LinearSVC().fit(X[::2], y[::2])
    found = fit_calibration(class_scores(model, X[1::2]), y[1::2], 3)
    assert len(found.maps) == 3
    chances = found.probabilities(class_scores(model, X))
    assert chances.sum(axis=1) == pytest.approx(1)
    assert log_loss(y, chances) < 0.9 < np.log(3)


def test_scores_of_a_softmax_do_not_depend_on_a_common_term():
    random = np.random.default_rng(0)
    raw = random.normal(size=(50, 4))
    chances = np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)
    common = random.normal(size=(50, 1)) * 10
    shifted = SimpleNamespace(
        classes_=np.arange(4), predict_proba=lambda X: chances, decision_function=lambda X: raw + common
    )
    plain = SimpleNamespace(classes_=np.arange(4), predict_proba=lambda X: chances, decision_function=lambda X: raw)
    assert (class_scores(shifted, None) == class_scores(plain, None)).all()
    assert class_scores(plain, None) == pytest.approx(np.log(chances) - np.log1p(-chances))
    assert np.isfinite(log_odds(np.array([[1.0, 0.0, 0.0]]))).all()


def test_two_classes_are_scored_by_the_decision_function():
    X, y = np.arange(20.0)[:, None], np.arange(20) > 8
    model = LogisticRegression().fit(X, y)
    assert (class_scores(model, X) == model.decision_function(X)).all()


@pytest.mark.parametrize("n", [200, 6000])
def test_files_hold_it_bit_for_bit(n):
    scores, y = scored(n)
    found = fit_calibration(scores, y, 2)
    again = Calibration.from_dict(json.loads(json.dumps(found.to_dict())))
    assert again == found
    assert (again.probabilities(scores) == found.probabilities(scores)).all()


@pytest.mark.parametrize(
    "plain",
    [
        None,
        {},
        {"kind": "magic", "maps": [[[1.0, 0.0]]]},
        {"kind": "sigmoid", "maps": []},
        {"kind": "sigmoid", "maps": [[[1.0, 0.0], [2.0, 0.0]]]},
        {"kind": "sigmoid", "maps": [[[1.0, 0.0]], [[1.0, 0.0]]]},
        {"kind": "sigmoid", "maps": [[[float("nan"), 0.0]]]},
        {"kind": "sigmoid", "maps": [[[True, 0.0]]]},
        {"kind": "isotonic", "maps": [[[0.0, 0.2], [0.0, 0.4]]]},
        {"kind": "isotonic", "maps": [[[0.0, 0.4], [1.0, 0.2]]]},
        {"kind": "isotonic", "maps": [[[0.0, 0.0], [1.0, 0.2]]]},
        {"kind": "isotonic", "maps": [[[0.0, 0.1], [1.0, 1.2]]]},
    ],
)
def test_what_is_no_calibration_is_refused(plain):
    with pytest.raises(DataError):
        Calibration.from_dict(plain)


def test_rows_far_from_all_classes_have_probabilities():
    """Every sigmoid is 0 in floats there: their ratios are those of exp(a s + b)."""
    calibration = Calibration("sigmoid", (((2.0, 0.0),), ((2.0, -1.0),), ((1.0, 0.0),)))
    told = calibration.probabilities(np.array([[-600.0, -600.0, -2000.0], [0.0, 0.0, 0.0], [-9e5, -8e5, -1e6]]))
    np.testing.assert_allclose(told.sum(axis=1), 1.0)
    np.testing.assert_allclose(told[0], [1 / (1 + np.exp(-1)), 1 / (1 + np.e), 0.0])
    np.testing.assert_array_equal(told[2], [0.0, 0.0, 1.0])
    farther = calibration.probabilities(np.array([[-1e308, -1e308, -1e308], [-1.5e308, -1e308, -1.2e308], [1e308] * 3]))
    np.testing.assert_array_equal(farther[:2], [[0.0, 0.0, 1.0]] * 2)
    np.testing.assert_allclose(farther[2], 1 / 3)
    steep = Calibration("sigmoid", (((2.0, 0.0),),) * 3)
    np.testing.assert_allclose(steep.probabilities(np.array([[-1e308] * 3])), 1 / 3)


@pytest.mark.parametrize("kind", ["sigmoid", "isotonic"])
def test_scores_that_differ_by_rounding_alone_say_nothing(kind):
    """Of w = 0 the scores are b and rounding; learned from that, a slope of 1e14 would make any other row certain."""
    rng = np.random.default_rng(0)
    codes = (rng.random(400) < 0.2).astype(np.intp)
    scores = -1.0 + 2.2e-16 * rng.integers(0, 9, size=400) + 4e-16 * codes
    told = fit_calibration(scores, codes, 2, kind).probabilities(np.array([-1.0, -1.0 + 1e-13, -1.0 - 1e-13]))
    np.testing.assert_allclose(told[:, 1], codes.mean(), atol=0.01)
