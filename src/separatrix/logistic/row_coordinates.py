"""Rows in coordinates in which they are orthonormal: steps there do not feel units and correlations of the columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg

from separatrix._typing import Floats
from separatrix.certificates._row_basis import RowBasis
from separatrix.design import Block, Design
from separatrix.design.dense import DenseDesign
from separatrix.design.reducing import Parts


@dataclass(frozen=True, eq=False)
class RowCoordinates(DenseDesign):
    """Rows q = (x - centre) T of mean square 1: the weights w = T v have the scores v.q."""

    whole: Any = None  # the rows in all their columns, about the centre
    basis: Any = None
    size: float = 1.0  # factor of the basis' T

    def user_units(self, V: Floats) -> tuple[Floats, Floats]:
        W = self.size * (self.basis.T @ V[: self.d])
        coef, intercept = self.whole.user_units(np.vstack([W, V[self.d :]]))
        return coef, intercept

    def from_user_units(self, coef: Floats, intercept: Floats) -> Floats:
        V = self.whole.from_user_units(coef, intercept)
        W, live, null = V[: self.whole.d], self.basis.live, self.basis.null
        if null.shape[1]:  # the weights of other columns go to the live ones, with the same scores about the centre
            dead = np.setdiff1d(np.arange(len(null)), live)
            W = W - null @ W[dead]
        v = linalg.solve_triangular(self.size * self.basis.T[live], W[live]) if len(live) else W[live]
        return np.vstack([v, V[self.whole.d :]])


def row_coordinates(design: Design, basis: RowBasis, weight: Floats) -> RowCoordinates:
    """The rows of the design in the coordinates of their basis."""
    size = float(np.sqrt(weight.sum()))
    whole = replace(design, offset=basis.centre if design.intercept else None, rest=None, scale=None)
    (q,) = replace(whole, offset=None).rows(_turned, args=(basis.centre, size * basis.T))
    return RowCoordinates(q, design.intercept, whole=whole, basis=basis, size=size)


def _turned(block: Block, centre: Floats, T: Floats) -> Parts:
    x = block.x.toarray() if hasattr(block.x, "toarray") else block.x
    return ((x - centre) @ T,)
