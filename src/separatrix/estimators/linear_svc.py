"""LinearSVC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from separatrix._typing import Floats
from separatrix.certificates import HingeGap
from separatrix.errors import InvalidInputError
from separatrix.estimators.base import Classifier
from separatrix.estimators.elastic_net import sparse_svc
from separatrix.estimators.parameters import flags, one_of, positive, whole
from separatrix.estimators.stream import Stream
from separatrix.estimators.validation import Sample
from separatrix.outcome import Fit, Trace
from separatrix.svm.linear.descent_by_rows import one_pass
from separatrix.svm.linear.machine import Start
from separatrix.svm.linear_svc import Settings, learn


@dataclass(eq=False, repr=False)
class LinearSVC(Stream, Classifier):
    """min over (w, b) of 1/2 ‖w‖² + C sum_i c_i max(0, 1 - y_i (w.x_i + b)), certified to the relative gap `tol`.

    The intercept is free, so that for two classes this is the same model as ``SVC(kernel="linear")``. More than two
    classes: each against the rest. ``loss="squared_hinge"`` squares the slacks; ``C=np.inf`` is the hard margin.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the slacks; ``np.inf`` for a hard margin, which raises `NotSeparableError` where there is none.
    loss : {"hinge", "squared_hinge"}, default="hinge"
    fit_intercept : bool, default=True
        Whether b is free; otherwise it is 0.
    class_weight : dict, "balanced" or None, default=None
        Factors of the classes, multiplied into the sample weights.
    tol : float, default=1e-4
        Largest certified relative suboptimality. Small problems go to machine precision.
    max_iter : int, default=1000
        Iterations (interior-point, Newton, or passes of coordinate descent) after which to give up, with a
        `ConvergenceWarning` that states the gap reached.
    warm_start : bool, default=False
        Whether to go on from the previous fit, as along a path of C. Interior-point fits need no start.
    penalty : {"l2", "l1"}, default="l2"
        "l1" replaces 1/2 ‖w‖² by ‖w‖₁, for either loss: most weights are exactly 0 then. Of the hinge it is a linear
        program, for which ``warm_start`` has no effect, and an iteration is as many steps of the simplex method as
        X has rows and columns.
    multi_class : "ovr"
        As scikit-learn has it; other values raise an error that says what to use.
    dual, intercept_scaling, random_state, verbose
        Without effect: the method is chosen by the shape of the data, the intercept is not penalised, nothing is
        random, and the certificate says how the fit went.
    trace : bool, default=False
        Whether to solve by single moves of sequential minimal optimisation, for study, and to record each in
        ``trace_``. Then max_iter counts moves.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,), or (k, d) and (k,)
        The hyperplanes.
    certificate_ : HingeGap, MarginBracket for a hard margin, ElasticNetGap for an L1 penalty, or All of these
        The objective and a proven lower bound on its minimum, with the Karush-Kuhn-Tucker conditions.
    support_ : integer array
        The rows with a positive multiplier, in any of the machines: on the margin or beyond it.
    dual_coef_ : array of shape (1, m) or (k, m)
        alpha_i y_i of these rows, in each machine: at the optimum ``coef_`` is ``dual_coef_ @ X[support_]``, whichever
        the loss. So it is up to rounding where a fit of the hinge goes to machine precision, as small ones do; else
        1/2 ‖difference‖² is at most the certified gap. Of "squared_hinge", alpha_i = 2 C c_i xi_i is not bounded by C.
    slack_ : array of shape (n,) or (n, k)
        xi_i = max(0, 1 - y_i (w.x_i + b)) of the rows used in training; xi_i / ‖w‖ is the violation as a distance.
    margin_ : float or array of shape (k,)
        1 / ‖w‖, the distance from the boundary to the margin.
    trace_ : Trace
        With ``trace=True``: step, point and other (the rows whose alpha y rose and fell, -1 for none), objective, gap,
        mistakes, weights (intercept last); and task, for more than two classes. Of a hard margin, margin (of these
        weights) and bound (which no margin is above) in place of objective and gap.
    n_nonzero_ : int
        With an L1 penalty, how many entries of ``coef_`` are not 0; ``certificate_.zeros`` tells of which ones it is
        proved that they are 0 in every optimum (squared hinge only).
    classes_, n_features_in_, n_iter_, status_, hyperplane_
        As for every classifier here.

    Examples
    --------
    >>> from separatrix import LinearSVC
    >>> model = LinearSVC().fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> model.coef_.round(9).tolist(), model.intercept_.round(9).tolist()
    ([[1.0]], [-2.0])
    >>> model.support_.tolist(), round(model.margin_, 9)
    ([1, 2], 1.0)
    """

    _only: ClassVar[Mapping[str, tuple[tuple[Any, ...], str]]] = {
        "penalty": (("l1", "l2"), "it is 'l2', 1/2 ‖w‖², or 'l1', ‖w‖₁."),
        "multi_class": (("ovr",), "more than two classes are one-vs-rest; use sklearn.svm.LinearSVC for the other."),
    }

    C: float = 1.0
    _: KW_ONLY
    loss: str = "hinge"
    fit_intercept: bool = True
    class_weight: Mapping[Any, float] | str | None = None
    tol: float = 1e-4
    max_iter: int = 1000
    warm_start: bool = False
    penalty: str = "l2"
    dual: bool | str = "auto"
    multi_class: str = "ovr"
    intercept_scaling: float = 1.0
    random_state: Any = None
    verbose: int = 0
    trace: bool = False

    def _learn(self, sample: Sample) -> Fit:
        flags(self, "fit_intercept", "warm_start", "trace")
        if self.trace and self.penalty != "l2":
            raise InvalidInputError("trace=True is for penalty='l2': an L1 penalty has no moves of pairs.", "trace")
        settings = Settings(
            C=np.inf if isinstance(self.C, float) and np.isposinf(self.C) else positive("C", self.C),
            loss=one_of("loss", self.loss, ("hinge", "squared_hinge")),
            tol=positive("tol", self.tol),
            max_iter=whole("max_iter", self.max_iter, at_least=1),
            starts=self._starts(sample),
            trace=Trace() if self.trace else None,
        )
        return sparse_svc(self, sample, settings) if self.penalty == "l1" else learn(sample, settings)

    def _descend(self, sample: Sample, W: Floats, calls: int) -> None:
        if self.penalty != "l2":
            raise InvalidInputError("partial_fit is for penalty='l2'.", "penalty")
        one_pass(sample, positive("C", self.C), one_of("loss", self.loss, ("hinge", "squared_hinge")), W, calls)

    def _starts(self, sample: Sample) -> list[Start] | None:
        """The weights and multipliers of the previous fit, if it was to as many rows of the same shape."""
        before = self.__dict__.get("certificate_")
        parts = [part for part in before.all_parts if isinstance(part, HingeGap)] if before is not None else []
        fits = (
            self.warm_start
            and parts
            and np.array_equal(self._labels, sample.targets.classes)
            and self.coef_.shape[1] == sample.design.d
            and all(len(part.points) == 0 or part.points.max() < sample.n_given for part in parts)
        )
        if not fits:
            return None
        starts = []
        for part in parts:
            alpha = np.zeros(sample.n_given)
            alpha[part.points] = part.alpha
            starts.append(Start(np.asarray(part.coef, dtype=np.float64), part.intercept, alpha[sample.kept]))
        return starts
