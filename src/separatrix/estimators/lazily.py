"""Predictions of Dask collections are collections too, of which nothing is computed yet."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy
from functools import partial, wraps
from typing import Any, TypeVar, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from separatrix.design.partitions_dask import checked, is_collection, mapped
from separatrix.errors import InvalidInputError

Method = TypeVar("Method", bound=Callable[..., Any])


def lazily(method: Method) -> Method:
    """The method of an estimator, block by block where X is a collection of Dask."""

    @wraps(method)
    def either(self: Any, X: Any) -> Any:
        if type(X) is np.ndarray or not is_collection(X):  # an array is told at once: one row takes 5 µs in all
            return method(self, X)
        check_is_fitted(self)
        d = checked(X)
        if d is not None and d != self.n_features_in_:
            expected = f"{type(self).__name__} is expecting {self.n_features_in_} features as input."
            raise InvalidInputError(f"X has {d} features, but {expected}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of columns without names
            empty = np.asarray(method(self, np.zeros((1, self.n_features_in_))))[:0]
        # a copy: what is computed later is of this fit, whatever the estimator is fitted to meanwhile
        return mapped(partial(_predicted, method=method.__name__), copy(self), X, empty)

    return cast(Method, either)


def _predicted(block: Any, model: Any, empty: Any, method: str) -> Any:
    rows = block.shape[0] if hasattr(block, "shape") else len(block)
    return getattr(model, method)(block) if rows else empty
