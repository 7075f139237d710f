"""The drawings of the page, each from the held-out predictions of the best model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from separatrix._typing import Array, Floats
from separatrix.compare.explain import margins_of
from separatrix.report.confusion import shortened
from separatrix.report.svg import Axes, short

if TYPE_CHECKING:
    from separatrix.compare.result import Run

LINES = ("line-a", "line-b", "line-c", "line-d", "line-e", "line-f")
MOST_LINES = 60  # of a path
BINS = 40  # of a histogram, about
FAR = 28.0  # log-odds beyond which rows look alike: those of a probability of 1e-12


@dataclass(frozen=True)
class Drawing:
    """A picture, the names of what is drawn in it (shown above it, off the curves), and what its ends mean."""

    picture: str
    legend: list[tuple[str, str]] = field(default_factory=list)  # name, class of the style sheet
    ends: tuple[str, str] | None = None  # what the left and the right end of the picture stand for


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


def thinned(x: Floats, y: Floats) -> tuple[list[float], list[float]]:
    """At most 240 points of a curve."""
    keep = np.unique(np.linspace(0, len(x) - 1, 240).astype(int))
    return x[keep].tolist(), y[keep].tolist()


def scores_from_cut(run: Run) -> Floats | None:
    """Held-out scores whose sign decides: of two classes, that of the second; of more, the lead of the true class."""
    margins, _ = margins_of(run.truth, run.best.predictions)
    if margins is None or not np.isfinite(margins).all():
        return None
    margins = np.clip(margins, -FAR, FAR)
    return np.where(run.truth == 1, 1.0, -1.0) * margins if len(run.classes) == 2 else margins


def bin_edges(values: Floats) -> Floats | None:
    """About `BINS` equal bins over all but the outermost values; 0 is an edge, so that no bin has both sides in it."""
    low, high = np.quantile(values, [0.005, 0.995])
    low, high = min(float(low), 0.0), max(float(high), 0.0)
    if not high > low:
        return None
    step = (high - low) / BINS
    return step * np.arange(np.floor(low / step + 1e-9), np.ceil(high / step - 1e-9) + 1)


def histogram(run: Run) -> Drawing | None:
    """Held-out scores: one class upwards, the other downwards; of more classes, rows predicted right and wrong."""
    values = scores_from_cut(run)
    edges = None if values is None else bin_edges(values)
    if values is None or edges is None:
        return None
    wrong = run.best.predictions.codes != run.truth
    ends: tuple[str, str] | None = None
    if len(run.classes) == 2:
        sides = [run.truth == 1, run.truth == 0]
        names = [f"{run.classes[1]} (upwards)", f"{run.classes[0]} (downwards)"]
        ends = (f"← predicted {run.classes[0]}", f"predicted {run.classes[1]} →")
        label, unit, kinds = "held-out score; 0 is the cut", "share of the class", ("fill-b", "fill-a")
    else:
        sides, names = [~wrong, wrong], ["predicted right (upwards)", "predicted wrong (downwards)"]
        label, unit, kinds = "lead of the true class; 0 is the cut", "share of all rows", ("fill-a", "fill-b")
    inside = np.clip(values, edges[0], edges[-1])
    whole = [max(1, int(side.sum())) if len(run.classes) == 2 else len(values) for side in sides]
    heights = [np.histogram(inside[side], edges)[0] / total for side, total in zip(sides, whole, strict=True)]
    up, down = (max(0.01, 1.08 * float(height.max(initial=0.0))) for height in heights)
    axes = Axes(
        (float(edges[0]), float(edges[-1])),
        (-down, up),
        label,
        unit,
        "Scores of held-out rows",
        f"Histogram of held-out scores; {int(wrong.sum())} of {len(values)} rows are predicted wrong.",
        y_tick=lambda value: f"{100 * abs(value):g}%",
    )
    for sign, height, kind in zip((1, -1), heights, kinds, strict=True):
        for j in np.flatnonzero(height):
            axes.bar(float(edges[j]), float(edges[j + 1]), sign * float(height[j]), kind)
    axes.line([float(edges[0]), float(edges[-1])], [0.0, 0.0], "axis")
    axes.line([0.0, 0.0], [-down, up], "guide")
    return Drawing(axes.render(), list(zip(names, kinds, strict=True)), ends)


def roc(run: Run) -> Drawing | None:
    """True positives against false positives."""

    def rates(mine: Floats, right: Floats) -> tuple[Floats, Floats]:
        false = mine - right
        return false / max(false[-1], 1), right / max(right[-1], 1)

    return _curves(run, "ROC curve", ("false positive rate", "true positive rate"), rates, (0.0, 1.0))


def precision_recall(run: Run) -> Drawing | None:
    """Precision against recall."""

    def rates(mine: Floats, right: Floats) -> tuple[Floats, Floats]:
        return right[1:] / max(right[-1], 1), right[1:] / mine[1:]

    share = float((run.truth == 1).mean())
    guide = (share, share) if len(run.classes) == 2 else None
    return _curves(run, "Precision and recall", ("recall", "precision"), rates, guide)


def _curves(
    run: Run,
    title: str,
    labels: tuple[str, str],
    rates: Callable[[Floats, Floats], tuple[Floats, Floats]],
    guide: tuple[float, float] | None,
) -> Drawing | None:
    """A curve for each class: ``rates`` of the rows above each threshold, and of those of the class among them."""
    found = positive_scores(run)
    if found is None:
        return None
    scores, classes = found
    axes = Axes((0.0, 1.0), (0.0, 1.0), *labels, title, f"{title} of the held-out rows for {run.best.title}.")
    if guide is not None:
        axes.line([0.0, 1.0], guide, "guide")
    for j, code in enumerate(classes):
        axes.line(*thinned(*rates(*_cumulated(scores[:, j], run.truth == code))), LINES[j])
    names = [(shortened(run.classes[code], 40), LINES[j]) for j, code in enumerate(classes)]
    return Drawing(axes.render(), names if len(names) > 1 else [])


def _cumulated(scores: Floats, mine: Array) -> tuple[Floats, Floats]:
    """Rows above each threshold, and those of the class among them; equal scores move together."""
    order = np.argsort(-scores, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)
    right = np.cumsum(mine[order])[ends]
    return np.append(0.0, ends + 1.0), np.append(0.0, right)


def convergence(run: Run) -> Drawing | None:
    """The certified gap after each step, on a logarithmic scale; the mistakes where there is no gap."""
    trace = run.trace
    if trace is None:
        return None
    name = "gap" if any(value for value in trace.get("gap", [])) else "mistakes"
    pairs = zip(trace.get("step", []), trace.get(name, []), strict=False)
    points = [(step, value) for step, value in pairs if step is not None and value is not None and value > 0]
    if len(points) < 2:
        return None
    steps, values = map(list, zip(*points, strict=True))
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
    return Drawing(axes.render())


def entering(run: Run) -> Drawing | None:
    """The effects of the columns against C, on a logarithmic scale; the first to come in have colours and names."""
    path = run.path
    if path is None or not path.columns:
        return None
    x = np.log10(path.C)
    effects = path.effects[:, :MOST_LINES]
    low, high = min(0.0, float(effects.min())), max(0.0, float(effects.max()))
    axes = Axes(
        (float(x[0]), float(x[-1])),
        (1.05 * low, 1.05 * high),
        "C",
        "effect of a standard deviation" if len(run.classes) == 2 else "size of the largest effect",
        "Path of the L1 penalty",
        f"Effects of {len(path.columns)} columns as C grows; the first to come in is {path.columns[0]}.",
        x_tick=lambda value: short(float(f"{10**value:.1e}")),
    )
    for j in range(effects.shape[1] - 1, -1, -1):  # the first are drawn last, on top
        axes.line(x.tolist(), effects[:, j].tolist(), LINES[j] if j < len(LINES) else "line-m")
    axes.line([float(x[0]), float(x[-1])], [0.0, 0.0], "axis")
    axes.line([np.log10(path.chosen)] * 2, [1.05 * low, 1.05 * high], "guide")
    legend = [(shortened(name, 40), line) for name, line in zip(path.columns, LINES, strict=False)]
    return Drawing(axes.render(), legend)
