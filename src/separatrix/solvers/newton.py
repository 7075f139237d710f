"""Newton-Raphson, damped so that it always converges on a convex risk."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import linalg

from separatrix._typing import Floats
from separatrix.problems.risk import Risk
from separatrix.solvers.driver import State

EPS = float(np.finfo(np.float64).eps)
FAR = 1e100  # of weights that diverge
SHORTEST = 1e-5  # of a step that is worth taking
# largest order of a matrix that is factored in every step: a quarter of a second at 2000, its eigenvectors 1.4 s; rows
# of 2,500 columns are fitted three to ten times as fast by the diagonal
FACTORED_ORDER = 2000


def newton(risk: Risk, V: Floats) -> Iterator[State]:
    """V ← V - t H⁺ g, with t = 1, 1/2, 1/4, ... until F falls by at least a tenth of what its slope promises.

    H⁺ leaves alone the directions in which the rows and the penalty have no curvature. Where many halvings do not
    help, as the curvature here says little of that on the way, the step is -t H(0)⁺ g: with K classes, no curvature is
    above K/2 times that at V = 0 (Böhning, 1992), so t = 2/K goes down.
    """
    value, gradient, bend = risk.expand(V)
    steepest: Floats | None = None
    yield State(V, value, gradient)
    while True:
        step = -newton_direction(risk.hessian(V, bend), gradient)
        decrease = -float(np.vdot(gradient, step))
        found = _lower(risk, V, value, gradient, step, decrease)
        if found is None:
            steepest = risk.hessian(np.zeros_like(V)) if steepest is None else steepest
            step = -newton_direction(steepest, gradient)
            found = _lower(risk, V, value, gradient, step, -float(np.vdot(gradient, step)))
        if found is not None:
            V, value, gradient, bend = found
        yield State(V, value, gradient, decrease, stalled=found is None or decrease <= 4 * EPS * EPS * abs(value))
        if found is None:
            return


def undamped(risk: Risk, V: Floats) -> Iterator[State]:
    """V ← V - H⁻¹ g, the whole step whatever F does: Newton and Raphson's rule as it is printed.

    FloatingPointError where H has no inverse, or V is beyond all bounds.
    """
    while True:
        value, gradient, bend = risk.expand(V)
        yield State(V, value, gradient, stalled=not gradient.any())
        H, g = risk.hessian(V, bend), gradient.ravel(order="F")
        if not (np.isfinite(H).all() and np.isfinite(g).all()):
            raise FloatingPointError("the Hessian is not finite")
        try:
            V = V - np.linalg.solve(H, g).reshape(V.shape, order="F")
        except np.linalg.LinAlgError as error:
            raise FloatingPointError("the Hessian has no inverse") from error
        if not np.abs(V).max() < FAR:  # True for NaN
            raise FloatingPointError(f"a weight is beyond {FAR:g}")


def _lower(
    risk: Risk, V: Floats, value: float, gradient: Floats, step: Floats, decrease: float
) -> tuple[Floats, float, Floats, Floats] | None:
    """The first V + t step that makes progress, with F, its gradient and bend there; None if there is none."""
    if not np.isfinite(step).all():
        return None
    t = 1.0
    while t >= SHORTEST:
        trial = V + t * step
        trial_value, trial_gradient, bend = risk.expand(trial)
        lower = trial_value < value or _size(trial_gradient) < 0.5 * _size(gradient)
        if lower and trial_value <= value - 0.1 * t * decrease:
            return trial, trial_value, trial_gradient, bend
        # at the minimum the value only rounds: then a smaller gradient is progress
        if decrease <= 64 * EPS * abs(value) and _size(trial_gradient) < _size(gradient):
            return (trial, trial_value, trial_gradient, bend) if lower else None
        t *= 0.5
    return None


def newton_direction(H: Floats, gradient: Floats) -> Floats:
    """H⁺ g, with g of shape (p, k) and H of order k p."""
    g = gradient.ravel(order="F")
    size = np.sqrt(np.maximum(H.diagonal(), 0.0))
    size[size == 0] = 1.0
    A = H / (size[:, None] * size)
    if not (np.isfinite(A).all() and np.isfinite(g).all()):  # beyond the floats
        return np.full_like(gradient, np.nan)
    factor, solution, singular = linalg.lapack.dposv(A, g / size, lower=True)
    if singular == 0 and factor.diagonal().min() > 1e-7:
        return np.asarray((solution / size).reshape(gradient.shape, order="F"))
    values, Q = linalg.eigh(A)
    live = values > len(values) * EPS * max(values[-1], 0.0)
    solution = Q[:, live] @ ((Q[:, live].T @ (g / size)) / values[live])
    return np.asarray((solution / size).reshape(gradient.shape, order="F"))


def _size(gradient: Floats) -> float:
    return float(np.abs(gradient).max())
