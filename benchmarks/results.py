"""The record of runs: one JSON file, into which later and partial runs are merged."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.adapters import package_version
from separatrix.persistence.atomic import write_atomically

SCHEMA = 1
PACKAGES = (
    "separatrix", "numpy", "scipy", "scikit-learn", "scikit-learn-intelex", "liblinear-official",
    "libsvm-official", "skglm", "celer",
)  # fmt: skip
Results = dict[str, Any]


def empty() -> Results:
    return {"schema": SCHEMA, "runs": [], "problems": {}, "jobs": {}}


def load(path: Path) -> Results:
    if not path.exists():
        return empty()
    found: Results = json.loads(path.read_text())
    if found.get("schema") != SCHEMA:
        raise ValueError(f"{path} is not of this version of the benchmark: give another folder.")
    return found


def save(path: Path, results: Results) -> None:
    """All or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, (json.dumps(results, indent=1, allow_nan=False) + "\n").encode())


def merge(old: Results, new: Results) -> Results:
    """What is newer wins, problem by problem and job by job; what could not be run replaces nothing."""
    merged = {**old, "runs": [*old["runs"], *new["runs"]]}
    for kind in ("problems", "jobs"):
        fresh = {name: r for name, r in new[kind].items() if "skipped" not in r or name not in old[kind]}
        merged[kind] = {**old[kind], **fresh}
    return merged


def machine() -> dict[str, Any]:
    """Where and with what this is measured."""
    return {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load": os.getloadavg()[0],
        "commit": _commit(),
        "versions": {name: package_version(name) or "not installed" for name in PACKAGES},
    }


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()


def _commit() -> str:
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
