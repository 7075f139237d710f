"""What a machine claims: how far its objective can be from the best, and the certificate that says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from separatrix._typing import Integers
from separatrix.certificates import HingeGap
from separatrix.targets import Targets


class Bracketed:
    """An objective that was reached, a bound on its minimum, and the relative gap that rounding alone makes."""

    primal: float
    dual: float
    doubt: float

    @property
    def relative_gap(self) -> float:
        """(primal - dual) / |primal|, 0 for 0/0; or what rounding leaves in doubt, if that is more."""
        gap = (self.primal - self.dual) / abs(self.primal) if self.primal > self.dual else 0.0
        return max(gap, self.doubt)


def hinge_gap(
    machine: Any,
    targets: Targets,
    settings: Any,
    intercept: bool,
    sides: tuple[int, int | None],
    rows: Integers,
    kernel: Mapping[str, Any] | None = None,
) -> HingeGap | None:
    """The certificate of a machine of two sides; None if rounding leaves nothing to claim.

    ``rows`` are the positions of its points among those given. With a kernel, its weights are an expansion.
    """
    if not machine.relative_gap <= 1.0:
        return None
    expansion = None if kernel is None else machine.expansion
    used = np.flatnonzero(machine.alpha if expansion is None else (machine.alpha != 0) | (expansion != 0))
    return HingeGap(
        primal=machine.primal,
        dual=machine.dual,
        tol=min(1.0, max(settings.tol, machine.relative_gap)),
        loss=settings.loss,
        C=settings.C,
        classes=targets.classes,
        class_weight=targets.class_weight,
        positive=sides[0],
        negative=sides[1],
        fit_intercept=intercept,
        coef=machine.w if kernel is None else None,
        intercept=machine.b,
        kernel=kernel,
        points=rows[used],
        alpha=machine.alpha[used],
        expansion=None if expansion is None else expansion[used],
    )
