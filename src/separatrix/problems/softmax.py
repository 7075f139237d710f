"""Cross-entropy of softmax scores for several classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix._typing import Array, Floats
from separatrix.problems.risk import Risk


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

    @property
    def k(self) -> int:
        """Number of columns of V."""
        return int(self.basis.shape[1])

    def probabilities(self, Z: Floats) -> tuple[Floats, Floats]:
        """Softmax of the classes' scores (m, K), and log of the normaliser (m,)."""
        S = Z @ self.basis.T
        top = S.max(axis=1, keepdims=True)
        P = np.exp(S - top)
        total = P.sum(axis=1, keepdims=True)
        P /= total
        return P, (top + np.log(total))[:, 0]

    def pointwise(self, values: Array, Z: Floats) -> tuple[Floats, Floats]:
        P, log_total = self.probabilities(Z)
        loss = log_total - np.einsum("ik,ik->i", Z, self.basis[values])
        P[np.arange(len(P)), values] -= 1.0
        return np.maximum(loss, 0.0), P @ self.basis

    def curvature(self, values: Array, Z: Floats) -> Floats:
        P, _ = self.probabilities(Z)
        PB = P @ self.basis
        return np.einsum("ic,ca,cb->iab", P, self.basis, self.basis) - PB[:, :, None] * PB[:, None, :]


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
