"""How far the rows of both classes are from the boundary."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from separatrix.drawing import COLOURS, axes, legend_beside
from separatrix.errors import InvalidInputError
from separatrix.plots.codes import codes_of


class MarginHistogram:
    """Histograms of the scores of two classes, on both sides of 0.

    Parameters
    ----------
    scores : array of shape (n,)
        Signed distances of a linear classifier, scores of another.
    codes : array of shape (n,)
        0 or 1, the class of each row.
    classes : pair of labels
    label : str
        What the scores are.

    Attributes
    ----------
    ax_, figure_, bars_ : matplotlib axes, figure and bars of each class

    Examples
    --------
    >>> from separatrix import NearestCentroid
    >>> from separatrix.plots import MarginHistogram
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> display = MarginHistogram.from_estimator(NearestCentroid().fit(X, y), X, y)  # doctest: +SKIP
    """

    def __init__(self, *, scores: Any, codes: Any, classes: Any, label: str) -> None:
        self.scores, self.codes, self.classes, self.label = scores, codes, classes, label

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, **kwargs: Any) -> Self:
        """Score the rows and draw.

        Parameters
        ----------
        estimator : fitted classifier of two classes
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        ax : matplotlib axes, default=None
            Where to draw; a new figure by default.
        **kwargs
            For `plot`.

        Returns
        -------
        MarginHistogram
        """
        check_is_fitted(estimator)
        if len(estimator.classes_) != 2:
            raise InvalidInputError("A margin histogram is of two classes.")
        linear = hasattr(estimator, "coef_")
        scores = estimator.signed_distance(X) if linear else estimator.decision_function(X)
        label = "signed distance from the boundary" if linear else "decision score"
        display = cls(scores=scores, codes=codes_of(estimator, y), classes=estimator.classes_, label=label)
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, *, bins: int = 40) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, default=None
        bins : int, default=40

        Returns
        -------
        self
        """
        ax = axes(ax)
        edges = np.histogram_bin_edges(np.append(self.scores, 0.0), bins)
        self.bars_ = []
        for j in (0, 1):
            mine, label = self.scores[self.codes == j], str(self.classes[j])
            self.bars_.append(ax.hist(mine, bins=edges, color=COLOURS[j], alpha=0.6, label=label)[2])
        ax.axvline(0.0, color="#222222", linestyle="--", linewidth=1.0)
        ax.set_xlabel(self.label)
        ax.set_ylabel("rows")
        legend_beside(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self
