"""Workers seen from outside: started with a request, listened to, and stopped when they take too long."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any

ROOT = Path(__file__).parent.parent
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
COMPILING = 15.0  # more seconds for a small part of the data than for all of it: importing and compiling
AROUND = 300.0  # seconds for loading, warming up or evaluating, which are not measured


def answers(
    request: dict[str, Any], *, threads: int = 0, limit: float, python: str = sys.executable
) -> Iterator[dict[str, Any]]:
    """What the worker found, run by run; the last has the status "limit" or "error" if it did not come to its end."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
        **(dict.fromkeys(THREADS, str(threads)) if threads else {}),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # rivals come compiled, and a checkout is after its first import
    with subprocess.Popen(
        [python, "-m", "benchmarks.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(request))
        process.stdin.close()
        lines: Queue[str | None] = Queue()
        errors: list[str] = []
        readers = [
            Thread(target=_drain, args=(process.stdout, lines)),
            Thread(target=_keep, args=(process.stderr, errors)),
        ]
        for reader in readers:
            reader.start()
        patience, ended = AROUND, False
        try:
            while (line := lines.get(timeout=patience)) is not None:
                if not line.startswith('{"event"'):
                    continue  # what a contestant prints
                answer = json.loads(line)
                event = answer.pop("event")
                patience = {"start": limit, "warm": limit + COMPILING}.get(event, AROUND)
                if event == "done":
                    if answer["seconds"] > limit:  # its lines lay here before anyone looked
                        raise Empty
                    yield {"status": "done", **answer}
            ended = True
        except Empty:
            yield {"status": "limit", "seconds": limit}
            return
        finally:
            if not ended:
                process.kill()
            for reader in readers:
                reader.join()
        if process.wait() != 0:
            yield {"status": "error", "message": (errors or ["no message"])[-1].strip()}


def _drain(stream: Any, lines: Queue[str | None]) -> None:
    for line in stream:
        lines.put(line)
    lines.put(None)


def _keep(stream: Any, lines: list[str]) -> None:
    lines.extend(line for line in stream if line.strip())
