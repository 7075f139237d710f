"""Newton-Raphson, damped so that it always converges on a convex risk."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import linalg

from separatrix._typing import Floats
from separatrix.problems.risk import Risk
from separatrix.solvers.driver import State

EPS = float(np.finfo(np.float64).eps)


def newton(risk: Risk, V: Floats) -> Iterator[State]:
    """V ← V - t H⁺ g, with t = 1, 1/2, 1/4, ... until F falls by at least a tenth of what its slope promises.

    H⁺ leaves alone the directions in which the rows and the penalty have no curvature.
    """
    value, gradient = risk.value_and_gradient(V)
    yield State(V, value, gradient)
    while True:
        step = -newton_direction(risk.hessian(V), gradient)
        decrease = -float(np.vdot(gradient, step))
        t = 1.0
        while True:
            trial = V + t * step
            trial_value, trial_gradient = risk.value_and_gradient(trial)
            if trial_value <= value - 0.1 * t * decrease or t < 1e-10:
                break
            # at the minimum the value only rounds: then a smaller gradient is progress
            if decrease <= 64 * EPS * abs(value) and _size(trial_gradient) < _size(gradient):
                break
            t *= 0.5
        progress = trial_value < value or _size(trial_gradient) < 0.5 * _size(gradient)
        if progress:
            V, value, gradient = trial, trial_value, trial_gradient
        yield State(V, value, gradient, decrease, stalled=not progress or decrease <= 4 * EPS * EPS * abs(value))
        if not progress:
            return


def newton_direction(H: Floats, gradient: Floats) -> Floats:
    """H⁺ g, with g of shape (p, k) and H of order k p."""
    g = gradient.ravel(order="F")
    size = np.sqrt(np.maximum(H.diagonal(), 0.0))
    size[size == 0] = 1.0
    A = H / (size[:, None] * size)
    factor, solution, singular = linalg.lapack.dposv(A, g / size, lower=True)
    if singular == 0 and factor.diagonal().min() > 1e-7:
        return np.asarray((solution / size).reshape(gradient.shape, order="F"))
    values, Q = linalg.eigh(A)
    live = values > len(values) * EPS * max(values[-1], 0.0)
    solution = Q[:, live] @ ((Q[:, live].T @ (g / size)) / values[live])
    return np.asarray((solution / size).reshape(gradient.shape, order="F"))


def _size(gradient: Floats) -> float:
    return float(np.abs(gradient).max())
