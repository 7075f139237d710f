"""What a learner learns from: rows, labels and weights, checked."""

from __future__ import annotations

from dataclasses import dataclass

from separatrix._typing import Floats, Integers
from separatrix.design.base import Design
from separatrix.targets import Targets


@dataclass(frozen=True)
class Sample:
    """Of the `n_given` rows, those of weight 0 are left out; `kept` are the others."""

    design: Design
    targets: Targets
    weight: Floats
    kept: Integers | slice
    n_given: int
