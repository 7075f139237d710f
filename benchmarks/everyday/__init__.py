"""What a user meets every day, timed as it is: one file for each kind of job."""

from __future__ import annotations

from benchmarks.everyday import (
    cluster,
    cores,
    defaults,
    files,
    growth,
    intercepts,
    passes,
    predicting,
    searches,
    separability,
    small,
    starting,
)
from benchmarks.everyday.jobs import Job

JOBS: tuple[Job, ...] = (
    *intercepts.JOBS,
    *passes.JOBS,
    *predicting.JOBS,
    *starting.JOBS,
    *searches.JOBS,
    *small.JOBS,
    *defaults.JOBS,
    *separability.JOBS,
    *growth.JOBS,
    *cores.JOBS,
    *files.JOBS,
    *cluster.JOBS,
)


def find(name: str) -> Job:
    return next(job for job in JOBS if job.name == name)
