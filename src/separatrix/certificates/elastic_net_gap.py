"""The duality gap of a sparse model, and the weights that it proves 0."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from separatrix.certificates._data import read
from separatrix.certificates._elastic_net import check_elastic_net
from separatrix.certificates._exact import numbers
from separatrix.certificates._witness import classes_of, factors, flag, number, position, shaped, tolerance
from separatrix.certificates.base import Verification
from separatrix.certificates.duality_gap import DualityGap

LOSSES = {
    "log": "log(1 + exp(-y_i (w.x_i + b)))",
    "squared_hinge": "max(0, 1 - y_i (w.x_i + b))²",
    "hinge": "max(0, 1 - y_i (w.x_i + b))",
}


@dataclass(frozen=True, eq=False, repr=False)
class ElasticNetGap(DualityGap):
    """dual <= min F <= F(w, b) = primal, for F = C sum_i c_i loss_i + l1_ratio ‖w‖₁ + (1 - l1_ratio)/2 ‖w‖².

    The dual point follows from the weights, but for the hinge: it is the slopes of the losses, made to sum to 0 and
    made so small that they are feasible. See `_elastic_net`.

    Parameters
    ----------
    loss : str
        "log" (softmax for more than two classes), "squared_hinge" or "hinge".
    C, l1_ratio : float
        Weight of the losses, and the share of ‖w‖₁ in the penalty, from 0 to 1.
    classes : array of shape (k,)
        The labels.
    class_weight : array of shape (k,) or None
        The factor of each class in the weights c_i.
    positive : int or None
        The position in `classes` of the label with y_i = +1, against all others; None for softmax and for a matrix y.
    task : int or None
        The column of a 0/1 matrix y that this is about; None if y holds labels.
    coef, intercept : arrays of shape (1, d) and (1,), or (k, d) and (k,)
        The weights.
    fit_intercept : bool
        Whether b is free.
    dual_weights : array of shape (1, d + 1) or (k, d + 1), or None
        The weights, intercept last, that the dual point follows from, if those of the model were rounded to float32:
        the objective hardly feels that, but slopes do. Of the hinge: an optimum as fractions, if zeros are proved.
    multipliers : array of shape (n,) or None
        Of the hinge: 0 <= a_i <= C c_i for each row of a weight above 0; as fractions, if zeros are proved.
    zeros : array of bool, of the shape of coef
        The weights that are proved to be 0 in every optimum.
    primal, dual, tol : float
        As for every `DualityGap`.
    """

    loss: str
    C: float
    l1_ratio: float
    classes: Any
    class_weight: Any
    positive: int | None
    task: int | None
    coef: Any
    intercept: Any
    fit_intercept: bool
    dual_weights: Any
    multipliers: Any
    zeros: Any

    in_sums = True

    @property
    def claim(self) -> str:
        """What is claimed, in one sentence."""
        pointwise = LOSSES[self.loss] if len(self.coef) == 1 else "-log softmax(W x_i + b)[y_i]"
        r, zeros = self.l1_ratio, int(np.count_nonzero(self.zeros))
        penalty = "‖w‖₁" if r == 1 else f"{r:g} ‖w‖₁ + {0.5 * (1 - r):g} ‖w‖²"
        proved = f"; {zeros} of {np.size(self.zeros)} weights are 0 in every optimum" if zeros else ""
        return (
            f"{self.C:g} sum_i c_i {pointwise} + {penalty} is {self.primal:.10g} here, and at least {self.dual:.10g} "
            f"everywhere: a relative gap of {self.relative_gap:.1e}{proved}."
        )

    def about_column(self, j: int, classes: Any) -> Self:
        """The same gap, so far about a 0/1 vector, as one about column j of a matrix."""
        return replace(self, classes=classes, task=j, positive=None)

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        self._validate()
        data = read(X, y, sample_weight, self.classes, self.class_weight)
        if np.shape(self.coef)[1] != data.X.shape[1] or data.values.ndim != (1 if self.task is None else 2):
            raise ValueError(f"X or y does not fit to coef of shape {np.shape(self.coef)} and task {self.task!r}.")
        if self.loss == "hinge":
            numbers(self.multipliers, "multipliers", len(data.weight))
        return Verification(tuple(check_elastic_net(data, self)))

    def _validate(self) -> None:
        """`ValueError` for a field without meaning, by name."""
        k = len(classes_of(self.classes))
        factors(self.class_weight, k)
        if self.loss not in LOSSES:
            raise ValueError(f"The field 'loss' must be one of {', '.join(LOSSES)}; it is {self.loss!r:.80}.")
        for name in ("task", "positive"):
            if getattr(self, name) is not None:
                position(getattr(self, name), name, k)
        if self.task is not None and self.positive is not None:
            raise ValueError("The fields 'task' and 'positive' exclude each other.")
        softmax = self.task is None and self.positive is None
        if softmax and (self.loss != "log" or k == 2):
            raise ValueError("Without the fields 'task' and 'positive' this is softmax, of three classes or more.")
        K = k if softmax else 1
        coef = shaped(self.coef, "coef", K, np.shape(self.coef)[-1] if np.ndim(self.coef) == 2 else 0)
        intercept = shaped(self.intercept, "intercept", K)
        if self.dual_weights is not None:
            numbers(self.dual_weights, "dual_weights", K, coef.shape[1] + 1)
        number(self.C, "C", 0.0)
        if not 0.0 <= number(self.l1_ratio, "l1_ratio") <= 1.0:
            raise ValueError(f"The field 'l1_ratio' must be from 0 to 1; it is {self.l1_ratio!r:.80}.")
        tolerance(self.tol)
        for name in ("primal", "dual"):
            number(getattr(self, name), name)
        if not flag(self.fit_intercept, "fit_intercept") and intercept.any():
            raise ValueError("The field 'intercept' must be 0, as 'fit_intercept' is False.")
        if (self.multipliers is None) is (self.loss == "hinge"):
            raise ValueError("The field 'multipliers' is for loss='hinge', which needs it, and for no other.")
        zeros = np.asarray(self.zeros)
        if zeros.dtype != np.bool_ or zeros.shape != coef.shape:
            raise ValueError(f"The field 'zeros' must hold truth values, of shape {coef.shape}.")
