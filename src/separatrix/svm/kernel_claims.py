"""The objective of a kernel machine and the bound on its minimum, rounded outward: what its certificate states.

The sums of the last pass are at hand; how far they can be from those of the exact kernel follows from the size of their
terms. Where that is too far, and the points are few, the checker itself is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from separatrix._typing import Floats
from separatrix.certificates._data import EPS
from separatrix.certificates._hinge import Sums, Task, feature_sums, kernel_sums
from separatrix.certificates._kernels import VECTORS, indefiniteness
from separatrix.kernels import Kernel, KernelRows, Laplacian, Linear, Poly, Rbf, Sigmoid
from separatrix.kernels.counts import CountKernel
from separatrix.solvers.soft_margin import STRETCHED
from separatrix.svm.kernel_svm import Machine, Settings

CLEAR = 1e-9  # of rounding that need not be looked at more closely
ASKED = 250_000  # kernel values that the checker computes if there is more
AGAIN = 4_000_000  # and if rounding is all that is in the way of a claim
DISTANCE = 1e-10  # error of an exponent that `kernels.distances` lets pass


def claimed(
    machine: Machine,
    rows: KernelRows,
    unit: float,
    points: Callable[[], Any],
    kernel: Mapping[str, Any],
    y: Floats,
    bound: Floats,
    settings: Settings,
) -> Machine:
    """The machine with its primal rounded up and its dual down; ``points()`` are those of the checker.

    ``unit`` is how far any of the kernel values can be from the true one, see `kernel_unit`.

    Of a large C, slacks of mere rounding cost more than anything else: if the claim needs it, f is stretched so that
    there are none.
    """
    task, best, tol = Task(y, bound, machine.alpha, settings.fit_intercept, False), machine, settings.tol
    asks = kernel["kernel"] == "precomputed" or kernel["kernel"] in VECTORS
    count = len(y) * int(np.count_nonzero((machine.alpha != 0) | (machine.expansion != 0)))
    with np.errstate(all="ignore"):
        shift = 0.0 if rows.kernel.positive_semidefinite else indefiniteness(kernel, points(), len(y))[1]
        for factor in STRETCHED[:1] if settings.single else STRETCHED:
            tried = machine if factor == 1.0 else _times(machine, factor)
            found = outward(tried, _at_hand(tried, rows, unit, task, shift))
            close = not found.doubt <= CLEAR and count <= ASKED
            if asks and (
                kernel["kernel"] == "precomputed" or close or (count <= AGAIN and not found.relative_gap <= tol)
            ):
                found = outward(tried, kernel_sums(kernel, points(), task, tried.expansion, tried.b, tol, shift))
            best = found if factor == 1.0 or found.relative_gap < best.relative_gap else best
            if best.relative_gap <= tol:
                break
    return best


def _times(machine: Machine, factor: float) -> Machine:
    """f times a factor."""
    square = machine.square * factor**2
    expansion, scores = machine.expansion * factor, machine.scores * factor
    return replace(machine, expansion=expansion, b=machine.b * factor, scores=scores, square=square)


def outward(machine: Machine, sums: Sums) -> Machine:
    """P as stated is not below the true one, D not above; without a positive D, alpha is 0."""
    primal, dual, doubt = sums.outward()
    alpha = machine.alpha if dual > 0 else np.zeros_like(machine.alpha)
    return replace(machine, alpha=alpha, primal=primal, dual=dual, doubt=doubt)


def _at_hand(machine: Machine, rows: KernelRows, unit: float, task: Task, shift: float) -> Sums:
    """From f_i and sum_j alpha_j y_j k(x_j, x_i) as the solver has them: each term is off by a little of k(x, x)."""
    c = task.signs * machine.alpha
    used = np.flatnonzero((c != 0) | (machine.expansion != 0))
    both = np.column_stack([machine.expansion[used], c[used]])
    values = np.column_stack([machine.scores - machine.b, machine.pulls])
    largest = float(np.abs(rows.diagonal()).max(initial=0.0))
    unit += (0.5 * len(used) + 8) * EPS * largest
    terms = np.maximum(np.abs(both).sum(axis=0), machine.summed)
    errors = np.broadcast_to(unit * terms + EPS * abs(machine.b), values.shape)
    return feature_sums(task, used, both, values, errors, machine.b, largest, shift)


def kernel_unit(rows: KernelRows) -> float:
    """How far a kernel value that we compute can be from the true one."""
    kernel: Kernel = rows.kernel
    if isinstance(kernel, Rbf):
        exponents = (rows.points.vectors.values.shape[1] + 8) * EPS * (1 + 4 * kernel.gamma * rows.points.largest)
        return float(min(DISTANCE, exponents))
    if isinstance(kernel, Laplacian):  # t exp(-t) < 1, t being a sum of differences that are each rounded once
        values = rows.points.values
        return DISTANCE if sparse.issparse(values) else float((values.shape[1] + 8) * EPS)
    if isinstance(kernel, (Linear, Poly, Sigmoid)):
        rounded = (rows.points.values.shape[1] + 8) * EPS
        size = float(np.max(rows.points.squares, initial=0.0))
        if isinstance(kernel, Linear):
            return rounded * size
        size = kernel.gamma * size + abs(kernel.coef0)
        return rounded * (size + 1.0 if isinstance(kernel, Sigmoid) else max(kernel.degree, 1) * size**kernel.degree)
    # of counts, a few roundings; of any other function that is not known, and more is allowed
    return (8 if isinstance(kernel, CountKernel) else 64) * EPS * float(np.abs(rows.diagonal()).max(initial=0.0))
