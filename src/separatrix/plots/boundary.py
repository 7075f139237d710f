"""The decision boundary in the plane, with margins and support vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from separatrix.drawing import COLOURS, axes, legend_beside
from separatrix.errors import InvalidInputError
from separatrix.plots.codes import codes_of

LONGEST = 8.0  # times the shorter side that the longer may be for both to have the same unit: beyond, a strip is left


@dataclass(eq=False, repr=False, kw_only=True)
class DecisionBoundary2D:
    """Regions of the predicted classes, the boundary score = cut, and for SVMs the margins score = ±1.

    Parameters
    ----------
    xx, yy : arrays of shape (m, m)
        The grid.
    regions : integer array of shape (m, m)
        Position of the predicted class.
    scores : array of shape (m, m) or None
        The decision function of two classes; None for more.
    margins : bool
        Whether score = ±1 means something, as it does for SVMs.
    X, codes : arrays of shape (n, 2) and (n,), or None
        The points to draw, and the positions of their classes.
    support : integer array or None
        The support vectors among them.
    classes : array
        The labels.
    feature_names : pair of str
    equal : bool
        Whether a unit is as long on both axes, so that a hyperplane is at a right angle to its weights.
    cut : float
        The score from which on the second of two classes is predicted.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    contours_, points_, support_ : what was drawn

    Examples
    --------
    >>> from separatrix import LinearSVC
    >>> from separatrix.plots import DecisionBoundary2D
    >>> X, y = [[0, 0], [0, 1], [2, 0], [2, 1]], ["no", "no", "yes", "yes"]
    >>> display = DecisionBoundary2D.from_estimator(LinearSVC().fit(X, y), X, y)  # doctest: +SKIP
    """

    xx: Any
    yy: Any
    regions: Any
    scores: Any
    margins: bool
    X: Any
    codes: Any
    support: Any
    classes: Any
    feature_names: tuple[str, str] = ("x0", "x1")
    equal: bool = True
    cut: float = 0.0

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        grid_resolution: int = 200,
        pad: float = 0.1,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Compute and draw.

        Parameters
        ----------
        estimator : fitted classifier of two columns
        X : array-like, frame or sparse matrix of shape (n, 2)
            Points to draw; they span the picture.
        y : array-like of shape (n,), default=None
            Their labels; without them no points are drawn. Support vectors are marked when X is the training data. Both
            axes have the same unit, unless the columns spread so differently that a strip would be left.
        grid_resolution : int, default=200
            Grid points along each side.
        pad : float, default=0.1
            Room around the points, relative to their spread.
        ax : matplotlib axes, default=None
            Where to draw; a new figure by default.
        **kwargs
            For `plot`.

        Returns
        -------
        DecisionBoundary2D
        """
        check_is_fitted(estimator)
        named = getattr(estimator, "feature_names_in_", None)
        names = tuple(map(str, getattr(X, "columns", ("x0", "x1") if named is None else named)))
        points = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != 2 or estimator.n_features_in_ != 2:
            raise InvalidInputError(f"A picture of the plane needs two columns; X has the shape {points.shape}.")
        if getattr(estimator, "_multilabel", False):
            raise InvalidInputError("A picture has one label a point; the classifier was fitted to a matrix of labels.")
        low, high = points.min(axis=0), points.max(axis=0)
        room = pad * np.where(high > low, high - low, 1.0)
        sides = [np.linspace(low[j] - room[j], high[j] + room[j], grid_resolution) for j in (0, 1)]
        xx, yy = np.meshgrid(*sides)
        grid: Any = np.column_stack([xx.ravel(), yy.ravel()])
        if named is not None and hasattr(X, "columns"):
            word = "schema" if type(X).__module__.startswith("polars") else "columns"
            grid = type(X)(grid, **{word: list(X.columns)})
        regions = np.searchsorted(estimator.classes_, estimator.predict(grid)).reshape(xx.shape)
        two = len(estimator.classes_) == 2
        scores = np.asarray(estimator.decision_function(grid)).reshape(xx.shape) if two else None
        support = getattr(estimator, "support_", None)
        codes = None if y is None else codes_of(estimator, y)
        if codes is None or support is None or len(support) == 0 or max(support) >= len(points):
            support = None
        display = cls(
            xx=xx,
            yy=yy,
            regions=regions,
            scores=scores,
            margins=two and (hasattr(estimator, "slack_") or hasattr(estimator, "margin_")),
            X=points if codes is not None else None,
            codes=codes,
            support=support,
            classes=estimator.classes_,
            feature_names=(names[0], names[1]),
            equal=bool(max(high - low) <= LONGEST * max(min(high - low), np.finfo(float).tiny)),
            cut=estimator._cut() if hasattr(estimator, "_cut") else 0.0,
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, *, alpha: float = 0.18, point_size: float = 24.0, legend: bool = True) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, default=None
        alpha : float, default=0.18
            Opacity of the regions.
        point_size : float, default=24.0
        legend : bool, default=True
            Whether the classes are named beside the axes; of several pictures side by side, one is enough.

        Returns
        -------
        self
        """
        from matplotlib.colors import ListedColormap

        ax = axes(ax)
        k = len(self.classes)
        colours = [COLOURS[j % len(COLOURS)] for j in range(k)]
        ax.pcolormesh(
            self.xx, self.yy, self.regions, cmap=ListedColormap(colours), vmin=0, vmax=max(1, k - 1), alpha=alpha,
            shading="auto", rasterized=True, linewidth=0,
        )  # fmt: skip
        self.contours_ = None
        if self.scores is not None:
            levels = [level for level in ((-1, self.cut, 1) if self.margins else (self.cut,)) if self._crossed(level)]
            if levels:
                styles = ["-" if level == self.cut else "--" for level in levels]
                self.contours_ = ax.contour(
                    self.xx, self.yy, self.scores, levels=levels, colors="#222222", linestyles=styles, linewidths=1.2
                )
        self.points_ = []
        if self.X is not None:
            for j in range(k):
                mine = self.X[self.codes == j]
                marker = "os^DvP*X"[j % 8]  # shape too, not colour alone
                drawn = ax.scatter(
                    mine[:, 0], mine[:, 1], s=point_size, color=colours[j], marker=marker, label=str(self.classes[j]),
                    edgecolors="white", linewidths=0.5,
                )  # fmt: skip
                self.points_.append(drawn)
        self.support_ = None
        if self.X is not None and self.support is not None:
            chosen = self.X[self.support]
            self.support_ = ax.scatter(
                chosen[:, 0], chosen[:, 1], s=4 * point_size, facecolors="none", edgecolors="#222222",
                linewidths=1.0, label="support vectors",
            )  # fmt: skip
        if self.X is not None and legend:
            legend_beside(ax)
        if self.equal:
            ax.set_aspect("equal")
        ax.set_xlabel(self.feature_names[0])
        ax.set_ylabel(self.feature_names[1])
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _crossed(self, level: float) -> bool:
        return bool(self.scores.min() <= level <= self.scores.max())
