"""Everyday jobs, each entry in turn and each time in a fresh process: medians."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.adapters import EARLIER, EARLIER_PYTHON, interpreter
from benchmarks.everyday.jobs import Entry, Job
from benchmarks.processes import answers
from benchmarks.race import ALLOWANCE, Record, Rules


def perform(job: Job, data: Path, rules: Rules) -> Record:
    """Every entry's times and figures; the first entry is ours."""
    contestants = _contestants(job)
    runs: dict[str, list[Record]] = {name: [] for name in contestants}
    turns = min(rules.repeat, job.repeat)
    for turn in range(turns):
        rules.tell(f"{job.name}: round {turn + 1} of {turns}")
        for name, found in runs.items():
            if all(run["status"] == "done" for run in found) and sum(run["seconds"] for run in found) < ALLOWANCE:
                found += _once(job, *contestants[name], data, rules)
    entries = {name: _summary(found, rules) for name, found in runs.items()}
    _compare(entries)
    return {"group": job.group, "size": job.size, "accuracy": job.accuracy, "entries": entries}


def _contestants(job: Job) -> dict[str, tuple[str, Entry]]:
    """The job's entries under their names; or ours, here and in the environment of an earlier version."""
    if EARLIER_PYTHON not in os.environ:
        return {name: (name, entry) for name, entry in job.entries.items()}
    name, entry = next(iter(job.entries.items()))
    return {name: (name, entry), EARLIER: (name, replace(entry, package=EARLIER))}


def _once(job: Job, name: str, entry: Entry, data: Path, rules: Rules) -> list[Record]:
    request = {"job": job.name, "entry": name, "data": str(data)}
    python = interpreter(entry.package)
    return list(answers(request, threads=entry.threads, limit=rules.limit, python=python))


def _summary(runs: list[Record], rules: Rules) -> Record:
    done = [run for run in runs if run["status"] == "done"]
    if not done:
        return {"status": "not finished", "limit": rules.limit, "message": runs[-1].get("message", "")}
    return {
        "status": "done",
        "seconds": median(run["seconds"] for run in done),
        "runs": [run["seconds"] for run in done],
        "megabytes": median(run["megabytes"] for run in done),
        "load": max(run["load"] for run in done),
        "warnings": done[-1]["warnings"],
        "figures": done[-1]["figures"],
    }


def _compare(entries: dict[str, Record]) -> None:
    """Objectives become the largest relative distance from the best of all entries."""
    known = [entry["figures"] for entry in entries.values() if "objectives" in entry.get("figures", {})]
    if not known:
        return
    best = [min(values) for values in zip(*(figures["objectives"] for figures in known), strict=True)]
    for figures in known:
        values: list[Any] = figures.pop("objectives")
        figures["excess"] = max((value - low) / abs(low) for value, low in zip(values, best, strict=True))
