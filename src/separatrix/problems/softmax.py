"""Cross-entropy of softmax scores for several classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix._typing import Array, Floats
from separatrix.design import Block
from separatrix.design.base import Parts
from separatrix.design.passes import Pass
from separatrix.loops.passes import SOFTMAX, SOFTMAX_PRODUCT
from separatrix.problems.risk import Risk

PAIRS = 3  # columns of V whose pairs are taken one by one
ENTRIES = 1 << 20  # of the rows of a Hessian that are held at a time


@dataclass(frozen=True)
class SoftmaxRisk(Risk):
    """-log softmax(B s)_y for scores s = V'z of K - 1 columns and an orthonormal basis B (K, K - 1).

    The classes' own weights are V B'. B spans the vectors that sum to 0 (symmetric: nothing is lost, since adding the
    same to all scores changes nothing), or it is the first K - 1 unit vectors (reference: the last class's are 0).

    Parameters
    ----------
    basis : array of shape (K, K - 1)
    """

    basis: Floats

    loss = SOFTMAX
    bent = SOFTMAX_PRODUCT

    @property
    def bends(self) -> int:
        """Numbers that tell the curvature of a row: its probabilities."""
        return len(self.basis)

    def task(self, what: int, k: int, rows: Floats | None = None) -> Pass:
        """A pass with scores of the classes themselves, or with those of V, which the basis takes to them."""
        basis = None if k > self.k else np.ascontiguousarray(self.basis)
        return Pass(what, k, self._codes, self._weight, rows, basis, len(self.basis))

    @property
    def k(self) -> int:
        """Number of columns of V."""
        return int(self.basis.shape[1])

    def outer(self, V: Floats) -> Floats:
        """V B', if a product with B for each coefficient and another column cost less than one with B for each row.

        So scores, here and in what they are passed to, may be those of V or those of the K classes, and slopes too.
        """
        return V @ self.basis.T if self.design.p < len(self.basis) ** 2 else V

    def inner(self, G: Floats) -> Floats:
        return G @ self.basis if G.shape[1] > self.k else G

    def pointwise(self, values: Array, Z: Floats) -> tuple[Floats, Floats]:
        rows = np.arange(len(Z))
        P, total, below = self._probabilities(Z)
        loss = np.log(total) - below[values, rows]
        P[values, rows] -= 1.0
        return np.maximum(loss, 0.0), (P.T if Z.shape[1] > self.k else P.T @ self.basis)

    def curvature(self, values: Array, Z: Floats) -> Floats:
        P = self._probabilities(Z)[0].T
        PB = P @ self.basis
        squares = (self.basis[:, :, None] * self.basis[:, None, :]).reshape(len(self.basis), -1)
        return (P @ squares).reshape(-1, self.k, self.k) - PB[:, :, None] * PB[:, None, :]

    def own_curvature(self, values: Array, Z: Floats) -> Floats:
        P = self._probabilities(Z)[0].T
        return np.maximum(P @ self.basis**2 - (P @ self.basis) ** 2, 0.0)

    def hessian(self, V: Floats) -> Floats:
        """Few classes: a Gram matrix for each pair of them. More: sum_a B_a B_a' ⊗ Z'diag(c P_a)Z - A'diag(c)A.

        Here the rows of A are B'p_i ⊗ z_i: one product for all pairs, some rows at a time.
        """
        if self.k <= PAIRS:
            return super().hessian(V)
        p, k, B = self.design.p, self.k, self.basis
        eye = np.eye(p)

        def add(block: Block, values: Array, c: Floats) -> Parts:
            P = self._probabilities(block.dot(V))[0].T
            own, all_pairs = np.empty((len(B), p, p)), np.zeros((k * p, k * p))
            for a in range(len(B)):
                own[a] = block.gram(c * P[:, a])
            z, PB, root = block.dot(eye), P @ B, np.sqrt(c)[:, None]
            step = max(1, ENTRIES // (k * p))
            for first in range(0, len(c), step):
                rows = slice(first, first + step)
                A = (PB[rows, :, None] * (root[rows] * z[rows])[:, None, :]).reshape(-1, k * p)
                all_pairs += A.T @ A  # half of which BLAS computes, as it is symmetric
            return own, all_pairs

        own, all_pairs = self.design.reduce(add, self.targets.values, self.weight, block_bytes=self.design.square_bytes)
        squares = (B[:, :, None] * B[:, None, :]).reshape(len(B), k * k)
        H = (squares.T @ own.reshape(len(B), p * p)).reshape(k, k, p, p).transpose(0, 2, 1, 3).reshape(k * p, k * p)
        H -= all_pairs
        H.ravel()[:: k * p + 1] += np.tile(self.ridge, k)
        return np.asarray(H)

    def mean_bend(self, bend: Floats, c: Floats) -> tuple[Floats, Floats]:
        PB = bend @ self.basis
        traces = bend @ (self.basis**2).sum(axis=1) - (PB * PB).sum(axis=1)
        total = (self.basis.T * (c @ bend)) @ self.basis - (PB.T * c) @ PB
        return total, traces

    def _of_classes(self, Z: Floats) -> Floats:
        """The classes' scores (K, m)."""
        return Z.T if Z.shape[1] > self.k else self.basis @ Z.T

    def _probabilities(self, Z: Floats) -> tuple[Floats, Floats, Floats]:
        """Softmax of the classes' scores (K, m), the sum (m,) it is divided by, and the scores less their largest.

        A row a class: NumPy works along the rows of the data then, and not along the few classes.
        """
        S = self._of_classes(Z)
        S = S - S.max(axis=0)
        P = np.exp(S)
        total = P.sum(axis=0)
        P /= total
        return P, total, S


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
