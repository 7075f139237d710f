"""NearestCentroid."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from separatrix._typing import Floats
from separatrix.errors import InvalidInputError
from separatrix.estimators.absent import spread
from separatrix.estimators.base import ProbabilisticClassifier
from separatrix.estimators.parameters import one_of, positive
from separatrix.estimators.validation import Sample
from separatrix.formulas.centroids import Settings, learn
from separatrix.formulas.medians import learn as learn_medians
from separatrix.outcome import Fit


def _has_priors(model: Any) -> bool:
    check_is_fitted(model)
    if model.__dict__.get("_prior") is None:
        raise AttributeError("A bisector has no probabilities: use priors='empirical', or priors of your own.")
    return True


@dataclass(eq=False, repr=False)
class NearestCentroid(ProbabilisticClassifier):
    """score(x) = (mu_1 - mu_0).(x - (mu_1 + mu_0) / 2): the bisector of the two class means.

    With more than two classes, score_c(x) = (mu_c - m).(x - (mu_c + m) / 2), m the mean of the class means;
    the largest score belongs to the nearest mean.

    Parameters
    ----------
    metric : {"euclidean", "manhattan"}, default="euclidean"
        "manhattan": centroids are the medians of the columns, and the nearest is that of the least sum of absolute
        differences, score_c(x) = -‖x - m_c‖₁. There is no hyperplane then.
    shrink_threshold : float or None, default=None
        Means are shrunken toward the mean of all rows by this many standard errors, sqrt(1/n_c - 1/n) (s_j + median of
        s) with s_j the standard deviation within the classes: a column in which nothing is left has no weight. Medians
        are pulled to the median of all rows by one row there, of this many times the weight sqrt(n_c (1 - n_c/n)):
        so much is the standard error of how many more rows lie on one side of it.
    priors : {"uniform", "empirical"} or array-like of shape (k,), default="uniform"
        P(c). Unless it is "uniform", columns are in units of s_j, and log P(c) is added: score_c(x) = log P(c) - 1/2
        sum_j (x_j - mu_cj)² / s_j² up to a common term, the log-odds of normal distributions, with `predict_proba`. Of
        medians, columns are in units of their mean absolute differences b_j, and it is log P(c) - sum_j |x_j - m_cj|
        / b_j, of Laplace distributions.

    Attributes
    ----------
    centroids_ : array of shape (k, d)
        The weighted mean of each class, shrunken if so asked; or the medians.
    coef_, intercept_ : arrays of shape (1, d) and (1,), or (k, d) and (k,)
        The hyperplanes, if metric="euclidean".
    within_class_std_dev_ : array of shape (d,), or None
        s_j, which divides by n - k; None if there is no more weight than classes. Of means only.
    within_class_abs_dev_ : array of shape (d,)
        b_j = sum_i c_i |x_ij - m_j(y_i)| / n. Of medians only.
    deviations_ : array of shape (k, d)
        How many standard errors the centroids are from the mean of all rows, after shrinking. Of means only.
    class_prior_ : array of shape (k,)
        P(c).
    certificate_ : Stationarity
        That the centroids minimise sum_i c_i ‖x_i - mu(y_i)‖², or what they should, and that the hyperplanes follow.
    classes_, n_features_in_, n_iter_, status_, hyperplane_
        As for every classifier here.

    Examples
    --------
    >>> from separatrix import NearestCentroid
    >>> model = NearestCentroid().fit([[0, 0], [0, 2], [4, 0], [4, 2]], [0, 0, 1, 1])
    >>> model.hyperplane_
    Hyperplane(w=[4., 0.], b=-8.0)
    >>> bool(model.certificate_.verify([[0, 0], [0, 2], [4, 0], [4, 2]], [0, 0, 1, 1]))
    True
    """

    _share: ClassVar[float] = 1.0

    metric: str = "euclidean"
    _: KW_ONLY
    shrink_threshold: float | None = None
    priors: str | ArrayLike = "uniform"

    def _learn(self, sample: Sample) -> Fit:
        metric, prior = one_of("metric", self.metric, ("euclidean", "manhattan")), self._priors(sample)
        shrink = None if self.shrink_threshold is None else positive("shrink_threshold", self.shrink_threshold)
        settings = Settings(shrink, prior)
        return learn(sample, settings) if metric == "euclidean" else learn_medians(sample, settings)

    def _priors(self, sample: Sample) -> Floats | None:
        """P(c), or None for the bisector."""
        targets = sample.targets
        k = targets.n_classes
        if isinstance(self.priors, str):
            if one_of("priors", self.priors, ("uniform", "empirical")) == "uniform":
                return None
            given = np.bincount(targets.values, sample.weight, k) / sample.weight.sum()
        else:
            try:
                given = np.asarray(self.priors, dtype=np.float64)
            except (TypeError, ValueError):
                given = np.zeros(0)  # no numbers: refused below
            if targets.given is not None and given.shape == (len(targets.given),):
                given = given[np.isin(targets.given, targets.classes)]
        if given.shape != (k,) or not (given > 0).all() or not np.isfinite(given).all():
            raise InvalidInputError(
                f"priors must be 'uniform', 'empirical', or {k} numbers above 0, one for each class with a weight; got "
                f"{self.priors!r}.",
                "priors",
            )
        return np.asarray(given / given.sum())

    @property
    def class_prior_(self) -> Floats:
        """P(c)."""
        check_is_fitted(self)
        k = len(self._labels)
        prior = self.__dict__.get("_prior")
        prior = np.full(k, 1.0 / k) if prior is None else prior
        return spread(prior[None], self.__dict__, 0.0)[0]

    # P(class | x) under normal (Laplace) distributions about the centroids, as wide as s_j (b_j), with these priors
    predict_proba = available_if(_has_priors)(ProbabilisticClassifier.predict_proba)
    predict_log_proba = available_if(_has_priors)(ProbabilisticClassifier.predict_log_proba)
