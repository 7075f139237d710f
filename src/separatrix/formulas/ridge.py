"""Least squares with a ridge: min over (w, b) of sum_i c_i (y_i - w.x_i - b)² + alpha ‖w‖², y_i = ±1, alpha > 0.

One answer, by three routes: (Z'CZ + alpha) w = Z'C y for tall data, w = Z'a with (ZZ' + alpha) a = y for wide data, and
LSMR where neither matrix fits or both fail. All rows are used again to refine what a factorisation proposes.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from separatrix._typing import Array, Floats
from separatrix.design.rounding import check_lengths
from separatrix.design.sample import Sample
from separatrix.formulas.squares import EPS, Problem, claim, dual_matrix, iterated, published, refine
from separatrix.geometry import Hyperplanes
from separatrix.outcome import Fit, Status
from separatrix.solvers.newton import FACTORED_ORDER


def learn(sample: Sample, alpha: float, max_iter: int) -> Fit:
    """Solve for all tasks at once; see the module for the objective and the routes."""
    design = sample.design
    largest = float(sample.weight.max())
    weight = sample.weight / largest  # the same minimum, with alpha divided as well, and products that stay in range
    problem = Problem(design.centred(weight), sample.targets, weight, ridge=alpha / largest)
    everyone = np.zeros(design.n, dtype=np.int64)  # one class: the compiled sums have the same bits for any storage
    length = np.sqrt(problem.design.class_sums(everyone, weight, 1, problem.design.shift[None])[0])
    check_lengths(problem.design, length)
    still = design.constant(np.arange(design.d)) if design.intercept else length == 0  # their weights are 0
    length[still] = 0.0
    order = min(design.n, design.d)
    V, n_iter = None, 0
    if order <= FACTORED_ORDER or 8 * order**2 <= design.nbytes:  # else the matrix is larger than the data
        V, n_iter = _wide(problem) if design.n < design.d else _tall(problem, length)
    coef, intercept, tol = _claimed(sample, problem, V, still)
    if tol is None:
        V, n_iter = iterated(problem, 1.0 / np.sqrt(length**2 + problem.ridge), EPS, max_iter)
        coef, intercept, tol = _claimed(sample, problem, V, still)
    model = Hyperplanes(coef, intercept)
    return published("ridge", sample, tol, Fit(model, None, Status.FORMULA, n_iter), "raise alpha", alpha=alpha)


def _claimed(sample: Sample, problem: Problem, V: Floats | None, still: Array) -> tuple[Floats, Floats, float | None]:
    """The weights as they are rounded, and within which tolerance their equations hold, if any."""
    design = sample.design
    if V is None:
        return np.zeros((0, design.d)), np.zeros(0), None
    V[: design.d][still] = 0.0
    coef, intercept = problem.design.user_units(V)
    coef, intercept = design.rounded(coef), design.rounded(intercept)
    finite = np.isfinite(coef).all() and np.isfinite(intercept).all()
    return coef, intercept, claim(problem, coef, intercept, still) if finite else None


def _tall(problem: Problem, length: Floats) -> tuple[Floats | None, int]:
    """w += (Z'CZ + alpha)^-1 (Z'C r - alpha w), in units in which the diagonal is 1."""
    d, weight = problem.design.d, problem.weight
    G = problem.design.gram(None if (weight == 1).all() else weight)[:d, :d]
    unit = 1.0 / np.sqrt(length**2 + problem.ridge)
    G[np.diag_indices(d)] = length**2 + problem.ridge
    try:
        factor = linalg.cholesky(G * np.outer(unit, unit), lower=True)
    except linalg.LinAlgError:
        return None, 0
    V = problem.start()
    scaled = unit[:, None]
    n_iter = refine(lambda V: scaled * linalg.cho_solve((factor, True), scaled * problem.gradient(V)), V[:d], V)
    return V, n_iter


def _wide(problem: Problem) -> tuple[Floats | None, int]:
    """w = Z'a, and a += (ZZ' + alpha)^-1 (r - alpha a): the same steps, of n numbers in place of d."""
    design, root = problem.design, np.sqrt(problem.weight)
    K = dual_matrix(problem)
    K[np.diag_indices(len(K))] += problem.ridge
    try:
        factor = linalg.cholesky(K, lower=True)
    except linalg.LinAlgError:
        return None, 0
    V = problem.start()
    a = np.zeros((design.n, V.shape[1]))

    def step(V: Floats) -> Floats:
        nonlocal a
        change = linalg.cho_solve((factor, True), problem.residual(V) - problem.ridge * a)
        a = a + change
        return np.asarray(design.tdot(root[:, None] * change)[: design.d])

    return V, refine(step, V[: design.d], V)
