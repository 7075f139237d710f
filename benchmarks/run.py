"""The runner: problems and jobs one after the other, their data made once, results kept after each."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from scipy import sparse

from benchmarks import plot, results, store, tables
from benchmarks.adapters import Size
from benchmarks.everyday import JOBS
from benchmarks.everyday.jobs import Job
from benchmarks.generate import Data
from benchmarks.jobs import perform
from benchmarks.problems import PROBLEMS, Problem, Scale
from benchmarks.race import Record, Rules, race
from benchmarks.read import MissingData
from benchmarks.results import Results
from separatrix.persistence.atomic import write_atomically

RESULTS, TABLES, PLOT, GROWTH = "results.json", "tables.md", "suboptimality.svg", "growth.svg"


class NoSuchBenchmark(ValueError):
    """--only names nothing there is."""


def select(only: Sequence[str]) -> list[Problem | Job]:
    """Problems and jobs whose name, task or group contains one of these words; all if there are none."""
    every: list[Problem | Job] = [*PROBLEMS, *JOBS]
    chosen = [each for each in every if not only or any(word in _words(each) for word in only)]
    lost = [word for word in only if not any(word in _words(each) for each in every)]
    if lost:
        names = "\n  ".join(each.name for each in every)
        raise NoSuchBenchmark(f"No benchmark has {lost[0]!r} in its name. There are\n  {names}\nand {_groups()}.")
    return chosen


def _words(each: Problem | Job) -> str:
    return f"{each.name} problems" if isinstance(each, Problem) else f"{each.name} {each.group}"


def _groups() -> str:
    return "the groups " + ", ".join(dict.fromkeys(["problems", *(job.group for job in JOBS)]))


def run(chosen: Sequence[Problem | Job], scale: Scale, rules: Rules, out: Path) -> Results:
    """Run them all; results.json, tables.md and the plot in the folder `out` grow as they are done."""
    path = out / RESULTS
    found = results.load(path)
    found["runs"].append(results.machine() | {"quick": scale.quick, "repeat": rules.repeat, "limit": rules.limit})
    with TemporaryDirectory() as folder:
        for position, each in enumerate(chosen):
            start = time.perf_counter()
            data = Path(folder) / each.source.name
            record = _one(each, data, scale, rules)
            record["took"] = time.perf_counter() - start
            kind = "problems" if isinstance(each, Problem) else "jobs"
            found = results.merge(found, results.empty() | {kind: {each.name: record}})
            results.save(path, found)
            write_atomically(out / TABLES, tables.page(found).encode())
            if each.source.name not in {later.source.name for later in chosen[position + 1 :]}:
                shutil.rmtree(data, ignore_errors=True)
    plot.draw(found, out / PLOT)
    plot.draw_growth(found, out / GROWTH)
    return found


def _one(each: Problem | Job, data: Path, scale: Scale, rules: Rules) -> Record:
    rules.tell(f"{each.name}: data")
    try:
        if not data.exists():
            store.save(data, each.source.make(scale))
    except MissingData as error:
        return {"skipped": str(error)}
    rows = store.load(data)
    about = _about(rows)
    size = Size(sparse.issparse(rows[0]), about["columns"], about["classes"])
    del rows  # so that there is memory for the contestants
    if isinstance(each, Problem):
        meaning = {"task": each.task, "C": each.C, "intercept": each.intercept, "gamma": each.gamma}
        return about | meaning | race(each, data, size, rules)
    return about | perform(each, data, rules)


def _about(data: Data) -> Record:
    X, y = data
    nonzeros = X.nnz if sparse.issparse(X) else X.size
    stored = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sparse.issparse(X) else X.nbytes
    return {
        "rows": X.shape[0],
        "columns": X.shape[1],
        "nonzeros": int(nonzeros),
        "classes": len(set(y.tolist())),
        "megabytes": stored / 2**20,
    }
