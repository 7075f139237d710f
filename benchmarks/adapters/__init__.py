"""One file for each contestant: how it is asked to solve a problem, and where its answer is.

An adapter is a module with

- ``NAME`` and ``PACKAGE``, what to call it and what to install;
- ``routes(problem, size)``, its ways to the solution;
- ``prepare(problem, X, y)``, the data in its own form, made before the clock starts;
- ``fit(problem, data, solver, tol)``, what is timed;
- ``solution(fitted)``, what it found, for the objective to be evaluated outside.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

OURS = "separatrix"
RIVALS = ("scikit_learn", "intelex", "liblinear", "libsvm")


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


def installed(name: str) -> str | None:
    """The version of the contestant's package, or None."""
    try:
        return version(adapter(name).PACKAGE)
    except PackageNotFoundError:
        return None
