"""What a kernel learner learns from: points, labels and weights, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix._typing import Floats, Integers
from separatrix.certificates._kernels import take
from separatrix.kernels.base import Kernel
from separatrix.kernels.precomputed import Precomputed, PrecomputedColumns
from separatrix.kernels.rows import KernelRows
from separatrix.targets import Targets


@dataclass(frozen=True)
class KernelSample:
    """Of the `n_given` points, those of weight 0 are left out; `kept` are the others."""

    kernel: Kernel
    points: Any
    targets: Targets
    weight: Floats
    kept: Integers | slice
    n_given: int

    def support(self, index: Integers) -> tuple[KernelRows, Integers, Any]:
        """The chosen points: to compare others with, their positions among those given, and themselves."""
        given = np.arange(self.n_given)[self.kept][index]
        if isinstance(self.kernel, Precomputed):
            columns = PrecomputedColumns(given, self.n_given)
            return KernelRows(self.kernel, columns), given, np.empty((0, 0))
        points = take(self.points, index)
        return KernelRows(self.kernel, points, checked=True), given, points
