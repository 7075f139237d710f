"""The squared error of a probability."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar, NoReturn

from separatrix.losses.base import MarginLoss, Reals, UndefinedError, sigma


@dataclass(frozen=True)
class SigmoidSquared(MarginLoss):
    """loss(y, z) = (t - σ(z))², with t = (1 + y)/2 in {0, 1}.

    The squared error of the probability σ(z). With q = σ(-y z) the probability of the wrong class and
    p = 1 - q::

        value = q²    slope = -2 y p q²    curvature = 2 p q² (2p - q)

    The loss is not convex: the curvature is negative where q > 2/3, and the slope is steepest at q = 2/3,
    where the true class has probability 1/3. The derivative of (1 - q) q² (2 - 3q) is q (12 q² - 15 q + 4):
    the curvature is greatest, (39 + 55 √33)/2304 = 0.154, at q = (15 - √33)/24, and least, -0.120, at the
    other root.

    Examples
    --------
    >>> from separatrix.losses import SigmoidSquared
    >>> SigmoidSquared().value([-1, +1], 0.0)
    array([0.25, 0.25])
    >>> SigmoidSquared().slope([-1, +1], 0.0)
    array([ 0.25, -0.25])
    """

    name: ClassVar[str] = "squared_error"
    convex: ClassVar[bool] = False
    smoothness: ClassVar[float] = (39 + 55 * sqrt(33)) / 2304

    def _phi(self, u: Reals) -> Reals:
        return sigma(-u) ** 2

    def _dphi(self, u: Reals) -> Reals:
        p, q = sigma(u), sigma(-u)
        return -2 * p * q**2

    def _d2phi(self, u: Reals) -> Reals:
        p, q = sigma(u), sigma(-u)
        return 2 * p * q**2 * (2 * p - q)

    def _phi_conjugate(self, m: Reals) -> NoReturn:
        raise UndefinedError(
            "the squared error of a probability is not convex: its conjugate would be that of the constant "
            "0, the largest convex function below it, and prove nothing."
        )


@dataclass(frozen=True)
class GaussNewton(SigmoidSquared):
    """The same loss with the curvature 2 (p q)² of its first-order model: without the term that may be negative."""

    name: ClassVar[str] = "gauss_newton"

    def _d2phi(self, u: Reals) -> Reals:
        return 2 * (sigma(u) * sigma(-u)) ** 2
