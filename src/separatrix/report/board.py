"""The leaderboard: every line as a dot with its interval, all on one scale, and the majority guess among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from separatrix.compare.metrics import LOSSES
from separatrix.report.svg import Scale

if TYPE_CHECKING:
    from separatrix.compare.metrics import Figure
    from separatrix.compare.result import Entry, Run

EDGE = 0.03  # of the scale, left free at each end
BEYOND = 2.0  # times the majority's loss: a loss above it says "far worse than guessing" and would crowd the others


@dataclass(frozen=True)
class Line:
    """One line of the leaderboard, ready to be shown."""

    entry: Entry
    figure: Figure | None
    track: str
    tags: list[str]
    place: str
    kind: str


def lines(run: Run) -> tuple[list[Line], str, float | None]:
    """The lines in their order, the axis, and where the majority guess lies."""
    figures = [entry.figures.get(run.metric) for entry in run.entries]
    baseline = next((entry.figures.get(run.metric) for entry in run.entries if entry.baseline), None)
    guide = None if baseline is None else baseline.value
    scale = scale_of([figure for figure in figures if figure is not None], guide, run.metric in LOSSES)
    found = []
    for entry, figure in zip(run.entries, figures, strict=True):
        kind = _kind(entry, entry is run.best, entry.tie or entry.behind is None)
        track = "" if figure is None else scale.interval(figure.low, figure.value, figure.high, kind, guide)
        found.append(Line(entry, figure, track, _tags(entry, run), _place(entry), kind))
    return found, scale.axis(), guide


def scale_of(figures: Sequence[Figure], guide: float | None, smaller_is_better: bool) -> Scale:
    """From the lowest end of an interval to the highest, and a little more; losses no further than `BEYOND`."""
    low = min([figure.low for figure in figures] + ([] if guide is None else [guide]))
    high = max([figure.high for figure in figures] + ([] if guide is None else [guide]))
    if smaller_is_better and guide is not None:
        high = min(high, BEYOND * guide)
    pad = EDGE * (high - low) or 0.5
    return Scale(low - pad, high + pad)


def _kind(entry: Entry, saved: bool, level: bool) -> str:
    if entry.baseline:
        return "line-g"
    if entry.reference:
        return "line-r"
    return "line-b" if saved else "line-a" if level else "line-m"


def _tags(entry: Entry, run: Run) -> list[str]:
    tags = ["saved"] if entry is run.best else []
    return tags + (["reference"] if entry.reference else [])


def _place(entry: Entry) -> str:
    """How far from the best of ours, which the reference may be ahead of."""
    if entry.behind is None:
        return "best"
    way = "behind" if entry.behind.value > 0 else "ahead"
    return "tie" if entry.tie else f"{abs(entry.behind.value):.3f} {way}"


def parameters(params: dict[str, Any]) -> str:
    """C=1, gamma=0.1."""
    return ", ".join(
        f"{name}={value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else f"{name}={value}"
        for name, value in params.items()
    )
