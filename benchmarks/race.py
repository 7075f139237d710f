"""Time until the objective is within 1e-3, 1e-4 and 1e-6 relative of the best known: first a sweep, then alternating.

The sweep runs every route of every contestant once, from its loosest tolerance to the first that reaches 1e-6. Then,
for each target, the fastest setting of each rival that reached it is run again and again, in turn with ours, each
time in a fresh process.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.adapters import OURS, Size, adapter, installed, interpreter, rivals
from benchmarks.adapters.separatrix import TIGHT
from benchmarks.problems import Problem
from benchmarks.processes import answers

TARGETS = (1e-3, 1e-4, 1e-6)
ALLOWANCE = 30.0  # seconds of fitting for a setting after which it is not run again
SAME = 1.05  # times that one run cannot tell apart
Tell = Callable[[str], None]
Record = dict[str, Any]


@dataclass(frozen=True)
class Rules:
    """How often to repeat, how long a run may take, and where to say how it goes."""

    repeat: int = 5
    limit: float = 60.0
    tell: Tell = lambda message: None


def race(problem: Problem, data: Path, size: Size, rules: Rules) -> Record:
    """The sweep, the best objective known, and for each rival and target the settings, times and ratio."""
    tight = _tight(problem, data, rules)
    sweep = list(_sweep(problem, data, size, tight, rules))
    values = [run["objective"] for run in sweep if run["status"] == "done"]
    best = min([tight, *values])
    for run in sweep:
        if run["status"] == "done":
            run["excess"] = (run["objective"] - best) / abs(best)
    names = [adapter(OURS).NAME, *dict.fromkeys(run["contestant"] for run in sweep if run["contestant"] != OURS)]
    chosen = {(name, target): _fastest(sweep, name, target) for name in names for target in TARGETS}
    times = _alternate(problem, data, [run for run in chosen.values() if run is not None], rules)
    return {
        "best": best if math.isfinite(best) else None,
        "sweep": sweep,
        "missing": [
            adapter(name).NAME for name in rivals() if installed(name) is None and adapter(name).routes(problem, size)
        ],
        "settings": [
            {"contestant": name, "target": target, **(_summary(run, times) if run else _never(sweep, name, rules))}
            for (name, target), run in chosen.items()
        ],
    }


def _tight(problem: Problem, data: Path, rules: Rules) -> float:
    request = _request(problem, data, OURS, "auto", [TIGHT], None)
    found = list(answers(request, limit=10 * rules.limit))
    return min((run["objective"] for run in found if run["status"] == "done"), default=float("inf"))


def _sweep(problem: Problem, data: Path, size: Size, best: float, rules: Rules) -> Iterator[Record]:
    for name in (OURS, *rivals()):
        contestant = adapter(name)
        if installed(name) is None:
            continue
        patience = rules.limit
        for route in contestant.routes(problem, size):
            for threads in route.threads:
                rules.tell(
                    f"{problem.name}: {contestant.NAME} {route.solver}" + (f", {threads} BLAS" if threads else "")
                )
                request = _request(problem, data, name, route.solver, route.tolerances, best + min(TARGETS) * abs(best))
                left = list(route.tolerances)
                for run in answers(request, threads=threads, limit=patience, python=interpreter(contestant.PACKAGE)):
                    tol = run.setdefault("tol", left[0])
                    left = left[1:]
                    if run["status"] == "done" and run["objective"] <= request["enough"]:
                        # what is not done by now is slower to every target than this
                        patience = min(patience, 2 * run["seconds"] + 0.5)
                    elif run["status"] == "limit" and patience < rules.limit:
                        run["status"] = "slower"
                    yield {
                        "contestant": contestant.NAME, "adapter": name, "solver": route.solver, "tol": tol,
                        "threads": threads, **run,
                    }  # fmt: skip


def _request(
    problem: Problem, data: Path, name: str, solver: str, tolerances: Any, enough: float | None
) -> dict[str, Any]:
    return {
        "problem": problem.name,
        "data": str(data),
        "adapter": name,
        "solver": solver,
        "tolerances": list(tolerances),
        "enough": enough,
    }


def _fastest(sweep: list[Record], name: str, target: float) -> Record | None:
    """The fastest that reached the target; of those that took as long, the most accurate, which serves more targets."""
    reached = [run for run in sweep if run["contestant"] == name and run.get("excess", target + 1) <= target]
    if not reached:
        return None
    least = min(run["seconds"] for run in reached)
    return min((run for run in reached if run["seconds"] <= SAME * least), key=lambda run: run["excess"])


Key = tuple[str, str, float, int]


def _key(run: Record) -> Key:
    return run["adapter"], run["solver"], run["tol"], run["threads"]


def _alternate(problem: Problem, data: Path, chosen: list[Record], rules: Rules) -> dict[Key, list[Record]]:
    settings = {_key(run): run for run in chosen}
    times: dict[Key, list[Record]] = {key: [] for key in settings}
    for turn in range(rules.repeat):
        rules.tell(f"{problem.name}: round {turn + 1} of {rules.repeat}, {len(settings)} settings")
        for key, first in settings.items():
            if sum(run.get("seconds", 0.0) for run in times[key]) + first["seconds"] > ALLOWANCE and times[key]:
                continue
            name, solver, tol, threads = key
            request = _request(problem, data, name, solver, [tol], None)
            python = interpreter(adapter(name).PACKAGE)
            times[key] += answers(request, threads=threads, limit=4 * rules.limit, python=python)
    return times


def _never(sweep: list[Record], name: str, rules: Rules) -> Record:
    """Never reached: at no tolerance, or not within the time limit."""
    late = any(run["contestant"] == name and run["status"] == "limit" for run in sweep)
    return {"status": "never reached", "limit": rules.limit if late else None}


def _summary(setting: Record, times: dict[Key, list[Record]]) -> Record:
    runs = [run for run in times[_key(setting)] if run["status"] == "done"]
    if not runs:
        return {"status": "error"}
    return {
        "status": "reached",
        "solver": setting["solver"],
        "tol": setting["tol"],
        "threads": setting["threads"],
        "excess": setting["excess"],
        "seconds": median(run["seconds"] for run in runs),
        "runs": [run["seconds"] for run in runs],
        "first": median(run["first"] for run in runs),
        "megabytes": median(run["megabytes"] for run in runs),
        "load": max(run["load"] for run in runs),
    }
