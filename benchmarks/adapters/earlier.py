"""Another version of separatrix, in an environment of its own: what a change has brought."""

from __future__ import annotations

from benchmarks.adapters import EARLIER
from benchmarks.adapters.separatrix import fit, prepare, routes, solution

__all__ = ["NAME", "PACKAGE", "fit", "prepare", "routes", "solution"]

NAME = PACKAGE = EARLIER
