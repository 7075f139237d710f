"""What all classifiers here share: data → design, targets → learner → published attributes."""

from __future__ import annotations

import sys
import warnings
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from separatrix._typing import Array, Floats
from separatrix.errors import InvalidInputError, NoDirectionError, SeparatrixError, UnsupportedParameterError
from separatrix.estimators.absent import bare, seat, spread
from separatrix.estimators.gate import checked
from separatrix.estimators.lazily import lazily
from separatrix.estimators.parameters import honoured
from separatrix.estimators.stored import reachable
from separatrix.estimators.validation import Sample, check_points, check_training
from separatrix.geometry import Hyperplane, Hyperplanes
from separatrix.loops.threads import product, single_threaded_blas
from separatrix.outcome import Fit, Status

FINITE = float(np.finfo(np.float64).max)


class Classifier(ClassifierMixin, BaseEstimator):
    """A classifier that learns a model and a certificate; subclasses say how in `_learn`."""

    # scikit-learn parameters that have no meaning here, and what to use instead
    _elsewhere: ClassVar[Mapping[str, str]] = {}
    # scikit-learn parameters of which only some values can be honoured: these, and what to use for the others
    _only: ClassVar[Mapping[str, tuple[tuple[Any, ...], str]]] = {}
    _takes_matrix: ClassVar[bool] = False  # whether y may be a 0/1 matrix, a column a label
    # of two classes among several: the first has -_share times the score of the second
    _share: ClassVar[float] = 1.0

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        for name, advice in cls._elsewhere.items():
            if name in kwargs:
                raise UnsupportedParameterError(f"{cls.__name__} has no parameter {name!r}: {advice}")
        return super().__new__(cls)

    @abstractmethod
    def _learn(self, sample: Sample) -> Fit:
        """data → (model, certificate, status)."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows X with labels y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Any order, number type or data frame; never changed. Dask collections stay where they are. For a kernel,
            what it takes: rows, the kernel matrix of all pairs, or a list of strings or graphs.
        y : array-like of shape (n,), or 0/1 matrix where the classifier takes one
            Labels. ``classes_[1]`` is the positive class of two.
        sample_weight : array-like of shape (n,), default=None
            Weight 0 equals leaving a row out. Weight k equals repeating it k times, unless the notes on the classifier
            say otherwise.

        Returns
        -------
        self
        """
        with self._fitting(), reachable(self, X, y, sample_weight) as (X, y, sample_weight):
            sample = self._sample(X, y, sample_weight)
            fit = checked(self._learn(sample), self._entries(sample), X, y, sample_weight)
            return self._publish(fit, sample)

    def _entries(self, sample: Any) -> int:
        """How many numbers a check of the certificate has to read."""
        return int(sample.n_given * sample.design.d)

    def _sample(self, X: Any, y: Any, sample_weight: Any) -> Sample:
        """What `fit` was given, checked."""
        return check_training(self, X, y, sample_weight, intercept=getattr(self, "fit_intercept", True))

    @contextmanager
    def _fitting(self) -> Iterator[None]:
        """What surrounds every fit: an error or Ctrl-C leaves the classifier as it was, and BLAS has one thread.

        Our own threads share out the rows; two-thread factorisations of small matrices may take many times longer than
        one-thread ones.
        """
        honoured(self)
        before = self.__dict__.copy()
        try:
            # what overflows on the way is seen in the result, which is certified, warned of or refused
            with single_threaded_blas(), np.errstate(all="ignore"):
                yield
        except BaseException as error:
            self.__dict__.clear()
            self.__dict__.update(before)
            lost = isinstance(error, (ArithmeticError, np.linalg.LinAlgError)) or "infs or NaNs" in str(error)
            if lost and not isinstance(error, SeparatrixError):
                raise InvalidInputError(
                    f"Numbers of this fit are beyond the range of float64 ({error}): scale the columns of X and the "
                    "weights to moderate size, or use a moderate C."
                ) from error
            raise

    def _publish(self, fit: Fit, sample: Sample) -> Self:
        """Set the fitted attributes, and warn: the one place where that happens."""
        for name in self.__dict__.pop("_published", ()):
            self.__dict__.pop(name, None)
        published = {
            "classes_": sample.targets.classes,
            "n_iter_": fit.n_iter,
            "status_": fit.status,
            "certificate_": fit.certificate,
            "_model": fit.model,
            "_multilabel": sample.targets.multilabel,
            **fit.attributes,
        }
        if fit.trace is not None:
            published["trace_"] = fit.trace
        if isinstance(fit.model, Hyperplanes):
            published["coef_"] = fit.model.coef.astype(sample.design.dtype)
            published["intercept_"] = fit.model.intercept.astype(sample.design.dtype)
        for name in ("coef_", "dual_coef_", "intercept_"):
            _require_numbers(name, published.get(name))
        self.__dict__.update(published, _published=tuple(published))
        seat(self, sample.targets.given)
        for warning in fit.warnings:
            warnings.warn(warning, stacklevel=_outside())
        return self

    # ------------------------------------------------------------------ scoring
    def _scores(self, X: Any) -> Floats:
        """(n, k) scores of the classes with a weight, with one column for two classes."""
        fitted = self.__dict__
        if "_model" not in fitted:
            check_is_fitted(self)
        if "_weighted" in fitted:
            fitted = {**fitted, **fitted["_weighted"]}
        coef = fitted.get("coef_")
        if coef is None:
            return np.asarray(fitted["_model"].scores(check_points(self, X)))
        plain = (
            type(X) is np.ndarray
            and X.ndim == 2
            and X.dtype.kind == "f"
            and X.shape[1] == coef.shape[1]
            and X.shape[0] > 0
            and "feature_names_in_" not in fitted
            and type(coef) is np.ndarray
        )
        X = X if plain else check_points(self, X, FINITE)
        coef = coef.toarray() if hasattr(coef, "toarray") else coef
        with np.errstate(all="ignore"):
            scores = np.asarray(product(X, coef.T) + fitted["intercept_"])
        if not np.isfinite(scores).all():
            if plain:  # if the scores are finite, so is X: NaN and infinity do not vanish in a sum
                check_points(self, X, FINITE)
            row = int(np.flatnonzero(~np.isfinite(scores).all(axis=1))[0])
            raise InvalidInputError(f"The score of row {row} overflows {scores.dtype}: its entries are too large.")
        return scores

    @lazily
    def decision_function(self, X: Any) -> Floats:
        """w.x + b for each row x: (n,) for two classes, (n, k) for more.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        array of shape (n,) or (n, k)
            Two classes: at least 0 predicts ``classes_[1]``. More: the largest score wins.
        """
        scores = spread(self._scores(X), self.__dict__, -np.inf, self._share)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @lazily
    def predict(self, X: Any) -> Array:
        """The label of each row; a score of exactly 0 predicts the positive class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        array of shape (n,), or a 0/1 matrix if y was one
        """
        scores = self._scores(X)
        if self._multilabel:
            return (scores >= self._cut()).astype(np.intp)
        codes = (scores[:, 0] >= self._cut()).astype(np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return self._labels.take(codes)

    @property
    def _labels(self) -> Array:
        """The classes with a weight, which are all but in rare cases."""
        return self._weighted["classes_"] if "_weighted" in self.__dict__ else self.classes_

    def _cut(self) -> float:
        """The score from which on the positive class is predicted."""
        return 0.0

    # ------------------------------------------------------------------ geometry
    def _is_linear(self) -> bool:
        check_is_fitted(self)
        if "coef_" not in self.__dict__:
            raise AttributeError(f"This {type(self).__name__} is not linear: it has no hyperplane.")
        return True

    @available_if(_is_linear)
    @lazily
    def signed_distance(self, X: Any) -> Floats:
        """(w.x + b) / ‖w‖: how far each row is from the hyperplane, and on which side.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        array of shape (n,) or (n, k)
        """
        distances = spread(self._scores(X) / self._lengths(), self.__dict__, -np.inf)
        return distances[:, 0] if distances.shape[1] == 1 else distances

    def _lengths(self) -> Floats:
        """‖w‖ of each hyperplane that was fitted."""
        coef = bare(self).coef_
        coef = coef.toarray() if sparse.issparse(coef) else coef
        largest = np.abs(coef).max(axis=1)
        if not largest.all():
            raise NoDirectionError("A row of coef_ is 0: every point has the same score, so there is no hyperplane.")
        return np.asarray(largest * np.linalg.norm(coef / largest[:, None], axis=1))

    @available_if(_is_linear)
    def sparsify(self) -> Self:
        """Hold ``coef_`` as a sparse matrix, which saves memory where most of its entries are 0.

        Returns
        -------
        self
        """
        self.__dict__["coef_"] = sparse.csr_matrix(self.coef_)
        return self

    @available_if(_is_linear)
    def densify(self) -> Self:
        """Hold ``coef_`` as an array again.

        Returns
        -------
        self
        """
        if sparse.issparse(self.coef_):
            self.__dict__["coef_"] = self.coef_.toarray()
        return self

    @property
    def hyperplane_(self) -> Hyperplane:
        """The boundary between two classes."""
        if not self._is_linear() or self.coef_.shape[0] != 1:
            raise AttributeError("Only a classifier of two classes has one hyperplane.")
        coef = self.coef_.toarray() if sparse.issparse(self.coef_) else self.coef_
        return Hyperplane(coef[0], float(self.intercept_[0]))

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if isinstance(state.get("status_"), Status):
            state["status_"] = state["status_"].name  # skops makes objects without arguments: no member of an enum
        return state

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        super().__setstate__(dict(state))
        if isinstance(self.__dict__.get("status_"), str):
            self.__dict__["status_"] = Status[self.__dict__["status_"]]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = self._takes_matrix and getattr(self, "class_weight", None) is None
        return tags


class ProbabilisticClassifier(Classifier):
    """A classifier whose scores are log-odds (two classes), or log-probabilities up to a common term."""

    _share: ClassVar[float] = 0.5

    @lazily
    def predict_proba(self, X: Any) -> Floats:
        """P(class | x): sigma(score) for two classes, softmax of the scores for more.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        array of shape (n, k)
        """
        return self._of_classes(X, expit, softmax, 0.0)

    @lazily
    def predict_log_proba(self, X: Any) -> Floats:
        """log P(class | x), as `predict_proba` has it, but accurate where the probability itself rounds to 0."""
        return self._of_classes(X, log_expit, log_softmax, -np.inf)

    def _of_classes(self, X: Any, of_odds: Any, of_scores: Any, never: float) -> Floats:
        """A function of log-odds, or of several scores; ``never`` is its value at the probability 0."""
        scores = self._scores(X)
        if self._multilabel:
            return np.asarray(of_odds(scores))
        several = scores.shape[1] > 1
        found = of_scores(scores, axis=1) if several else of_odds(np.hstack([-scores, scores]))
        return spread(found, self.__dict__, never)


def _require_numbers(name: str, values: Any) -> None:
    """Refuse weights that are NaN or beyond their number type; only an intercept may be -inf, for a class never met."""
    numbers = getattr(values, "data", None) if sparse.issparse(values) else values
    if numbers is None:
        return
    numbers = np.asarray(numbers)
    good = np.isfinite(numbers) | (np.isneginf(numbers) if name == "intercept_" else False)
    if numbers.dtype.kind == "f" and not good.all():
        raise InvalidInputError(
            f"{name} is beyond the range of {numbers.dtype}: scale the columns of X, lower C, or pass X as float64."
        )


def _outside() -> int:
    """How far up the caller outside this package is, for a warning to point there."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("separatrix."):
        level, frame = level + 1, frame.f_back
    return level
