"""Projections onto the span of a few points in feature space: what is lost there is known exactly.

With P the projection, phi(x) = P phi_k(x) in coordinates, and

    k(x, z) - phi(x).phi(z) = <(1 - P) phi_k(x), (1 - P) phi_k(z)>,    k(x, x) - phi(x).phi(x) = r(x) >= 0,

so that by Cauchy and Schwarz the error of a pair is at most sqrt(r(x) r(z)), and of all pairs at most max r.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.utils import check_random_state

from separatrix._typing import Floats, Integers
from separatrix.errors import InvalidInputError
from separatrix.estimators.parameters import whole
from separatrix.features.base import FeatureMap, some_rows
from separatrix.kernels import KernelRows
from separatrix.kernels.resolve import resolve

FLAT = 1e-12  # of the largest eigenvalue, or of the largest k(x, x), below which a direction is rounding


class _Projection(FeatureMap):
    """Onto the span of the landmarks; subclasses choose these."""

    kernel: Any
    gamma: Any
    degree: int
    coef0: float

    def _given(self, X: Any) -> Any:
        return X if getattr(self.kernel, "structured", False) else super()._given(X)

    def _points(self, X: Any) -> Any:
        return X if self.kernel_.structured else super()._points(X)

    def _learn(self, X: Any) -> None:
        kernel = resolve(self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0, X=X)
        if not kernel.positive_semidefinite:
            raise InvalidInputError(
                f"{kernel} is not known to be positive semidefinite, so it has no feature space to project in: use "
                "'rbf', 'linear', 'laplacian', or 'poly' with coef0 >= 0.",
                "kernel",
            )
        self.kernel_ = kernel
        points = kernel.check(X)
        rows = KernelRows(kernel, points)
        diagonal = rows.diagonal()
        left = self._choose(rows, diagonal)
        self.components_ = points[self.landmarks_] if not kernel.structured else [points[i] for i in self.landmarks_]
        self.error_ = float(np.maximum(left, 0.0).max())
        self.claim_ = (
            f"phi(x).phi(z) is k(x, z) up to {self.error_:.2g} and rounding, for all pairs of the {rows.n:,} rows of "
            "the fit."
        )

    @abstractmethod
    def _choose(self, rows: KernelRows, diagonal: Floats) -> Floats:
        """Set ``landmarks_`` and ``_n_features_out``; what is left of each k(x, x)."""

    def _mapped(self, X: Any) -> Floats:
        return self._coordinates(np.asarray(self.kernel_(self.kernel_.check(X), self.components_), dtype=np.float64))

    @abstractmethod
    def _coordinates(self, K: Floats) -> Floats:
        """phi(x), of the kernel values (n, m) with the landmarks."""


@dataclass(eq=False, repr=False)
class Nystroem(_Projection):
    """phi(x) = K_mm^(-1/2) (k(x, l_1), ..., k(x, l_m)), the landmarks l being rows drawn at random.

    Parameters
    ----------
    n_components : int, default=100
        m, how many landmarks; all rows if there are fewer. Directions that are rounding are left out of the root.
    kernel : str or Kernel, default="rbf"
        As for `SVC`, known to be positive semidefinite, as no function of one's own is; of strings and graphs too.
    gamma, degree, coef0
        As for `SVC`.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    kernel_ : Kernel
    landmarks_ : array
        Which rows were drawn.
    components_ : points
        These rows.
    error_ : float
        max over rows x of the fit of k(x, x) - phi(x).phi(x), which no |k(x, z) - phi(x).phi(z)| of them exceeds.
    claim_ : str
    """

    n_components: int = 100
    kernel: Any = "rbf"
    gamma: Any = "scale"
    degree: int = 3
    coef0: float = 0.0
    random_state: Any = None

    def _choose(self, rows: KernelRows, diagonal: Floats) -> Floats:
        m = whole("n_components", self.n_components, at_least=1)
        self.landmarks_: Integers = some_rows(rows.n, m, check_random_state(self.random_state))
        values, vectors = linalg.eigh(rows.block(self.landmarks_, self.landmarks_).astype(np.float64))
        used = values > FLAT * max(values[-1], 0.0)
        self._turn = (vectors[:, used] / np.sqrt(values[used])) @ vectors[:, used].T
        self._n_features_out = len(values)
        left = np.empty(rows.n)
        for part in np.array_split(np.arange(rows.n), 1 + rows.n * m // 4_000_000):
            phi = rows.block(part, self.landmarks_) @ self._turn
            left[part] = diagonal[part] - np.einsum("ij,ij->i", phi, phi)
        return left

    def _coordinates(self, K: Floats) -> Floats:
        return np.asarray(K @ self._turn)


@dataclass(eq=False, repr=False)
class Landmarks(_Projection):
    """phi(x) = L_mm^(-1) (k(x, l_1), ..., k(x, l_m)), each landmark the row that those before serve worst.

    It is a Cholesky factorisation of the kernel matrix, the largest rest first, which stops when the largest rest is
    within ``tol``: m is found, and the error is bounded in advance.

    Parameters
    ----------
    tol : float, default=1e-3
        Of the largest k(x, x): the error to reach.
    max_landmarks : int, default=1000
        m, at most; a warning is not needed, as ``error_`` says what was reached.
    kernel, gamma, degree, coef0
        As for `Nystroem`.

    Attributes
    ----------
    kernel_ : Kernel
    landmarks_ : array of shape (m,)
        The rows chosen, in their order.
    components_ : points
        These rows.
    errors_ : array of shape (m + 1,)
        The error with 0, 1, ..., m landmarks; it never grows.
    error_ : float
        The last one.
    claim_ : str

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix.features import Landmarks
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> phi = Landmarks(tol=1e-3).fit(X)
    >>> len(phi.landmarks_) < 60, phi.error_ <= 1e-3
    (True, True)
    """

    tol: float = 1e-3
    max_landmarks: int = 1000
    kernel: Any = "rbf"
    gamma: Any = "scale"
    degree: int = 3
    coef0: float = 0.0

    def _choose(self, rows: KernelRows, diagonal: Floats) -> Floats:
        if not isinstance(self.tol, int | float | np.number) or not 0 <= self.tol < np.inf:
            raise InvalidInputError(f"tol must be a number of at least 0; got {self.tol!r}.", "tol")
        most = min(whole("max_landmarks", self.max_landmarks, at_least=1), rows.n)
        goal = max(float(self.tol), FLAT) * float(diagonal.max())
        left, chosen, errors = diagonal.astype(np.float64), list[int](), [float(diagonal.max())]
        L = np.zeros((rows.n, 0))
        while len(chosen) < most and errors[-1] > goal:
            i = int(np.argmax(left))
            if L.shape[1] == len(chosen):  # room for as many again
                L = np.hstack([L, np.empty((rows.n, max(8, L.shape[1])))])
            m = len(chosen)
            column = rows.rows([i])[0].astype(np.float64) - L[:, :m] @ L[i, :m]
            L[:, m] = column / np.sqrt(left[i])
            left = left - L[:, m] ** 2
            left[[*chosen, i]] = 0.0
            chosen.append(i)
            errors.append(min(errors[-1], float(np.maximum(left, 0.0).max())))
        self.landmarks_: Integers = np.array(chosen, dtype=np.intp)
        self.errors_ = np.array(errors)
        self._factor = np.tril(L[self.landmarks_, : len(chosen)])
        self._n_features_out = len(chosen)
        return left

    def _coordinates(self, K: Floats) -> Floats:
        return np.asarray(linalg.solve_triangular(self._factor, K.T, lower=True).T)
