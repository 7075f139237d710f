"""Workers that nobody starts again when they are killed."""

import os
import subprocess
import sys
from contextlib import contextmanager

from cluster.tables import quiet
from distributed import Client, LocalCluster


@contextmanager
def started(count, folders=(), options=()):
    """A client of so many workers of one thread, and their processes; they look for modules in these folders first."""
    quiet()
    with LocalCluster(n_workers=0, dashboard_address=":0") as cluster, Client(cluster, set_as_default=False) as client:
        command = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address]
        command += ["--no-nanny", "--no-dashboard", "--nthreads", "1", *options]
        there = {**os.environ, "PYTHONPATH": os.pathsep.join([*folders, *sys.path])}
        processes = [subprocess.Popen(command, stderr=subprocess.DEVNULL, env=there) for _ in range(count)]
        try:
            client.wait_for_workers(count, timeout=120)
            yield client, processes
        finally:
            for process in processes:
                process.kill()
                process.wait()
