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
APART = 1e-3  # of the length of a row: how far from the span of the others


@dataclass(frozen=True, eq=False)
class RowSpace(DenseDesign):
    """Rows X = Z Q' with orthonormal columns Q (d, n): best weights are w = Q v, and ‖w‖ = ‖v‖, so Z (n, n) will do.

    Parameters
    ----------
    whole : Design
        The rows in all their columns.
    span : array of shape (d, n)
        Q = span root.
    root : array of shape (n, n) or None
        None stands for 1.
    """

    whole: Any = None
    span: Any = None
    root: Any = None

    def user_units(self, V: Floats) -> tuple[Floats, Floats]:
        v = V[: self.d] if self.root is None else self.root @ V[: self.d]
        coef, intercept = self.whole.user_units(np.vstack([self.span @ v, V[self.d :]]))
        return coef, intercept

    def from_user_units(self, coef: Floats, intercept: Floats) -> Floats:
        V = self.whole.from_user_units(coef, intercept)
        v = self.span.T @ V[: self.whole.d]
        return np.vstack([v if self.root is None else self.root.T @ v, V[self.whole.d :]])


def narrowed(design: Design) -> Design:
    """The same rows in their row space, if dense and wide; the design itself otherwise."""
    if not isinstance(design, DenseDesign) or not 2 * design.n < design.d or design.n * design.d > ROTATED:
        return design
    x, G = row_products(design)
    quick = by_products(design, x, G)
    if quick is not None:
        return quick
    Q, R = linalg.qr(x.T, mode="economic")
    return RowSpace(np.ascontiguousarray(R.T), design.intercept, whole=design, span=Q)


def row_products(design: Design) -> tuple[Any, Floats]:
    """The rows X as the design has them, and X X'."""
    x = design.block(0, design.n).x
    G = x @ x.T
    return x, np.asarray(G.toarray() if hasattr(G, "toarray") else G)


def by_products(design: Design, x: Any, G: Floats) -> RowSpace | None:
    """By X X' = Z Z', which costs a tenth of orthogonal columns and doubles the digits lost; None of rows not apart."""
    Z, dependent = linalg.lapack.dpotrf(G, lower=True, clean=True)
    if dependent or not Z.diagonal().min() > APART * Z.diagonal().max():
        return None
    root, _ = linalg.lapack.dtrtri(Z, lower=True)
    return RowSpace(np.ascontiguousarray(Z), design.intercept, whole=design, span=x.T, root=root.T)
