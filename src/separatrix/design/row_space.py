"""Wide rows in the coordinates of the space they span: as many columns as rows, and nothing lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from separatrix._typing import Floats
from separatrix.design.base import Design
from separatrix.design.dense import DenseDesign

ROTATED = 1 << 24  # entries up to which a rotation is cheap


@dataclass(frozen=True, eq=False)
class RowSpace(DenseDesign):
    """Rows X = Z Q' with orthonormal columns Q (d, n): best weights are w = Q v, and ‖w‖ = ‖v‖, so Z (n, n) will do."""

    whole: Any = None
    Q: Any = None

    def user_units(self, V: Floats) -> tuple[Floats, Floats]:
        coef, intercept = self.whole.user_units(np.vstack([self.Q @ V[: self.d], V[self.d :]]))
        return coef, intercept

    def from_user_units(self, coef: Floats, intercept: Floats) -> Floats:
        V = self.whole.from_user_units(coef, intercept)
        return np.vstack([self.Q.T @ V[: self.whole.d], V[self.whole.d :]])


def narrowed(design: Design) -> Design:
    """The same rows in their row space, if dense and wide; the design itself otherwise."""
    if not isinstance(design, DenseDesign) or not 2 * design.n < design.d or design.n * design.d > ROTATED:
        return design
    Q, R = linalg.qr(design.block(0, design.n).x.T, mode="economic")
    return RowSpace(np.ascontiguousarray(R.T), design.intercept, whole=design, Q=Q)
