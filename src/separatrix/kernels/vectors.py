"""Kernels of the inner product of two vectors: linear, polynomial, sigmoid."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from separatrix._typing import Array
from separatrix.kernels.base import Kernel
from separatrix.kernels.points import Matrix, Vectors, as_matrix, inner, same_storage
from separatrix.kernels.settings import finite, positive, whole


class VectorKernel(Kernel):
    """A kernel whose points are the rows of a matrix, dense or sparse, float32 or float64."""

    def check(self, X: Any) -> Matrix:
        return as_matrix(X)

    def represent(self, X: Matrix, like: Any = None) -> Any:
        return Vectors(X if like is None else same_storage(X, like.values))

    def __call__(self, A: Any, B: Any) -> Array:
        """K(A, B): the (len(A), len(B)) matrix of k(a, b), float32 if both sides are."""
        if A is not B:
            A, B = self.check(A), self.check(B)
            if A.dtype != B.dtype:
                A, B = A.astype(np.float64, copy=False), B.astype(np.float64, copy=False)
        return super().__call__(A, B)


class InnerProductKernel(VectorKernel):
    """k(a, b) = f(<a, b>): one function of the inner product."""

    _remedy: ClassVar[str] = "scale the columns"

    @abstractmethod
    def apply(self, products: Array) -> Array:
        """Apply f to each entry; may overwrite ``products``."""

    def gram(self, P: Vectors, Q: Vectors) -> Array:
        return self._finite(inner(P, Q))

    def gram_of_rows(self, X: Array, Q: Vectors) -> Array | None:
        # a row that is not finite has no finite sum, whatever f makes of it
        with np.errstate(over="ignore", invalid="ignore"):
            if sparse.issparse(Q.values) or not np.isfinite(X.sum()):
                return None
        return self.gram(Vectors(X), Q)

    def gram_diagonal(self, P: Vectors) -> Array:
        return self._finite(P.squares.copy())

    def _finite(self, products: Array) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            values = self.apply(products)
        if not np.isfinite(values).all():
            raise ValueError(f"{self} overflows {values.dtype} on these points: {self._remedy}")
        return values


@dataclass(frozen=True)
class Linear(InnerProductKernel, name="linear"):
    """k(a, b) = <a, b>."""

    positive_semidefinite = True

    def apply(self, products: Array) -> Array:
        return products


@dataclass(frozen=True)
class Poly(InnerProductKernel, name="poly"):
    """k(a, b) = (gamma <a, b> + coef0)^degree.

    Parameters
    ----------
    degree : int, default=3
    gamma : float, default=1.0
        Positive.
    coef0 : float, default=0.0
        How much the lower degrees count. Below 0 the kernel need not be positive semidefinite.
    """

    degree: int = 3
    gamma: float = 1.0
    coef0: float = 0.0

    _remedy: ClassVar[str] = "scale the columns, or lower gamma or degree"

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", whole("degree", self.degree, at_least=0))
        object.__setattr__(self, "gamma", positive("gamma", self.gamma))
        object.__setattr__(self, "coef0", finite("coef0", self.coef0))

    @property
    def positive_semidefinite(self) -> bool:
        # Sums and products of kernels are kernels, and so is a constant >= 0.
        return self.coef0 >= 0 or self.degree == 0

    def apply(self, products: Array) -> Array:
        products *= self.gamma
        products += self.coef0
        return _power(products, self.degree)


@dataclass(frozen=True)
class Sigmoid(InnerProductKernel, name="sigmoid"):
    """k(a, b) = tanh(gamma <a, b> + coef0): not positive semidefinite in general.

    Parameters
    ----------
    gamma : float
        Positive.
    coef0 : float, default=0.0
    """

    gamma: float
    coef0: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", positive("gamma", self.gamma))
        object.__setattr__(self, "coef0", finite("coef0", self.coef0))

    def apply(self, products: Array) -> Array:
        products[~np.isfinite(products)] = np.nan  # <a, b> overflowed: gamma <a, b> may be anything
        products *= self.gamma
        products += self.coef0
        return np.tanh(products, out=products)


def _power(base: Array, exponent: int) -> Array:
    """Raise to a power by squaring: numpy calls pow() entry by entry above the square, ten times slower."""
    result = None
    while exponent:
        if exponent & 1:
            result = base.copy() if result is None else np.multiply(result, base, out=result)
        exponent >>= 1
        if exponent:
            base = np.multiply(base, base, out=base)
    return np.ones_like(base) if result is None else result
