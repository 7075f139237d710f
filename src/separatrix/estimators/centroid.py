"""NearestCentroid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from separatrix.estimators.base import Classifier
from separatrix.estimators.validation import Sample
from separatrix.learners.centroids import nearest_centroid
from separatrix.outcome import Fit


class NearestCentroid(Classifier):
    """score(x) = (mu_1 - mu_0).(x - (mu_1 + mu_0) / 2): the bisector of the two class means.

    With more than two classes, score_c(x) = (mu_c - m).(x - (mu_c + m) / 2), m the mean of the class means;
    the largest score belongs to the nearest mean.

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

    _elsewhere: ClassVar[Mapping[str, str]] = {
        "metric": "the boundary is a hyperplane for the Euclidean metric only; "
        "use sklearn.neighbors.NearestCentroid for another.",
        "shrink_threshold": "centroids are not shrunken; use sklearn.neighbors.NearestCentroid for that.",
        "priors": "the boundary is the bisector; use NaiveBayes(priors=...) to move it by prior probabilities.",
    }

    def __init__(self) -> None:
        pass  # scikit-learn reads the parameters off this signature: there are none

    def _learn(self, sample: Sample) -> Fit:
        return nearest_centroid(sample.design, sample.targets, sample.weight)
