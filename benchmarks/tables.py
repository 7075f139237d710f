"""Results as Markdown: ratios first, then times, settings and memory."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import geometric_mean
from typing import Any

from benchmarks.adapters import OURS
from benchmarks.race import TARGETS, Record
from benchmarks.results import Results

COMPILED = 1.0  # seconds more for 20,000 rows than for all: a contestant was compiled
GROUPS = {
    "intercepts": "A free intercept against a penalised one",
    "passes": "One pass over the rows",
    "predict": "Prediction",
    "start": "Starting",
    "searches": "Searching for C",
    "small": "Small tables, to the same objective",
    "defaults": "Default against default",
    "separability": "Separability",
    "cores": "Threads",
    "files": "Bigger than memory",
    "dask": "Bigger than a machine",
}


def page(results: Results) -> str:
    """All tables."""
    raced = {name: record for name, record in results["problems"].items() if "settings" in record}
    parts = [machine(results["runs"]), load(results)]
    if raced:
        parts += [
            "### To the same objective",
            ratios(raced),
            means(raced),
            losses(raced),
            firsts(raced),
            "### Times, settings and memory",
            times(raced),
        ]
    for group, title in GROUPS.items():
        jobs = {name: job for name, job in results["jobs"].items() if job.get("group") == group}
        if jobs:
            parts += [f"### {title}", everyday(jobs)]
    growing = [job for job in results["jobs"].values() if job.get("size")]
    if growing:
        parts += ["### Growth", growth(growing)]
    parts += [skipped(results)]
    return "\n\n".join(part for part in parts if part) + "\n"


def machine(runs: Sequence[Record]) -> str:
    if not runs:
        return ""
    last = runs[-1]
    versions = ", ".join(f"{name} {number}" for name, number in last["versions"].items())
    small = " **Quick sizes: these figures say nothing.**" if any(run["quick"] for run in runs) else ""
    return (
        f"Measured {last['when'][:10]} on {last['processor']}, {last['cores']} cores, {last['memory']} GB, "
        f"{last['system']}, Python {last['python']}: {versions} (commit {last['commit']}).{small}"
    )


def load(results: Results) -> str:
    """How busy the machine was at worst: the benchmark itself makes a load of 1 or 2."""
    settings = [setting for record in results["problems"].values() for setting in record.get("settings", ())]
    entries = [entry for record in results["jobs"].values() for entry in record.get("entries", {}).values()]
    loads = [run["load"] for run in (*settings, *entries) if "load" in run]
    return f"Load average before the runs: at most {max(loads):.1f}." if loads else ""


def ratios(problems: dict[str, Record]) -> str:
    """Rival's time / ours, for each target."""
    rows = []
    for name, record in problems.items():
        cells = {(s["contestant"], s["target"]): s for s in record["settings"]}
        for rival in dict.fromkeys(s["contestant"] for s in record["settings"] if s["contestant"] != OURS):
            rows.append([name, rival, *(ratio(cells[OURS, t], cells[rival, t]) for t in TARGETS)])
        rows += [[name, rival, *(["not installed"] * len(TARGETS))] for rival in record["missing"]]
    return table(["problem", "rival", *(f"to {target:.0e}" for target in TARGETS)], rows)


def means(problems: dict[str, Record]) -> str:
    """Of each rival, the geometric mean of the ratios for each target, over the problems in which both reach it."""
    found: dict[tuple[str, float], list[float]] = {}
    for record in problems.values():
        cells = {(s["contestant"], s["target"]): s for s in record["settings"] if s["status"] == "reached"}
        for (who, target), theirs in cells.items():
            if who != OURS and (OURS, target) in cells:
                found.setdefault((who, target), []).append(theirs["seconds"] / cells[OURS, target]["seconds"])
    rows = [
        [
            who,
            *(
                f"{geometric_mean(found[who, t]):.2f} of {len(found[who, t])}" if (who, t) in found else ""
                for t in TARGETS
            ),
        ]
        for who in dict.fromkeys(who for who, _ in found)
    ]
    return table(["geometric mean", *(f"to {target:.0e}" for target in TARGETS)], rows) if rows else ""


def losses(problems: dict[str, Record]) -> str:
    """Where a rival is faster to the tightest target, in words."""
    lost = []
    for name, record in problems.items():
        last = {s["contestant"]: s for s in record["settings"] if s["target"] == min(TARGETS)}
        ours = last.pop(OURS).get("seconds", math.inf)
        faster = [rival for rival, s in last.items() if s["status"] == "reached" and s["seconds"] < ours]
        lost += [f"{name} ({', '.join(faster)})"] * bool(faster)
    where = "; ".join(lost) + "." if lost else "none of these."
    return f"A rival is faster to {min(TARGETS):.0e} on {where}"


def firsts(problems: dict[str, Record]) -> str:
    """What contestants take that compile when first used, in words."""
    slow: dict[str, float] = {}
    for record in problems.values():
        for s in record["settings"]:
            if s.get("first", 0.0) > COMPILED + s.get("seconds", 0.0):
                slow[s["contestant"]] = max(slow.get(s["contestant"], 0.0), s["first"])
    said = ", ".join(f"{name} up to {duration(seconds)}" for name, seconds in slow.items())
    return f"Not in these times, importing and compiling in each process: {said}." if slow else ""


def ratio(ours: Record, theirs: Record) -> str:
    """Their seconds / ours; with a time limit that they exceeded, at least that."""
    if ours["status"] != "reached":
        return "we never reach it" if theirs["status"] == "reached" else "neither reaches it"
    if theirs["status"] == "reached":
        return f"{theirs['seconds'] / ours['seconds']:.2f}"
    limit = theirs.get("limit")
    return f"> {limit / ours['seconds']:.1f}, never reached" if limit else "never reached"


def times(problems: dict[str, Record]) -> str:
    """A row for each setting, with the targets for which it is the fastest of its contestant."""
    rows = []
    for name, record in problems.items():
        shape = f"{record['rows']:,} x {record['columns']:,}"
        targets: dict[tuple[str, ...], list[str]] = {}
        for s in record["settings"]:
            targets.setdefault((s["contestant"], *_cells(s, record)), []).append(f"{s['target']:.0e}")
        rows += [[name, shape, who, ", ".join(reached), *cells] for (who, *cells), reached in targets.items()]
    head = ["problem", "size", "contestant", "to", "time", "runs", "setting", "excess", "memory / data"]
    return table(head, rows)


def _cells(s: Record, record: Record) -> list[str]:
    if s["status"] != "reached":
        late = f" in {s['limit']:.0f} s" if s.get("limit") else ""
        return [f"{s['status']}{late}", "", "", "", ""]
    setting = f"{s['solver']}, {s['tol']:.0e}" + (f", {s['threads']} BLAS" if s["threads"] else "")
    return [duration(s["seconds"]), str(len(s["runs"])), setting, f"{s['excess']:.0e}", beside(s, record)]


def everyday(jobs: dict[str, Record]) -> str:
    """A row for each entry; the ratio of the fastest rival that is accurate enough is bold."""
    rows = []
    for name, job in jobs.items():
        ours = next(iter(job["entries"].values()))
        rivals = {label: entry for label, entry in job["entries"].items() if not label.startswith(OURS)}
        best = min((entry["seconds"] for entry in rivals.values() if _counts(entry, job)), default=None)
        for label, entry in job["entries"].items():
            if entry["status"] != "done":
                rows.append(
                    [name, label, f"not in {entry['limit']:.0f} s", _at_least(ours, entry), "", entry["message"]]
                )
                continue
            against = ""
            if label in rivals and ours["status"] == "done":
                against = f"{entry['seconds'] / ours['seconds']:.2f}"
                against = f"**{against}**" if entry["seconds"] == best and _counts(entry, job) else against
            rows.append([name, label, duration(entry["seconds"]), against, beside(entry, job), remarks(entry)])
    best_ratios = [float(row[3].strip("*")) for row in rows if row[3].startswith("**")]
    mean = f"\n\nGeometric mean of the ratios in bold: {geometric_mean(best_ratios):.2f}." if best_ratios else ""
    return table(["what", "who", "time", "ratio", "memory / data", "outcome"], rows) + mean


def _counts(entry: Record, job: Record) -> bool:
    """Whether an entry is done, and as accurate as the job asks."""
    if entry["status"] != "done":
        return False
    return job["accuracy"] is None or bool(entry["figures"].get("excess", 0.0) <= job["accuracy"])


def _at_least(ours: Record, entry: Record) -> str:
    return f"> {entry['limit'] / ours['seconds']:.1f}" if ours["status"] == "done" else ""


def remarks(entry: Record) -> str:
    """Figures and warnings in words."""
    words = [f"{key} {_number(value)}" for key, value in entry["figures"].items()]
    return "; ".join(words + [f"warns: {', '.join(entry['warnings'])}"] * bool(entry["warnings"]))


def growth(jobs: Sequence[Record]) -> str:
    """Times, the exponent e of time ~ size^e by least squares in the logarithms, and the steepest step of the curve.

    The step is the largest exponent between two sizes next to each other: a cliff is one far above the rest.
    """
    series: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for job in jobs:
        what, size = job["size"]
        for who, entry in job["entries"].items():
            if entry["status"] == "done":
                series.setdefault((what, who), []).append((size, entry["seconds"]))
    rows = []
    for (what, who), points in series.items():
        measured = ", ".join(f"{size:,.0f}: {duration(seconds)}" for size, seconds in sorted(points))
        steps = [exponent(pair) for pair in pairwise(sorted(points))]
        told = [f"{exponent(points):.2f}", f"{max(steps):.2f}"] if steps else ["", ""]
        rows.append([what, who, measured, *told])
    return table(["time against", "who", "measured", "exponent", "steepest step"], rows)


def exponent(points: Iterable[tuple[float, float]]) -> float:
    """The slope of log time over log size."""
    logs = [(math.log(size), math.log(seconds)) for size, seconds in points]
    middle = sum(x for x, _ in logs) / len(logs)
    return sum((x - middle) * y for x, y in logs) / sum((x - middle) ** 2 for x, _ in logs)


def skipped(results: Results) -> str:
    every = {**results["problems"], **results["jobs"]}
    lines = [f"- {name}: {record['skipped']}" for name, record in every.items() if "skipped" in record]
    return "\n".join(["Not run:", "", *lines]) if lines else ""


def beside(run: Record, record: Record) -> str:
    """Peak memory of the call over that of the data."""
    return f"{run['megabytes'] / record['megabytes']:.2f}" if record["megabytes"] >= 1 else ""


def duration(seconds: float) -> str:
    """Three figures, in seconds, milliseconds or microseconds."""
    unit, factor = ("s", 1) if seconds >= 1 else ("ms", 1e3) if seconds >= 1e-3 else ("µs", 1e6)
    value = seconds * factor
    return f"{value:.{max(0, 2 - int(math.log10(max(value, 1))))}f} {unit}"


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
