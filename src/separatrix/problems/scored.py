"""A loss of the scores of rows whose labels are class codes: what a risk asks of `losses`.

`TwoClasses` is any loss of a margin, y = ±1; `Classes` is softmax. A loss whose name is in `loops.passes.PASSES` is
computed by compiled passes; any other one goes by blocks through `pointwise` and `bend`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from separatrix._typing import Array, Floats
from separatrix.loops.passes import PASSES, PRODUCT, SOFTMAX, SOFTMAX_PRODUCT
from separatrix.losses import MarginLoss
from separatrix.losses.softmax import shares

ONE = np.ones((1, 1))


class ScoredLoss(ABC):
    """loss(code, scores), with k columns of scores that the basis (K, k) takes to the scores of the classes."""

    product: int = PRODUCT  # the compiled pass that multiplies by curvature
    basis: Floats  # (K, k): the classes' weights are V basis'; (1, 1) for two classes

    @property
    @abstractmethod
    def compiled(self) -> int | None:
        """The compiled pass, if there is one."""

    @property
    @abstractmethod
    def steepest(self) -> float:
        """The largest curvature."""

    @property
    def k(self) -> int:
        """Number of columns of V."""
        return int(self.basis.shape[1])

    @property
    def bends(self) -> int:
        """Numbers that tell the curvature of a row."""
        return len(self.basis)

    @abstractmethod
    def pointwise(self, codes: Array, Z: Floats) -> tuple[Floats, Floats]:
        """Loss (m,) and its slope (m, k) at the scores Z of some rows."""

    @abstractmethod
    def own_curvature(self, codes: Array, Z: Floats) -> Floats:
        """The diagonals (m, k) of the second derivatives (m, k, k) of the loss at the scores Z of some rows."""

    @abstractmethod
    def bend(self, codes: Array, Z: Floats) -> Floats:
        """What tells the curvature of some rows, (m, bends)."""

    @abstractmethod
    def bent(self, bend: Floats, D: Floats) -> Floats:
        """The curvature of some rows times D (m, k), or (1, k) for all of them."""

    @abstractmethod
    def mean_bend(self, bend: Floats, c: Floats) -> tuple[Floats, Floats]:
        """The sum of the rows' curvatures (k, k), weighted with c, and the trace of each (m,)."""


@dataclass(frozen=True)
class TwoClasses(ScoredLoss):
    """loss(y, z), y = +1 for code 1 and -1 for code 0."""

    loss: MarginLoss

    @property
    def compiled(self) -> int | None:
        return PASSES.get(self.loss.name)

    basis = ONE
    k = 1

    @property
    def steepest(self) -> float:
        return self.loss.smoothness

    def pointwise(self, codes: Array, Z: Floats) -> tuple[Floats, Floats]:
        y = 2.0 * codes[:, None] - 1.0
        return self.loss.value(y, Z)[:, 0], self.loss.slope(y, Z)

    def own_curvature(self, codes: Array, Z: Floats) -> Floats:
        return np.asarray(self.loss.curvature(2.0 * codes[:, None] - 1.0, Z))

    def bend(self, codes: Array, Z: Floats) -> Floats:
        return self.own_curvature(codes, Z)

    def bent(self, bend: Floats, D: Floats) -> Floats:
        return bend * D

    def mean_bend(self, bend: Floats, c: Floats) -> tuple[Floats, Floats]:
        return np.array([[c @ bend[:, 0]]]), bend[:, 0]


@dataclass(frozen=True, eq=False)
class Classes(ScoredLoss):
    """-log softmax(B s)_y for scores s = V'z of k = K - 1 columns and an orthonormal basis B (K, k).

    B spans the vectors that sum to 0 (symmetric: nothing is lost, since adding the same to all scores changes nothing),
    or it is the first K - 1 unit vectors (reference: the last class's are 0). Scores may also be those of the K
    classes themselves; then so are slopes.
    """

    basis: Floats
    product = SOFTMAX_PRODUCT
    compiled = SOFTMAX
    steepest = 0.5

    def pointwise(self, codes: Array, Z: Floats) -> tuple[Floats, Floats]:
        rows = np.arange(len(Z))
        P, log_total, below = self._shares(Z)
        loss = log_total - below[codes, rows]
        P[codes, rows] -= 1.0
        return loss, (P.T if Z.shape[1] > self.k else P.T @ self.basis)

    def own_curvature(self, codes: Array, Z: Floats) -> Floats:
        P = self.bend(codes, Z)
        return np.maximum(P @ self.basis**2 - (P @ self.basis) ** 2, 0.0)

    def bend(self, codes: Array, Z: Floats) -> Floats:
        """The probabilities."""
        return self._shares(Z)[0].T

    def bent(self, bend: Floats, D: Floats) -> Floats:
        U = bend * (D @ self.basis.T)
        return (U - bend * U.sum(axis=1, keepdims=True)) @ self.basis

    def mean_bend(self, bend: Floats, c: Floats) -> tuple[Floats, Floats]:
        PB = bend @ self.basis
        traces = bend @ (self.basis**2).sum(axis=1) - (PB * PB).sum(axis=1)
        total = (self.basis.T * (c @ bend)) @ self.basis - (PB.T * c) @ PB
        return total, traces

    def _shares(self, Z: Floats) -> tuple[Floats, Floats, Floats]:
        """`shares` of the classes' scores (K, m): NumPy works along the rows of the data then, not the few classes."""
        return shares(Z.T if Z.shape[1] > self.k else self.basis @ Z.T)


def symmetric_basis(K: int) -> Floats:
    """Orthonormal columns that each sum to 0: Helmert's contrasts."""
    B = np.zeros((K, K - 1))
    for j in range(1, K):
        B[:j, j - 1] = 1.0
        B[j, j - 1] = -j
    return B / np.linalg.norm(B, axis=0)


def reference_basis(K: int) -> Floats:
    """The unit vectors of all classes but the last."""
    return np.eye(K)[:, :-1]
