"""NearestCentroid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from separatrix.estimators.base import Classifier
from separatrix.estimators.validation import Sample
from separatrix.formulas.centroids import learn
from separatrix.outcome import Fit


@dataclass(eq=False, repr=False)
class NearestCentroid(Classifier):
    """score(x) = (mu_1 - mu_0).(x - (mu_1 + mu_0) / 2): the bisector of the two class means.

    With more than two classes, score_c(x) = (mu_c - m).(x - (mu_c + m) / 2), m the mean of the class means;
    the largest score belongs to the nearest mean.

    Parameters
    ----------
    metric, shrink_threshold, priors : "euclidean", None and "uniform"
        As scikit-learn has them; other values, whose boundary is not a bisector, raise an error that says what to use.

    Attributes
    ----------
    centroids_ : array of shape (k, d)
        The weighted mean of each class.
    coef_, intercept_ : arrays of shape (1, d) and (1,), or (k, d) and (k,)
        The hyperplanes.
    certificate_ : Stationarity
        That the means minimise sum_i c_i ‖x_i - mu(y_i)‖², and that the hyperplanes are their bisectors.
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

    _only: ClassVar[Mapping[str, tuple[tuple[Any, ...], str]]] = {
        "metric": (
            ("euclidean",),
            "the boundary is a hyperplane for the Euclidean metric only; use sklearn.neighbors.NearestCentroid.",
        ),
        "shrink_threshold": ((None,), "centroids are not shrunken; use sklearn.neighbors.NearestCentroid for that."),
        "priors": (
            ("uniform",),
            "the boundary is the bisector; use NaiveBayes(priors=...) to move it by prior probabilities.",
        ),
    }

    metric: str = "euclidean"
    _: KW_ONLY
    shrink_threshold: Any = None
    priors: Any = "uniform"

    def _learn(self, sample: Sample) -> Fit:
        return learn(sample)
