"""What all feature maps share: rows in, checked; phi(x) out; the kernel and the error beside it."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from separatrix._typing import Floats, Integers
from separatrix.design import as_design
from separatrix.design.partitions_dask import is_collection
from separatrix.errors import InvalidInputError
from separatrix.estimators.validation import check_entries, check_points, check_rows
from separatrix.loops.threads import single_threaded_blas


class FeatureMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """x → phi(x), with phi(x).phi(z) equal or close to a kernel k(x, z).

    Attributes
    ----------
    kernel_ : Kernel
        What it stands for.
    error_ : float
        How far phi(x).phi(z) is from k(x, z) at most, for rows x and z of the fit; ``claim_`` says in which sense.
    claim_ : str
        That, in a sentence.
    """

    kernel_: Any
    error_: float
    claim_: str

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the map from rows X; y is not looked at."""
        before = self.__dict__.copy()
        try:
            with single_threaded_blas():  # two threads would give other bits
                self._learn(self._given(X))
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def transform(self, X: Any) -> Floats:
        """phi(x) of each row, (n, number of features)."""
        check_is_fitted(self, "kernel_")
        with single_threaded_blas():
            return self._mapped(self._points(X))

    def _given(self, X: Any) -> Any:
        _require_memory(X)
        rows = check_rows(self, X, reset=True)
        check_entries(as_design(rows, names=getattr(self, "feature_names_in_", None)), self)
        return _numbers(rows)

    def _points(self, X: Any) -> Any:
        _require_memory(X)
        return _numbers(check_points(self, X))

    @abstractmethod
    def _learn(self, X: Any) -> None:
        """Set ``kernel_``, ``error_``, ``claim_`` and what the map needs."""

    @abstractmethod
    def _mapped(self, X: Any) -> Floats:
        """phi(x) of rows that were checked."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _require_memory(X: Any) -> None:
    """Refuse collections of Dask, which are mapped a block at a time."""
    if is_collection(X):
        raise InvalidInputError(
            "Feature maps take rows in memory: fit phi to a sample, such as X.partitions[0].compute(), and map the "
            "collection by X.map_blocks(phi.transform, dtype=float)."
        )


def _numbers(X: Any) -> Any:
    """Rows of float64, dense or CSR."""
    return X.astype(np.float64) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)


def some_rows(n: int, most: int, random: np.random.RandomState) -> Integers:
    """At most so many of n rows, drawn without repetition, in their order."""
    return np.arange(n) if n <= most else np.sort(random.permutation(n)[:most])
