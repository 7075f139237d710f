"""LeastSquaresClassifier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from separatrix.estimators.base import Classifier
from separatrix.estimators.parameters import flags, whole
from separatrix.estimators.validation import Sample
from separatrix.formulas.least_squares import learn
from separatrix.outcome import Fit


@dataclass(eq=False, repr=False)
class LeastSquaresClassifier(Classifier):
    """min over (w, b) of sum_i c_i (y_i - w.x_i - b)² with y_i = ±1; the sign of w.x + b is the prediction.

    Where several (w, b) are optimal (collinear columns, fewer rows than columns), the one of minimum ‖w‖.
    More than two classes: one such regression for each class against the rest. A 0/1 matrix y: one for
    each of its columns.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether b is free; otherwise it is 0.
    class_weight : dict, "balanced" or None, default=None
        Factors of the classes, multiplied into the sample weights.
    max_iter : int, default=10000
        Iterations of LSMR, the method for data both long and wide; other shapes are solved directly unless rounding
        prevents that.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,), or (k, d) and (k,)
        The hyperplanes.
    rank_ : int or None
        Rank of the (centred) rows; None where LSMR was used, which does not find it.
    certificate_ : Stationarity or None
        That the normal equations hold; None, with a warning, where rounding the weights alone breaks them.
    classes_, n_features_in_, n_iter_, status_, hyperplane_
        As for every classifier here.

    Examples
    --------
    >>> from separatrix import LeastSquaresClassifier
    >>> model = LeastSquaresClassifier().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> model.decision_function([[1.5]]).round(12).tolist()
    [0.0]
    """

    _takes_matrix = True

    _: KW_ONLY
    fit_intercept: bool = True
    class_weight: Mapping[Any, float] | str | None = None
    max_iter: int = 10_000

    def _learn(self, sample: Sample) -> Fit:
        flags(self, "fit_intercept")
        return learn(sample, whole("max_iter", self.max_iter, at_least=1))
