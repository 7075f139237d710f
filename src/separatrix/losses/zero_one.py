"""The zero-one loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from separatrix._typing import Array
from separatrix.losses.base import Loss, UndefinedError, signs_and_floats, tidy


@dataclass(frozen=True)
class ZeroOne(Loss):
    """loss(y, z) = 0 if the sign of z is y, 1 otherwise; z = 0 has the sign +1.

    Its mean is the error rate. It is a step: no slope leads down it, and no convex function of the score
    does better than 0 as a lower bound on it, so it has a value and nothing else.

    Examples
    --------
    >>> from separatrix.losses import ZeroOne
    >>> ZeroOne().value([+1, +1, -1], [2.0, 0.0, 0.0])
    array([0., 0., 1.])
    """

    name: ClassVar[str] = "zero_one"
    convex: ClassVar[bool] = False
    smoothness: ClassVar[float] = np.inf

    def value(self, y: ArrayLike, z: ArrayLike) -> Array:
        """1 where z >= 0 and y = -1, or z < 0 and y = +1; 0 elsewhere."""
        y, z = signs_and_floats(y, z)
        return tidy(np.not_equal(z >= 0, y > 0).astype(z.dtype))

    def slope(self, y: ArrayLike, z: ArrayLike) -> NoReturn:
        """Raise `UndefinedError`: it is 0 except at z = 0, where the loss jumps."""
        raise UndefinedError(
            "the zero-one loss has no slope: it is flat except at z = 0, where it jumps. "
            "To descend, use a loss above it, such as Hinge or Logistic."
        )

    def curvature(self, y: ArrayLike, z: ArrayLike) -> NoReturn:
        """Raise `UndefinedError`, as there is no slope."""
        raise UndefinedError("the zero-one loss has no curvature: it jumps at z = 0, and so has no slope either.")

    def conjugate(self, y: ArrayLike, s: ArrayLike) -> NoReturn:
        """Raise `UndefinedError`: the loss is not convex."""
        raise UndefinedError(
            "the zero-one loss is not convex: its conjugate would be that of the constant 0, the largest "
            "convex function below it, and prove nothing."
        )
