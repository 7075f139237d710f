"""CategoricalNB."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from separatrix._typing import Floats, Integers
from separatrix.errors import InvalidInputError
from separatrix.estimators.absent import spread
from separatrix.estimators.naive_bayes_names import Counts
from separatrix.estimators.parameters import whole
from separatrix.estimators.validation import Sample
from separatrix.formulas.categories import MOST, Categories, Settings, learn, starts
from separatrix.outcome import Fit


class CategoricalNB(Counts):
    """score_c(x) = log P(c) + sum_j log P(x_j | c), P(v | c) = (n_cjv + alpha) / (n_c + alpha m_j), m_j categories.

    Each column holds the numbers of its categories, 0 to m_j - 1. The scores are linear in which category it is, not
    in its number: there is no ``coef_``.

    Parameters
    ----------
    alpha : float, default=1.0
        Added to the count of each category.
    force_alpha : bool, default=True
        Whether alpha is taken as it is; otherwise it is at least 1e-10.
    fit_prior : bool, default=True
        Whether P(c) are the class frequencies; otherwise all classes have the same.
    class_prior : array-like of shape (k,), default=None
        P(c), instead.
    min_categories : int or array-like of shape (d,), default=None
        How many categories a column has at least; by default as many as the largest number says. A category beyond that
        is refused when predicting.

    Attributes
    ----------
    n_categories_ : array of shape (d,)
        m_j, by which alpha is multiplied.
    category_count_, feature_log_prob_ : lists of d arrays of shape (k, m_j)
        Counts, and log P.
    parameters_ : array of shape (k, sum of m_j)
        P, the columns side by side.
    certificate_ : Stationarity
        That these probabilities solve the smoothed likelihood equations.
    class_log_prior_, class_count_, class_prior_, classes_, n_features_in_, status_
        As for `NaiveBayes`.

    Examples
    --------
    >>> from separatrix import CategoricalNB
    >>> model = CategoricalNB().fit([[0, 1], [0, 0], [1, 0], [2, 0]], ["a", "a", "b", "b"])
    >>> model.category_count_[0].tolist()
    [[2.0, 0.0, 0.0], [0.0, 1.0, 1.0]]
    """

    family = "categorical"

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: int | ArrayLike | None = None,
    ) -> None:
        super().__init__(alpha=alpha, force_alpha=force_alpha, fit_prior=fit_prior, class_prior=class_prior)
        self.min_categories = min_categories

    def _from(self, sample: Sample, before: Any) -> Fit:
        settings = Settings(self._smoothed(), self._priors(sample), self._least(sample.design.d))
        return learn(sample, settings, before)

    def _least(self, d: int) -> Integers | int:
        """How many categories the columns have at least."""
        given = self.min_categories
        if given is None:
            return 1
        if np.ndim(given) == 0:
            return min(whole("min_categories", given, at_least=1), MOST)
        wanted = np.asarray(given)
        if wanted.dtype.kind not in "iu" or wanted.shape != (d,) or (wanted < 1).any() or (wanted > MOST).any():
            raise InvalidInputError(
                f"min_categories should be a whole number above 0, or {d} of them, one for each column, of integral "
                f"type; got {given!r:.80}.",
                "min_categories",
            )
        return wanted.astype(np.int64)

    def _joint(self, X: Any) -> Floats:
        model: Categories = self._model
        return model.joint(X)

    @property
    def category_count_(self) -> list[Floats]:
        """The weight of each category of each column in each class."""
        return self._columns(spread(self._moments.table.T, self.__dict__, 0.0).T)

    @property
    def feature_log_prob_(self) -> Any:
        """log P of each category of each column in each class."""
        with np.errstate(divide="ignore"):
            return self._columns(np.log(self.parameters_))

    def _columns(self, table: Floats) -> list[Floats]:
        return np.split(table, starts(self.n_categories_)[1:], axis=1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        return tags
