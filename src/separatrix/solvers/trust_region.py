"""Newton's method on a risk that need not be convex: exact steps, held within a radius that the risk itself sets."""

from __future__ import annotations

from collections.abc import Iterator
from math import hypot, isfinite

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
    Levenberg and Marquardt's method. A step is taken if F falls by at least a ten-thousandth of what was predicted, or,
    where it falls by rounding only, if the gradient becomes smaller and F does not rise by more than that.

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
            own, first = hypot(*(gamma / values)), False
            radius = max(radius, own) if isfinite(own) else radius
        while True:
            u = constrained_step(values, gamma, radius)
            predicted = -float(gamma @ u + 0.5 * (values * u) @ u)
            if not predicted > 4 * EPS * EPS * abs(value) or radius < shortest:
                yield State(V, value, gradient, 2 * max(predicted, 0.0), stalled=True)
                return
            trial = V + (T @ (Q @ u))[:, None]
            trial_value, trial_gradient = risk.value_and_gradient(trial)
            ratio = (value - trial_value) / predicted if np.isfinite(trial_value) else -np.inf
            if predicted <= 64 * EPS * abs(value):  # the value only rounds: a smaller gradient is progress
                ratio = 0.5
                smaller = _length(T, trial_gradient) < 0.9 * _length(T, gradient)
                if not (smaller and trial_value <= value + 64 * EPS * abs(value)):
                    yield State(V, value, gradient, 2 * predicted, stalled=True)
                    return
            length = min(hypot(*u), radius)  # where squares would overflow too
            if ratio < 0.25:
                radius = 0.25 * length
            elif ratio > 0.75 and length > 0.99 * radius:
                radius *= 2.0
            if ratio > 1e-4:
                break
        V, value, gradient = trial, trial_value, trial_gradient
        yield State(V, value, gradient, 2 * predicted)


def constrained_step(values: Floats, gamma: Floats, radius: float) -> Floats:
    """The minimum of gamma.u + 1/2 sum_j values_j u_j² over ‖u‖ <= radius; `values` ascend.

    It is u_j = -gamma_j / (values_j + mu). In nu = mu + values_0 the first divisor is nu itself: near the pole, where
    a small change of mu would be lost beside values_0, nothing rounds away.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        u, slope = -gamma / values, gamma / radius
        if values[0] > 0 and hypot(*u) <= radius:
            return u
        unit = float(np.abs(slope).max()) or 1.0  # in which no square vanishes
        slope, values = slope / unit, values / unit
        lowest, above = float(values[0]), values - values[0]
    if not (np.isfinite(unit) and np.isfinite(lowest)):  # so short a step changes nothing
        return np.zeros_like(gamma)

    def excess(nu: float) -> float:  # nearly linear in nu
        return 1.0 - 1.0 / max(float(np.linalg.norm(slope / (above + nu))), 1e-150)

    # the first divisor alone would make the step that long at the least nu, all of them equal at the highest
    least = max(abs(float(slope[0])), lowest, float(np.finfo(np.float64).tiny))
    highest = 2.0 * max(float(np.linalg.norm(slope)), least)
    if excess(least) <= 0:
        # the gradient has no part along the lowest eigenvector: go down along it as far as the radius allows
        u = -slope / (above + least)
        u[0] += np.copysign(np.sqrt(max(1.0 - float(u @ u), 0.0)), u[0])
    else:
        nu, root = brentq(excess, least, highest, xtol=1e-300, rtol=1e-12, maxiter=1000, full_output=True, disp=False)
        u = -slope / (above + (nu if root.converged else highest))
    return np.asarray(u * (radius / max(float(np.linalg.norm(u)), 1.0)))


def _length(T: Floats, gradient: Floats) -> float:
    return float(np.linalg.norm(T.T @ gradient))
