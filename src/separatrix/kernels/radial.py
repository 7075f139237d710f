"""Kernels of the distance between two vectors: Gaussian and Laplacian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix._typing import Array
from separatrix.kernels.distances import (
    Centred,
    Rows,
    cityblock_exponent,
    euclidean_exponent,
    euclidean_exponent_of_rows,
    euclidean_square,
)
from separatrix.kernels.points import Matrix, same_storage
from separatrix.kernels.settings import positive
from separatrix.kernels.vectors import VectorKernel


class RadialKernel(VectorKernel):
    """k(a, b) = exp(-gamma * distance(a, b)): 1 at a = b, and positive semidefinite."""

    positive_semidefinite = True

    def gram_diagonal(self, P: Any) -> Array:
        return np.ones(len(P), dtype=P.dtype)


@dataclass(frozen=True)
class Rbf(RadialKernel, name="rbf"):
    """k(a, b) = exp(-gamma ‖a - b‖²).

    Accurate wherever the points are: a shift of all of them, however large, changes nothing but the digits
    the input itself has lost.

    Parameters
    ----------
    gamma : float
        Positive; 1/gamma is the squared distance at which the kernel falls to 1/e.
    """

    gamma: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", positive("gamma", self.gamma))

    def represent(self, X: Matrix, like: Centred | None = None) -> Centred:
        return Centred.of(X, like)

    def gram(self, P: Centred, Q: Centred) -> Array:
        exponent = euclidean_exponent(self.gamma, P, Q)
        return np.exp(exponent, out=exponent)

    def square(self, P: Centred) -> Array | None:
        return euclidean_square(self.gamma, P)

    def gram_of_rows(self, X: Array, Q: Centred) -> Array | None:
        exponent = euclidean_exponent_of_rows(self.gamma, X, Q)
        return None if exponent is None else np.exp(exponent, out=exponent)


@dataclass(frozen=True)
class Laplacian(RadialKernel, name="laplacian"):
    """k(a, b) = exp(-gamma ‖a - b‖₁).

    Parameters
    ----------
    gamma : float
        Positive; 1/gamma is the distance at which the kernel falls to 1/e.
    """

    gamma: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", positive("gamma", self.gamma))

    def represent(self, X: Matrix, like: Rows | None = None) -> Rows:
        return Rows(X if like is None else same_storage(X, like.values))

    def gram(self, P: Rows, Q: Rows) -> Array:
        exponent = cityblock_exponent(self.gamma, P, Q)
        return np.exp(exponent, out=exponent)
