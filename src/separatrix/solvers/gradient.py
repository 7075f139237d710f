"""Gradient descent, and the step that it may take: 1/L, L a bound on the curvature of the risk."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import linalg

from separatrix._typing import Floats
from separatrix.design import Block, Design
from separatrix.design.block import row_squares
from separatrix.design.reducing import Parts
from separatrix.problems.risk import Risk
from separatrix.solvers.driver import State
from separatrix.solvers.newton import FACTORED_ORDER, FAR


def gradient_descent(risk: Risk, V: Floats, rate: float) -> Iterator[State]:
    """V ← V - eta dF/dV, whatever F does; with eta <= 1/L it falls at every step.

    FloatingPointError when V is so large that F would soon overflow.
    """
    while True:
        value, gradient = risk.value_and_gradient(V)
        yield State(V, value, gradient, stalled=not gradient.any())
        with np.errstate(over="ignore"):
            V = V - rate * gradient
        if not np.abs(V).max() < FAR:  # True for NaN
            raise FloatingPointError(f"a weight is beyond {FAR:g}")


def largest_curvature(risk: Risk, steepest: float) -> float:
    """L = steepest * lambda_max(sum_i c_i z_i z_i') + largest ridge: no direction curves more.

    Parameters
    ----------
    steepest : float
        Largest curvature of the loss in a score: 1/4 for log, 1/2 for softmax.
    """
    return steepest * largest_eigenvalue(risk.design, risk.weight) + float(risk.ridge.max(initial=0.0))


def largest_eigenvalue(design: Design, weight: Floats) -> float:
    """An upper bound on lambda_max(G), G = sum_i c_i z_i z_i'; for few columns the number itself, but for rounding.

    For many, the lesser of the trace and Collatz's bound max_j (|G| v)_j / v_j, which holds for any v > 0 and is tight
    for the dominant vector of |Z|' C |Z|. Power iteration alone would give a lower bound, hence too long a step.
    """
    if design.p <= FACTORED_ORDER:
        top = linalg.eigvalsh(design.gram(weight), subset_by_index=[design.p - 1, design.p - 1])[0]
        return float(top) * (1 + 1e-12)
    v = np.ones(design.p)
    bound = np.inf
    for _ in range(10):
        image, trace = _absolute(design, weight, v)
        bound = min(bound, trace, float((image / v).max()))
        v = np.maximum(image / image.max(), 1e-6)
    return bound


def _absolute(design: Design, weight: Floats, v: Floats) -> tuple[Floats, float]:
    """|Z|' C |Z| v, and the trace of Z' C Z."""
    image, trace = design.reduce(_image, weight, args=(v,))
    return np.asarray(image), float(trace)


def _image(block: Block, c: Floats, v: Floats) -> Parts:
    d, one = block.design.d, int(block.design.intercept)
    rows, (squares,) = abs(block.x), row_squares(block)
    scored = c * (rows @ v[:d] + v[d:].sum())
    return np.append(rows.T @ scored, [scored.sum()] * one), float(c @ (squares + one))
