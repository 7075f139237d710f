"""The penalised empirical risk F(V) = sum_i c_i loss(y_i, z_i.V) + 1/2 sum_j ridge_j ‖V_j‖², and its derivatives.

V is (p, k) in the coordinates of a conditioned design. One pass over the rows gives value and gradient together,
while each block of rows is in cache.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.design import Block, Design
from separatrix.design.base import PASS_BYTES, Parts
from separatrix.targets import Targets


@dataclass(frozen=True)
class Risk(ABC):
    """F(V) for the rows of one design; a subclass knows the loss.

    Parameters
    ----------
    design : Design
        Rows z_i, conditioned.
    targets : Targets
    weight : array of shape (n,)
        c_i, with C in it.
    ridge : array of shape (p,)
        Curvature of the penalty in each coordinate: scale² for a weight, 0 for the intercept.
    """

    design: Design
    targets: Targets
    weight: Floats
    ridge: Floats

    @property
    def k(self) -> int:
        """Number of columns of V."""
        return 1

    @abstractmethod
    def pointwise(self, values: Array, Z: Floats) -> tuple[Floats, Floats]:
        """Loss (m,) and its slope (m, k) at the scores Z of some rows."""

    @abstractmethod
    def curvature(self, values: Array, Z: Floats) -> Floats:
        """Second derivatives (m, k, k) of the loss at the scores Z of some rows."""

    def own_curvature(self, values: Array, Z: Floats) -> Floats:
        """The diagonals (m, k) of `curvature`."""
        return np.asarray(np.diagonal(self.curvature(values, Z), axis1=1, axis2=2))

    def outer(self, V: Floats) -> Floats:
        """The coefficients (p, ·) whose scores a pass computes: V, or others where that spares work on each row."""
        return V

    def inner(self, G: Floats) -> Floats:
        """The derivatives by V (p, k), of those by `outer` of V."""
        return G

    def value_and_gradient(self, V: Floats) -> tuple[float, Floats]:
        """F and its gradient (p, k), in one pass."""
        U = self.outer(V)

        def add(block: Block, values: Array, c: Floats) -> Parts:
            loss, slope = self.pointwise(values, block.dot(U))
            slope *= c[:, None]
            return float(c @ loss), block.tdot(slope)

        value, gradient = self.design.reduce(add, self.targets.values, self.weight, block_bytes=PASS_BYTES)
        penalty = self.ridge[:, None] * V
        return value + 0.5 * float(np.vdot(penalty, V)), self.inner(gradient) + penalty

    def pointwise_and_bend(self, values: Array, Z: Floats) -> tuple[Floats, Floats, Floats]:
        """Loss, slope, and what `bent` needs to know of the curvature of some rows at the scores Z, (m, ·)."""
        return *self.pointwise(values, Z), self.curvature(values, Z)[:, :, 0]

    def bent(self, bend: Floats, T: Floats) -> Floats:
        """The curvature of each row's loss times its row of T (m, k)."""
        return bend * T

    def mean_bend(self, bend: Floats, c: Floats) -> tuple[Floats, Floats]:
        """The sum of the rows' curvatures (k, k), weighted with c, and the trace of each (m,)."""
        return np.array([[c @ bend[:, 0]]]), bend[:, 0]

    def expand(self, V: Floats) -> tuple[float, Floats, Floats]:
        """F, its gradient (p, k) and the bend of all rows (n, ·), in one pass."""
        bends: dict[int, Floats] = {}
        U = self.outer(V)

        def add(block: Block, values: Array, c: Floats) -> Parts:
            loss, slope, bends[block.rows.start] = self.pointwise_and_bend(values, block.dot(U))
            slope *= c[:, None]
            return float(c @ loss), block.tdot(slope)

        value, gradient = self.design.reduce(add, self.targets.values, self.weight, block_bytes=PASS_BYTES)
        penalty = self.ridge[:, None] * V
        bend = bends[0] if len(bends) == 1 else np.concatenate([bends[row] for row in sorted(bends)])
        return value + 0.5 * float(np.vdot(penalty, V)), self.inner(gradient) + penalty, bend

    def product(self, bend: Floats, D: Floats) -> Floats:
        """The Hessian where the rows have this bend, times D (p, k)."""
        U = self.outer(D)

        def add(block: Block, b: Floats, c: Floats) -> Parts:
            return (block.tdot(c[:, None] * self.bent(b, block.dot(U))),)

        (HD,) = self.design.reduce(add, bend, self.weight, block_bytes=PASS_BYTES)
        return np.asarray(self.inner(HD) + self.ridge[:, None] * D)

    def hessian(self, V: Floats) -> Floats:
        """The (k p, k p) matrix of second derivatives, for V taken column after column."""
        p, k = self.design.p, self.k

        def add(block: Block, values: Array, c: Floats) -> Parts:
            A = c[:, None, None] * self.curvature(values, block.dot(V))
            out = np.empty((k, p, k, p))
            for a in range(k):
                for b in range(a + 1):
                    out[a, :, b] = block.gram(A[:, a, b])
                    out[b, :, a] = out[a, :, b]
            return (out,)

        (H,) = self.design.reduce(add, self.targets.values, self.weight, block_bytes=self.design.square_bytes)
        H = H.reshape(k * p, k * p)
        H.ravel()[:: k * p + 1] += np.tile(self.ridge, k)
        return np.asarray(H)

    def sample(self, rows: slice | Integers) -> Self:
        """The same risk estimated from some rows (dense ones are not copied for a slice), their weights scaled up."""
        weight = self.weight[rows]
        return replace(
            self,
            design=replace(self.design, X=self.design.X[rows]),
            targets=replace(self.targets, values=self.targets.values[rows]),
            weight=weight * (self.weight.sum() / weight.sum()),
        )


class LogisticRisk(Risk):
    """log(1 + exp(-y z)) with y = ±1: cross-entropy of sigma(z)."""

    def pointwise(self, values: Array, Z: Floats) -> tuple[Floats, Floats]:
        y = 2.0 * values[:, None] - 1.0
        u = y * Z
        e = np.exp(-np.abs(u))
        loss = np.log1p(e)
        loss -= np.minimum(u, 0.0)
        slope = np.where(u >= 0, e, 1.0)  # sigma(-u) = slope / (1 + e)
        slope /= 1.0 + e
        slope *= -y
        return loss[:, 0], slope

    def curvature(self, values: Array, Z: Floats) -> Floats:
        e = np.exp(-np.abs(Z))
        return (e / (1.0 + e) ** 2)[:, :, None]
