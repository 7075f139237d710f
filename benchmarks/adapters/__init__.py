"""One file for each contestant: how it is asked to solve a problem, and where its answer is.

An adapter is a module with

- ``NAME`` and ``PACKAGE``, what to call it and what to install;
- ``routes(problem, size)``, its ways to the solution;
- ``prepare(problem, X, y)``, the data in its own form, made before the clock starts;
- ``fit(problem, data, solver, tol)``, what is timed;
- ``solution(fitted)``, what it found, for the objective to be evaluated outside.

A package that does not go with the others is looked for in an environment of its own, ``FOLDER/PACKAGE/bin/python``,
where the variable SEPARATRIX_BENCH_ENVIRONMENTS names FOLDER. Where SEPARATRIX_BENCH_EARLIER names the Python of an
environment with another version of separatrix, that version is the only rival.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

OURS = "separatrix"
RIVALS = ("scikit_learn", "intelex", "liblinear", "libsvm", "skglm", "celer")
EARLIER = "earlier"
ENVIRONMENTS = "SEPARATRIX_BENCH_ENVIRONMENTS"
EARLIER_PYTHON = "SEPARATRIX_BENCH_EARLIER"


@dataclass(frozen=True)
class Size:
    """What of the data decides which solvers can take it."""

    sparse: bool
    columns: int
    classes: int


@dataclass(frozen=True)
class Route:
    """A solver with its tolerances, loosest first, and numbers of BLAS threads (0: as the machine has them)."""

    solver: str
    tolerances: tuple[float, ...]
    threads: tuple[int, ...] = (0,)


def decades(first: int, last: int) -> tuple[float, ...]:
    """10^-first, ..., 10^-last."""
    return tuple(float(f"1e-{digit}") for digit in range(first, last + 1))


def adapter(name: str) -> Any:
    """The module of that contestant; its package is imported only when it fits."""
    return import_module(f"benchmarks.adapters.{name}")


def rivals() -> tuple[str, ...]:
    """Other libraries, or an earlier version of this one."""
    return (EARLIER,) if EARLIER_PYTHON in os.environ else RIVALS


def interpreter(package: str) -> str:
    """The Python that has the package: one of its own, or this one."""
    if package == EARLIER:
        return os.environ[EARLIER_PYTHON]
    own = Path(os.environ.get(ENVIRONMENTS, "")) / package / "bin" / "python"
    return str(own) if ENVIRONMENTS in os.environ and own.exists() else sys.executable


@cache
def package_version(package: str) -> str | None:
    """The version of a package, or None."""
    python = interpreter(package)
    name = OURS if package == EARLIER else package
    if python == sys.executable:
        try:
            return version(name)
        except PackageNotFoundError:
            return None
    code = f"from importlib.metadata import version; print(version({name!r}))"
    asked = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return asked.stdout.strip() or None


def installed(name: str) -> str | None:
    """The version of the contestant's package, or None."""
    return package_version(adapter(name).PACKAGE)
