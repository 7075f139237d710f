"""The spectrum kernel: strings are alike when they share substrings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from separatrix.kernels.counts import CountKernel, Vocabulary
from separatrix.kernels.lists import as_list
from separatrix.kernels.settings import flag, whole


@dataclass(frozen=True)
class Spectrum(CountKernel, name="spectrum"):
    """k(a, b) = sum_u count(u in a) count(u in b), over all strings u of k characters.

    Occurrences may overlap: "aaa" holds "aa" twice. A string shorter than k holds none, and is at zero.

    Parameters
    ----------
    k : int
        The length of the substrings, at least 1.
    normalize : bool, default=False
        Divide by sqrt(k(a, a) k(b, b)): the cosine, in which long strings weigh no more than short ones.

    References
    ----------
    C. Leslie, E. Eskin, W. S. Noble, "The spectrum kernel: a string kernel for SVM protein classification",
    Pacific Symposium on Biocomputing, 2002.
    """

    k: int
    normalize: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole("k", self.k, at_least=1))
        object.__setattr__(self, "normalize", flag("normalize", self.normalize))

    def check(self, X: Any) -> list[str]:
        """``X`` as a list of strings; TypeError names the first element that is none."""
        points = as_list(X, self, "strings")
        for position, point in enumerate(points):
            if not isinstance(point, str):
                kind = type(point).__name__
                raise TypeError(f"{self} takes strings: element {position} is {point!r} (type {kind})")
        return points

    def parts(self, point: str, vocabulary: Vocabulary) -> list[int]:
        starts = range(len(point) - self.k + 1)
        return list(map(vocabulary.__getitem__, [point[start : start + self.k] for start in starts]))
