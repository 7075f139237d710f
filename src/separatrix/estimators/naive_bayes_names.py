"""GaussianNB, PoissonNB, BernoulliNB and MultinomialNB: `NaiveBayes` by the names people look for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from separatrix._typing import Floats
from separatrix.design import mapped
from separatrix.errors import InvalidInputError
from separatrix.estimators.absent import spread
from separatrix.estimators.base import FINITE
from separatrix.estimators.naive_bayes import NaiveBayes
from separatrix.estimators.parameters import flags, least
from separatrix.estimators.validation import Sample

SMALLEST_ALPHA = 1e-10  # that of scikit-learn, if force_alpha is False


class GaussianNB(NaiveBayes):
    """score_c(x) = log P(c) - 1/2 sum_j [(x_j - mu_cj)² / v_cj + log v_cj], v_cj the variance of x_j in c, smoothed.

    `NaiveBayes` with a variance of its own for each class, which is quadratic in x: there is no ``coef_``.

    Parameters
    ----------
    priors : array-like of shape (k,), default=None
        P(c) in the order of ``classes_``; by default the weighted class frequencies.
    var_smoothing : float, default=1e-9
        Share of the largest variance of all columns that is added to each.

    Attributes
    ----------
    theta_, var_ : arrays of shape (k, d)
        Means and variances.
    epsilon_ : float
        What was added to the variances.
    class_count_, class_prior_, certificate_, classes_, n_features_in_, status_
        As for `NaiveBayes`.

    Examples
    --------
    >>> from separatrix import GaussianNB
    >>> model = GaussianNB().fit([[0.0], [2.0], [5.0], [9.0]], [0, 0, 1, 1])
    >>> model.theta_.tolist(), model.var_.round(6).tolist()
    ([[1.0], [7.0]], [[1.0], [4.0]])
    """

    _elsewhere: ClassVar[Mapping[str, str]] = {}
    family = "gaussian"
    shared_variance = False
    alpha = 1.0

    def __init__(self, *, priors: ArrayLike | None = None, var_smoothing: float = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    @property
    def theta_(self) -> Floats:
        """The mean of each column in each class."""
        return self.parameters_

    @property
    def var_(self) -> Floats:
        """The variance of each column in each class, smoothed."""
        return self.variances_

    @property
    def epsilon_(self) -> float:
        """What was added to the variances."""
        return float(self._smoothing() * self._moments.variances().max())


class PoissonNB(NaiveBayes):
    """score_c(x) = log P(c) + sum_j [x_j log rate_cj - rate_cj], rate_cj the mean of x_j in class c.

    `NaiveBayes` with ``family="poisson"``: counts without an upper limit, each column with a rate of its own.

    Parameters
    ----------
    priors : array-like of shape (k,), default=None
        P(c) in the order of ``classes_``; by default the weighted class frequencies.

    Attributes
    ----------
    rate_ : array of shape (k, d)
        The mean of each column in each class. One that never counts in a class would have the rate 0, and log-odds
        without limit: it is held at eps times the mean rate of the classes, and a `LikelihoodWarning` names it.
    coef_, intercept_, class_count_, class_prior_, certificate_, classes_, n_features_in_, status_
        As for `NaiveBayes`: the log-odds of the classes.

    Examples
    --------
    >>> from separatrix import PoissonNB
    >>> model = PoissonNB().fit([[1], [3], [6], [10]], [0, 0, 1, 1])
    >>> model.rate_.tolist()
    [[2.0], [8.0]]
    >>> model.coef_.round(4).tolist()  # log 8/2
    [[1.3863]]
    """

    _elsewhere: ClassVar[Mapping[str, str]] = {}
    family = "poisson"
    shared_variance = True
    alpha = 1.0
    var_smoothing = 0.0

    def __init__(self, *, priors: ArrayLike | None = None) -> None:
        self.priors = priors

    @property
    def rate_(self) -> Floats:
        """The mean of each column in each class."""
        return self.parameters_


class Counts(NaiveBayes):
    """What the classes of counts share."""

    _elsewhere: ClassVar[Mapping[str, str]] = {}
    shared_variance = True
    var_smoothing = 0.0

    def __init__(
        self, *, alpha: float = 1.0, force_alpha: bool = True, fit_prior: bool = True, class_prior: Any = None
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on data that are no counts
        return tags

    def _smoothed(self) -> float:
        flags(self, "force_alpha", "fit_prior")
        alpha = super()._smoothed()
        return alpha if self.force_alpha else max(alpha, SMALLEST_ALPHA)

    def _priors(self, sample: Sample) -> Floats | None:
        k = sample.targets.n_classes if sample.targets.given is None else len(sample.targets.given)
        priors = [1.0 / k] * k if self.class_prior is None and not self.fit_prior else self.class_prior
        return self._checked_priors("class_prior", priors, sample)

    @property
    def feature_count_(self) -> Floats:
        """The weight with which each column counts in each class."""
        counts = self._moments.counts[:, None] * (self._moments.anchor + self._moments.means)
        return spread(counts.T, self.__dict__, 0.0).T

    @property
    def feature_log_prob_(self) -> Floats:
        """log P(x_j = 1 | c), or of a word being the j-th."""
        with np.errstate(divide="ignore"):
            return np.log(self.parameters_)

    @property
    def class_log_prior_(self) -> Floats:
        """log P(c)."""
        with np.errstate(divide="ignore"):
            return np.log(self.class_prior_)


class MultinomialNB(Counts):
    """score_c(x) = log P(c) + sum_j x_j log theta_cj, theta_cj = (count_cj + alpha) / sum_j (count_cj + alpha).

    `NaiveBayes` with ``family="multinomial"``.

    Parameters
    ----------
    alpha : float, default=1.0
        Added to the counts.
    force_alpha : bool, default=True
        Whether alpha is taken as it is; otherwise it is at least 1e-10.
    fit_prior : bool, default=True
        Whether P(c) are the class frequencies; otherwise all classes have the same.
    class_prior : array-like of shape (k,), default=None
        P(c), instead.

    Attributes
    ----------
    feature_count_, feature_log_prob_ : arrays of shape (k, d)
        Counts, and log theta.
    class_log_prior_ : array of shape (k,)
        log P(c).
    coef_, intercept_, class_count_, certificate_, classes_, n_features_in_, status_
        As for `NaiveBayes`: the log-odds of the classes.

    Examples
    --------
    >>> from separatrix import MultinomialNB
    >>> MultinomialNB().fit([[2, 0], [0, 1]], [0, 1]).feature_count_.tolist()
    [[2.0, 0.0], [0.0, 1.0]]
    """

    family = "multinomial"


class BernoulliNB(Counts):
    """score_c(x) = log P(c) + sum_j log P(x_j > binarize | c), or log of 1 - that: by what each column exceeds.

    `NaiveBayes` with ``family="bernoulli"`` on the truth values x_j > binarize.

    Parameters
    ----------
    alpha : float, default=1.0
        Added to the counts of both truth values.
    force_alpha : bool, default=True
        Whether alpha is taken as it is; otherwise it is at least 1e-10.
    binarize : float or None, default=0.0
        What x_j must exceed. None: X holds 0 and 1 already.
    fit_prior : bool, default=True
        Whether P(c) are the class frequencies; otherwise all classes have the same.
    class_prior : array-like of shape (k,), default=None
        P(c), instead.

    Attributes
    ----------
    feature_count_, feature_log_prob_ : arrays of shape (k, d)
        How often each column exceeds it, and log P.
    class_log_prior_ : array of shape (k,)
        log P(c).
    class_count_, certificate_, classes_, n_features_in_, status_
        As for `NaiveBayes`. The scores are linear in the truth values, not in x: there is a ``coef_`` only with
        ``binarize=None``.

    Examples
    --------
    >>> from separatrix import BernoulliNB
    >>> BernoulliNB().fit([[2, 0], [0, 1]], [0, 1]).feature_count_.tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    family = "bernoulli"

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        super().__init__(alpha=alpha, force_alpha=force_alpha, fit_prior=fit_prior, class_prior=class_prior)
        self.binarize = binarize

    def _threshold(self) -> float | None:
        return None if self.binarize is None else least("binarize", self.binarize, -FINITE)

    def _seen(self, sample: Sample) -> Sample:
        return replace(sample, design=mapped(sample.design, self._truth))

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self)
        return np.asarray(self._model.scores(self._points(X)))

    def _points(self, X: Any) -> Any:
        return self._truth(super()._points(X))

    def _truth(self, X: Any) -> Any:
        """1 where X exceeds ``binarize``, else 0, in the number type of X."""
        threshold = self._threshold()
        if threshold is None:
            return X
        if sparse.issparse(X) and threshold < 0:
            raise InvalidInputError(
                "binarize must not be below 0 for a sparse X, whose zeros would all be 1.", "binarize"
            )
        if sparse.issparse(X) and not X.has_canonical_format:
            X = X.copy()  # SciPy, when it compares, sorts and adds up the entries of X itself
        return (threshold < X).astype(X.dtype if X.dtype.kind == "f" else np.float64)
