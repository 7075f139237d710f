"""The estimate solves the equations that say the gradient of its objective is zero."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from separatrix.certificates._bayes import check_naive_bayes
from separatrix.certificates._centroids import check_centroids
from separatrix.certificates._data import Data, read
from separatrix.certificates._firth import check_firth
from separatrix.certificates._sigmoid import check_squared_error
from separatrix.certificates._squares import check_least_squares
from separatrix.certificates._witness import held_in
from separatrix.certificates.base import Certificate, Check, Verification

# each problem with its objective: part of the claim, so not for the certificate to choose
_PROBLEMS: Mapping[str, tuple[str, Callable[[Data, Stationarity], list[Check]]]] = {
    "centroids": ("sum_i c_i ‖x_i - mu(y_i)‖²", check_centroids),
    "firth": ("sum_i c_i log P(y_i | x_i) + 1/2 log det I, I the Fisher information,", check_firth),
    "least_squares": ("sum_i c_i (y_i - w.x_i - b)², y_i = ±1,", check_least_squares),
    "naive_bayes": (
        "sum_i c_i log p(x_i, y_i), with a penalty alpha * sum log p for smoothed counts, over variances and rates of "
        "at least eps times the column's own,",
        check_naive_bayes,
    ),
    "squared_error": (
        "C sum_i c_i (t_i - sigma(w.x_i + b))² + 1/2 ‖w‖², t_i = 0 or 1,",
        check_squared_error,
    ),
}
# what the Hessian's eigenvalues say of the point
_KINDS = {
    "local minimum": "The Hessian is positive definite there: a local minimum.",
    "saddle": "The Hessian has a negative eigenvalue there: a saddle.",
    "flat": "The Hessian has an eigenvalue near 0 there, and none below: flat in some direction.",
    "unsettled": "The Hessian is positive definite there, but a minimum is still some way off.",
    "unexamined": "The Hessian was not looked at.",
}
_UNITS = tuple(float(np.finfo(dtype).eps) for dtype in (np.float32, np.float64))


@dataclass(frozen=True, eq=False, repr=False)
class Stationarity(Certificate):
    """The gradient of the objective is zero at the estimate, up to rounding.

    Parameters
    ----------
    problem : str
        Which equations: "centroids", "firth", "least_squares", "naive_bayes" or "squared_error".
    classes : array of shape (k,)
        The labels, in the order of the witnesses.
    class_weight : array of shape (k,) or None
        The factor of each class in the weights c_i.
    unit : float
        Machine epsilon of the numbers the model is stored in.
    witness : mapping
        The estimate: what the equations are about, and the weights that follow from it.
    """

    problem: str
    classes: Any
    class_weight: Any
    unit: float
    witness: Mapping[str, Any]

    @property
    def objective(self) -> str:
        """The objective as a formula."""
        if self.problem not in _PROBLEMS:
            raise ValueError(f"No checker for the problem {self.problem!r}.")
        objective = _PROBLEMS[self.problem][0]
        if self.problem == "naive_bayes":
            objective = objective.replace("alpha *", f"{float(self.witness['alpha']):g} *")
            objective += " at the given priors," if self.witness.get("priors_given") else ""
        return objective

    @property
    def claim(self) -> str:
        """What is claimed, in one sentence, and for an objective that is not convex a second."""
        tol = self.witness.get("tol")
        unit = "standard errors" if self.problem == "firth" else "of its scale"
        accuracy = "rounding" if tol is None else f"{tol:g} {unit}"
        objective = self.objective
        if "C" in self.witness:
            C = float(self.witness["C"])
            penalised = objective.replace("C sum", f"{C:g} sum")
            objective = penalised if np.isfinite(C) else objective.replace("C sum", "sum").replace(" + 1/2 ‖w‖²", "")
        stated = f"The gradient of {objective} is zero at the estimate, up to {accuracy}."
        return stated if self.kind is None else f"{stated} {_KINDS.get(self.kind, '')}"

    @property
    def kind(self) -> str | None:
        """Of "squared_error": "local minimum", "saddle", "flat", "unsettled" or "unexamined"; else None."""
        kind = self.witness.get("kind")
        return None if kind is None else str(kind)

    short = "equations solved"

    @property
    def column(self) -> int | None:
        """The column of a 0/1 matrix y that this is about; None if y holds labels."""
        return self.witness.get("task")

    def about_column(self, j: int, classes: Any) -> Self:
        """The same equations, so far about a 0/1 vector, as those of column j of a matrix."""
        return replace(self, classes=classes, witness={**self.witness, "task": j})

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        if self.problem not in _PROBLEMS:
            raise ValueError(f"No checker for the problem {self.problem!r}.")
        if self.unit not in _UNITS:  # the allowance for rounding grows with it
            raise ValueError(f"unit must be the epsilon of float32 or float64; it is {self.unit!r}.")
        held_in(self.witness, ("coef", "intercept", "centroids"), self.unit)
        data = read(X, y, sample_weight, self.classes, self.class_weight)
        return Verification(tuple(_PROBLEMS[self.problem][1](data, self)))
