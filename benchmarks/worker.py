"""One process, one contestant: reads a request from standard input, and answers in lines of JSON.

    {"problem": NAME, "data": FOLDER, "adapter": NAME, "solver": NAME, "tolerances": [...], "enough": OBJECTIVE or null}
    {"job": NAME, "entry": NAME, "data": FOLDER}

The data is loaded and a small part of it fitted before the clock starts. ``{"event": "start"}`` and ``"end"`` frame
what is timed, and ``"warm"`` precedes the small part, so that whoever waits can lose patience; ``"done"`` brings the
figures, with `first`, the seconds of the small part, in which a contestant may be imported and compiled. Tolerances are
tried until the objective is at most `enough`.
"""

from __future__ import annotations

import json
import sys
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import store
from benchmarks.measure import clock

WARM_UP = 20_000  # rows: enough for loops to be worth compiling
SHORT = 0.05  # seconds of a fit that is made some times where one is to be chosen


def say(event: str, **figures: Any) -> None:
    print(json.dumps({"event": event, **figures}), flush=True)


def timed(action: Any) -> Any:
    say("start")
    result, cost = clock(action)
    say("end")
    return result, asdict(cost)


def solve(request: dict[str, Any]) -> None:
    """Fit with each tolerance in turn, and evaluate what was found."""
    from benchmarks.adapters import adapter
    from benchmarks.objective import objective
    from benchmarks.problems import PROBLEMS

    problem = next(each for each in PROBLEMS if each.name == request["problem"])
    contestant, solver = adapter(request["adapter"]), request["solver"]
    data = store.load(Path(request["data"]))
    few = store.small(data, WARM_UP)
    say("warm")
    _, first = clock(lambda: contestant.fit(problem, contestant.prepare(problem, *few), solver, 1e-2))
    own = contestant.prepare(problem, *data)
    sweeping = request["enough"] is not None
    for tol in request["tolerances"]:
        fitted, cost = timed(lambda tol=tol: contestant.fit(problem, own, solver, tol))
        if sweeping and cost["seconds"] < SHORT:  # the first is the slowest, and all that the choice would go by
            again = [timed(lambda tol=tol: contestant.fit(problem, own, solver, tol))[1]["seconds"] for _ in range(4)]
            cost["seconds"] = min(cost["seconds"], *again)
        value = objective(problem, *data, contestant.solution(fitted))
        say("done", tol=tol, objective=value, first=first.seconds, **cost)
        if sweeping and value <= request["enough"]:
            break


def work(request: dict[str, Any]) -> None:
    """Do a job once."""
    from benchmarks.everyday import find

    job = find(request["job"])
    data = store.load(Path(request["data"]))
    prepare = job.entries[request["entry"]].prepare
    if job.warm:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            prepare(*store.small(data, max(WARM_UP, len(data[1]) // 20)))()
    action = prepare(*data)
    result, cost = timed(lambda: [action() for _ in range(job.calls)][-1])
    cost["seconds"] /= job.calls
    say("done", figures=job.describe(result, *data), **cost)


def main() -> None:
    request = json.loads(sys.stdin.read())
    (solve if "problem" in request else work)(request)


if __name__ == "__main__":
    main()
