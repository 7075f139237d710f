"""The displays: what they keep, what they draw, and what they refuse."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs

from separatrix import (
    InvalidInputError,
    LinearSVC,
    LogisticRegression,
    LogisticRegressionCV,
    NearestCentroid,
    Perceptron,
)

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402

from separatrix.plots import CoefficientPath, DecisionBoundary2D, MarginHistogram, TraceDisplay  # noqa: E402


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture
def blobs():
    return make_blobs(60, centers=[[0, 0], [3, 3]], random_state=0)


def test_boundary_of_a_support_vector_machine_has_margins_and_support_vectors(blobs):
    X, y = blobs
    model = LinearSVC().fit(X, y)
    display = DecisionBoundary2D.from_estimator(model, X, y, grid_resolution=50)
    assert display.contours_.levels.tolist() == [-1, 0, 1]
    np.testing.assert_array_equal(display.support_.get_offsets(), X[model.support_])
    assert sum(len(points.get_offsets()) for points in display.points_) == len(X)
    np.testing.assert_array_equal(
        display.regions, model.predict(np.column_stack([display.xx.ravel(), display.yy.ravel()])).reshape(50, 50)
    )
    assert display.figure_ is display.ax_.figure


def test_boundary_draws_on_the_axes_given_and_without_labels(blobs):
    X, y = blobs
    _, ax = plt.subplots()
    display = DecisionBoundary2D.from_estimator(NearestCentroid().fit(X, y), X, ax=ax, grid_resolution=20)
    assert display.ax_ is ax
    assert display.contours_.levels.tolist() == [0]
    assert display.points_ == []


def test_boundary_of_three_classes_and_a_frame():
    pandas = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True)
    frame = pandas.DataFrame(X[:, 2:], columns=["length", "width"])
    model = LogisticRegression().fit(frame, y)
    display = DecisionBoundary2D.from_estimator(model, frame, y, grid_resolution=30)
    assert display.scores is None
    assert set(np.unique(display.regions)) == {0, 1, 2}
    assert display.ax_.get_xlabel() == "length"


def test_boundary_needs_two_columns():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InvalidInputError, match="two columns"):
        DecisionBoundary2D.from_estimator(NearestCentroid().fit(X, y), X, y)


def test_trace_draws_the_gap_or_the_column_asked_for(blobs):
    X, y = blobs
    model = LogisticRegression(trace=True).fit(X, y)
    display = TraceDisplay.from_estimator(model)
    assert display.column == "gap"
    assert display.ax_.get_yscale() == "log"
    model = Perceptron(trace=True).fit(X, y)
    display = TraceDisplay.from_estimator(model, column="mistakes", color="red")
    np.testing.assert_array_equal(display.line_.get_ydata(), model.trace_["mistakes"])
    assert display.line_.get_color() == "red"


def test_trace_says_what_is_missing(blobs):
    X, y = blobs
    with pytest.raises(InvalidInputError, match="trace=True"):
        TraceDisplay.from_estimator(Perceptron().fit(X, y))
    with pytest.raises(InvalidInputError, match="no column 'speed'"):
        TraceDisplay.from_estimator(Perceptron(trace=True).fit(X, y), column="speed")


def test_margin_histogram_counts_every_row(blobs):
    X, y = blobs
    labels = np.array(["no", "yes"])[y]
    model = LinearSVC().fit(X, labels)
    display = MarginHistogram.from_estimator(model, X, labels)
    np.testing.assert_allclose(display.scores, model.signed_distance(X))
    assert [sum(bar.get_height() for bar in bars) for bars in display.bars_] == [30, 30]
    with pytest.raises(InvalidInputError, match="'maybe'"):
        MarginHistogram.from_estimator(model, X[:1], ["maybe"])


def test_margin_histogram_is_of_two_classes():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InvalidInputError, match="two classes"):
        MarginHistogram.from_estimator(NearestCentroid().fit(X, y), X, y)


def test_path_of_the_cross_validated_model_and_of_any_other(blobs):
    X, y = blobs
    model = LogisticRegressionCV(Cs=[0.01, 1, 100], cv=3).fit(X, y)
    display = CoefficientPath.from_estimator(model)
    assert display.coefs.shape == (3, 2)
    assert display.chosen == model.C_
    display = CoefficientPath.from_estimator(LinearSVC(), X, y, Cs=[0.1, 1])
    np.testing.assert_allclose(display.coefs[1], LinearSVC(C=1).fit(X, y).coef_[0])
    assert len(display.lines_) == 2
    with pytest.raises(InvalidInputError, match="no parameter C"):
        CoefficientPath.from_estimator(NearestCentroid(), X, y)
