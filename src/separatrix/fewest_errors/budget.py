"""How much a search may do: counted work, so that the same call gives the same answer on every machine.

A node is one linear program. What else is done counts as parts or multiples of it, by the time it takes on average.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil

ENTRIES = 10_000  # of a linear program: larger ones count as as many nodes as they have this many
SIGNS = 300_000  # signs of enumerated hyperplanes that count as one node
SETTLED = 10  # hyperplanes settled in whole numbers, where floats could not, that count as one node
LINES = 40  # line searches that count as one node


class Budget:
    """Nodes that may be spent, and those that were.

    Parameters
    ----------
    nodes : float
        What may be spent.
    time_limit : float or None
        Seconds after which nothing is left, whatever was spent.
    """

    def __init__(self, nodes: float, time_limit: float | None) -> None:
        self.limit, self.spent = float(nodes), 0.0
        self._end = None if time_limit is None else time.monotonic() + time_limit
        self.out_of_time = False

    @property
    def left(self) -> float:
        """Nodes left; 0 once the time is over."""
        if self._end is not None and time.monotonic() > self._end:
            self.out_of_time = True
        return 0.0 if self.out_of_time else max(0.0, self.limit - self.spent)

    @property
    def nodes(self) -> int:
        """What was spent, in whole nodes."""
        return ceil(self.spent)

    def spend(self, nodes: float) -> None:
        """Count some work."""
        self.spent += nodes

    def program(self, entries: int) -> None:
        """Count a linear program of so many entries."""
        self.spent += 1.0 + entries / ENTRIES

    @contextmanager
    def only(self, share: float) -> Iterator[None]:
        """Within this, no more than a share of what is left may be spent."""
        limit = self.limit
        self.limit = self.spent + share * max(0.0, limit - self.spent)
        yield
        self.limit = limit
