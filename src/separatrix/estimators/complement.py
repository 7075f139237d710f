"""ComplementNB."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix._typing import Floats
from separatrix.estimators.absent import bare, spread
from separatrix.estimators.naive_bayes_names import Counts
from separatrix.estimators.parameters import flags
from separatrix.estimators.validation import Sample
from separatrix.formulas.complement import complement_weights, learn
from separatrix.loops.threads import product
from separatrix.outcome import Fit


class ComplementNB(Counts):
    """score_c(x) = - sum_j x_j log theta_cj, theta_cj the smoothed share of column j in the rows not of class c.

    A class is scored by how little a row looks like the others, which have more rows than a rare class itself. The
    scores are no likelihood of x: probabilities are made of them as if they were, as scikit-learn does, and priors have
    no part in them.

    Parameters
    ----------
    alpha : float, default=1.0
        Added to the counts.
    force_alpha : bool, default=True
        Whether alpha is taken as it is; otherwise it is at least 1e-10.
    fit_prior, class_prior
        As for `MultinomialNB`: ``class_log_prior_`` has them, predictions do not depend on them.
    norm : bool, default=False
        Whether the weights of a class are divided by their sum.

    Attributes
    ----------
    parameters_ : array of shape (k, d)
        theta.
    feature_count_, feature_log_prob_ : arrays of shape (k, d)
        Counts in the classes, and the weights: -log theta, or its share of the sum.
    feature_all_ : array of shape (d,)
        Counts in all classes.
    certificate_ : Stationarity
        That theta are these shares, and that the hyperplanes follow from them.
    class_log_prior_, coef_, intercept_, class_count_, classes_, n_features_in_, status_
        As for `NaiveBayes`.

    Examples
    --------
    >>> from separatrix import ComplementNB
    >>> model = ComplementNB().fit([[2, 0], [0, 1], [1, 1]], ["a", "b", "c"])
    >>> model.parameters_.tolist()[0]  # outside of a: 1 and 2, and 1 each
    [0.4, 0.6]
    """

    family = "multinomial"

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
    ) -> None:
        super().__init__(alpha=alpha, force_alpha=force_alpha, fit_prior=fit_prior, class_prior=class_prior)
        self.norm = norm

    def _from(self, sample: Sample, before: Any) -> Fit:
        flags(self, "norm")
        return learn(sample, self._settings(sample), bool(self.norm), before)

    def _joint(self, X: Any) -> Floats:
        return np.asarray(product(X, self._weights().T))

    def _weights(self) -> Floats:
        """(k, d) of the classes with a weight."""
        return complement_weights(bare(self).parameters_, self._norm)

    @property
    def feature_all_(self) -> Floats:
        """The weight with which each column counts."""
        return np.asarray(self.feature_count_.sum(axis=0))

    @property
    def feature_log_prob_(self) -> Floats:
        """The weight of each column in the score of each class; 0 for one without rows, which is never predicted."""
        return spread(self._weights().T, self.__dict__, 0.0).T
