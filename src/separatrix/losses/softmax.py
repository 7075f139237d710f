"""The softmax loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr, xlog1py

from separatrix._typing import Array
from separatrix.losses.base import Loss, beyond_floats_is_inf, floats, tidy


@dataclass(frozen=True)
class Softmax(Loss):
    """loss(y, z) = -z_y + log(sum_j exp z_j), with a score z_j for each class j of 0, ..., k - 1.

    Minus the log-likelihood of class y when class j has probability p_j, proportional to exp z_j. Classes
    are on the last axis: n codes and (n, k) scores give n values, (n, k) slopes and (n, k, k) curvatures.
    With two classes it is the logistic loss of z_y minus the other score. The smoothness is for the Euclidean
    norm: no eigenvalue of the curvature exceeds 1/2.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix.losses import Softmax
    >>> bool(np.isclose(Softmax().value(0, [1.0, 1.0, 1.0]), np.log(3)))
    True
    >>> Softmax().slope([0, 1], [[0.0, 0.0], [0.0, 0.0]])
    array([[-0.5,  0.5],
           [ 0.5, -0.5]])
    """

    name: ClassVar[str] = "softmax"
    convex: ClassVar[bool] = True
    smoothness: ClassVar[float] = 0.5

    def value(self, y: ArrayLike, z: ArrayLike) -> Array:
        """(max z - z_y) + log(1 + the exponentials below the greatest): two terms that are never negative."""
        is_y, z = _one_hot_and_floats(y, z)
        with beyond_floats_is_inf():
            _, log_total, below = shares(np.moveaxis(z, -1, 0))
            return tidy(log_total - np.where(is_y, np.moveaxis(below, 0, -1), 0).sum(axis=-1))

    def slope(self, y: ArrayLike, z: ArrayLike) -> Array:
        """The vector p - e_y, where p_y - 1 is minus the sum of the other probabilities."""
        is_y, z = _one_hot_and_floats(y, z)
        with beyond_floats_is_inf():
            p = _probabilities(z)
            others = np.where(is_y, 0, p).sum(axis=-1, keepdims=True)
            return tidy(np.where(is_y, -others, p))

    def curvature(self, y: ArrayLike, z: ArrayLike) -> Array:
        """diag(p) - p p', where p_i - p_i² is the sum of p_i p_j over the other classes."""
        _, z = _one_hot_and_floats(y, z)
        with beyond_floats_is_inf():
            p = _probabilities(z)
            hessian = -p[..., :, np.newaxis] * p[..., np.newaxis, :]
            i = np.arange(z.shape[-1])
            hessian[..., i, i] = 0
            hessian[..., i, i] = -hessian.sum(axis=-1)
            return tidy(hessian)

    def conjugate(self, y: ArrayLike, s: ArrayLike) -> Array:
        """The sum of q_j log q_j, q = s + e_y, when q is a point of the simplex; `inf` otherwise.

        Rounding may take a point off the simplex. With ε the precision of s, an entry up to 4kε below 0 or
        above 1 is taken as 0 or 1, and what is then the sum of q may differ from 1 by 4kε.
        """
        is_y, s = _one_hot_and_floats(y, s)
        e_y = is_y.astype(s.dtype)
        tolerance = 4 * s.shape[-1] * np.finfo(s.dtype).eps
        with beyond_floats_is_inf():
            r = np.clip(s, -e_y, 1 - e_y)  # what s is when every entry of q is in [0, 1]
            on_simplex = (np.abs(s - r) <= tolerance).all(axis=-1) & (np.abs(r.sum(axis=-1)) <= tolerance)
            # q_y = 1 + r_y through log1p: near the vertex e_y, r_y knows what 1 + r_y has rounded away.
            q_log_q = np.where(is_y, xlog1py(1 + r, r), -entr(r))
            return tidy(np.where(on_simplex, q_log_q.sum(axis=-1), np.inf))


def _one_hot_and_floats(y: ArrayLike, z: ArrayLike) -> tuple[Array, Array]:
    """Whether each class is y, and z as floats, in one shape."""
    z = floats(z)
    k = z.shape[-1]
    is_y = np.asarray(y)[..., np.newaxis] == np.arange(k)
    if not is_y.any(axis=-1).all():
        raise ValueError(f"class codes must be integers from 0 to {k - 1}, one for each column of scores.")
    is_y, z = np.broadcast_arrays(is_y, z)
    return is_y, z


def _probabilities(z: Array) -> Array:
    """p_j, proportional to exp z_j."""
    return np.moveaxis(shares(np.moveaxis(z, -1, 0))[0], 0, -1)


def shares(S: Array) -> tuple[Array, Array, Array]:
    """Of scores with the classes on the first axis: probabilities, log of their common divisor, and s - max s.

    The exponential of the largest score is 1, so that the logarithm of the sum is log1p of the others.
    """
    top = S.argmax(axis=0)[np.newaxis]
    below = S - np.take_along_axis(S, top, axis=0)
    P: Array = np.exp(below)
    np.put_along_axis(P, top, 0, axis=0)
    rest = P.sum(axis=0)
    np.put_along_axis(P, top, 1, axis=0)
    P /= 1 + rest
    return P, np.log1p(rest), below
