"""A kernel given as a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from separatrix._typing import Array
from separatrix.kernels.base import Kernel
from separatrix.kernels.blocks import count
from separatrix.kernels.lists import as_list


@dataclass(frozen=True, eq=False)
class Plain:
    """Points as the user gave them."""

    values: Any
    dtype: np.dtype[Any]

    @property
    def width(self) -> int:
        return int(self.values.shape[1]) if isinstance(self.values, np.ndarray) and self.values.ndim > 1 else 1

    def __len__(self) -> int:
        return count(self.values)

    def __getitem__(self, index: Any) -> Plain:
        if not isinstance(self.values, list) or isinstance(index, slice):
            return Plain(self.values[index], self.dtype)
        return Plain([self.values[position] for position in np.arange(len(self))[index]], self.dtype)


@dataclass(frozen=True)
class FromFunction(Kernel):
    """k(a, b) as a function computes it, for all pairs at once.

    Every matrix it returns is checked: (len(A), len(B)), real, finite. Whether it is positive semidefinite is
    not known, and such a kernel cannot be saved.

    Parameters
    ----------
    function : callable
        ``function(A, B)`` returns the (len(A), len(B)) matrix of k(a, b). It is called on blocks of points.
    structured : bool, default=False
        Whether points are objects in a list (then A and B are lists) rather than rows of a matrix.
    """

    function: Callable[[Any, Any], Any]
    structured: bool = False

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"function must be callable, got {self.function!r}")

    def check(self, X: Any) -> Any:
        if self.structured:
            return as_list(X, self, "objects")
        return X.tocsr() if sparse.issparse(X) else np.asarray(X)

    def represent(self, X: Any, like: Any = None) -> Plain:
        if like is not None:
            return Plain(X, like.dtype)
        single = getattr(X, "dtype", None) == np.float32
        return Plain(X, np.dtype(np.float32 if single else np.float64))

    def gram(self, P: Plain, Q: Plain) -> Array:
        returned = self.function(P.values, Q.values)
        K = np.asarray(returned.toarray() if sparse.issparse(returned) else returned)
        if K.shape != (len(P), len(Q)):
            raise ValueError(
                f"{self._label} must return the matrix of all pairs: shape ({len(P)}, {len(Q)}) "
                f"for {len(P)} and {len(Q)} points, got shape {K.shape}"
            )
        if K.dtype.kind not in "biuf":
            raise ValueError(f"{self._label} must return real numbers, got dtype {K.dtype}")
        with np.errstate(over="ignore"):
            K = K.astype(P.dtype)
        bad = np.argwhere(~np.isfinite(K))
        if len(bad):
            row, column = bad[0]
            found = f"{K[row, column]} at [{row}, {column}]"
            raise ValueError(f"{self._label} must return finite numbers, got {found} of its matrix")
        return K

    def gram_diagonal(self, P: Plain) -> Array:
        # Whole blocks, of which the diagonal is kept: fewer calls than points, few wasted pairs.
        step = 32
        blocks = [P[start : start + step] for start in range(0, len(P), step)]
        return np.concatenate([np.zeros(0, P.dtype), *(np.diagonal(self.gram(b, b)) for b in blocks)])

    @property
    def _label(self) -> str:
        return f"kernel {getattr(self.function, '__qualname__', None) or repr(self.function)}"
