"""What is written beside the plane is what NumPy computes from the points."""

import re

import numpy as np
import pytest
from lab.labpage import APP, choose

from separatrix import LogisticRegression

pytestmark = pytest.mark.long


def readouts(page):
    """What is written beside the plane, name by name: the numbers in it."""
    names = page.page.locator(".lab-readout dt").all_inner_texts()
    values = [text.replace("−", "-") for text in page.page.locator(".lab-readout dd").all_inner_texts()]
    number = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"
    return dict(zip(names, ([float(v) for v in re.findall(number, text)] for text in values), strict=True))


def seen(page, name, data, **settings):
    """Stage it; the points with a 1 as X, their signs, and the readouts at the last step."""
    page.stage(name, data, **settings)
    page.js(f"{APP}.goTo(Infinity)")
    page.drawn()
    table = np.array(page.points())
    return np.column_stack([table[:, :2], np.ones(len(table))]), np.where(table[:, 2] > 0, 1.0, -1.0), readouts(page)


def close(found, expected):
    """Up to the four digits that the page writes."""
    np.testing.assert_allclose(found, np.ravel(expected), rtol=2e-3, atol=1e-9)


def test_the_perceptron_counts_false_negatives_and_false_positives(lab):
    Z, y, shown = seen(lab, "perceptron", "separable", eta0="0.5")
    walked = [i for i in lab.answer()["frames"]["walked"] if i >= 0]
    close(shown["False negatives, false positives"], [(y[walked] > 0).sum(), (y[walked] < 0).sum()])
    w = 0.5 * (y[walked, None] * Z[walked]).sum(axis=0)
    close(shown["Weights (w, b)"], w)
    close(shown["Nearest point"], (y * (Z @ w)).min() / np.linalg.norm(w[:2]))
    assert shown["Mistakes so far"][0] == len(walked)
    sizes = lab.js(f"((s) => {APP}.store.points.map((_, i) => s(i).size))({APP}.panes[0].layers().styles())")
    assert int(np.argmax(sizes)) == int(np.argmax(np.bincount(walked, minlength=len(y))))


def test_the_bound_of_the_mistakes_counts_where_the_walk_starts(lab):
    """From far off more mistakes than R²/γ² are made, and none beyond R²/γ² + 2‖w₀‖/(ηγ); all at once have no bound."""
    lab.load([[-3, 0, 0], [3, 0, 1]])
    _, _, shown = seen(lab, "perceptron", None, init="0,0,60")
    radius, margin, start = 10.0, 3.0, 60.0  # R² of (±3, 0, 1), and the margin of w* = (1, 0, 0)
    mistakes, bound = shown["Mistakes so far"][0], shown["Mistakes so far"][-1]
    assert radius / margin**2 < mistakes <= bound
    assert bound == pytest.approx(radius / margin**2 + 2 * start / margin, rel=1e-3)
    _, _, shown = seen(lab, "perceptron", None, update="batch")
    assert len(shown["Mistakes so far"]) == 1


@pytest.mark.parametrize("loss", ["log", "squared_error"])
def test_arrows_are_the_librarys_pull_of_each_point(lab, loss):
    lab.load([[0.0, 0.3, 0], [1.0, -0.4, 1], [0.4, 0.1, 1], [-0.5, 0.2, 0], [2.0, 0.5, 0]])
    Z, y, _ = seen(lab, "logistic", None, solver="newton", loss=loss)
    arrows = lab.page.evaluate(
        f"""() => {{ const pane = {APP}.panes[0], {{ map }} = pane.plane, drawn = [];
        const arrow = (x1, y1, x2, y2) => drawn.push([map.x(x1), map.y(y1), x2 - x1, y1 - y2]);
        pane.view.over({{ colours: {APP}.colours, arrow }}, map, pane); return drawn; }}"""
    )
    model = LogisticRegression(loss=loss, solver="newton", init="zeros").fit(Z[:, :2], y)
    pull = model.pull(Z[:, :2], y) / (1.0 if loss == "log" else 4 / 27)  # 4/27 is the most of p² (1 - p)
    assert len(arrows) == sum(abs(26 * pull) > 2)
    for x, up, *arrow in arrows:
        i = int(np.argmin(np.hypot(Z[:, 0] - x, Z[:, 1] - up)))
        close(arrow, -26 * pull[i] * model.coef_[0] / np.linalg.norm(model.coef_[0]))


def test_the_pocket_is_beside_the_walk(lab):
    Z, y, shown = seen(lab, "pocket", "overlapping")
    pocket, walk = shown["In the pocket (solid line)"], shown["The walk (dashed line)"]
    assert pocket != walk
    found = lab.answer()["frames"]["pocket"][-1]
    assert shown["Errors of the pocket"] == [((Z @ found >= 0) != (y > 0)).sum()]


def test_kozinec_brackets_the_best_margin(lab):
    Z, y, shown = seen(lab, "kozinec", "separable", rule="wolfe", epsilon="0.01")
    w = np.array(lab.answer()["frames"]["weights"][-1])
    close(shown["to"], np.linalg.norm(w))
    close(shown["Best margin, from"], (y * (Z @ w)).min() / np.linalg.norm(w))


def test_the_kernel_perceptron_sums_signed_kernels(lab):
    Z, y, shown = seen(lab, "kernel_perceptron", "moons", gamma="0.7", max_iter="3")
    alpha = np.bincount([i for i in lab.answer()["frames"]["walked"] if i >= 0], minlength=len(y))
    assert shown["Points with α > 0"] == [(alpha > 0).sum()]
    assert shown["Largest α"] == [alpha.max()]
    K = np.exp(-0.7 * ((Z[:, None] - Z[None]) ** 2).sum(axis=2)) + 1
    close(shown["Risk"], np.maximum(0, -y * (K @ (alpha * y))).sum())


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_svc_counts_points_beyond_the_margin(lab, kernel):
    Z, y, shown = seen(lab, "svc", "overlapping", kernel=kernel, C="2", gamma="0.5")
    model, alpha = lab.answer()["model"], np.zeros(len(y))
    alpha[model["support"]] = model["dual_coef"][0]
    X = Z[:, :2]
    K = X @ X.T if kernel == "linear" else np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    margins = y * (K @ alpha + model["intercept"][0])
    at = np.isclose(np.abs(alpha), 2.0)
    counts = [(alpha == 0).sum(), ((alpha != 0) & ~at).sum(), at.sum()]
    assert shown["α\u00a0=\u00a00, between, α\u00a0=\u00a0C"] == counts
    close(shown["With ξ > 0"], [(margins < 1 - 1e-6).sum(), np.maximum(0, 1 - margins).sum()])
    assert shown["Errors"] == [(margins <= 0).sum()]
    if kernel == "linear":
        close(shown["Margin 1/‖w‖"], 1 / np.linalg.norm(model["coef"][0]))


def test_logistic_regression_counts_errors_at_the_threshold(lab):
    Z, y, shown = seen(lab, "logistic", "overlapping", solver="newton", threshold="0.8")
    w = np.array(lab.answer()["frames"]["weights"][-1])
    assert shown["Errors at T"] == [((1 / (1 + np.exp(-Z @ w)) >= 0.8) != (y > 0)).sum()]
    close(shown["Objective"], np.log1p(np.exp(-y * (Z @ w))).sum() + w[:2] @ w[:2] / 2)


def test_a_far_point_turns_least_squares_and_not_logistic_regression(lab):
    before = seen(lab, "least_squares", "outlier")[2]
    points = lab.points()
    points[-1][:2] = [60, -30]
    lab.load(points)
    lab.drawn()
    shown = readouts(lab)
    table = np.array(points)
    Z, y = np.column_stack([table[:, :2], np.ones(len(table))]), np.where(table[:, 2] > 0, 1.0, -1.0)
    close(shown["Least squares (solid)"], np.linalg.lstsq(Z, y, rcond=None)[0])
    direction = lambda w: np.array(w[:2]) / np.linalg.norm(w[:2])  # noqa: E731
    moved = {name: direction(before[name]) @ direction(shown[name]) for name in list(before)[:2]}
    assert moved["Least squares (solid)"] < moved["Logistic regression (dashed)"]
    assert shown["Errors: least squares, logistic"][0] > shown["Errors: least squares, logistic"][1] == 0


def test_centroids_and_naive_bayes_show_means_deviations_and_priors(lab):
    Z, y, shown = seen(lab, "centroid", "overlapping")
    means = [Z[y == side, :2].mean(axis=0) for side in (-1, 1)]
    close(shown["μ of class −1"] + shown["μ of class +1"], means)
    Z, y, shown = seen(lab, "naive_bayes", "overlapping", shared_variance="false")
    for a, side in enumerate((-1, 1)):
        own = Z[y == side, :2]
        close(shown[f"Class {'−+'[a]}1: μ, σ"], [own.mean(axis=0), own.std(axis=0)])
    close(shown["Priors"], [0.5, 0.5])


def test_softmax_has_the_same_probabilities_for_every_pivot(lab):
    rows = {}
    for pivot in (-1, 0, 2):
        Z, _, shown = seen(lab, "softmax", "three", pivot=str(pivot))
        W = np.array([shown[f"(w, b) of class {a + 1}"] for a in range(3)])
        chances = np.exp(W @ Z[0]) / np.exp(W @ Z[0]).sum()
        np.testing.assert_allclose(shown["P of point 0"], chances, atol=2e-3)
        assert pivot < 0 or not W[pivot].any()
        rows[pivot] = shown["P of point 0"]
    assert rows[-1] == rows[0] == rows[2]


def test_any_class_can_be_the_pivot_by_its_name(lab):
    points = [[np.cos(c) + 0.1 * i, np.sin(c) - 0.1 * i * i, c] for c in range(6) for i in range(3)]
    lab.stage("softmax")
    lab.load(points)
    choose(lab, "pivot", "class 6")
    lab.drawn()
    shown = readouts(lab)
    assert shown["(w, b) of class 6"] == [0, 0, 0]
    assert any(shown["(w, b) of class 1"])
    lab.stage("softmax", "three", pivot="2")
    assert lab.page.locator("[data-name=pivot] option").all_inner_texts()[1:] == ["class 1", "class 2", "class 3"]


def test_fewest_errors_and_the_lift_say_what_is_proved(lab):
    Z, y, shown = seen(lab, "fewest_errors", "eighteen")
    w = np.array([*lab.answer()["model"]["coef"][0], lab.answer()["model"]["intercept"][0]])
    assert shown["Errors found"] == [((Z @ w >= 0) != (y > 0)).sum()] == shown["Fewest possible, at least"]
    Z, y, shown = seen(lab, "lift", "circle")
    model = lab.answer()["model"]
    height = (Z[:, :2] ** 2).sum(axis=1)
    scores = np.column_stack([Z[:, :2], height]) @ model["coef"][0] + model["intercept"][0]
    assert (y * scores).min() > 1 - 1e-3
    assert "a plane separates" in lab.page.locator(".lab-readout").inner_text()
