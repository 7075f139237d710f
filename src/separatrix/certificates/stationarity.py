"""The estimate solves the equations that say the gradient of its objective is zero."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from separatrix.certificates._bayes import check_naive_bayes
from separatrix.certificates._cascade import check_cascade
from separatrix.certificates._categories import check_categories, check_complement
from separatrix.certificates._centroids import check_centroids
from separatrix.certificates._data import Data, read
from separatrix.certificates._firth import check_firth
from separatrix.certificates._medians import check_medians
from separatrix.certificates._sigmoid import check_squared_error
from separatrix.certificates._squares import check_least_squares
from separatrix.certificates._witness import held_in
from separatrix.certificates.base import Certificate, Check, Verification

# each problem with its objective: part of the claim, so not for the certificate to choose
_PROBLEMS: Mapping[str, tuple[str, Callable[[Data, Stationarity], list[Check]]]] = {
    "cascade": (
        "C sum_i c_i loss_i + 1/2 sum_l ‖W_l‖², by the weights of every layer, those of the first in units of scale,",
        check_cascade,
    ),
    "categories": (
        "sum_i c_i log P(x_i, y_i), x_i categories that are independent in a class, with a penalty alpha * sum log P,",
        check_categories,
    ),
    "complement": (
        "sum_c sum_{i: y_i != c} c_i sum_j x_ij log p_cj, with a penalty alpha * sum log p,",
        check_complement,
    ),
    "centroids": ("sum_i c_i ‖x_i - mu(y_i)‖²", check_centroids),
    "firth": ("sum_i c_i log P(y_i | x_i) + 1/2 log det I, I the Fisher information,", check_firth),
    "least_squares": ("sum_i c_i (y_i - w.x_i - b)², y_i = ±1,", check_least_squares),
    "medians": ("sum_i c_i ‖x_i - m(y_i)‖₁, or a subgradient where it has none,", check_medians),
    "naive_bayes": (
        "sum_i c_i log p(x_i, y_i), with a penalty alpha * sum log p for smoothed counts, over variances and rates of "
        "at least eps times the column's own,",
        check_naive_bayes,
    ),
    "ridge": ("sum_i c_i (y_i - w.x_i - b)² + alpha ‖w‖², y_i = ±1,", check_least_squares),
    "shrunken_centroids": (
        "1/2 sum_i c_i ‖x_i - mu(y_i)‖² + t sum_c n_c e_c sum_j s_j |mu_cj - m_j|, e_c s_j the standard errors of the "
        "centroids about the mean m of all rows, or a subgradient where it has none,",
        check_centroids,
    ),
    "shrunken_medians": (
        "sum_i c_i ‖x_i - m(y_i)‖₁ + t sum_c sqrt(n_c (1 - n_c / n)) ‖m_c - m‖₁, m the medians of all n rows, or a "
        "subgradient where it has none,",
        check_medians,
    ),
    "squared_error": ("C sum_i c_i (t_i - sigma(w.x_i + b))² + 1/2 ‖w‖², t_i = 0 or 1,", check_squared_error),
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
        Which equations: "cascade", "categories", "centroids", "complement", "firth", "least_squares", "medians",
        "naive_bayes", "ridge", "shrunken_centroids", "shrunken_medians" or "squared_error".
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
        if self.problem == "cascade":
            terms = {"log": "-log p(y_i | x_i)", "squared_error": "‖t_i - p(x_i)‖²"}
            objective = objective.replace("loss_i", terms.get(str(self.witness.get("loss")), "loss_i"))
        if "alpha" in objective:
            objective = objective.replace("alpha", f"{float(self.witness['alpha']):g}")
            given = self.witness.get("priors_given") and self.problem != "complement"  # whose scores have no priors
            objective += " at the given priors," if given else ""
        return objective

    @property
    def claim(self) -> str:
        """What is claimed, in one sentence, and for an objective that is not convex a second."""
        tol = self.witness.get("tol")
        unit = {"firth": "standard errors", "cascade": "of C sum_i c_i"}.get(self.problem, "of its scale")
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
        held_in(self.witness, ("coef", "intercept", "centroids", "coefs", "intercepts"), self.unit)
        data = read(X, y, sample_weight, self.classes, self.class_weight)
        return Verification(tuple(_PROBLEMS[self.problem][1](data, self)))
