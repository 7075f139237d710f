"""The penalised empirical risk F(V) = sum_i c_i loss(y_i, z_i.V) + penalty(V), and its derivatives.

V is (p, k) in the coordinates of a conditioned design. One pass over the rows gives value and gradient together,
while each block of rows is in cache.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.cached import cached_property
from separatrix.design import Block, Design
from separatrix.design.passes import Pass, swept
from separatrix.design.reducing import Parts
from separatrix.errors import InvalidInputError
from separatrix.penalties import Ridge
from separatrix.problems.scored import ScoredLoss
from separatrix.targets import Targets

LARGEST_HESSIAN_BYTES = 1 << 31  # beyond which a machine may have no room for it, and its factor takes a minute
ENTRIES = 1 << 16  # of the rows of a Hessian that are held at a time, so that they stay in cache


@dataclass(frozen=True)
class Risk:
    """F(V) for the rows of one design.

    Parameters
    ----------
    loss : ScoredLoss
    penalty : Ridge
    design : Design
        Rows z_i, conditioned.
    targets : Targets
    weight : array of shape (n,)
        c_i, with C in it.
    """

    loss: ScoredLoss
    penalty: Ridge
    design: Design
    targets: Targets
    weight: Floats

    @property
    def ridge(self) -> Floats:
        """Curvature of the penalty in each coordinate (p,)."""
        return self.penalty.curvature

    @property
    def k(self) -> int:
        """Number of columns of V."""
        return self.loss.k

    @property
    def basis(self) -> Floats:
        """(K, k): the classes' weights are V basis'."""
        return self.loss.basis

    def outer(self, V: Floats) -> Floats:
        """The coefficients (p, ·) whose scores a pass computes: V, or those of the classes.

        The latter if a product with the basis for each coefficient and another column cost less than one for each row.
        """
        return V @ self.basis.T if self.k > 1 and self.design.p < len(self.basis) ** 2 else V

    def inner(self, G: Floats) -> Floats:
        """The derivatives by V (p, k), of those by `outer` of V."""
        return G @ self.basis if G.shape[1] > self.k else G

    @cached_property
    def _codes(self) -> Integers:  # as compiled passes read them
        return np.ascontiguousarray(self.targets.values, dtype=np.int64)

    @cached_property
    def _weight(self) -> Floats:
        return np.ascontiguousarray(self.weight, dtype=np.float64)

    def task(self, what: int, k: int, rows: Floats | None = None) -> Pass:
        """A compiled pass over the rows with k columns of scores, those of `outer`."""
        if self.k == 1:
            return Pass(what, k, self._codes, self._weight, rows)
        basis = None if k > self.k else np.ascontiguousarray(self.basis)
        return Pass(what, k, self._codes, self._weight, rows, basis, len(self.basis))

    def value_and_gradient(self, V: Floats) -> tuple[float, Floats]:
        """F and its gradient (p, k), in one pass."""
        return self._swept(V, None)

    def expand(self, V: Floats) -> tuple[float, Floats, Floats]:
        """F, its gradient (p, k) and the bend of all rows (n, ·), in one pass: what `product` needs of curvature."""
        if self.loss.compiled is None:
            (bend,) = self.design.rows(_bend, self.targets.values, args=(self.loss, V))
            return *self._swept(V, None), bend
        bend = np.empty((self.design.n, self.loss.bends))
        return *self._swept(V, bend), bend

    def _swept(self, V: Floats, bend: Floats | None) -> tuple[float, Floats]:
        if self.loss.compiled is None:
            loss, G = self.design.reduce(_slopes, self.targets.values, self.weight, args=(self.loss, V))
        else:
            U = self.outer(V)
            losses, G = swept(self.design, self.task(self.loss.compiled, U.shape[1], bend), U)
            loss, G = float(losses[0]), self.inner(G)
        penalty, pull = self.penalty.expand(V)
        return loss + penalty, G + pull

    def product(self, bend: Floats, D: Floats) -> Floats:
        """The Hessian where the rows have this bend, times D (p, k)."""
        if self.loss.compiled is None:
            (HD,) = self.design.reduce(_bent, bend, self.weight, args=(self.loss, D))
        else:
            U = self.outer(D)
            HD = swept(self.design, self.task(self.loss.product, U.shape[1], np.ascontiguousarray(bend)), U)[1]
            HD = self.inner(HD)
        return np.asarray(HD + self.penalty.gradient(D))

    def hessian(self, V: Floats, bend: Floats | None = None) -> Floats:
        """The (k p, k p) matrix of second derivatives, for V taken column after column; the bend is that at V."""
        if 8 * V.size**2 > LARGEST_HESSIAN_BYTES:
            raise InvalidInputError(
                f"The Hessian of {V.size:,} weights would take {8e-9 * V.size**2:,.0f} GB: use solver='auto', which "
                "needs none.",
                "solver",
            )
        bend = self.expand(V)[2] if bend is None else bend
        args, size = (self.loss,), self.design.square_bytes
        (H,) = self.design.reduce(_hessian, bend, self.weight, args=args, block_bytes=size)
        H = H.reshape(V.size, V.size)
        H.ravel()[:: V.size + 1] += self.ridge if self.k == 1 else np.tile(self.ridge, self.k)
        return np.asarray(H)

    def sample(self, rows: slice | Integers) -> Self:
        """The same risk estimated from some rows (dense ones are not copied for a slice), their weights scaled up."""
        return self._of(self.design.take(rows), rows)

    def samples(self, *spans: slice) -> list[Self]:
        """Several samples; rows that have to come from other processes come all at once."""
        if self.design.near:
            return [self.sample(rows) for rows in spans]
        numbers = [np.arange(self.design.n)[rows] for rows in spans]
        held, stops = self.design.take(np.concatenate(numbers)), np.cumsum([len(rows) for rows in numbers])
        return [
            self._of(held.take(slice(int(stop) - len(rows), int(stop))), rows)
            for rows, stop in zip(numbers, stops, strict=True)
        ]

    def _of(self, design: Design, rows: slice | Integers) -> Self:
        weight = self.weight[rows]
        return replace(
            self,
            design=design,
            targets=replace(self.targets, values=self.targets.values[rows]),
            weight=weight * (self.weight.sum() / weight.sum()),
        )


def _slopes(block: Block, codes: Array, c: Floats, loss: ScoredLoss, V: Floats) -> Parts:
    losses, slope = loss.pointwise(codes, block.dot(V))
    return float(c @ losses), block.tdot(c[:, None] * slope)


def _bend(block: Block, codes: Array, loss: ScoredLoss, V: Floats) -> Parts:
    return (loss.bend(codes, block.dot(V)),)


def _bent(block: Block, bend: Floats, c: Floats, loss: ScoredLoss, D: Floats) -> Parts:
    return (block.tdot(c[:, None] * loss.bent(bend, block.dot(D))),)


def _hessian(block: Block, bend: Floats, c: Floats, loss: ScoredLoss) -> Parts:
    p, k = block.design.p, loss.k
    if k == 1:
        return (block.gram(c * bend[:, 0]),)
    z, out = block.dot(np.eye(p)), np.zeros((k, p, k, p))
    step = max(1, ENTRIES // (k * p))
    for some in (slice(first, first + step) for first in range(0, len(z), step)):
        for a, unit in enumerate(np.eye(k)):
            curved = c[some, None] * loss.bent(bend[some], unit[None])
            rows = (curved[:, : a + 1, None] * z[some, None]).reshape(len(curved), -1)
            out[a, :, : a + 1] += (z[some].T @ rows).reshape(p, a + 1, p)
    for a in range(k):
        out[:a, :, a] = out[a, :, :a].transpose(1, 2, 0)
    return (out,)
