"""How much a search may do: counted, so that the same table has the same verdict on every machine."""

from __future__ import annotations

import math

from separatrix.errors import UndecidedError

WORD_BITS = 2_000  # of a whole number, whose products take about twice as long as those of one that fits a register
FLOATS = 100.0  # products of floats that take as long as one of whole numbers


class Work:
    """Products of two whole numbers that may still be formed, or what takes as long.

    Parameters
    ----------
    most : float
        How many; infinite for no limit.
    """

    def __init__(self, most: float = math.inf) -> None:
        self.most = self.left = most

    def spend(self, products: float, bits: int = 0) -> None:
        """Count products of whole numbers of so many bits; `UndecidedError` once there are too many."""
        self.left -= products * (1.0 + bits / WORD_BITS)
        if self.left < 0:
            raise UndecidedError(
                f"Not decided within max_work={self.most:.0e} products of numbers; without max_work there is no limit.",
                self.most,
            )

    def steps(self, entries: int, most: int) -> int:
        """How many steps of a linear program of so many entries are left, at least 1 and at most ``most``."""
        return int(max(1.0, min(float(most), self.left * FLOATS / max(entries, 1))))
