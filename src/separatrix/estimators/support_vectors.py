"""What machines of pairs of classes share: kernel expansions, scores, votes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from separatrix._typing import Array, Floats
from separatrix.certificates import HingeGap
from separatrix.errors import InvalidInputError
from separatrix.estimators import parameters
from separatrix.estimators.kernel_points import KernelClassifier, KernelSample
from separatrix.estimators.lazily import lazily
from separatrix.loops.threads import product
from separatrix.outcome import Fit
from separatrix.svm.kernel_svm import Settings
from separatrix.svm.svc import learn


class SupportVectorClassifier(KernelClassifier):
    """What `SVC` and `HardMarginSVC` share: pairs of classes, a kernel expansion each, and votes."""

    tol: Any
    decision_function_shape: Any

    def _settings(self) -> Settings:
        raise NotImplementedError

    def _sample(self, X: Any, y: Any, sample_weight: Any) -> Any:
        self._single = _is_single(X)
        return super()._sample(X, y, sample_weight)

    def _learn(self, sample: Any) -> Fit:
        parameters.one_of("decision_function_shape", self.decision_function_shape, ("ovr", "ovo"))
        single = self.__dict__.pop("_single")
        return learn(sample, replace(self._settings(), single=single, starts=self._starts(sample)))

    def _starts(self, sample: KernelSample) -> dict[tuple[int, int], Floats]:
        """The multipliers of the previous fit, if it was to as many points of the same classes; by pair."""
        before, classes, n = self.__dict__.get("certificate_"), sample.targets.classes, sample.n_given
        if not getattr(self, "warm_start", False) or before is None or not np.array_equal(self._labels, classes):
            return {}
        starts = {}
        for part in before.all_parts:
            if isinstance(part, HingeGap) and part.negative is not None and np.all(np.asarray(part.points) < n):
                alpha = np.zeros(n)
                alpha[part.points] = part.alpha
                starts[part.positive, part.negative] = alpha[sample.kept]
        return starts

    # ------------------------------------------------------------------ scoring
    def _pair_scores(self, X: Any) -> Floats:
        """(n, pairs) scores; of more than two classes, the first of a pair is positive."""
        if "_model" not in self.__dict__:
            check_is_fitted(self)
        points = self._points(X, self.kernel_)
        with np.errstate(all="ignore"):
            if "coef_" in self.__dict__:  # which the user may have changed
                scores = np.asarray(product(points, self.coef_.T.astype(np.float64)) + self.intercept_)
            else:
                scores = np.asarray(self._model.scores(points), dtype=np.float64)
        if not np.isfinite(scores).all():
            row = int(np.flatnonzero(~np.isfinite(scores).all(axis=1))[0])
            raise InvalidInputError(f"The score of point {row} overflows: its entries are too large.")
        return scores

    def _scores(self, X: Any) -> Floats:
        scores = self._pair_scores(X)
        return scores if len(self._labels) == 2 else votes(scores, len(self._labels))

    @lazily
    def decision_function(self, X: Any) -> Floats:
        """f(x) = sum_i alpha_i y_i k(x_i, x) + b for each point x.

        Parameters
        ----------
        X : array-like, sparse matrix, or list
            Points, as for `fit`; of a precomputed kernel, their values with all training points.

        Returns
        -------
        array of shape (n,), (n, k) or (n, k (k - 1) / 2)
            Two classes: at least 0 predicts ``classes_[1]``. More, with ``decision_function_shape="ovr"``: the number
            of pairs a class wins, plus a share of its scores that is below 1/2; the largest is predicted. With "ovo":
            one column for each pair (0, 1), (0, 2), ..., in which a positive score is for the first.
        """
        check_is_fitted(self)
        if self.decision_function_shape == "ovo" and len(self._labels) > 2:
            return self._pair_scores(X)
        return super().decision_function(X)

    @available_if(KernelClassifier._is_linear)
    @lazily
    def signed_distance(self, X: Any) -> Floats:
        """(w.x + b) / ‖w‖: how far each row is from the hyperplane of each pair, and on which side.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        array of shape (n,), or (n, k (k - 1) / 2) in which the first class of a pair is on the positive side
        """
        distances = self._pair_scores(X) / self._lengths()
        return distances[:, 0] if distances.shape[1] == 1 else distances

    @lazily
    def predict(self, X: Any) -> Array:
        """The label of each point; a score of exactly 0 predicts the positive class of two.

        Parameters
        ----------
        X : array-like, sparse matrix, or list

        Returns
        -------
        array of shape (n,)
        """
        if getattr(self, "break_ties", False) and self.decision_function_shape == "ovo":
            raise InvalidInputError(
                "break_ties must be False when decision_function_shape is 'ovo': it has no ties.", "break_ties"
            )
        return super().predict(X)


def votes(scores: Floats, k: int) -> Floats:
    """(n, k): the pairs each class wins, plus its summed scores squeezed into (-1/3, 1/3), which break ties."""
    sides = _sides(k)
    # class c is the second of c pairs: it wins these, but for those that its first ones win
    won, total = np.arange(k) + (scores >= 0) @ sides, scores @ sides
    return np.asarray(won + total / (3.0 * (np.abs(total) + 1.0)))


@cache
def _sides(k: int) -> Floats:
    """(pairs, k): 1 for the first class of a pair, -1 for the second."""
    first, second = np.triu_indices(k, 1)
    return np.eye(k)[first] - np.eye(k)[second]


def _is_single(X: Any) -> bool:
    """Whether X is float32: a matrix, or a table all of whose columns are."""
    if hasattr(X, "dtypes") and len(X.shape) == 2:
        kinds = [str(kind).lower() for kind in X.dtypes]
        return bool(kinds) and all(kind == "float32" for kind in kinds)
    return getattr(X, "dtype", None) == np.float32
