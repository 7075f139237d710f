"""The penalised empirical risk F(V) = sum_i c_i loss(y_i, z_i.V) + 1/2 sum_j ridge_j ‖V_j‖², and its derivatives.

V is (p, k) in the coordinates of a conditioned design. One pass over the rows gives value and gradient together,
while each block of rows is in cache.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.design import Block, Design
from separatrix.design.base import Parts
from separatrix.design.passes import Pass, swept
from separatrix.loops.passes import LOG, PRODUCT
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

    loss: ClassVar[int]  # which of `loops.passes` computes it
    bent: ClassVar[int] = PRODUCT  # and the product with its curvature

    @property
    def bends(self) -> int:
        """Numbers that tell the curvature of a row."""
        return 1

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

    @cached_property
    def _codes(self) -> Integers:  # as compiled passes read them
        return np.ascontiguousarray(self.targets.values, dtype=np.int64)

    @cached_property
    def _weight(self) -> Floats:
        return np.ascontiguousarray(self.weight, dtype=np.float64)

    def task(self, what: int, k: int, rows: Floats | None = None) -> Pass:
        """A pass over the rows with k columns of scores, those of `outer`."""
        return Pass(what, k, self._codes, self._weight, rows)

    def _swept(self, V: Floats, bend: Floats | None) -> tuple[float, Floats]:
        U = self.outer(V)
        values, G = swept(self.design, self.task(self.loss, U.shape[1], bend), U)
        penalty = self.ridge[:, None] * V
        return float(values[0]) + 0.5 * float(np.vdot(penalty, V)), self.inner(G) + penalty

    def value_and_gradient(self, V: Floats) -> tuple[float, Floats]:
        """F and its gradient (p, k), in one pass."""
        return self._swept(V, None)

    def mean_bend(self, bend: Floats, c: Floats) -> tuple[Floats, Floats]:
        """The sum of the rows' curvatures (k, k), weighted with c, and the trace of each (m,)."""
        return np.array([[c @ bend[:, 0]]]), bend[:, 0]

    def expand(self, V: Floats) -> tuple[float, Floats, Floats]:
        """F, its gradient (p, k) and the bend of all rows (n, ·), in one pass: what `product` needs of curvature."""
        bend = np.empty((self.design.n, self.bends))
        return *self._swept(V, bend), bend

    def product(self, bend: Floats, D: Floats) -> Floats:
        """The Hessian where the rows have this bend, times D (p, k)."""
        U = self.outer(D)
        HD = swept(self.design, self.task(self.bent, U.shape[1], np.ascontiguousarray(bend)), U)[1]
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

    loss = LOG

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
