"""Input of the classifiers that take a kernel: rows of a matrix, a kernel matrix, or a list of strings or graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from separatrix._typing import Floats
from separatrix.certificates._kernels import take
from separatrix.design import as_design
from separatrix.errors import InvalidInputError
from separatrix.estimators.base import Classifier
from separatrix.estimators.validation import check_entries, check_labels, check_rows, require_labels, within_range
from separatrix.kernels import FromFunction, Kernel, KernelRows, Precomputed, resolve
from separatrix.kernels.sample import KernelSample as KernelSample


class KernelClassifier(Classifier):
    """A classifier with the parameters ``kernel``, ``gamma``, ``degree`` and ``coef0``."""

    kernel: Any
    gamma: Any
    degree: Any
    coef0: Any

    def _sample(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """What `fit` was given, checked: points in the form the kernel takes, and the kernel itself."""
        require_labels(self, y)
        kernel = self._kernel_without_scale(X)
        if kernel is not None and kernel.structured:
            points = kernel.check(X)
            n = len(points)
        else:
            points = self._matrix(X, reset=True)
            n = points.shape[0]
        targets, weight, kept = check_labels(self, points, y, sample_weight, n)
        if isinstance(kernel, Precomputed):
            KernelRows(kernel, points)  # square and symmetric, before any row is left out
            points = points if isinstance(kept, slice) else points[kept][:, kept]
        elif not isinstance(kept, slice):
            points = take(points, kept)
        if kernel is None:
            kernel = resolve(
                self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0, X=points, sample_weight=weight
            )
        return KernelSample(kernel, points, targets, weight, kept, n)

    def _entries(self, sample: Any) -> int:
        return int(sample.n_given**2)

    def _kernel_without_scale(self, X: Any) -> Kernel | None:
        """The kernel, if it can be told without the points; the others need them for gamma.

        A function of texts, in a list or in a column of a data frame, gets them as they are, in lists.
        """
        column = isinstance(X, (list, tuple)) or (hasattr(X, "shape") and len(X.shape) == 1)
        if (
            column
            and isinstance(next(iter(X), None), str)
            and callable(self.kernel)
            and not isinstance(self.kernel, (Kernel, type))
        ):
            return FromFunction(self.kernel, structured=True)
        if isinstance(self.kernel, str) and self.kernel != "precomputed":
            return None
        return resolve(self.kernel, gamma=1.0, degree=1, coef0=0.0, X=None)

    def _matrix(self, X: Any, *, reset: bool) -> Any:
        """Rows in float64, checked."""
        X = check_rows(self, X, reset=reset)
        if not within_range(X):
            check_entries(as_design(X, names=getattr(self, "feature_names_in_", None)), self)
        return X.astype(np.float64, copy=False)

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self)
        return np.asarray(self._model.scores(self._points(X, self._model.support.kernel)))

    def _points(self, X: Any, kernel: Kernel) -> Any:
        """Points to score, in the form that the kernel takes."""
        if not kernel.structured:
            return self._matrix(X, reset=False)
        if hasattr(X, "__len__") and not len(X):
            raise InvalidInputError("Found a list with 0 points, while a minimum of 1 is required.")
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, (str, Precomputed)) and self.kernel in (
            "precomputed",
            Precomputed(),
        )
        if getattr(self.kernel, "structured", False) is True:
            tags.input_tags.sparse = tags.input_tags.two_d_array = False
            tags.input_tags.string = True
        return tags
