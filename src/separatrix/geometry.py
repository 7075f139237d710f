"""How a model scores points: one hyperplane, several at once, a sum of kernels, or layers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from separatrix._typing import Array, Floats
from separatrix.errors import InvalidInputError, NoDirectionError
from separatrix.loops.threads import product

__all__ = ["Expansion", "Hyperplane", "Hyperplanes", "Layers"]


class Hyperplane:
    """{x : w.x + b = 0}, the boundary between two half-spaces.

    Parameters
    ----------
    w : array-like of shape (d,)
        Normal vector. ``w = 0`` is allowed (every point then has the score b) but has no direction:
        whatever needs one raises `NoDirectionError`.
    b : float, default=0.0
        Offset.

    Examples
    --------
    >>> h = Hyperplane([3, 4], -5)
    >>> h.signed_distance([[3, 4], [0, 0]]).tolist()
    [4.0, -1.0]
    >>> h.distance_to_origin
    1.0
    """

    __slots__ = ("b", "w")

    w: Floats
    b: float

    def __init__(self, w: ArrayLike, b: float = 0.0) -> None:
        normal = np.array(w, dtype=np.float64)
        if normal.ndim != 1 or normal.size == 0:
            raise InvalidInputError(f"w must be a vector, one number a feature; its shape is {normal.shape}.")
        if not (np.isfinite(normal).all() and np.isfinite(b)):
            raise InvalidInputError("w and b must be finite.")
        normal.setflags(write=False)
        object.__setattr__(self, "w", normal)
        object.__setattr__(self, "b", float(b))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"A Hyperplane is immutable: {name} cannot be set.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"A Hyperplane is immutable: {name} cannot be deleted.")

    def __reduce__(self) -> tuple[type[Hyperplane], tuple[Floats, float]]:
        return Hyperplane, (self.w, self.b)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hyperplane) and self.b == other.b and np.array_equal(self.w, other.w)

    def __hash__(self) -> int:
        return hash((tuple(self.w.tolist()), self.b))  # not the bytes: -0.0 == 0.0

    def __repr__(self) -> str:
        return f"Hyperplane(w={np.array2string(self.w, threshold=8, separator=', ')}, b={self.b!r})"

    @classmethod
    def from_homogeneous(cls, v: ArrayLike) -> Hyperplane:
        """The hyperplane of v = (w, b), which scores (x, 1) by v.(x, 1)."""
        v = np.asarray(v, dtype=np.float64)
        if v.ndim != 1 or v.size < 2:
            raise InvalidInputError(f"v must be a vector (w, b) of length d + 1 >= 2; its shape is {v.shape}.")
        return cls(v[:-1], float(v[-1]))

    @classmethod
    def at_least(cls, m: int, d: int, values: tuple[float, float] = (0, 1)) -> Hyperplane:
        """The m-of-d function: score >= 0 where at least m of d features have the higher of two values.

        With j features high and the others low, sum(x) = j*high + (d - j)*low, which increases in j; so
        w = (1, ..., 1) and b = -(m*high + (d - m)*low): b = -m for (0, 1) and b = d - 2m for (-1, 1). Values that
        are not whole numbers round when added, so for them b is half a step higher.

        Parameters
        ----------
        m : int
            How many features must have the higher value.
        d : int
            Number of features.
        values : pair of float, default=(0, 1)
            The lower and the higher value of a feature.

        Examples
        --------
        >>> Hyperplane.at_least(2, 3).side([[1, 0, 1], [0, 0, 1]]).tolist()
        [1, -1]
        """
        low, high = values
        if d < 1 or not low < high:
            raise InvalidInputError(f"at_least needs d >= 1 and values (low, high); got d={d}, values={values}.")
        b = -(m * high + (d - m) * low)
        if not (float(low).is_integer() and float(high).is_integer()):
            b += 0.5 * (high - low)  # sums of fractions round: the boundary goes between m - 1 and m
        return cls(np.ones(d), b)

    def homogeneous(self) -> Floats:
        """(w, b), the normal vector in the space of the points (x, 1)."""
        return np.append(self.w, self.b)

    def score(self, X: ArrayLike) -> Floats:
        """w.x + b for each row x of X."""
        return self._score(X, self.w, self.b)

    def side(self, X: ArrayLike) -> Array:
        """+1 where w.x + b >= 0, else -1: a point on the hyperplane counts as positive."""
        return np.where(self.score(X) >= 0, 1, -1)

    def signed_distance(self, X: ArrayLike) -> Floats:
        """(w.x + b) / ‖w‖: the distance from x to the hyperplane, positive on the side of w."""
        w, b, length = self._scaled()
        return self._score(X, w, b) / length

    def margin(self, X: ArrayLike, y: ArrayLike) -> float:
        """min_i y_i (w.x_i + b) / ‖w‖, negative if some point is on the wrong side.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
            Labels -1 and +1.
        """
        signs, distances = np.asarray(y), self.signed_distance(X)
        if signs.shape != distances.shape or not signs.size:
            raise InvalidInputError(f"X has {len(distances)} rows, y the shape {signs.shape}: give one label a row.")
        if not np.isin(signs, (-1, 1)).all():
            raise InvalidInputError("y must hold the labels -1 and +1 only.")
        return float((signs * distances).min())

    def project(self, X: ArrayLike) -> Floats:
        """x - signed_distance(x) w/‖w‖: the nearest point of the hyperplane."""
        return np.asarray(_rows(X) - np.outer(self.signed_distance(X), self.normal), dtype=np.float64)

    @property
    def normal(self) -> Floats:
        """w / ‖w‖."""
        w, _, length = self._scaled()
        return w / length

    @property
    def distance_to_origin(self) -> float:
        """|b| / ‖w‖."""
        _, b, length = self._scaled()
        return abs(b) / length

    def _score(self, X: ArrayLike, w: Floats, b: float) -> Floats:
        return np.asarray(product(_rows(X), w[:, None])[:, 0] + b, dtype=np.float64)

    def _scaled(self) -> tuple[Floats, float, float]:
        """w and b times a power of 2, which rounds nothing, and ‖w‖, whose squares then neither overflow nor vanish."""
        largest = np.abs(self.w).max()
        if largest == 0:
            raise NoDirectionError("w = 0: every point has the same score, so there is no hyperplane.")
        power = -np.frexp(largest)[1]
        w = np.ldexp(self.w, power)
        return w, float(np.ldexp(self.b, power)), float(np.linalg.norm(w))


@dataclass(frozen=True)
class Hyperplanes:
    """scores(X) = X coef' + intercept: one column for each row of `coef` (k, d)."""

    coef: Floats
    intercept: Floats

    def scores(self, X: Array) -> Floats:
        """The (n, k) scores of the rows of X."""
        return np.asarray(product(X, self.coef.T) + self.intercept)


@dataclass(frozen=True)
class Expansion:
    """scores(X) = K(X, support points) dual_coef' + intercept: one column for each row of `dual_coef` (k, m).

    Parameters
    ----------
    support : object
        Has ``sums(X, V)``, which is K V for the kernel values K of the points X with the support points
        (`separatrix.kernels.KernelRows`).
    dual_coef : array of shape (k, m)
    intercept : array of shape (k,)
    """

    support: Any
    dual_coef: Floats
    intercept: Floats

    def scores(self, X: Any) -> Floats:
        """The (n, k) scores of the points X."""
        return np.asarray(self.support.sums(X, self.dual_coef.T) + self.intercept)


@dataclass(frozen=True)
class Layers:
    """scores(X) = sigma(... sigma(X W_1 + b_1) ...) W_L + b_L: layers of sigmoidal perceptrons, the last one linear."""

    coefs: tuple[Floats, ...]
    intercepts: tuple[Floats, ...]

    def scores(self, X: Array) -> Floats:
        """The (n, k) scores of the rows of X."""
        S = np.asarray(product(X, self.coefs[0]) + self.intercepts[0])
        for W, b in zip(self.coefs[1:], self.intercepts[1:], strict=True):
            S = product(expit(S), W) + b
        return S


def _rows(X: ArrayLike) -> Array:
    return X if hasattr(X, "tocsr") else np.atleast_2d(np.asarray(X))  # type: ignore[return-value]
