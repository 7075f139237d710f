"""One loop owns the iterations of every solver: when to stop, what to record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from separatrix._typing import Floats


@dataclass(frozen=True)
class State:
    """Where a solver stands after an iteration."""

    V: Floats  # (p, k)
    value: float  # F(V)
    gradient: Floats  # (p, k); or (1, 1), its length as expected, from a solver that need not compute it
    decrement: float = float("inf")  # what the last step promised to gain, twice: g'H⁻¹g as the solver knows H
    stalled: bool = False  # rounding stops all further progress


def run(
    states: Iterator[State],
    done: Callable[[State], bool],
    max_iter: int,
    record: Callable[[int, State], None] | None = None,
    first: int = 0,
) -> tuple[State, int]:
    """Draw states until one is done or stalled or max_iter iterations are over; ``first`` is the number of the next.

    The start is state 0. To go on with the same states afterwards, say where they are.
    """
    for n_iter, state in enumerate(states, first):
        if record is not None:
            record(n_iter, state)
        if done(state) or state.stalled or n_iter >= max_iter:
            break
    return state, n_iter
