"""L-BFGS with a preconditioner: Newton's method as far as the preconditioner knows the Hessian, learning the rest."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from separatrix._typing import Floats
from separatrix.problems.risk import Risk
from separatrix.solvers.driver import State

MEMORY = 20
EPS = float(np.finfo(np.float64).eps)

Preconditioner: TypeAlias = Callable[[Floats], Floats]


def lbfgs(risk: Risk, V: Floats, precondition: Preconditioner) -> Iterator[State]:
    """V ← V - t B g, where B starts as the preconditioner and takes in the last pairs (change of V, change of g).

    One pass over the data per trial step; the step t = 1 is nearly always taken.
    """
    pairs: deque[tuple[Floats, Floats, float]] = deque(maxlen=MEMORY)
    value, gradient = risk.value_and_gradient(V)
    yield State(V, value, gradient)
    while True:
        step = -_two_loops(gradient, pairs, precondition)
        slope = float(np.vdot(gradient, step))
        t = 1.0
        while True:
            trial = V + t * step
            trial_value, trial_gradient = risk.value_and_gradient(trial)
            if trial_value <= value + 1e-4 * t * slope + 4 * EPS * abs(value):
                break
            t *= 0.5
            if t < 1e-6:
                yield State(V, value, gradient, stalled=True)
                return
        s, y = trial - V, trial_gradient - gradient
        curvature = float(np.vdot(s, y))
        if curvature > EPS * float(np.vdot(y, y)):
            pairs.append((s, y, 1.0 / curvature))
        stalled = -slope <= 4 * EPS * EPS * abs(value)
        V, value, gradient = trial, trial_value, trial_gradient
        yield State(V, value, gradient, -slope, stalled)


def _two_loops(gradient: Floats, pairs: deque[tuple[Floats, Floats, float]], precondition: Preconditioner) -> Floats:
    """B g by the two-loop recursion."""
    q = gradient.copy()
    coefficients = []
    for s, y, rho in reversed(pairs):
        a = rho * float(np.vdot(s, q))
        q -= a * y
        coefficients.append(a)
    q = precondition(q)
    for (s, y, rho), a in zip(pairs, reversed(coefficients), strict=True):
        q += (a - rho * float(np.vdot(y, q))) * s
    return q
