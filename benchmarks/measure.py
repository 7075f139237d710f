"""Seconds and peak memory of one call, in this process."""

from __future__ import annotations

import os
import resource
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass
class Cost:
    """What a call took: seconds, megabytes beyond what was held before, the machine's load before it, its warnings."""

    seconds: float = 0.0
    megabytes: float = 0.0
    load: float = 0.0
    warnings: list[str] = field(default_factory=list)


def clock(action: Callable[[], Any]) -> tuple[Any, Cost]:
    """The result of the action, and its cost."""
    load = os.getloadavg()[0]
    forget_peak()
    before = peak()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        result = action()
        seconds = time.perf_counter() - start
    names = sorted({warning.category.__name__ for warning in caught})
    return result, Cost(seconds, max(peak() - before, 0.0), load, names)


def forget_peak() -> None:
    """Let the peak start from what is held now, where the system can do that."""
    if os.access(RESET, os.W_OK):
        RESET.write_text("5")


def peak() -> float:
    """The most memory held since the peak was forgotten, in megabytes."""
    if STATUS.exists():
        line = next(line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM"))
        return float(line.split()[1]) / 1024
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
