"""How a linear model scores points: one hyperplane, or several at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from separatrix._typing import Array, Floats
from separatrix.errors import InvalidInputError, NoDirectionError

__all__ = ["Hyperplane", "Hyperplanes"]


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

    def __reduce__(self) -> tuple[type[Hyperplane], tuple[Floats, float]]:
        return Hyperplane, (self.w, self.b)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hyperplane) and self.b == other.b and np.array_equal(self.w, other.w)

    def __hash__(self) -> int:
        return hash((self.w.tobytes(), self.b))

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
        w = (1, ..., 1) and b = -(m*high + (d - m)*low): b = -m for (0, 1) and b = d - 2m for (-1, 1).

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
        return cls(np.ones(d), -(m * high + (d - m) * low))

    def homogeneous(self) -> Floats:
        """(w, b), the normal vector in the space of the points (x, 1)."""
        return np.append(self.w, self.b)

    def score(self, X: ArrayLike) -> Floats:
        """w.x + b for each row x of X."""
        return np.asarray(_rows(X) @ self.w + self.b, dtype=np.float64)

    def side(self, X: ArrayLike) -> Array:
        """+1 where w.x + b >= 0, else -1: a point on the hyperplane counts as positive."""
        return np.where(self.score(X) >= 0, 1, -1)

    def signed_distance(self, X: ArrayLike) -> Floats:
        """(w.x + b) / ‖w‖: the distance from x to the hyperplane, positive on the side of w."""
        normal, offset = self._unit()
        return np.asarray(_rows(X) @ normal + offset, dtype=np.float64)

    def margin(self, X: ArrayLike, y: ArrayLike) -> float:
        """min_i y_i (w.x_i + b) / ‖w‖, negative if some point is on the wrong side.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
            Labels -1 and +1.
        """
        signs = np.asarray(y)
        if not np.isin(signs, (-1, 1)).all():
            raise InvalidInputError("y must hold the labels -1 and +1 only.")
        return float((signs * self.signed_distance(X)).min())

    def project(self, X: ArrayLike) -> Floats:
        """x - signed_distance(x) w/‖w‖: the nearest point of the hyperplane."""
        normal, _ = self._unit()
        return np.asarray(_rows(X) - np.outer(self.signed_distance(X), normal), dtype=np.float64)

    @property
    def normal(self) -> Floats:
        """w / ‖w‖."""
        return self._unit()[0]

    @property
    def distance_to_origin(self) -> float:
        """|b| / ‖w‖."""
        return abs(self._unit()[1])

    def _unit(self) -> tuple[Floats, float]:
        """w/‖w‖ and b/‖w‖, with no square that could overflow or vanish."""
        largest = np.abs(self.w).max()
        if largest == 0:
            raise NoDirectionError("w = 0: every point has the same score, so there is no hyperplane.")
        direction = self.w / largest
        length = np.linalg.norm(direction)
        return direction / length, self.b / largest / length


@dataclass(frozen=True)
class Hyperplanes:
    """scores(X) = X coef' + intercept: one column for each row of `coef` (k, d)."""

    coef: Floats
    intercept: Floats

    def scores(self, X: Array) -> Floats:
        """The (n, k) scores of the rows of X."""
        return np.asarray(X @ self.coef.T + self.intercept)


def _rows(X: ArrayLike) -> Array:
    return X if hasattr(X, "tocsr") else np.atleast_2d(np.asarray(X))  # type: ignore[return-value]
