"""Several tasks, several certificates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from separatrix.certificates.base import Certificate, Verification

TOLD = 3  # parts whose claims are read


@dataclass(frozen=True, eq=False)
class All(Certificate):
    """Every part holds: one for each task, such as each class against the rest.

    Parameters
    ----------
    parts : sequence of Certificate
    """

    parts: Sequence[Certificate]

    @property
    def claim(self) -> str:
        """The parts' claims, one after the other; of many the first, for the others are alike."""
        claims = [part.claim for part in self.parts[:TOLD]]
        return " ".join(claims) + (f" And so for {more} more parts." if (more := len(self.parts) - TOLD) > 0 else "")

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        checks = (part.verify(X, y, sample_weight).checks for part in self.parts)
        return Verification(tuple(check for part in checks for check in part))
