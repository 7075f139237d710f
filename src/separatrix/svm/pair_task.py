"""What the pairs of classes of one fit have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from separatrix._typing import Floats, Integers
from separatrix.cached import cached_property
from separatrix.kernels import KernelRows
from separatrix.perceptron.kernel_perceptron import plain_settings
from separatrix.svm.kernel_claims import kernel_unit
from separatrix.svm.kernel_svm import Settings
from separatrix.targets import Targets


@dataclass(frozen=True)
class Task:
    """All that the pairs have in common."""

    rows: KernelRows
    points: Any  # as given, but in float64 unless the kernel is linear
    targets: Targets
    weight: Floats
    kept: Integers  # positions of the rows among those given
    settings: Settings
    n_given: int

    @cached_property
    def unit(self) -> float:
        """How far a kernel value of any two points can be from the true one."""
        return kernel_unit(self.rows)

    @cached_property
    def kernel(self) -> Mapping[str, Any] | None:
        """The kernel as certificates hold it."""
        return plain_settings(self.rows.kernel)
