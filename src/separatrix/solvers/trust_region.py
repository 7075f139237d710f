"""Newton's method on a risk that need not be convex: exact steps, held within a radius that the risk itself sets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import linalg
from scipy.optimize import brentq

from separatrix._typing import Floats
from separatrix.problems.risk import Risk
from separatrix.solvers.driver import State

EPS = float(np.finfo(np.float64).eps)
SHORTEST = 1e-14  # of the first radius: the steps are below rounding


def trust_region(risk: Risk, V: Floats, T: Floats, radius: float) -> Iterator[State]:
    """V ← V + T u, u = -(T'HT + mu)⁻¹ T'g, mu >= 0 the least that makes T'HT + mu positive and ‖u‖ <= radius.

    Where the Hessian is positive definite and its step is short enough, mu = 0: plain Newton. Where it is not, the step
    goes down along negative curvature too, so that no saddle holds it. With the Hessian 2 J'J of Gauss-Newton this is
    Levenberg and Marquardt's method. A step is taken if F falls by at least a ten-thousandth of what was predicted.

    Parameters
    ----------
    T : array of shape (p, r)
        Coordinates of the directions that rows and penalty see, of comparable length.
    radius : float
        Largest first step, unless Newton's own is longer.
    """
    value, gradient = risk.value_and_gradient(V)
    shortest, first = SHORTEST * radius, True
    yield State(V, value, gradient, stalled=not T.size)
    while T.size:
        values, Q = linalg.eigh(T.T @ risk.hessian(V) @ T)
        gamma = Q.T @ (T.T @ gradient[:, 0])
        if first and values[0] > 0:
            radius, first = max(radius, float(np.linalg.norm(gamma / values))), False
        while True:
            u = constrained_step(values, gamma, radius)
            predicted = -float(gamma @ u + 0.5 * (values * u) @ u)
            if not predicted > 4 * EPS * EPS * abs(value) or radius < shortest:
                yield State(V, value, gradient, 2 * max(predicted, 0.0), stalled=True)
                return
            trial = V + (T @ (Q @ u))[:, None]
            trial_value, trial_gradient = risk.value_and_gradient(trial)
            ratio = (value - trial_value) / predicted
            if predicted <= 64 * EPS * abs(value):  # the value only rounds: a smaller gradient is progress
                ratio = 0.5
                if not _length(T, trial_gradient) < 0.9 * _length(T, gradient):
                    yield State(V, value, gradient, 2 * predicted, stalled=True)
                    return
            length = float(np.linalg.norm(u))
            if ratio < 0.25:
                radius = 0.25 * length
            elif ratio > 0.75 and length > 0.99 * radius:
                radius *= 2.0
            if ratio > 1e-4:
                break
        V, value, gradient = trial, trial_value, trial_gradient
        yield State(V, value, gradient, 2 * predicted)


def constrained_step(values: Floats, gamma: Floats, radius: float) -> Floats:
    """The minimum of gamma.u + 1/2 sum_j values_j u_j² over ‖u‖ <= radius; `values` ascend."""
    lowest = float(values[0])
    with np.errstate(divide="ignore", invalid="ignore"):
        u = -gamma / values
    if lowest > 0 and np.linalg.norm(u) <= radius:
        return u
    least = max(0.0, -lowest)
    above = least + EPS * (np.abs(values).max() + least) + np.finfo(np.float64).tiny

    def shortfall(mu: float) -> float:  # nearly linear in mu
        return 1.0 / radius - 1.0 / max(float(np.linalg.norm(gamma / (values + mu))), 1e-300)

    if np.linalg.norm(gamma / (values + above)) < radius:
        # the gradient has no part along the lowest eigenvector: go down along it as far as the radius allows
        u = -gamma / (values + above)
        u[0] += np.copysign(np.sqrt(max(radius**2 - float(u @ u), 0.0)), u[0])
        return u
    highest = least + np.linalg.norm(gamma) / radius
    mu = brentq(shortfall, above, max(2.0 * highest, 2.0 * above), xtol=1e-300, rtol=1e-12)
    return np.asarray(-gamma / (values + mu))


def _length(T: Floats, gradient: Floats) -> float:
    return float(np.linalg.norm(T.T @ gradient))
