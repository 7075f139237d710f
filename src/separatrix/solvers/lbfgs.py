"""L-BFGS with a preconditioner: Newton's method as far as the preconditioner knows the Hessian, learning the rest."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from separatrix._typing import Floats
from separatrix.solvers.driver import State

MEMORY = 20  # pairs that are kept
EPS = float(np.finfo(np.float64).eps)

Preconditioner: TypeAlias = Callable[[Floats], Floats]
Dot: TypeAlias = Callable[[Floats, Floats], Any]
Pair: TypeAlias = tuple[Floats, Floats, Any]  # s, y and 1 / s.y, 0 for a pair of no use


class Objective(Protocol):
    """What L-BFGS minimises."""

    def value_and_gradient(self, V: Floats) -> tuple[float, Floats]:
        """F(V) and dF/dV, of the shape of V."""


def lbfgs(risk: Objective, V: Floats, precondition: Preconditioner) -> Iterator[State]:
    """V ← V - t B g, where B starts as the preconditioner P and takes in the last pairs (s, y): changes of V and of g.

    One pass over the data per trial step. The step t = 1 is nearly always taken; where it is too long, P is scaled
    from then on to agree with the last pair: y'Py = s'y.
    """
    pairs: deque[Pair] = deque(maxlen=MEMORY)
    scale = 1.0
    value, gradient = risk.value_and_gradient(V)
    yield State(V, value, gradient)
    while True:
        step = -two_loops(gradient, pairs, precondition, _dot, scale)
        slope = float(np.vdot(gradient, step))
        t = 1.0
        while True:
            trial = V + t * step
            trial_value, trial_gradient = risk.value_and_gradient(trial)
            if trial_value <= value + 1e-4 * t * slope + 4 * EPS * abs(value):
                break
            parabola = 0.5 * slope * t * t / (slope * t + value - trial_value)  # where the one through both is least
            t = min(max(parabola, 0.1 * t), 0.5 * t) if np.isfinite(parabola) else 0.1 * t
            if not t >= 1e-6 or not np.isfinite(slope):  # a step or a slope that is no number leads nowhere
                yield State(V, value, gradient, stalled=True)
                return
        s, y = trial - V, trial_gradient - gradient
        curvature = float(np.vdot(s, y))
        if curvature > EPS * float(np.vdot(y, y)):
            pairs.append((s, y, 1.0 / curvature))
            if t < 1.0 or scale < 1.0:
                scale = curvature / float(np.vdot(y, precondition(y)))
        stalled = -slope <= 4 * EPS * EPS * abs(value)
        V, value, gradient = trial, trial_value, trial_gradient
        yield State(V, value, gradient, -slope, stalled)


def two_loops(G: Floats, pairs: Sequence[Pair], precondition: Preconditioner, dot: Dot, scale: float = 1.0) -> Floats:
    """B g by the two-loop recursion, or B_f g_f for many f at once if ``dot`` gives a product for each f."""
    q = G.copy()
    coefficients = []
    for s, y, rho in reversed(pairs):
        a = rho * dot(s, q)
        q -= a * y
        coefficients.append(a)
    q = scale * precondition(q)
    for (s, y, rho), a in zip(pairs, reversed(coefficients), strict=True):
        q += (a - rho * dot(y, q)) * s
    return q


def _dot(a: Floats, b: Floats) -> float:
    return float(np.vdot(a, b))
