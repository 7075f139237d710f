"""NaiveBayes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from separatrix._typing import Floats
from separatrix.errors import InvalidInputError
from separatrix.estimators.absent import bare, spread
from separatrix.estimators.base import ProbabilisticClassifier
from separatrix.estimators.lazily import lazily
from separatrix.estimators.online import stream_classes
from separatrix.estimators.parameters import flags, least
from separatrix.estimators.validation import Sample, check_points, check_training
from separatrix.formulas.families import ExponentialFamily, resolve
from separatrix.formulas.naive_bayes import Additive, Settings, learn, naturals
from separatrix.outcome import Fit


@dataclass(eq=False, repr=False)
class NaiveBayes(ProbabilisticClassifier):
    """score(x) = log P(1)/P(0) + sum_j log p(x_j | 1)/p(x_j | 0), linear in x for exponential families.

    Each feature has the distribution p(x | theta) = exp(theta x - a(theta) + b(x)) in every class, with its own
    theta; so coef_j = theta_1j - theta_0j, and the score is the log-odds of class 1. With more than two classes
    the scores are log P(c | x) up to a common term, and the rows of ``coef_`` sum to 0.

    Parameters
    ----------
    family : str, ExponentialFamily, or a list of these, default="gaussian"
        ``"bernoulli"``, ``"gaussian"``, ``"multinomial"``, ``"poisson"`` or an object of your own; a list gives
        one for each feature (the multinomial features of a list form one multinomial together).
    shared_variance : bool, default=True
        Whether a Gaussian feature has one variance in all classes (the pooled one, which divides by n).
        Otherwise the score is quadratic in x, and there is no ``coef_``.
    alpha : float, default=1.0
        Added to the counts of bernoulli (of 0s and of 1s) and multinomial features.
    priors : array-like of shape (k,), default=None
        P(c) in the order of ``classes_``; by default the weighted class frequencies.
    var_smoothing : float, default=0.0
        Share of the largest variance of all Gaussian columns that is added to each of theirs.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,), or (k, d) and (k,)
        The log-odds, if linear.
    class_count_, class_prior_ : arrays of shape (k,)
        Weight and prior probability of each class.
    parameters_ : array of shape (k, d)
        E[x_j | c]: mean, rate, or probability, by family; smoothed by alpha where that applies. A family of your own
        whose t(x) is a vector has one column for each of its entries, here and in ``variances_``.
    variances_ : array of shape (d,) or (k, d), or None
        Of the Gaussian features; 0 in the columns of other families.
    certificate_ : Stationarity
        That the parameters solve the likelihood equations and the hyperplanes follow from them; None for a family
        of your own, whose density no check can repeat.
    classes_, n_features_in_, n_iter_, status_, hyperplane_
        As for every classifier here.

    Notes
    -----
    A constant column says nothing about the class and has no weight. Where a Gaussian feature never varies within
    a class, or a Poisson feature never counts in one, the likelihood has no finite maximum: the
    parameter is held at a bound, and a `LikelihoodWarning` names the columns.

    Examples
    --------
    >>> from separatrix import NaiveBayes
    >>> model = NaiveBayes(family="bernoulli").fit([[1, 1], [1, 0], [0, 1], [0, 0]], ["spam", "spam", "ham", "ham"])
    >>> model.coef_.round(4).tolist()  # log of (3/4 / 1/4)² in the first column, nothing in the second
    [[2.1972, 0.0]]
    """

    _elsewhere: ClassVar[Mapping[str, str]] = {
        "binarize": "family='bernoulli' takes 0 and 1 only: pass X > threshold, or use BernoulliNB.",
        "fit_prior": "use priors=[1/k] * k for equal priors, or MultinomialNB and its like.",
        "class_prior": "use priors.",
        "force_alpha": "alpha is always taken as given.",
        "norm": "complement naive Bayes is not a likelihood; use ComplementNB.",
        "min_categories": "a column of categories has no family here; use CategoricalNB.",
    }

    family: str | ExponentialFamily | Sequence[str | ExponentialFamily] = "gaussian"
    _: KW_ONLY
    shared_variance: bool = True
    alpha: float = 1.0
    priors: ArrayLike | None = None
    var_smoothing: float = 0.0

    def _seen(self, sample: Sample) -> Sample:
        """The sample as the families see it."""
        return sample

    def _learn(self, sample: Sample) -> Fit:
        return self._from(self._seen(sample), None)

    def _from(self, sample: Sample, before: Any) -> Fit:
        """The model of a sample, as the families see it, and of the moments of the rows before."""
        settings = self._settings(sample)
        if before is not None and [type(f) for f in settings.families] != [type(f) for f in self._families]:
            raise InvalidInputError(
                "family has changed since the rows before were learned from: call fit instead.", "family"
            )
        return learn(sample, settings, before)

    def partial_fit(self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: Any = None) -> Self:
        """Learn from further rows; chunk by chunk, the result is that of `fit` on all rows together.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        classes : array-like of shape (k,), default=None
            All labels that will come; needed on the first call only.
        sample_weight : array-like of shape (n,), default=None

        Returns
        -------
        self
        """
        first = "_moments" not in self.__dict__
        labels = stream_classes(self, classes, first)
        with self._fitting():
            sample = self._seen(check_training(self, X, y, sample_weight, intercept=True, reset=first, classes=labels))
            return self._publish(self._from(sample, None if first else self._moments), sample)

    @lazily
    def predict_joint_log_proba(self, X: Any) -> Floats:
        """log p(x, c) = log P(c) + sum_j log p(x_j | c) for each row x and class c.

        Multinomial features leave out the multinomial coefficient, as scikit-learn does; a family of your own has what
        its ``base`` says. Columns that were constant in training add nothing.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        array of shape (n, k)
            In the order of ``classes_``; -infinity for a class without weight.
        """
        check_is_fitted(self)
        return spread(self._joint(self._points(X)), self.__dict__, -np.inf)

    def _joint(self, X: Any) -> Floats:
        """log p(x, c) of the classes with a weight."""
        fitted = bare(self)
        settings, parameters = Settings(fitted._families, bool(self.shared_variance), 1.0, None), fitted.parameters_
        log_prior = np.log(fitted.class_prior_)
        return Additive(settings, log_prior, parameters, *naturals(settings, parameters), fitted.variances_).joint(X)

    def _points(self, X: Any) -> Any:
        """Rows to score, checked, as the families see them."""
        return check_points(self, X)

    def _settings(self, sample: Sample) -> Settings:
        flags(self, "shared_variance")
        families, shared = resolve(self.family, sample.design.d), bool(self.shared_variance)
        return Settings(families, shared, self._smoothed(), self._priors(sample), self._smoothing(), self._threshold())

    def _smoothed(self) -> float:
        """What is added to counts."""
        return least("alpha", self.alpha, 0.0)

    def _smoothing(self) -> float:
        """The share of the largest variance that is added to each."""
        return least("var_smoothing", self.var_smoothing, 0.0)

    def _threshold(self) -> float | None:
        """What an entry must exceed to be 1, if X is not taken as it is."""
        return None

    def _priors(self, sample: Sample) -> Floats | None:
        return self._checked_priors("priors", self.priors, sample)

    def _checked_priors(self, name: str, given: Any, sample: Sample) -> Floats | None:
        if given is None:
            return None
        targets = sample.targets
        labels = targets.classes if targets.given is None else targets.given
        k = len(labels)
        try:
            priors = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInputError(f"{name} must be {k} numbers, one for each class; got {given!r}.", name) from error
        if priors.shape != (k,):
            raise InvalidInputError(
                f"{name} has the shape {priors.shape}, but y has {k} classes: give one for each.", name
            )
        weighted = np.isin(labels, targets.classes)
        if not ((priors >= 0).all() and (priors[weighted] > 0).all() and abs(priors.sum() - 1.0) < 1e-8):
            raise InvalidInputError(
                f"{name} must be above 0 and sum to 1; got {priors.tolist()}. Leave out the rows of a class that "
                "cannot come.",
                name,
            )
        priors = priors[weighted]  # a class without weight has the prior 0
        return priors / priors.sum()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        families = [self.family] if isinstance(self.family, (str, ExponentialFamily)) else list(self.family)
        names = {getattr(family, "name", family) for family in families}
        tags.input_tags.positive_only = not names.isdisjoint(("multinomial", "poisson"))
        tags.classifier_tags.poor_score = "multinomial" in names  # on data that are no counts
        return tags
