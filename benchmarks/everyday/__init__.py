"""What a user meets every day, timed as it is: one file for each kind of job."""

from __future__ import annotations

from benchmarks.everyday import (
    cores,
    defaults,
    growth,
    intercepts,
    passes,
    predicting,
    searches,
    separability,
    starting,
)
from benchmarks.everyday.jobs import Job

JOBS: tuple[Job, ...] = (
    *intercepts.JOBS,
    *passes.JOBS,
    *predicting.JOBS,
    *starting.JOBS,
    *searches.JOBS,
    *defaults.JOBS,
    *separability.JOBS,
    *growth.JOBS,
    *cores.JOBS,
)


def find(name: str) -> Job:
    return next(job for job in JOBS if job.name == name)
