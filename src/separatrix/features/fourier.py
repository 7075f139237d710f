"""Random Fourier features: a kernel of the difference x - z as the mean of cos(w.(x - z)) over random w."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from separatrix._typing import Floats
from separatrix.errors import InvalidInputError
from separatrix.estimators.parameters import whole
from separatrix.features.base import FeatureMap, some_rows
from separatrix.kernels import Kernel, Laplacian, Rbf
from separatrix.kernels.gamma import resolve_gamma

PAIRED = 1_000  # rows of the fit all of whose pairs are compared with the kernel
SURE = 0.95  # the probability with which the bound for a pair holds


@dataclass(eq=False, repr=False)
class Fourier(FeatureMap):
    """phi(x) = (cos(w_1.x), sin(w_1.x), ..., sin(w_m.x)) / sqrt(m), whose products have the mean k(x, z).

    w is normal with variance 2 gamma for exp(-gamma ‖x - z‖²), and has independent Cauchy entries of scale gamma for
    exp(-gamma ‖x - z‖₁) (Rahimi and Recht, 2007). phi(x).phi(x) = 1 = k(x, x).

    Parameters
    ----------
    n_frequencies : int, default=100
        m, how many w; each makes two features.
    kernel : {"rbf", "laplacian"}, default="rbf"
    gamma : float or {"scale", "auto"}, default="scale"
        As for `SVC`.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    kernel_ : Rbf or Laplacian
    frequencies_ : array of shape (m, d)
        The w.
    error_ : float
        The largest |phi(x).phi(z) - k(x, z)| over all pairs of (at most 1,000) rows of the fit.
    bound_ : float
        sqrt(2 log(40) / m): for any one pair, seen or not, the error is at most this with a probability of 95% over
        the draw of w (Hoeffding).
    claim_ : str

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix.features import Fourier
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> phi = Fourier(n_frequencies=1000, random_state=0).fit(X)
    >>> phi.error_ < 0.1
    True
    """

    n_frequencies: int = 100
    kernel: str = "rbf"
    gamma: Any = "scale"
    random_state: Any = None

    def _learn(self, X: Any) -> None:
        m, (n, d) = whole("n_frequencies", self.n_frequencies, at_least=1), X.shape
        if self.kernel not in ("rbf", "laplacian"):
            raise InvalidInputError(
                f"kernel must be 'rbf' or 'laplacian', kernels of x - z; got {self.kernel!r}. Landmarks and "
                "Nystroem take any that is positive semidefinite.",
                "kernel",
            )
        random = check_random_state(self.random_state)
        gamma = resolve_gamma(self.gamma, X)
        kernel: Kernel = Rbf(gamma) if self.kernel == "rbf" else Laplacian(gamma)
        draws = random.normal(size=(m, d)) if self.kernel == "rbf" else random.standard_cauchy(size=(m, d))
        self.kernel_ = kernel
        self.frequencies_: Floats = draws * (np.sqrt(2 * gamma) if self.kernel == "rbf" else gamma)
        # only x - z matters: about the mean, columns far from 0 keep the digits of their phases
        self._centre = np.asarray(X.mean(axis=0)).ravel()
        self._n_features_out = 2 * m
        rows = X[some_rows(n, PAIRED, random)]
        phi = self._mapped(rows)
        self.error_ = float(np.abs(phi @ phi.T - kernel(rows, rows)).max())
        self.bound_ = float(np.sqrt(2 * np.log(2 / (1 - SURE)) / m))
        of = "all pairs of rows" if n <= PAIRED else f"all pairs of {PAIRED:,} rows"
        self.claim_ = (
            f"phi(x).phi(z) is k(x, z) up to {self.error_:.2g} for {of} of the fit; for any one pair, up to "
            f"{self.bound_:.2g} with a probability of {SURE:.0%}."
        )

    def _mapped(self, X: Any) -> Floats:
        if sparse.issparse(X):
            phases = X @ self.frequencies_.T - self._centre @ self.frequencies_.T
        else:
            phases = (X - self._centre) @ self.frequencies_.T
        found = np.empty((phases.shape[0], 2 * phases.shape[1]))
        found[:, 0::2], found[:, 1::2] = np.cos(phases), np.sin(phases)
        found *= np.sqrt(1 / phases.shape[1])
        return found
