"""Products of columns: the polynomial kernel written out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from separatrix._typing import Array, Floats, Integers
from separatrix.errors import InvalidInputError
from separatrix.estimators.parameters import whole
from separatrix.features.base import FeatureMap
from separatrix.kernels import Poly
from separatrix.kernels.gamma import resolve_gamma

MOST_FEATURES = 1_000_000
EPS = float(np.finfo(np.float64).eps)


@dataclass(eq=False, repr=False)
class Polynomial(FeatureMap):
    """phi(x).phi(z) = (gamma x.z + coef0)^degree, with a feature for each product of ``degree`` factors.

    The factors are sqrt(gamma) x_1, ..., sqrt(gamma) x_d and, unless coef0 is 0, the constant sqrt(coef0); a product
    that can be written in m orders is multiplied by sqrt(m).

    Parameters
    ----------
    degree : int, default=2
    gamma : float or {"scale", "auto"}, default=1.0
        As for `SVC`.
    coef0 : float, default=1.0
        Not negative. 0 leaves the products of exactly ``degree`` columns.

    Attributes
    ----------
    kernel_ : Poly
    powers_ : array of shape (number of features, d)
        The exponent of each column in each product.
    error_ : float
        A bound on the rounding error of phi(x).phi(z), for rows of the fit: there is no other.
    claim_ : str

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix import LogisticRegression
    >>> from separatrix.features import Polynomial
    >>> xor = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> phi = Polynomial().fit(xor)
    >>> [str(name) for name in phi.get_feature_names_out()]
    ['1', 'x0', 'x1', 'x0^2', 'x0 x1', 'x1^2']
    >>> LogisticRegression(C=10).fit(phi.transform(xor), [0, 1, 1, 0]).predict(phi.transform(xor)).tolist()
    [0, 1, 1, 0]
    """

    degree: int = 2
    gamma: Any = 1.0
    coef0: float = 1.0

    def _learn(self, X: Any) -> None:
        degree, d = whole("degree", self.degree, at_least=1), X.shape[1]
        kernel = Poly(degree, resolve_gamma(self.gamma, X), self.coef0)
        if kernel.coef0 < 0:
            raise InvalidInputError(
                f"coef0 must not be negative: with {self.coef0!r} the kernel has no real map.", "coef0"
            )
        factors = d + (kernel.coef0 > 0)
        size = comb(factors + degree - 1, degree)
        if size > MOST_FEATURES:
            raise InvalidInputError(
                f"{d:,} columns have {size:,} products of degree {degree}: lower degree, or use SVC(kernel='poly'), "
                "which needs none of them.",
                "degree",
            )
        self.kernel_ = kernel
        # the constant first, so that products of few columns come before those of many
        self._chosen: Integers = np.array(list(combinations_with_replacement(range(factors), degree)), dtype=np.intp)
        counts = np.stack([(self._chosen == j).sum(axis=1) for j in range(factors)], axis=1)
        self.powers_ = counts[:, factors - d :]
        orders = [factorial(degree) // prod(map(factorial, row)) for row in counts.tolist()]
        try:
            self._sizes = np.sqrt(np.array(orders, dtype=np.float64))
        except OverflowError as error:
            raise InvalidInputError(
                f"A product of degree {degree} has more orders than float64 can count: lower degree.", "degree"
            ) from error
        self._n_features_out = size
        largest = float(kernel.diagonal(X).max())
        self.error_ = (size + 4 * degree + 8) * EPS * largest
        self.claim_ = f"phi(x).phi(z) is k(x, z) up to rounding, at most {self.error_:.2g} for rows of the fit."

    def _mapped(self, X: Any) -> Floats:
        rows = X.toarray() if sparse.issparse(X) else X
        factors = np.sqrt(self.kernel_.gamma) * rows
        if self.kernel_.coef0 > 0:
            factors = np.column_stack([np.full(len(rows), np.sqrt(self.kernel_.coef0)), factors])
        found = factors[:, self._chosen[:, 0]] * self._sizes
        for chosen in self._chosen.T[1:]:
            found *= factors[:, chosen]
        return np.asarray(found)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The products: "x0 x1^2"; "1" for the constant."""
        check_is_fitted(self, "kernel_")
        names = _check_feature_names_in(self, input_features)
        words = [
            " ".join(name if power == 1 else f"{name}^{power}" for name, power in zip(names, row, strict=True) if power)
            for row in self.powers_.tolist()
        ]
        return np.array([word or "1" for word in words], dtype=object)
