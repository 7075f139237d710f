"""What may be claimed of an estimate whose equations hold up to rounding, and the certificate that claims it."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.certificates import Stationarity
from separatrix.design import Design
from separatrix.targets import Targets

SHARP = 1e-8  # a relative gradient that counts as zero up to rounding
LOOSEST = 0.5  # and the largest that may be claimed, whatever tol
ROUNDING = 0.05  # of what is claimed: the largest share of rounding; the check allows for twice this


def claimed(reached: float, rounding: float, *tolerances: float) -> float | None:
    """The first tolerance that holds for what was reached, known up to ``rounding``, or None."""
    return next((tol for tol in tolerances if reached + rounding <= tol and rounding <= ROUNDING * tol), None)


def within(reached: float, rounding: float, tol: float) -> float | None:
    """The same for an estimate that is to be within tol: zero up to rounding, or tol itself."""
    return claimed(reached, rounding, SHARP, min(tol, LOOSEST)) if reached <= tol else None


def stationarity(problem: str, design: Design, targets: Targets, **witness: Any) -> Stationarity:
    """The certificate of an estimate, in the number type that the model is stored in."""
    unit = float(np.finfo(design.dtype).eps)
    return Stationarity(problem, targets.classes, targets.class_weight, unit, witness)
