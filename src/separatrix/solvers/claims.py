"""Both sides of a minimum as a certificate states them, and the warning where these are too far apart."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from separatrix.certificates._data import ALLOWED
from separatrix.certificates._logistic import Bounds
from separatrix.certificates.duality_gap import DualityGap
from separatrix.errors import ConvergenceWarning

ROUNDED = 1.01  # of the errors of both sides are added to what is stated, for another order of summation
TINIEST = float(np.finfo(np.float64).tiny)

Claim = TypeVar("Claim", bound=DualityGap)


def statement(claim: Claim, sides: Bounds) -> tuple[Claim | None, bool]:
    """The certificate with its numbers rounded outward, and whether it is within its tol; None if rounding drowns it.

    Rounding gets half of what the check allows, so that another order of summation does not take it beyond.
    """
    primal = sides.primal + ROUNDED * sides.primal_error
    dual = min(max(sides.dual - ROUNDED * sides.dual_error, 0.0), primal)
    if not (np.isfinite(primal) and np.isfinite(dual)):
        return None, False
    scale = max(abs(primal), TINIEST)
    reached = max((primal - dual) / scale, sides.error / (0.5 * ALLOWED * scale))
    if not reached <= 1.0:
        return None, False
    certified = reached <= claim.tol
    tol = min(claim.tol if certified else reached * (1.0 + 1e-12), 1.0)
    return replace(claim, primal=primal, dual=dual, tol=tol), certified


def not_converged(
    n_iter: int, certificate: DualityGap | None, stalled: bool, tol: float, remedy: str = "raise tol"
) -> ConvergenceWarning:
    """What was reached, and what to do; the remedy is for where rounding allows no better."""
    advice = f"rounding allows no better: {remedy}." if stalled else "raise max_iter, or tol."
    reached = "an unknown gap" if certificate is None else f"a relative gap of {certificate.relative_gap:.1e}"
    return ConvergenceWarning(
        f"Stopped after {n_iter} iterations at {reached}, not proved to be within tol={tol:g}; {advice}"
    )
