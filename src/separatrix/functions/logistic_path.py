"""Logistic regression for every C of an interval, each certified, not only those of a grid."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.certificates import PathGap, Verification
from separatrix.certificates.path_gap import place
from separatrix.drawing import COLOURS, axes, legend_beside
from separatrix.errors import ConvergenceWarning, InvalidInputError
from separatrix.estimators.elastic_net import l1_ratio as ratio_of
from separatrix.estimators.parameters import positive, whole
from separatrix.estimators.stored import reachable
from separatrix.estimators.validation import check_training
from separatrix.functions.separability import named
from separatrix.loops.threads import single_threaded_blas
from separatrix.sparse_models.path import Task, strongest, traced

__all__ = ["LogisticPath", "logistic_path"]

DECADES = 2  # from C_min to C_max, unless they are given
RIDGE = (1e-4, 1e4)  # the ends for l1_ratio=0, as LogisticRegressionCV has them
LABELLED = 10  # columns named in a picture


@dataclass(frozen=True, eq=False)
class LogisticPath:
    """What `logistic_path` found.

    Parameters
    ----------
    certificate : PathGap
        The weights of each C that was fitted, and the proof for those between.
    names : sequence of str or None
        Names of the columns.
    """

    certificate: PathGap
    names: Any = None

    @property
    def C(self) -> Floats:
        """The values that were fitted, rising, (m,)."""
        return np.asarray(self.certificate.C)

    @property
    def l1_ratio(self) -> float:
        """The share of ‖w‖₁ in the penalty."""
        return self.certificate.l1_ratio

    @property
    def classes(self) -> Array:
        """The labels."""
        return np.asarray(self.certificate.classes)

    @property
    def coef(self) -> Floats:
        """The weights of each C, (m, d), or (m, k, d) for more than two classes."""
        return self._coef[:, 0] if self._coef.shape[1] == 1 else self._coef

    @property
    def _coef(self) -> Floats:
        """(m, K, d)."""
        flat = np.asarray(self.certificate.coef)
        return flat.reshape(len(self.C), -1, flat.shape[1])

    @property
    def intercept(self) -> Floats:
        """The intercepts of each C, (m,) or (m, k)."""
        intercept = np.asarray(self.certificate.intercept)
        return intercept[:, 0] if intercept.shape[1] == 1 else intercept

    @property
    def n_nonzero(self) -> Integers:
        """How many weights are not 0, for each C that was fitted, (m,)."""
        return np.count_nonzero(self._coef, axis=(1, 2))

    @property
    def entered(self) -> Integers:
        """The columns whose weights are not 0 somewhere on the path, in the order in which they come in.

        Of those that are there at the same C for the first time, the largest weight comes first.
        """
        size = np.abs(self._coef).max(axis=1)
        columns = np.flatnonzero(size.any(axis=0))
        first = (size[:, columns] > 0).argmax(axis=0)
        return columns[np.lexsort((-size[first, columns], first))]

    def at(self, C: float) -> tuple[Floats, Floats]:
        """The weights and intercept for any C between the ends: those of its neighbours, mixed.

        Parameters
        ----------
        C : float

        Returns
        -------
        coef, intercept
            Of shape (1, d) and (1,), or (k, d) and (k,), as a fitted `LogisticRegression` has them. Their objective is
            within `gap` of the minimum.
        """
        k, t = self._place(C)
        following = min(k + 1, len(self.C) - 1)
        levels = np.asarray(self.certificate.intercept)
        coef = (1.0 - t) * self._coef[k] + t * self._coef[following]
        return coef, (1.0 - t) * levels[k] + t * levels[following]

    def gap(self, C: float) -> float:
        """The relative gap that is proved for the weights `at` C.

        Parameters
        ----------
        C : float
        """
        self._place(C)
        return self.certificate.gap(C)

    def _place(self, C: float) -> tuple[int, float]:
        try:
            return place(self.C, float(C))
        except ValueError as error:
            raise InvalidInputError(str(error), "C") from error

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        """Check the claim against the data: true when it holds for every C, listing every check."""
        return self.certificate.verify(X, y, sample_weight)

    def plot(self, ax: Any = None, *, target: int = 0) -> Any:
        """Draw the weights against C; the columns that came in first are named.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; a new figure by default.
        target : int, default=0
            The class whose weights to draw, if there are several.

        Returns
        -------
        matplotlib axes
        """
        ax = axes(ax)
        coef = self._coef[:, target]
        for number, j in enumerate(self.entered):
            name = f"x{j}" if self.names is None else str(self.names[j])
            label = name if number < LABELLED else None
            style = "-" if number // len(COLOURS) % 2 == 0 else "--"  # colours come again
            ax.plot(self.C, coef[:, j], style, color=COLOURS[number % len(COLOURS)], label=label, linewidth=1.2)
        ax.set_xscale("log")
        ax.axhline(0.0, color="#888888", linewidth=0.6)
        ax.set_xlabel("C")
        ax.set_ylabel("coefficient")
        if len(self.entered):
            legend_beside(ax)
        return ax

    def __repr__(self) -> str:
        return f"LogisticPath({len(self.C)} values of C): {self.certificate.claim}"


@single_threaded_blas()  # our own threads share out the rows
def logistic_path(
    X: Any,
    y: Any,
    l1_ratio: float = 1.0,
    C_min: float | None = None,
    C_max: float | None = None,
    tol: float = 1e-4,
    *,
    fit_intercept: bool = True,
    sample_weight: Any = None,
    max_iter: int = 100_000,
) -> LogisticPath:
    """min over (w, b) of C sum_i c_i loss_i + l1_ratio ‖w‖₁ + (1 - l1_ratio)/2 ‖w‖², for every C from C_min to C_max.

    The losses are those of `LogisticRegression`. Between the values of C that are fitted, the weights are mixed, and
    the certificate proves that their objective, too, is within ``tol`` of its minimum: see `PathGap`.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
    y : array-like of shape (n,)
        Labels of two classes or more.
    l1_ratio : float, default=1.0
        The share of ‖w‖₁ in the penalty.
    C_min : float or None, default=None
        None is l1_ratio / lambda_max, lambda_max = max_j |sum_i c_i (p0 - t_i) x_ij| at the best intercept: up to there
        all weights are 0. For ``l1_ratio=0``, where there is no such C, it is 1e-4.
    C_max : float or None, default=None
        None is 100 times C_min; for ``l1_ratio=0``, 1e4.
    tol : float, default=1e-4
        The largest certified relative suboptimality of any C.
    fit_intercept : bool, default=True
        Whether b is free; otherwise it is 0.
    sample_weight : array-like of shape (n,), default=None
        Weight k equals repeating a row k times.
    max_iter : int, default=100000
        Newton steps on the whole path after which to give up, with a `ConvergenceWarning` that states the gap reached.

    Returns
    -------
    LogisticPath
        With ``C``, ``coef``, ``intercept``, ``at(C)``, ``gap(C)``, ``entered``, ``certificate``, ``verify`` and
        ``plot``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from separatrix import logistic_path
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> path = logistic_path(X, y)
    >>> coef, intercept = path.at(1e-4)
    >>> path.gap(1e-4) <= 1e-4, bool(path.verify(X, y))
    (True, True)
    """
    caller = named("logistic_path")
    with reachable(caller, X, y, sample_weight) as (X, y, sample_weight):
        sample = check_training(caller, X, y, sample_weight, intercept=fit_intercept)
        if sample.targets.multilabel:
            raise InvalidInputError("y is a matrix: trace the path of one column at a time.", "y")
        ratio = ratio_of(None, l1_ratio)
        tol, max_iter = positive("tol", tol), whole("max_iter", max_iter, at_least=1)
        task = Task(sample.design, sample.targets, sample.weight, ratio, tol, max_iter)
        with np.errstate(all="ignore"):
            low, high = _ends(task, C_min, C_max)
            certificate, n_iter = traced(task, low, high)
    worst = certificate.worst
    if not worst <= task.tol:
        certificate = replace(certificate, tol=min(worst * (1.0 + 1e-9), 1.0))
        warnings.warn(
            ConvergenceWarning(
                f"Stopped after {n_iter} iterations; of some C no more is proved than a relative gap of {worst:.1e}, "
                f"above tol={task.tol:g}: raise max_iter, or tol."
            ),
            stacklevel=3,
        )
    return LogisticPath(certificate, getattr(caller, "feature_names_in_", None))


def _ends(task: Task, C_min: float | None, C_max: float | None) -> tuple[float, float]:
    """The ends of the path, as asked for or by the rule."""
    if C_min is None:
        slope = strongest(task) if task.l1_ratio > 0 else 0.0
        if task.l1_ratio > 0 and not slope > 0:
            raise InvalidInputError("No column of X says anything about y: give C_min and C_max.", "C_min")
        low = task.l1_ratio / slope if task.l1_ratio > 0 else RIDGE[0]
    else:
        low = positive("C_min", C_min)
    if C_max is None:
        high = 10.0**DECADES * low if task.l1_ratio > 0 else max(RIDGE[1], low)
    else:
        high = positive("C_max", C_max)
    if not low <= high:
        raise InvalidInputError(f"C_max must not be below C_min; they are {high:g} and {low:g}.", "C_max")
    return low, high
