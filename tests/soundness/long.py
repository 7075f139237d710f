"""Many fits and forgeries, each claim checked.

Run as ``python tests/soundness/long.py --fits 100000 --forgeries 10000 --seed 0 --jobs 2``.

Prints how every classifier x solver x start ended, what was wrong, the seconds and the seeds; exits 1 if anything was.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import sys
import time
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1]))

TABLES_AT_ONCE = 20
FITS_PER_TABLE = 10
ENDS = ("certified", "warned", "refused", "failed")


def fits_of(job: tuple[int, bool]) -> tuple[dict[Any, Counter[str]], list[tuple[str, str, str]], float]:
    """The fits of TABLES_AT_ONCE tables from table number `first` on."""
    import numpy as np
    from soundness.configurations import configuration
    from soundness.tables import adversarial, benign
    from soundness.trial import SECONDS, attempt

    first, ordinary = job
    began = time.perf_counter()
    counts: dict[Any, Counter[str]] = defaultdict(Counter)
    faults = []
    for seed in range(first, first + TABLES_AT_ONCE):
        table = benign(seed) if ordinary else adversarial(seed)
        rng = np.random.default_rng([16, seed])
        for _ in range(FITS_PER_TABLE):
            chosen = configuration(rng, table)
            faulthandler.dump_traceback_later(60 * SECONDS, exit=True)  # compiled code hears no alarm
            ending = attempt(chosen, table)
            faulthandler.cancel_dump_traceback_later()
            row = counts[chosen.row]
            row["fits"] += 1
            row[ending.end] += 1
            row["claims"] += ending.claims
            row["false"] += any(fault.startswith("FALSE") for fault in ending.faults)
            row["faulty"] += bool(ending.faults)
            faults += [(f"{table.name} (seed {seed})", chosen.options, fault) for fault in ending.faults]
    return dict(counts), faults, time.perf_counter() - began


def run_fits(fits: int, seed: int, jobs: int, ordinary: bool) -> list[tuple[str, str, str]]:
    """Run, print the table, and return what was wrong."""
    step = TABLES_AT_ONCE * FITS_PER_TABLE
    first = seed * 1_000_000
    work = [(first + i * TABLES_AT_ONCE, ordinary) for i in range(-(-fits // step))]
    totals: dict[Any, Counter[str]] = defaultdict(Counter)
    faults: list[tuple[str, str, str]] = []
    began, busy = time.perf_counter(), 0.0
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        asked = {pool.submit(fits_of, job): job for job in work}
        for done, answer in enumerate(as_completed(asked), 1):
            try:
                counts, wrong, seconds = answer.result()
            except BrokenProcessPool:
                tables = f"tables {asked[answer][0]} to {asked[answer][0] + TABLES_AT_ONCE - 1}"
                faults.append((tables, "", "HANG or crash: a process ended in one of these, or was not run any more"))
                continue
            busy += seconds
            faults += wrong
            for row, counter in counts.items():
                totals[row].update(counter)
            if done % 50 == 0:
                print(
                    f"  {done * step} fits, {len(faults)} faults, {time.perf_counter() - began:.0f} s", file=sys.stderr
                )
    columns = ("fits", *ENDS, "claims", "false", "faulty")
    print(f"{'classifier':36}{'solver':16}{'start':16}" + "".join(f"{c:>10}" for c in columns))
    for row in sorted(totals):
        print(f"{row[0]:36}{row[1]:16}{row[2]:16}" + "".join(f"{totals[row][c]:10}" for c in columns))
    everything = sum(totals.values(), Counter())
    print(f"{'all':68}" + "".join(f"{everything[c]:10}" for c in columns))
    kind = "ordinary" if ordinary else "adversarial"
    last = first + len(work) * TABLES_AT_ONCE - 1
    print(
        f"{kind} tables {first} to {last}: {time.perf_counter() - began:.0f} s with {jobs} jobs, {busy:.0f} s of work"
    )
    return faults


def forgeries_of(job: tuple[int, int]) -> tuple[Counter[str], list[tuple[str, str, str]]]:
    """Forgeries of certificates from table number `first` on."""
    from soundness.judging import campaign

    return campaign(*job)


def run_forgeries(forgeries: int, seed: int, jobs: int) -> list[tuple[str, str, str]]:
    """Forge until so many were false; print the counts and return those that `verify` accepted."""
    totals: Counter[str] = Counter()
    accepted: list[tuple[str, str, str]] = []
    began, at = time.perf_counter(), seed * 1_000_000
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        while totals["false"] < forgeries:
            batch = [(at + i, 8) for i in range(0, 8 * 8, 8)]
            at += 8 * 8
            for counts, wrong in pool.map(forgeries_of, batch):
                totals.update(counts)
                accepted += wrong
    print(f"forgeries on tables {seed * 1_000_000} to {at - 1}: {time.perf_counter() - began:.0f} s with {jobs} jobs")
    print(f"    {dict(sorted(totals.items()))}")
    print(f"    {totals['false']} false, {totals['near']} of them by a few allowances; {len(accepted)} got through")
    return accepted


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=100_000)
    parser.add_argument("--forgeries", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--benign", action="store_true", help="ordinary tables, for the share that is certified")
    parser.add_argument("--show", type=int, default=40, help="faults to print of each kind")
    given = parser.parse_args()
    faults = run_fits(given.fits, given.seed, given.jobs, given.benign) if given.fits else []
    accepted = run_forgeries(given.forgeries, given.seed, given.jobs) if given.forgeries else []
    shown: Counter[str] = Counter()
    for where, what, fault in faults + accepted:
        kind = what.split("(")[0] + fault[:25]
        shown[kind] += 1
        if shown[kind] <= given.show:
            print(f"{where}: {what}\n    {fault}")
    print(f"{len(faults)} faults in fits, {len(accepted)} forgeries accepted; seed {given.seed}")
    return int(bool(faults or accepted))


if __name__ == "__main__":
    sys.exit(main())
