"""What a pointwise loss is, and the base classes of those in this package."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from separatrix._typing import Array

Reals: TypeAlias = NDArray[np.floating[Any]]  # float32 or float64


class UndefinedError(TypeError):
    """The loss has no such quantity: no slope where it jumps, no conjugate when it is not convex."""


class Loss(ABC):
    """loss(y, z): the price of the score z when the truth is y.

    A loss is an object without state: all that there is to know of it is its class.

    Scores may be any finite numbers, and no result is ever NaN: what lies beyond the largest float is
    `inf`, its correct rounding. float32 scores (or slopes, in `conjugate`) give float32 results, whatever
    the type of y; anything else is computed in float64. Arguments broadcast as NumPy's do. That y holds
    labels of the kind the loss takes is the caller's word: binary losses take -1 and +1, and do not check.

    Attributes
    ----------
    name : str
        What estimators call it.
    convex : bool
        Whether it is convex in z.
    smoothness : float
        The least upper bound on the size of the curvature; `inf` when the slope jumps or there is none.
    """

    name: ClassVar[str]
    convex: ClassVar[bool]
    smoothness: ClassVar[float]

    @abstractmethod
    def value(self, y: ArrayLike, z: ArrayLike) -> Array:
        """loss(y, z)."""

    @abstractmethod
    def slope(self, y: ArrayLike, z: ArrayLike) -> Array:
        """The derivative d loss / dz; at a kink, the subgradient that the class names."""

    @abstractmethod
    def curvature(self, y: ArrayLike, z: ArrayLike) -> Array:
        """The second derivative d² loss / dz²; 0 at a kink."""

    @abstractmethod
    def conjugate(self, y: ArrayLike, s: ArrayLike) -> Array:
        """The supremum over z of s z - loss(y, z); `inf` outside its domain."""


class MarginLoss(Loss):
    """φ(y z): a binary loss, y in {-1, +1}, that looks at the score only through the margin u = y z.

    A subclass writes φ, φ', φ'' and φ*, functions of one variable. The loss follows, since y² = 1::

        value = φ(u)    slope = y φ'(u)    curvature = φ''(u)    conjugate = φ*(y s)
    """

    def value(self, y: ArrayLike, z: ArrayLike) -> Array:
        """φ(y z)."""
        y, z = signs_and_floats(y, z)
        with beyond_floats_is_inf():
            return tidy(self._phi(y * z))

    def slope(self, y: ArrayLike, z: ArrayLike) -> Array:
        """d/dz φ(y z) = y φ'(y z)."""
        y, z = signs_and_floats(y, z)
        with beyond_floats_is_inf():
            return tidy(y * self._dphi(y * z))

    def curvature(self, y: ArrayLike, z: ArrayLike) -> Array:
        """d²/dz² φ(y z) = φ''(y z)."""
        y, z = signs_and_floats(y, z)
        with beyond_floats_is_inf():
            return tidy(self._d2phi(y * z))

    def conjugate(self, y: ArrayLike, s: ArrayLike) -> Array:
        """The supremum over z of s z - φ(y z) = φ*(y s); `inf` outside its domain."""
        y, s = signs_and_floats(y, s)
        with beyond_floats_is_inf():
            return tidy(self._phi_conjugate(y * s))

    @abstractmethod
    def _phi(self, u: Reals) -> Reals:
        """φ(u)."""

    @abstractmethod
    def _dphi(self, u: Reals) -> Reals:
        """φ'(u)."""

    @abstractmethod
    def _d2phi(self, u: Reals) -> Reals:
        """φ''(u)."""

    @abstractmethod
    def _phi_conjugate(self, m: Reals) -> Reals:
        """φ*(m) = sup over u of m u - φ(u)."""


def floats(z: ArrayLike) -> Reals:
    """An array of floats: float32 if z is that already, float64 otherwise."""
    z = np.asarray(z)
    return z if z.dtype == np.float32 else z.astype(np.float64, copy=False)


def signs_and_floats(y: ArrayLike, z: ArrayLike) -> tuple[Reals, Reals]:
    """Both as floats, in the precision of z."""
    z = floats(z)
    return np.asarray(y).astype(z.dtype, copy=False), z


def beyond_floats_is_inf() -> np.errstate:
    """Let overflow give inf and underflow give 0 in silence: each is the correct rounding of the result."""
    return np.errstate(over="ignore", under="ignore")


def sigma(u: Reals) -> Reals:
    """σ(u) = 1 / (1 + exp(-u)), to full relative accuracy in both tails.

    exp(u) / (1 + exp(u)) is the same number: of the two, each u gets the one whose exponential is at most 1.
    Unlike 1 / (1 + exp(-u)), this does not fall to 0 before exp(u) does (near u = -710 in float64).
    """
    e = np.exp(-np.abs(u))
    probability: Reals = np.where(u >= 0, 1, e) / (1 + e)
    return probability


def tidy(result: Array) -> Array:
    """The same numbers, with 0 for -0, and a scalar for an array of no dimensions."""
    tidied: Array = result + 0.0  # adding 0 does both
    return tidied
