"""The duality gap of logistic regression."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from separatrix.certificates._data import read
from separatrix.certificates._logistic import bounds, check_gap
from separatrix.certificates._witness import classes_of, factors, flag, number, position, shaped, tolerance
from separatrix.certificates.base import Verification
from separatrix.certificates.duality_gap import DualityGap


@dataclass(frozen=True, eq=False, repr=False)
class LogisticGap(DualityGap):
    """dual <= min F <= F(w, b) = primal, for F = C sum_i c_i loss_i + 1/2 ‖w‖².

    The dual point follows from the weights, so that nothing but these need be kept. For ``loss="log"`` it is the
    probabilities P of the fit, mixed with a constant prediction just enough that the residuals of each class sum to 0;
    then dual = C sum_i c_i entropy(P_i) - 1/2 ‖C sum_i c_i (P_i - Y_i) x_i'‖². With ``C = inf`` the bound is Newton's
    decrement instead: see ``bound``.

    Parameters
    ----------
    loss : str
        "log".
    C : float
        Weight of the losses; inf for no penalty.
    classes : array of shape (k,)
        The labels.
    class_weight : array of shape (k,) or None
        The factor of each class in the weights c_i.
    coef, intercept : arrays of shape (1, d) and (1,), or (k, d) and (k,)
        The weights.
    fit_intercept : bool
        Whether b is free.
    reference : bool
        Whether the last of several classes has the weights 0 by convention.
    task : int or None
        The column of a 0/1 matrix y that this is about; None if y holds labels.
    bound : str
        "fenchel", the dual value above; or "decrement": with lambda the gradient's and rho the largest row's length in
        the norm of the inverse Hessian, F - min F <= (x + (1 - x) log(1 - x)) / rho², x = lambda rho < 1. That holds on
        the space that the rows span; a direction counts as none of it only if every row is exactly 0 along it.
    primal, dual, tol : float
        As for every `DualityGap`.
    """

    loss: str
    C: float
    classes: Any
    class_weight: Any
    coef: Any
    intercept: Any
    fit_intercept: bool
    reference: bool
    task: int | None
    bound: str

    @property
    def claim(self) -> str:
        """What is claimed, in one sentence."""
        pointwise = "log(1 + exp(-y_i (w.x_i + b)))" if len(self.coef) == 1 else "-log softmax(W x_i + b)[y_i]"
        objective = (
            f"sum_i c_i {pointwise}" if float("inf") == self.C else f"{self.C:g} sum_i c_i {pointwise} + 1/2 ‖w‖²"
        )
        return (
            f"{objective} is {self.primal:.10g} here, and at least {self.dual:.10g} everywhere: "
            f"a relative gap of {self.relative_gap:.1e}."
        )

    @property
    def in_sums(self) -> bool:
        """Whether the check is sums over a few rows at a time."""
        return self.bound == "fenchel"

    def about_column(self, j: int, classes: Any) -> Self:
        """The same gap, so far about a 0/1 vector, as one about column j of a matrix."""
        return replace(self, classes=classes, task=j)

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        self._validate()
        data = read(X, y, sample_weight, self.classes, self.class_weight)
        d, labels = data.X.shape[1], data.values.ndim
        if np.shape(self.coef)[1] != d or labels != (1 if self.task is None else 2):
            raise ValueError(f"X or y does not fit to coef of shape {np.shape(self.coef)} and task {self.task!r}.")
        return Verification(tuple(check_gap(bounds(data, self), self)))

    def _validate(self) -> None:
        """`ValueError` for a field without meaning, by name."""
        k = len(classes_of(self.classes))
        factors(self.class_weight, k)
        K = 1 if self.task is not None or k == 2 else k
        coef = shaped(self.coef, "coef", K, np.shape(self.coef)[-1] if np.ndim(self.coef) == 2 else 0)
        intercept = shaped(self.intercept, "intercept", K)
        tolerance(self.tol)
        for name in ("primal", "dual"):
            number(getattr(self, name), name)
        if self.loss != "log" or self.bound not in ("fenchel", "decrement"):
            raise ValueError(f"The fields 'loss' and 'bound' have no meaning: {self.loss!r:.80}, {self.bound!r:.80}.")
        if np.inf != self.C or self.bound == "fenchel":
            number(self.C, "C", 0.0)
        if not flag(self.fit_intercept, "fit_intercept") and intercept.any():
            raise ValueError("The field 'intercept' must be 0, as 'fit_intercept' is False.")
        if flag(self.reference, "reference") and K > 1 and (coef[-1].any() or intercept[-1]):
            raise ValueError("The last rows of the fields 'coef' and 'intercept' must be 0, as 'reference' is True.")
        if self.task is not None:
            position(self.task, "task", k)
