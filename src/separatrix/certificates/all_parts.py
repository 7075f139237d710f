"""Several tasks, several certificates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.certificates.base import Certificate, Check, Verification

TOLD = 3  # parts whose claims are read


@dataclass(frozen=True, eq=False, repr=False)
class All(Certificate):
    """Every part holds: one for each task, such as each class against the rest.

    Parameters
    ----------
    parts : sequence of Certificate
    """

    parts: Sequence[Certificate]

    @classmethod
    def of(cls, parts: Sequence[Certificate]) -> Certificate:
        """All of the parts; a single one as it is."""
        return parts[0] if len(parts) == 1 else cls(tuple(parts))

    @property
    def claim(self) -> str:
        """The parts' claims, one after the other; of many the first, for the others are alike."""
        claims = [part.claim for part in self.parts[:TOLD]]
        return " ".join(claims) + (f" And so for {more} more parts." if (more := len(self.parts) - TOLD) > 0 else "")

    @property
    def short(self) -> str:
        """The parts' claims in a few words: of parts of one kind as that kind tells them."""
        kinds = {type(part) for part in self.parts}
        return (kinds.pop() if len(kinds) == 1 else Certificate).short_of(self.parts)

    @property
    def all_parts(self) -> Sequence[Certificate]:
        """The parts."""
        return self.parts

    @property
    def zeros(self) -> Any:
        """Of sparse models, the weights that are proved 0, the rows of one part after those of another."""
        return np.vstack([part.zeros for part in self.parts])  # type: ignore[attr-defined]

    def for_column(self, j: int) -> Certificate:
        """The part that is about column j of a 0/1 matrix y; `LookupError` if there is none."""
        for part in self.parts:
            if part.column == j:
                return part
        raise LookupError(f"None of these {len(self.parts)} parts is about column {j} of y.")

    @property
    def in_sums(self) -> bool:
        """Whether the check is sums over a few rows at a time."""
        return all(part.in_sums for part in self.parts)

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        """Every part has to hold; one that says nothing at all holds nothing."""
        found = [part.verify(X, y, sample_weight) for part in self.parts]
        empty = tuple(Check("parts without a check", 1.0) for part in found if not part.checks)
        return Verification(tuple(check for part in found for check in part.checks) + empty)

    @classmethod
    def _check(cls, witnesses: Mapping[str, Any]) -> None:
        parts = witnesses["parts"]
        good = isinstance(parts, (list, tuple)) and len(parts) > 0
        if not good or not all(isinstance(part, Certificate) and not isinstance(part, All) for part in parts):
            raise ValueError("The field 'parts' of this All should be a list of certificates, none of them of parts.")
