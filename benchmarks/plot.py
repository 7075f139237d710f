"""Suboptimality against time, a panel for each problem: every swept setting a point, every contestant a line.

The line is the frontier: the least time in which the contestant came that close.
"""

from __future__ import annotations

import math
from pathlib import Path
from textwrap import fill
from typing import Any

from benchmarks.adapters import OURS
from benchmarks.race import TARGETS, Record
from benchmarks.results import Results

COLOURS = {
    OURS: "#c1272d",
    "scikit-learn": "#0072b2",
    "scikit-learn-intelex": "#009e73",
    "LIBLINEAR": "#8a6d00",
    "LIBSVM": "#7b4fa3",
}
MARKERS = {OURS: "o", "scikit-learn": "s", "scikit-learn-intelex": "^", "LIBLINEAR": "D", "LIBSVM": "v"}
FLOOR = 1e-10  # below this, differences are rounding


def draw(results: Results, path: Path) -> None:
    """Write the picture, if there is anything to show."""
    problems = {name: record for name, record in results["problems"].items() if "sweep" in record}
    if not problems:
        return
    from matplotlib.figure import Figure

    across = min(3, len(problems))
    down = math.ceil(len(problems) / across)
    figure = Figure(figsize=(4.4 * across, 3.1 * down + 0.6), layout="constrained")
    panels = figure.subplots(down, across, squeeze=False).ravel()
    for axes, (name, record) in zip(panels, problems.items(), strict=False):
        panel(axes, name, record)
    for axes in panels[len(problems) :]:
        axes.set_visible(False)
    handles = {h.get_label(): h for axes in panels for h in axes.get_legend_handles_labels()[0]}
    figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=len(handles), frameon=False)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def draw_growth(results: Results, path: Path) -> None:
    """Time against size, a panel for each estimator and what grows; a cliff is a step."""
    series: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for job in results["jobs"].values():
        if job.get("size") is None:
            continue
        what, size = job["size"]
        for who, entry in job["entries"].items():
            if entry["status"] == "done":
                series.setdefault(what, {}).setdefault(who, []).append((size, entry["seconds"]))
    if not series:
        return
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    across = min(4, len(series))
    down = math.ceil(len(series) / across)
    figure = Figure(figsize=(3.6 * across, 2.7 * down + 0.5), layout="constrained")
    panels = figure.subplots(down, across, squeeze=False).ravel()
    for axes, (what, curves) in zip(panels, series.items(), strict=False):
        for who, points in curves.items():
            x, y = zip(*sorted(points), strict=True)
            axes.plot(x, y, "-", marker=MARKERS[who], markersize=4, color=COLOURS[who], label=who)
        axes.set(xscale="log", yscale="log", ylabel="seconds")
        low, high = axes.get_ylim()
        if high < 10 * low:  # or noise would look like cliffs
            middle = math.sqrt(low * high)
            axes.set_ylim(middle / math.sqrt(10), middle * math.sqrt(10))
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(LogLocator(subs=(1, 3)))
            axis.set_major_formatter(StrMethodFormatter("{x:g}"))
            axis.set_minor_locator(NullLocator())
        axes.set_title(fill(what, 34), fontsize=8.5)
        axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    for axes in panels[len(series) :]:
        axes.set_visible(False)
    handles = {h.get_label(): h for axes in panels for h in axes.get_legend_handles_labels()[0]}
    figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=len(handles), frameon=False)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def panel(axes: Any, name: str, record: Record) -> None:
    """One problem."""
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    for contestant, colour in COLOURS.items():
        points = sorted(
            (run["seconds"], max(run["excess"], FLOOR))
            for run in record["sweep"]
            if run["contestant"] == contestant and "excess" in run
        )
        if not points:
            continue
        x, y = zip(*points, strict=True)
        front = frontier(points)
        axes.plot(x, y, MARKERS[contestant], color=colour, markersize=4, alpha=0.45, markeredgewidth=0)
        ends_x, ends_y = zip(*front, strict=True)
        axes.plot(ends_x, ends_y, "-", marker=MARKERS[contestant], markersize=4, color=colour, label=contestant)
    for target in TARGETS:
        axes.axhline(target, color="#999999", linewidth=0.7, linestyle=":")
    axes.set(xscale="log", yscale="log", xlabel="seconds", ylabel="relative suboptimality")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_title(name, fontsize=10)


def frontier(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Of points (time, excess) in order of time, those that come closer than all before."""
    found: list[tuple[float, float]] = []
    for time, excess in points:
        if not found or excess < found[-1][1]:
            found.append((time, excess))
    return found
