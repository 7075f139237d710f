"""Plain loops that Numba compiles when there is enough work, and that Python runs as they are when there is not.

Importing and running the compiler takes a second or more, once in a process (less when its cache on disk is warm).
A loop over a few hundred rows is over sooner than that.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

from separatrix._typing import Array

Loop: TypeAlias = Callable[..., Any]

WORTH = 200_000  # Python steps (about half a second) beyond which compiling pays
IMPORTED = 0.05  # of the compiler's cost is left when another loop has imported it


def compiled(loop: Loop, work: float, *, in_order: bool = False) -> Loop:
    """The loop itself if it will take about ``work`` steps and that is little, else its compiled form.

    Sums may be reassociated, which lets them use vector instructions, unless ``in_order``; infinities and NaN keep
    their meaning. A compiled loop releases the GIL, so that several threads can run it.
    """
    if work < WORTH and loop not in _ready:
        return loop
    _ready.add(loop)
    return _compile(loop, in_order)


def compiling_pays(loop: Loop, work: float, ahead: float = 0.0) -> bool:
    """Whether about ``work`` more steps of this loop are better run compiled.

    For a loop that is called again and again, and nobody knows how often: the steps add up over the process, and once
    they have cost about what the compiler costs, it pays. A small table is done before that. If many steps will most
    likely follow (``ahead``), there is less to wait for.
    """
    if loop in _ready:
        return True
    _spent[loop] = _spent.get(loop, 0.0) + work
    return _spent[loop] >= (WORTH / 5 if ahead > 5 * WORTH else WORTH)


def begun(loop: Loop) -> bool:
    """Whether steps of this loop have been counted before: who comes twice comes again."""
    return loop in _spent


def saved(steps: float) -> float:
    """The steps to set against the compiler's cost for work that compiled libraries can do as well, but slower."""
    return steps / IMPORTED if "numba" in sys.modules else steps


def unsigned(positions: Array) -> Array:
    """The same numbers, for which a compiled loop need not ask whether they count from the end."""
    return positions.view(f"u{positions.dtype.itemsize}")


def prefetch(first: Any, last: Any, data: Any, indices: Any) -> None:
    """Ask for data[first:last] and indices[first:last], which will be read soon; does nothing unless compiled."""


_ready: set[Loop] = set()
_spent: dict[Loop, float] = {}


@cache
def _compile(loop: Loop, in_order: bool = False) -> Loop:
    from numba import njit

    from separatrix import prefetching  # noqa: F401  what `prefetch` is to the compiler

    fastmath = {"contract"} if in_order else {"reassoc", "contract"}
    return njit(cache=True, nogil=True, error_model="numpy", fastmath=fastmath)(loop)
