"""No certificate leaves a fit that its own check would refuse on the rows of that fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from separatrix.errors import ConvergenceWarning
from separatrix.outcome import Fit, Status

# entries of X (of a kernel matrix, for points that are no rows) up to which the check takes a few milliseconds; larger
# fits state numbers rounded outward from the sums of their last pass, which the same check is tested to accept
CHECKED_ENTRIES = 1 << 17
CHECKED_PARTS = 200  # machines, one for each pair of classes, say: each is checked by itself


def checked(fit: Fit, entries: int, X: Any, y: Any, sample_weight: Any) -> Fit:
    """The fit with its certificate if that holds, and without it, as not certified, if not."""
    sure = fit.sure and type(X) is type(y) is np.ndarray  # then what was learned is plainly what would be checked
    if fit.certificate is None or sure or entries > CHECKED_ENTRIES or len(fit.certificate.all_parts) > CHECKED_PARTS:
        return fit
    try:
        verification = fit.certificate.verify(X, y, sample_weight)
    except ValueError as error:
        reason = str(error)
    else:
        if verification:
            return fit
        reason = next(str(check) for check in verification.checks if not check)
    warning = ConvergenceWarning(
        f"What was found may well be right, but rounding keeps it from being certified, so there is no certificate "
        f"({' '.join(reason.split())}). Raise tol, or bring the columns of X to similar size and near 0."
    )
    return replace(fit, certificate=None, status=Status.UNCERTIFIED, warnings=(*fit.warnings, warning))
