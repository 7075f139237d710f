"""What each step did and why, in a sentence: of the numbers of the trace and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from separatrix.lab.request import Sample

Frames = Mapping[str, list[Any]]
SIDES = ("−1", "+1")


def sentences(name: str, frames: Frames, sample: Sample, settings: Mapping[str, Any]) -> list[str]:
    """One for each frame; none for an algorithm without steps."""
    if not frames or name not in _STEPS:
        return []
    return [_STEPS[name](k, frames, sample, settings) for k in range(len(frames["step"]))]


def last_word(name: str, model: Any, certificate: Any) -> str:
    """How the whole fit went, for algorithms whose formula or search has no steps to show."""
    if model is None:
        return "No line separates the classes: the weighted points of one class and of the other have a common mean."
    words: Mapping[str, Callable[[], str]] = {
        "svc": lambda: (
            f"{len(model.support_)} points hold the boundary (α > 0); all others could be erased without moving it."
        ),
        "hard_margin": lambda: (
            f"The widest street between the classes is {2 * float(model.margin_):.4g} wide; "
            f"{len(model.support_)} support vectors stand on its edges."
        ),
        "least_squares": lambda: "The line minimises Σ (y − w·x − b)²: far points pull on it, however right they are.",
        "centroid": lambda: "The boundary is the perpendicular bisector of the segment between the classes' means.",
        "naive_bayes": lambda: (
            "Each class is a product of one bell curve a column; the boundary is where prior times density are equal."
        ),
        "fewest_errors": lambda: (
            f"{certificate.errors:g} error{'s' * (certificate.errors != 1)} found, and no line makes fewer than "
            f"{certificate.lower_bound:g}"
            + (": settled." if certificate.errors == certificate.lower_bound else ": the search goes on.")
        ),
        "lift": lambda: "A plane in space separates the lifted points; seen from above, its cut is the curve.",
    }
    return words[name]() if name in words else ""


def _of(sample: Sample, i: int) -> str:
    """Point i and its label."""
    return f"point {i} (y = {SIDES[int(sample.y[i] == sample.y.max())]})"


def _perceptron(k: int, frames: Frames, sample: Sample, settings: Mapping[str, Any]) -> str:
    point, mistakes = frames["point"][k], frames["mistakes"][k]
    if k == 0:
        return f"Start: the weights are {_weights(frames['weights'][0])}."
    eta = settings["eta0"]
    if point < 0:
        before = frames["mistakes"][k - 1]
        return (
            f"All {mistakes - before} mistakes of this pass at once: w ← w + {eta:g} Σ y (x, 1). The risk is now "
            f"{frames['objective'][k]:.4g}."
        )
    square = float((sample.X[point] ** 2).sum()) + 1.0
    why = "was the worst mistake" if settings.get("update") == "worst" else "was on the wrong side"
    return (
        f"Mistake {mistakes}: {_of(sample, point)} {why}, so w ← w + {eta:g}·y (x, 1); its score times y grew by "
        f"η‖(x, 1)‖² = {eta * square:.4g}."
    )


def _pocket(k: int, frames: Frames, sample: Sample, settings: Mapping[str, Any]) -> str:
    if k == 0:
        return f"Start: the weights 0 are in the pocket, with {frames['errors'][0]:g} errors."
    kept, errors = frames["best"][k] == frames["step"][k], frames["errors"][k]
    end = (
        f"With {errors:g} errors it is better than all before, and goes into the pocket."
        if kept
        else f"It is no better, and the pocket keeps the line with {errors:g} errors."
    )
    return f"The walk erred on {_of(sample, frames['point'][k])} and moved. {end}"


def _kozinec(k: int, frames: Frames, sample: Sample, settings: Mapping[str, Any]) -> str:
    upper, lower, worst = frames["objective"][k], frames["margin"][k], frames["point"][k]
    bracket = f"The best margin is between {max(lower, 0.0):.4g} and {upper:.4g}."
    if k == 0:
        return f"Start at the shortest z = y (x, 1). {bracket} The worst point is {worst}."
    before = frames["point"][k - 1]
    move = (
        f"w moved to the point of the segment from w to z of {_of(sample, before)} that is nearest to the origin."
        if settings["rule"] == "plain"
        else f"z of {_of(sample, before)} joined the set, and w moved to the nearest point of its hull."
    )
    return f"{move} {bracket}"


def _kernel(k: int, frames: Frames, sample: Sample, settings: Mapping[str, Any]) -> str:
    if k == 0:
        return "Start: α = 0, so the score is 0 everywhere."
    return (
        f"Mistake {frames['mistakes'][k]}: {_of(sample, frames['point'][k])} was on the wrong side, so its α grew "
        "by 1: a copy of the kernel, signed y, now stands on it."
    )


def _descent(k: int, frames: Frames, sample: Sample, settings: Mapping[str, Any]) -> str:
    now = frames["objective"][k]
    if k == 0:
        return f"Start: the objective is {now:.6g}."
    gradient = {
        "log": "Σ (p − y) x: sure points pull little, wrong ones most",
        "squared_error": "2 Σ (p − y) p (1 − p) x: points far on either side hardly pull, also those on the wrong one",
    }[settings.get("loss", "log")]
    step = {
        "newton": "Newton's step: to the minimum of the parabola that fits the objective here",
        "gauss-newton": "Gauss-Newton's step: Newton's, with 2 J'J for the curvature",
        "gradient": f"A step down the gradient {gradient}",
        "sgd": f"A step for {_of(sample, frames['point'][k])} alone" if frames["point"][k] >= 0 else "A step",
    }[settings.get("solver", "newton")]
    change = now - frames["objective"][k - 1]
    moved = "unchanged" if change == 0 else f"{'down' if change < 0 else 'up'} by {abs(change):.3g}"
    gap = frames.get("gap", [None] * (k + 1))[k]
    close = "" if gap is None else f"; no weights are better by more than {gap:.2g}"
    return f"{step}. The objective is {now:.6g}, {moved}{close}."


def _weights(w: list[float]) -> str:
    return "(" + ", ".join(f"{entry:.4g}" for entry in w) + ")"


_STEPS: Mapping[str, Callable[[int, Frames, Sample, Mapping[str, Any]], str]] = {
    "perceptron": _perceptron,
    "pocket": _pocket,
    "kozinec": _kozinec,
    "kernel_perceptron": _kernel,
    "logistic": _descent,
    "softmax": _descent,
}
