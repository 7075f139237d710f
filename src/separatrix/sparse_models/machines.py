"""Linear support vector machines with an L1 penalty: ‖w‖₁ + C sum_i c_i loss(y_i (w.x_i + b)), one for each task."""

from __future__ import annotations

import numpy as np

from separatrix._typing import Floats, Integers
from separatrix.certificates import All
from separatrix.certificates._data import Data
from separatrix.design import Design
from separatrix.geometry import Hyperplanes
from separatrix.outcome import Fit
from separatrix.solvers.soft_margin import attributes_of
from separatrix.sparse_models.fit import Settings, Start, certify, ended, sparse_model
from separatrix.sparse_models.hinge import sparse_hinge
from separatrix.sparse_models.vertex import vertex
from separatrix.targets import Targets


def sparse_machines(
    design: Design, targets: Targets, weight: Floats, kept: Integers, settings: Settings, start: Start = None
) -> Fit:
    """Two classes, or each against the rest; ``kept`` are the rows' positions in the data as given."""
    signs = targets.signs(targets.values)
    fits, multipliers = [], []
    for task, y in enumerate(np.ascontiguousarray(signs.T)):
        positive = targets.positive(task)
        if settings.loss == "hinge":
            fit, a = hinge(design, targets, weight, y, positive, settings)
        else:
            begin = None if start is None else (start[0][task : task + 1], start[1][task : task + 1])
            fit = sparse_model(design, targets, weight, settings, begin, positive)
            a = 2.0 * settings.C * weight * slacks(design, fit.model, y)
        fits.append(fit)
        multipliers.append(a)
    model = Hyperplanes(
        np.vstack([fit.model.coef for fit in fits]), np.concatenate([fit.model.intercept for fit in fits])
    )
    slack = np.column_stack([slacks(design, fit.model, y) for fit, y in zip(fits, signs.T, strict=True)])
    attributes = attributes_of(targets, signs, np.array(multipliers), slack, model.coef, kept, design.dtype)
    worst = max(fits, key=lambda fit: len(fit.warnings))
    proved = [fit.certificate for fit in fits if fit.certificate is not None]
    return Fit(
        model,
        All.of(proved) if len(proved) == len(fits) else None,
        worst.status,
        n_iter=max(fit.n_iter for fit in fits),
        attributes={**attributes, "n_nonzero_": int(np.count_nonzero(model.coef))},
        warnings=worst.warnings,
    )


def hinge(
    design: Design, targets: Targets, weight: Floats, y: Floats, positive: int, settings: Settings
) -> tuple[Fit, Floats]:
    """The linear program of one task, and its multipliers; small ones without rounding, which proves weights 0."""
    found = sparse_hinge(design, y, settings.C * weight, settings.max_iter)
    data = design.lend(Data, targets.values, weight)
    w, b = found.coef[0], float(found.intercept[0])
    exact = vertex(data, y, settings.C, w, b, found.multipliers, design.intercept)
    if exact is not None:
        W = exact.weights.astype(np.float64)
        model = Hyperplanes(design.rounded(W[:, :-1]), design.rounded(W[:, -1]))
        certificate, certified = certify(
            design, targets, weight, model, settings, positive, exact.weights, exact.multipliers
        )
        if certified and certificate is not None and certificate.zeros.any():
            return ended(model, certificate, True, found.n_iter, True, settings.tol), exact.multipliers.astype(float)
    model = Hyperplanes(design.rounded(found.coef), design.rounded(found.intercept))
    certificate, certified = certify(design, targets, weight, model, settings, positive, multipliers=found.multipliers)
    return ended(model, certificate, certified, found.n_iter, found.ended, settings.tol), found.multipliers


def slacks(design: Design, model: Hyperplanes, y: Floats) -> Floats:
    """max(0, 1 - y_i (w.x_i + b))."""
    anchored = design.anchored()
    return np.maximum(0.0, 1.0 - y * anchored.dot(anchored.from_user_units(model.coef, model.intercept))[:, 0])
