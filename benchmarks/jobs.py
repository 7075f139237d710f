"""Everyday jobs, each entry in turn and each time in a fresh process: medians."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.adapters import interpreter
from benchmarks.everyday.jobs import Job
from benchmarks.processes import answers
from benchmarks.race import ALLOWANCE, Record, Rules


def perform(job: Job, data: Path, rules: Rules) -> Record:
    """Every entry's times and figures; the first entry is ours."""
    runs: dict[str, list[Record]] = {name: [] for name in job.entries}
    turns = min(rules.repeat, job.repeat)
    for turn in range(turns):
        rules.tell(f"{job.name}: round {turn + 1} of {turns}")
        for name, found in runs.items():
            if all(run["status"] == "done" for run in found) and sum(run["seconds"] for run in found) < ALLOWANCE:
                found += _once(job, name, data, rules)
    entries = {name: _summary(found, rules) for name, found in runs.items()}
    _compare(entries)
    return {"group": job.group, "size": job.size, "accuracy": job.accuracy, "entries": entries}


def _once(job: Job, name: str, data: Path, rules: Rules) -> list[Record]:
    request = {"job": job.name, "entry": name, "data": str(data)}
    entry = job.entries[name]
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
