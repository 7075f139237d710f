"""The kernel matrices of all pairs of classes, [[K_aa, K_ac], [K_ca, K_cc]], with each block computed once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from separatrix._typing import Floats, Integers
from separatrix.kernels import KernelRows


class PairMatrices:
    """K of the points of two classes, first those of one, then those of the other, in float64.

    K_ac belongs to one pair, K_aa to as many as there are other classes: it is kept, if all such blocks have room.

    Parameters
    ----------
    rows : KernelRows
        All points.
    members : sequence of integer arrays
        The points of each class.
    room : float
        Bytes that may be kept.
    """

    def __init__(self, rows: KernelRows, members: Sequence[Integers], room: float) -> None:
        self.classes = [rows.only(some) for some in members]
        self._keeps = 8.0 * sum(float(len(some)) ** 2 for some in members) <= room
        self._kept: dict[int, Floats] = {}

    def __call__(self, a: int, c: int) -> Floats:
        """The matrix of classes a and c, symmetric to the last digit; it may be overwritten."""
        m, n = self.classes[a].n, self.classes[c].n
        K = np.empty((m + n, m + n))
        K[:m, :m], K[m:, m:] = self._within(a), self._within(c)
        K[:m, m:] = self.classes[a].beside(self.classes[c])
        K[m:, :m] = K[:m, m:].T
        return K

    def _within(self, a: int) -> Floats:
        if a in self._kept:
            return self._kept[a]
        K = self.classes[a].square()
        if self._keeps:
            self._kept[a] = K
        return K
