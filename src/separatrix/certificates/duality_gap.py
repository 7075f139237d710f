"""How far a fit can be from the optimum of its objective: the value reached minus a proven lower bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from separatrix.certificates.base import Certificate


@dataclass(frozen=True, eq=False, repr=False)
class DualityGap(Certificate):
    """dual <= min F <= F at the weights = primal.

    Parameters
    ----------
    primal, dual : float
        The objective at the weights, rounded up, and the lower bound on its minimum, rounded down.
    tol : float
        The relative gap that was asked for, or the one reached if that is larger; at most 1. Rounding in the check may
        make up a tenth of it.
    """

    primal: float
    dual: float
    tol: float

    @property
    def gap(self) -> float:
        """primal - dual: at most this much could be gained."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """gap / |primal|, and 0 for 0/0."""
        return self.gap / max(abs(self.primal), 2.2e-308) if self.gap else 0.0

    @property
    def short(self) -> str:
        """What is claimed, in a few words."""
        return f"gap {self.relative_gap:.0e} of the optimum" if self.gap else "gap 0: the optimum"

    @classmethod
    def short_of(cls, parts: Sequence[Certificate]) -> str:
        """The largest of the gaps."""
        worst = max(part.relative_gap for part in parts if isinstance(part, DualityGap))
        return f"gap {worst:.0e} of the optimum or less ({len(parts)} parts)"
