"""The drawings of the page, each from the held-out predictions of the best model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.compare.metrics import Z
from separatrix.report.svg import Axes

if TYPE_CHECKING:
    from separatrix.compare.result import Run

LINES = ("line-a", "line-b", "line-c", "line-d", "line-e", "line-f")


def positive_scores(run: Run) -> tuple[Floats, list[int]] | None:
    """(n, m) scores, one column for each class drawn, and these classes; of two classes, the positive one.

    Without probabilities the folds' scores are divided by their mean size, to be on one scale.
    """
    predictions = run.best.predictions
    scores = predictions.probabilities
    if scores is None:
        if predictions.scores is None:
            return None
        scores = predictions.scores.copy()
        for fold in np.unique(predictions.fold):
            rows = predictions.fold == fold
            scores[rows] /= np.abs(scores[rows]).mean() or 1.0
        scores = scores[:, None] if scores.ndim == 1 else scores
    elif scores.shape[1] == 2:
        scores = scores[:, 1:]
    if scores.shape[1] == 1:
        return scores, [1]
    most = np.argsort(-np.bincount(run.truth), kind="stable")[: len(LINES)].tolist()
    return scores[:, most], most


def thinned(x: Floats, y: Floats, most: int = 240) -> tuple[list[float], list[float]]:
    """At most `most` points of a curve."""
    keep = np.unique(np.linspace(0, len(x) - 1, most).astype(int))
    return x[keep].tolist(), y[keep].tolist()


def histogram(run: Run) -> str | None:
    """Held-out scores of both classes, or, of more classes, the margins of right and wrong rows."""
    if run.margins is None or not np.isfinite(run.margins).any():
        return None
    if len(run.classes) == 2:
        values = np.where(run.truth == 1, 1.0, -1.0) * run.margins
        sides = [run.truth == 0, run.truth == 1]
        names = [f"class {run.classes[0]}", f"class {run.classes[1]}"]
        label = f"← {run.classes[0][:20]}    held-out score    {run.classes[1][:20]} →"
    else:
        values, sides = run.margins, [run.margins < 0, run.margins >= 0]
        names, label = ["wrong", "right"], "held-out margin of the true class"
    low, high = np.quantile(values, [0.005, 0.995])
    low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        return None
    edges = np.linspace(low, high, 41)
    heights = [np.histogram(np.clip(values[side], low, high), edges)[0] for side in sides]
    top = max(1, max(int(height.max(initial=0)) for height in heights))
    wrong = int((run.margins < 0).sum())
    axes = Axes(
        (float(low), float(high)),
        (0.0, top * 1.35),
        label,
        "rows",
        "Margins of held-out rows",
        f"Histogram of held-out scores; {wrong} of {len(values)} rows are on the wrong side of 0.",
    )
    for height, kind in zip(heights, ("fill-a", "fill-b"), strict=True):
        for j in np.flatnonzero(height):
            axes.bar(float(edges[j]), float(edges[j + 1]), float(height[j]), kind)
    axes.line([0.0, 0.0], [0.0, top * 1.35], "guide")
    axes.legend(list(zip(names, ("line-a", "line-b"), strict=True)), right=abs(low) >= high)
    return axes.render()


def _curves(
    run: Run, title: str, labels: tuple[str, str], corner: float, diagonal: bool
) -> tuple[Axes, Floats, list[int]] | None:
    found = positive_scores(run)
    if found is None:
        return None
    axes = Axes((0.0, 1.0), (0.0, 1.0), *labels, title, f"{title} of the held-out rows for {run.best.title}.")
    if diagonal:
        axes.line([0.0, 1.0], [0.0, 1.0], "guide")
    if len(found[1]) > 1:
        names = [(run.classes[code], LINES[j]) for j, code in enumerate(found[1])]
        axes.legend(names, right=diagonal, top=corner)
    return axes, *found


def roc(run: Run) -> str | None:
    """True positives against false positives."""
    drawn = _curves(run, "ROC curve", ("false positive rate", "true positive rate"), 150, True)
    if drawn is None:
        return None
    axes, scores, classes = drawn
    for j, code in enumerate(classes):
        mine, right = _cumulated(scores[:, j], run.truth == code)
        false = mine - right
        axes.line(*thinned(false / max(false[-1], 1), right / max(right[-1], 1)), LINES[j])
    return axes.render()


def precision_recall(run: Run) -> str | None:
    """Precision against recall."""
    drawn = _curves(run, "Precision and recall", ("recall", "precision"), 150, False)
    if drawn is None:
        return None
    axes, scores, classes = drawn
    for j, code in enumerate(classes):
        mine, right = _cumulated(scores[:, j], run.truth == code)
        axes.line(*thinned(right[1:] / max(right[-1], 1), right[1:] / mine[1:]), LINES[j])
        if len(classes) == 1:
            share = float((run.truth == code).mean())
            axes.line([0.0, 1.0], [share, share], "guide")
    return axes.render()


def _cumulated(scores: Floats, mine: Array) -> tuple[Floats, Floats]:
    """Rows above each threshold, and those of the class among them; equal scores move together."""
    order = np.argsort(-scores, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)
    right = np.cumsum(mine[order])[ends]
    return np.append(0.0, ends + 1.0), np.append(0.0, right)


def calibration(run: Run) -> str | None:
    """Observed shares against stated probabilities, in bins of equally many rows, with 95% intervals."""
    chances = run.best.predictions.probabilities
    if chances is None:
        return None
    if len(run.classes) == 2:
        stated, happened = chances[:, 1], run.truth == 1
        labels = (f"stated probability of {run.classes[1][:24]}", "observed share")
    else:
        stated, happened = chances.max(axis=1), run.best.predictions.codes == run.truth
        labels = ("stated probability of the predicted class", "share that was right")
    axes = Axes(
        (0.0, 1.0),
        (0.0, 1.0),
        *labels,
        "Calibration",
        f"Observed shares against the probabilities that {run.best.title} states, for held-out rows.",
    )
    axes.line([0.0, 1.0], [0.0, 1.0], "guide")
    for rows in np.array_split(np.argsort(stated, kind="stable"), min(10, max(1, len(stated) // 10))):
        share, low, high = wilson(int(happened[rows].sum()), len(rows))
        axes.dot(float(stated[rows].mean()), share, "line-a", low, high)
    return axes.render()


def wilson(right: int, rows: int) -> tuple[float, float, float]:
    """A share and its 95% interval."""
    share, z2 = right / rows, Z * Z
    centre = (share + z2 / (2 * rows)) / (1 + z2 / rows)
    half = Z * np.sqrt(share * (1 - share) / rows + z2 / (4 * rows * rows)) / (1 + z2 / rows)
    return share, float(max(0.0, centre - half)), float(min(1.0, centre + half))


def convergence(run: Run) -> str | None:
    """The certified gap after each step, on a logarithmic scale; the mistakes where there is no gap."""
    trace = run.trace
    if trace is None:
        return None
    name = "gap" if any(value for value in trace.get("gap", [])) else "mistakes"
    points = [(step, value) for step, value in _pairs(trace.get("step"), trace.get(name)) if value > 0]
    if len(points) < 2:
        return None
    steps, values = [point[0] for point in points], [point[1] for point in points]
    log = name == "gap"
    low = 10 ** np.floor(np.log10(min(values))) if log else 0.0
    high = 10 ** np.ceil(np.log10(max(values))) if log else max(values) * 1.05
    axes = Axes(
        (min(steps), max(steps)),
        (float(low), float(high) if high > low else float(low) * 10),
        "step",
        "gap: at most this much to gain" if log else name,
        "Convergence",
        f"{name} after each step of fitting {run.best.title} to all rows: from {values[0]:.3g} to {values[-1]:.3g}.",
        log_y=log,
    )
    axes.line(steps, values, "line-a")
    if len(points) <= 60:
        for step, value in points:
            axes.dot(step, value, "line-a")
    return axes.render()


def _pairs(steps: Sequence[float | None] | None, values: Sequence[float | None] | None) -> list[tuple[float, float]]:
    if steps is None or values is None:
        return []
    return [(x, y) for x, y in zip(steps, values, strict=True) if x is not None and y is not None]


def confusion(truth: Integers, predicted: Integers, k: int) -> list[list[int]]:
    """Rows of class i predicted as class j."""
    return np.bincount(truth * k + predicted, minlength=k * k).reshape(k, k).tolist()
