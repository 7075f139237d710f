"""Pointwise losses: the price of a score z when the truth is y.

Each has a `value`, a `slope` (its derivative in z), a `curvature` (the second) and a `conjugate`, the
function that duality gaps are made of. See `Loss` for the contract they share.

Examples
--------
>>> import numpy as np
>>> from separatrix.losses import Hinge
>>> z = np.linspace(-2, 2, 5)
>>> Hinge().value(+1, z)
array([3., 2., 1., 0., 0.])
"""

from separatrix.losses.base import Loss, MarginLoss, UndefinedError
from separatrix.losses.hinge import Hinge
from separatrix.losses.logistic import Logistic
from separatrix.losses.perceptron import PerceptronLoss
from separatrix.losses.sigmoid_squared import SigmoidSquared
from separatrix.losses.softmax import Softmax
from separatrix.losses.squared import Squared
from separatrix.losses.squared_hinge import SquaredHinge
from separatrix.losses.zero_one import ZeroOne

__all__ = [
    "Hinge",
    "Logistic",
    "Loss",
    "MarginLoss",
    "PerceptronLoss",
    "SigmoidSquared",
    "Softmax",
    "Squared",
    "SquaredHinge",
    "UndefinedError",
    "ZeroOne",
]
