"""Plain loops that Numba compiles when there is enough work, and that Python runs as they are when there is not.

Importing and running the compiler takes a second or more, once in a process (less when its cache on disk is warm).
A loop over a few hundred rows is over sooner than that.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache
from threading import Thread
from typing import Any, TypeAlias

from separatrix._typing import Array

Loop: TypeAlias = Callable[..., Any]

WORTH = 200_000  # Python steps (about half a second) beyond which compiling pays


def compiled(loop: Loop, work: float, *, in_order: bool = False) -> Loop:
    """The loop itself if it will take about ``work`` steps and that is little, else its compiled form.

    A compiled loop adds in another order than Python does, so the choice is part of the result: it depends on the call
    alone, never on what the process did before. Sums may be reassociated, which lets them use vector instructions,
    unless ``in_order``; infinities and NaN keep their meaning. A compiled loop releases the GIL, so that several
    threads can run it.
    """
    return _compile(loop, in_order) if worth(work) else loop


def worth(work: float) -> bool:
    """Whether about so many steps are better run compiled."""
    return work >= WORTH


@dataclass
class Effort:
    """The Python steps that one fit has spent on a loop it calls again and again, nobody knows how often.

    Once they have cost about what the compiler costs, it pays. A small table is done before that.
    """

    spent: float = 0.0

    def pays(self, work: float, ahead: float = 0.0) -> bool:
        """Whether about ``work`` more steps are better run compiled; with many more likely ``ahead``, sooner."""
        self.spent += work
        return self.spent >= (WORTH / 5 if ahead > 5 * WORTH else WORTH)


def unsigned(positions: Array) -> Array:
    """The same numbers, for which a compiled loop need not ask whether they count from the end."""
    return positions.view(f"u{positions.dtype.itemsize}")


def prefetch(first: Any, last: Any, data: Any, indices: Any) -> None:
    """Ask for data[first:last] and indices[first:last], which will be read soon; does nothing unless compiled."""


@cache
def _compile(loop: Loop, in_order: bool = False) -> Loop:
    """The loop compiled, for each new kind of arguments on its first call."""
    dispatcher, kind_of = _uninterrupted(lambda: _dispatcher(loop, in_order))
    known = set()

    def run(*arguments: Any) -> Any:
        kinds = tuple(map(kind_of, arguments))
        if kinds not in known:
            _uninterrupted(lambda: dispatcher.compile(kinds))
            known.add(kinds)
        return dispatcher(*arguments)

    return run


def _dispatcher(loop: Loop, in_order: bool) -> tuple[Any, Callable[[Any], Any]]:
    from numba import njit, typeof

    from separatrix import prefetching  # noqa: F401  what `prefetch` is to the compiler

    fastmath = {"contract"} if in_order else {"reassoc", "contract"}
    return njit(cache=True, nogil=True, error_model="numpy", fastmath=fastmath)(loop), typeof


def _uninterrupted(work: Callable[[], Any]) -> Any:
    """work() in a thread of its own: Ctrl-C ends the waiting for it, but does not leave the compiler half imported."""
    answer: Future[Any] = Future()

    def run() -> None:
        try:
            answer.set_result(work())
        except BaseException as error:
            answer.set_exception(error)

    Thread(target=run, daemon=True).start()
    return answer.result()
