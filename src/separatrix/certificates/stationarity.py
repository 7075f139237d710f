"""The estimate solves the equations that say the gradient of its objective is zero."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from separatrix.certificates._bayes import check_naive_bayes
from separatrix.certificates._centroids import check_centroids
from separatrix.certificates._data import Data, read
from separatrix.certificates._squares import check_least_squares
from separatrix.certificates.base import Certificate, Check, Verification

_CHECKERS: Mapping[str, Callable[[Data, Stationarity], list[Check]]] = {
    "centroids": check_centroids,
    "least_squares": check_least_squares,
    "naive_bayes": check_naive_bayes,
}


@dataclass(frozen=True, eq=False)
class Stationarity(Certificate):
    """The gradient of the objective is zero at the estimate, up to rounding.

    Parameters
    ----------
    problem : str
        Which equations: "centroids", "least_squares" or "naive_bayes".
    objective : str
        The objective as a formula.
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
    objective: str
    classes: Any
    class_weight: Any
    unit: float
    witness: Mapping[str, Any]

    @property
    def claim(self) -> str:
        """What is claimed, in one sentence."""
        return f"The gradient of {self.objective} is zero at the estimate, up to rounding."

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        if self.problem not in _CHECKERS:
            raise ValueError(f"No checker for the problem {self.problem!r}.")
        data = read(X, y, sample_weight, self.classes, self.class_weight)
        return Verification(tuple(_CHECKERS[self.problem](data, self)))
