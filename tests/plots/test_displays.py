"""The displays: what they keep, what they draw, and what they refuse."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_blobs

from separatrix import (
    InvalidInputError,
    LinearSVC,
    LogisticRegression,
    LogisticRegressionCV,
    NearestCentroid,
    Perceptron,
    PocketPerceptron,
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


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("drawn", ["frame", "array", "sparse"])
def test_boundary_of_a_model_that_knows_names_takes_any_table(kind, drawn, blobs):
    X, y = blobs
    frame = pytest.importorskip(kind).DataFrame(dict(zip(("u", "v"), X.T, strict=True)))
    model = LogisticRegression().fit(frame, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's, of an array without names
        display = DecisionBoundary2D.from_estimator(
            model, {"frame": frame, "array": X, "sparse": sparse.csr_array(X)}[drawn], y, grid_resolution=20
        )
    plain = LogisticRegression().fit(X, y)
    np.testing.assert_array_equal(
        display.regions.ravel(), plain.predict(np.column_stack([display.xx.ravel(), display.yy.ravel()]))
    )
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("u", "v")


@pytest.mark.parametrize("threshold", [0.05, 0.95])
def test_the_line_is_where_the_prediction_changes(threshold, blobs):
    X, y = blobs
    model = LogisticRegression(threshold=threshold).fit(X, y)
    display = DecisionBoundary2D.from_estimator(model, X, y, grid_resolution=50)
    (path,) = display.contours_.get_paths()
    np.testing.assert_allclose(model.predict_proba(path.vertices)[:, 1], threshold, atol=1e-3)


def test_one_legend_is_enough_for_several_pictures(blobs):
    X, y = blobs
    display = DecisionBoundary2D.from_estimator(NearestCentroid().fit(X, y), X, y, grid_resolution=20, legend=False)
    assert display.ax_.get_legend() is None


def test_boundary_has_one_label_a_point(blobs):
    X, y = blobs
    with pytest.raises(InvalidInputError, match="one label a point"):
        DecisionBoundary2D.from_estimator(LogisticRegression().fit(X, np.column_stack([y, 1 - y])), X, y)


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
    (line,) = display.lines_
    np.testing.assert_array_equal(line.get_ydata(), model.trace_["mistakes"])
    assert line.get_color() == "red"


def test_each_of_several_machines_has_a_line_of_its_own():
    X, y = make_blobs(30, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    model = Perceptron(trace=True).fit(X, y)
    display = TraceDisplay.from_estimator(model, column="mistakes")
    assert len(display.lines_) == 3
    for task, line in enumerate(display.lines_):
        np.testing.assert_array_equal(line.get_ydata(), model.trace_["mistakes"][model.trace_["task"] == task])
        assert (np.diff(line.get_xdata()) > 0).all()
    assert display.ax_.get_legend() is not None


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
    several = LogisticRegressionCV(Cs=[0.01, 1, 100], cv=3, l1_ratios=(0.0, 0.5)).fit(X, y)
    chosen = LogisticRegressionCV(Cs=[0.01, 1, 100], cv=3, l1_ratios=(several.l1_ratio_,)).fit(X, y)
    np.testing.assert_array_equal(
        CoefficientPath.from_estimator(several).coefs, CoefficientPath.from_estimator(chosen).coefs
    )
    display = CoefficientPath.from_estimator(LinearSVC(), X, y, Cs=[0.1, 1])
    np.testing.assert_allclose(display.coefs[1], LinearSVC(C=1).fit(X, y).coef_[0])
    assert len(display.lines_) == 2
    with pytest.raises(InvalidInputError, match="no parameter C"):
        CoefficientPath.from_estimator(NearestCentroid(), X, y)


def test_a_unit_is_as_long_on_both_axes_unless_a_strip_would_be_left(blobs):
    X, y = blobs
    display = DecisionBoundary2D.from_estimator(NearestCentroid().fit(X, y), X, y, grid_resolution=20)
    assert display.ax_.get_aspect() == 1.0
    long = X * [1.0, 100.0]
    display = DecisionBoundary2D.from_estimator(NearestCentroid().fit(long, y), long, y, grid_resolution=20)
    assert display.ax_.get_aspect() == "auto"


def test_no_legend_covers_a_point(blobs):
    X, y = blobs
    model = LinearSVC().fit(X, y)
    for display in (
        DecisionBoundary2D.from_estimator(model, X, y, grid_resolution=20),
        MarginHistogram.from_estimator(model, X, y),
    ):
        display.figure_.canvas.draw()
        legend, figure = display.ax_.get_legend().get_window_extent(), display.figure_.bbox
        assert legend.x0 > display.ax_.get_window_extent().x1
        assert legend.x1 <= figure.x1  # and it is in the picture


def test_the_trace_of_a_pocket_is_that_of_its_errors(blobs):
    X, y = blobs
    model = PocketPerceptron(trace=True, random_state=0, max_iter=3).fit(X, np.roll(y, 7))
    display = TraceDisplay.from_estimator(model)
    assert display.column == "errors"
    assert (np.diff(display.values) <= 0).all()
    assert display.values[-1] == model.errors_
