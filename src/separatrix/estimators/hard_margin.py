"""HardMarginSVC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from separatrix.estimators import parameters
from separatrix.estimators.support_vectors import SupportVectorClassifier
from separatrix.outcome import Trace
from separatrix.svm.kernel_svm import Settings
from separatrix.svm.walked import MOST_TOLD


@dataclass(eq=False, repr=False)
class HardMarginSVC(SupportVectorClassifier):
    """max over ‖w‖ = 1 and b of min_i y_i (<w, phi(x_i)> + b): the boundary furthest from the nearest points.

    With ``kernel="linear"``, phi(x) = x. Where no boundary has every point on its side, `NotSeparableError` carries the
    proof. More than two classes: one machine for each pair, and a vote.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="linear"
        As for `SVC`; the kernel must be positive semidefinite.
    degree, gamma, coef0
        Settings of the kernel, as for `SVC`.
    tol : float, default=1e-4
        How far apart the bounds on the margin may be, relative to it.
    fit_intercept : bool, default=True
        Whether there is a b. Without, the boundary goes through the origin of feature space, and classes are separable
        if that separates them.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Of more than two classes: one score for each class, or for each pair.
    trace : bool, default=False
        Whether to solve by single moves of sequential minimal optimisation, for study, and to record each in
        ``trace_``; after 100,000 moves of a pair of classes it stops, with a warning that states the bounds reached.

    Attributes
    ----------
    margin_ : float or array of shape (k (k - 1) / 2,)
        1 / ‖w‖, where w is scaled so that the nearest points have y_i f(x_i) = 1.
    certificate_ : MarginBracket or All
        Bounds on the maximum margin from both sides.
    coef_, intercept_, support_, support_vectors_, n_support_, dual_coef_, slack_, kernel_
        As for `SVC`; all slacks are 0 up to rounding.
    trace_ : Trace
        With ``trace=True``: step, point and other (the points whose alpha y rose and fell, -1 for none), margin (of
        the weights so far, negative if they do not separate), bound (which no margin is above), mistakes; weights
        (intercept last), or of other kernels dual_coef and intercept; and task, for more than two classes.
    classes_, n_features_in_, n_iter_, status_
        As for every classifier here.

    Notes
    -----
    Weights play no part, as there is no slack to weigh: a point is there, or (weight 0) it is not.

    Examples
    --------
    >>> from separatrix import HardMarginSVC
    >>> model = HardMarginSVC().fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> model.coef_.round(9).tolist(), model.intercept_.round(9).tolist()
    ([[1.0]], [-2.0])
    >>> round(model.margin_, 9), model.support_.tolist()
    (1.0, [1, 2])
    """

    _elsewhere: ClassVar[Mapping[str, str]] = {
        "C": "a hard margin is C = infinity; use SVC for a finite C.",
        "class_weight": "there is no slack to weigh.",
        "max_iter": "the method ends by itself.",
        "cache_size": "the points that decide about the margin are few.",
    }

    kernel: Any = "linear"
    _: KW_ONLY
    degree: int = 3
    gamma: str | float = "scale"
    coef0: float = 0.0
    tol: float = 1e-4
    fit_intercept: bool = True
    decision_function_shape: str = "ovr"
    trace: bool = False

    def _settings(self) -> Settings:
        parameters.flags(self, "fit_intercept", "trace")
        return Settings(
            C=np.inf,
            tol=parameters.positive("tol", self.tol),
            max_iter=MOST_TOLD,  # of a traced fit; others end by themselves
            fit_intercept=bool(self.fit_intercept),
            trace=Trace() if self.trace else None,
        )
