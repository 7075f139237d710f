"""How the weights grow with C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from separatrix.drawing import COLOURS, axes, legend_beside
from separatrix.errors import InvalidInputError


class CoefficientPath:
    """The coefficients against C.

    Parameters
    ----------
    Cs : array of shape (m,)
    coefs : array of shape (m, d)
        The weights of each C, one class's if there are several.
    names : sequence of str
        The columns.
    chosen : float or None
        The C to mark.

    Attributes
    ----------
    ax_, figure_, lines_ : matplotlib axes, figure and lines

    Examples
    --------
    >>> from separatrix import LogisticRegressionCV
    >>> from separatrix.plots import CoefficientPath
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 1, 0, 1, 0, 1]
    >>> model = LogisticRegressionCV(cv=3).fit(X, y)
    >>> display = CoefficientPath.from_estimator(model)  # doctest: +SKIP
    """

    def __init__(self, *, Cs: Any, coefs: Any, names: Sequence[str], chosen: float | None = None) -> None:
        self.Cs, self.coefs, self.names, self.chosen = Cs, coefs, names, chosen

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        Cs: Any = None,
        target: int = 0,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the path of a `LogisticRegressionCV`, or fit a classifier with C for each of several values of it.

        Parameters
        ----------
        estimator : LogisticRegressionCV, or a linear classifier with the parameter C
            The first must be fitted; its path is the mean over the folds.
        X, y : array-likes, default=None
            For a classifier without a path: the data to fit copies of it to.
        Cs : array-like, default=None
            The values of C for those fits; 13 from 1e-3 to 1e3 by default.
        target : int, default=0
            The row of ``coef_`` to draw, if there are several.
        ax : matplotlib axes, default=None
            Where to draw; a new figure by default.
        **kwargs
            For `plot`.

        Returns
        -------
        CoefficientPath
        """
        if hasattr(estimator, "coefs_paths_"):
            d = estimator.n_features_in_
            values, paths = estimator.Cs_, estimator.coefs_paths_
            if paths.ndim == 5:  # several l1_ratios: that which was chosen
                paths = paths[:, int(np.flatnonzero(estimator.l1_ratios_ == estimator.l1_ratio_)[0])]
            coefs = paths.mean(axis=0)[:, target, :d]
            chosen, fitted = float(estimator.C_), estimator
        else:
            if X is None or y is None:
                check_is_fitted(estimator, "coefs_paths_")
            if "C" not in estimator.get_params():
                raise InvalidInputError(f"{type(estimator).__name__} has no parameter C, and so no path.")
            values = np.logspace(-3, 3, 13) if Cs is None else np.asarray(Cs, dtype=np.float64)
            copies = [clone(estimator).set_params(C=float(C)).fit(X, y) for C in values]
            coefs, chosen, fitted = np.array([copy.coef_[target] for copy in copies]), estimator.C, copies[0]
        names = list(getattr(fitted, "feature_names_in_", [f"x{j}" for j in range(coefs.shape[1])]))
        return cls(Cs=values, coefs=coefs, names=names, chosen=chosen).plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, *, most_labels: int = 10) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, default=None
        most_labels : int, default=10
            How many columns are named in the legend: those with the largest last weights.

        Returns
        -------
        self
        """
        ax = axes(ax)
        named = set(np.argsort(-np.abs(self.coefs[-1]), kind="stable")[:most_labels].tolist())
        self.lines_ = []
        for j in range(self.coefs.shape[1]):
            style = {"color": COLOURS[j % len(COLOURS)], "linestyle": "-" if j % 16 < 8 else "--"}
            label = str(self.names[j]) if j in named else None
            self.lines_ += ax.plot(self.Cs, self.coefs[:, j], label=label, **style)
        ax.set_xscale("log")
        if self.chosen is not None and np.isfinite(self.chosen):
            ax.axvline(self.chosen, color="#222222", linestyle=":", linewidth=1.0)
        ax.axhline(0.0, color="#888888", linewidth=0.6)
        ax.set_xlabel("C")
        ax.set_ylabel("coefficient")
        if named:
            legend_beside(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self
