"""What least squares with and without a ridge share: the problem, how it is refined, and what may be claimed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse.linalg import LinearOperator, lsmr

from separatrix._typing import Array, Floats
from separatrix.design import Block, Design
from separatrix.design.block import turned_gram
from separatrix.design.passes import Pass, swept
from separatrix.design.reducing import Parts
from separatrix.design.rounding import depth, exact_units, far_sizes
from separatrix.design.sample import Sample
from separatrix.errors import ConvergenceWarning
from separatrix.formulas.claims import SHARP, claimed, stationarity
from separatrix.loops.passes import SQUARED
from separatrix.outcome import Fit, Status
from separatrix.targets import Targets, signs

CLAIMS = (SHARP, 1e-6, 1e-4)  # cosines between a column and the residual: zero, or what rounding the weights leaves
EPS = float(np.finfo(np.float64).eps)

Step: TypeAlias = Callable[[Floats], Floats]  # from V to the change of w that a factorisation proposes


@dataclass(frozen=True)
class Problem:
    """sum_i c_i (y_i - z_i.V)² + ridge ‖w‖² over the rows z_i of a centred design, all tasks at once.

    y_i is 1 or ``low``; w is V without the intercept's row.
    """

    design: Design
    targets: Targets
    weight: Floats
    low: float = -1.0
    ridge: float = 0.0

    @property
    def kind(self) -> tuple[int, float]:
        """What tells y_i of a label."""
        return self.targets.n_classes, self.low

    def start(self) -> Floats:
        """w = 0, and as b the weighted mean target, which is optimal for centred rows."""
        (total,) = self.design.reduce(_target_sums, self.targets.values, self.weight, args=self.kind)
        V = np.zeros((self.design.p, len(total)))
        if self.design.intercept:
            V[self.design.d] = total / self.weight.sum()
        return V

    def residual(self, V: Floats) -> Floats:
        """sqrt(c_i) (y_i - z_i.V), (n, tasks)."""
        (found,) = self.design.rows(_residual, self.targets.values, self.weight, args=(*self.kind, V))
        return np.asarray(found)

    def gradient(self, V: Floats) -> Floats:
        """sum_i c_i (y_i - z_i.V) z_i - ridge w, without the intercept's row: (d, tasks)."""
        W = V[: self.design.d]
        if self.low == -1.0 and not self.targets.multilabel:  # the compiled pass knows codes and ±1 only
            codes, weight = np.ascontiguousarray(self.targets.values, dtype=np.int64), np.ascontiguousarray(self.weight)
            slope = -0.5 * swept(self.design, Pass(SQUARED, V.shape[1], codes, weight), V)[1][: self.design.d]
            return slope - self.ridge * W if self.ridge else slope
        (total,) = self.design.reduce(_slope, self.targets.values, self.weight, args=(*self.kind, V))
        return np.asarray(total[: self.design.d] - self.ridge * W)

    def gram_of(self, T: Floats) -> Floats:
        """(Z T)' C (Z T) for T (d, m), formed from the rows themselves."""
        padded = np.zeros((self.design.p, T.shape[1]))
        padded[: self.design.d] = T
        (total,) = self.design.reduce(turned_gram, self.weight, args=(padded,))
        return np.asarray(total)


def _target_sums(block: Block, values: Array, w: Floats, k: int, low: float) -> Parts:
    return (w @ signs(values, k, low),)


def _residual(block: Block, values: Array, w: Floats, k: int, low: float, V: Floats) -> Parts:
    return (np.sqrt(w)[:, None] * (signs(values, k, low) - block.dot(V)),)


def _slope(block: Block, values: Array, w: Floats, k: int, low: float, V: Floats) -> Parts:
    return (block.tdot(w[:, None] * (signs(values, k, low) - block.dot(V))),)


def _checked(
    block: Block, values: Array, w: Floats, k: int, low: float, V: Floats, far: Floats, centre: Floats
) -> Parts:
    """The gradient, and the sums of squares of the residuals, of their roundings and of the columns."""
    d = block.design.d
    residual = signs(values, k, low) - block.dot(V)
    off = (d + 8) * EPS * (abs(block.x) @ np.abs(V[:d]) + far) + EPS
    length2 = block.spread(w[:, None], centre[None], np.zeros(len(w), dtype=np.intp))[0]
    return block.tdot(w[:, None] * residual), w @ residual**2, w @ off**2, length2


def claim(problem: Problem, coef: Floats, intercept: Floats, still: Array | None = None) -> float | None:
    """The least of `CLAIMS` within which |sum_i c_i r_i z_ij - ridge w_j| <= tol ‖z_j‖ ‖y‖ at the weights as rounded.

    Columns that are ``still`` have the weight 0, and no equation.
    """
    design, targets, weight = problem.design, problem.targets, problem.weight
    V = exact_units(design, coef, intercept)
    args = *problem.kind, V, far_sizes(design, V), design.shift
    gradient, residual2, off2, length2 = design.reduce(_checked, targets.values, weight, args=args)
    gradient[: design.d] -= problem.ridge * V[: design.d]
    if still is not None:
        length2 = np.where(still, 0.0, length2)
    length = np.sqrt(np.append(length2, [weight.sum()] * design.intercept))[:, None]
    total = np.sqrt(weight.sum())
    relative = float(np.max(np.abs(gradient) / np.where(length > 0, length * total, np.inf), initial=0.0))
    rounding = float(np.max(np.sqrt(off2) + 12 * depth(design) * EPS * np.sqrt(residual2)) / total)
    return claimed(relative, rounding, *CLAIMS)


def published(name: str, sample: Sample, tol: float | None, fit: Fit, remedy: str, **witness: Any) -> Fit:
    """The fit with the certificate that the normal equations hold within ``tol``; with a warning if that is None."""
    if tol is None:
        warning = ConvergenceWarning(
            f"The normal equations do not hold to rounding after {fit.n_iter} iterations, so the fit has no "
            f"certificate: scale the columns of X to equal length, {remedy}, or raise max_iter."
        )
        return replace(fit, status=Status.UNCERTIFIED, warnings=(warning,))
    design, targets, model = sample.design, sample.targets, fit.model
    certificate = stationarity(
        name, design, targets, coef=model.coef, intercept=model.intercept, fit_intercept=design.intercept,
        multilabel=targets.multilabel, tol=tol, **witness,
    )  # fmt: skip
    return replace(fit, certificate=certificate)


def refine(step: Step, W: Floats, V: Floats) -> int:
    """Add the proposed steps to W, the weights in V, while they shrink and are above rounding."""
    previous = np.inf
    for iteration in range(1, 10):
        change = step(V)
        size = float(np.abs(change).max(initial=0.0))
        if not size < 0.5 * previous:
            return iteration
        W += change
        if size <= EPS * np.abs(W).max(initial=0.0):
            return iteration
        previous = size
    return iteration


def iterated(problem: Problem, unit: Floats, btol: float, max_iter: int) -> tuple[Floats, int]:
    """Each task by LSMR from w = 0, which stays in the span of the rows: without a ridge it ends at minimum norm.

    The rows are (z_i, sqrt(ridge)), and the columns are in the given units.
    """
    design, root = problem.design, np.sqrt(problem.weight)
    n, d = design.n, design.d
    m = d if problem.ridge else 0  # the rows of the ridge
    below, tail = np.sqrt(problem.ridge) * unit[:m], np.zeros(design.p - d)

    def forward(u: Floats) -> Floats:
        scores = design.dot(np.append(unit * u, tail)[:, None])[:, 0]
        return np.concatenate([root * scores, below * u[:m]])

    def backward(r: Floats) -> Floats:
        w = unit * design.tdot((root * r[:n])[:, None])[:d, 0]
        w[:m] += below * r[n:]
        return np.asarray(w)

    Z = LinearOperator((n + m, d), matvec=forward, rmatvec=backward, dtype=np.float64)
    V, n_iter = problem.start(), 0
    for task, r in enumerate(problem.residual(V).T):
        target = np.concatenate([r, np.zeros(m)])
        u, _, iterations, *_ = lsmr(Z, target, atol=1e-13, btol=btol, conlim=0, maxiter=max_iter)
        V[:d, task] = unit * u
        n_iter = max(n_iter, iterations)
    return V, n_iter


def dual_matrix(problem: Problem) -> Floats:
    """ZZ' (n, n), of the rows z_i without the intercept's 1, times the roots of their weights."""
    design, root = problem.design, np.sqrt(problem.weight)
    n, d = design.n, design.d
    K = np.zeros((n, n))
    for first in range(0, n, 256):  # the lower half, some columns at a time
        rows = slice(first, min(first + 256, n))
        Zt = np.zeros((design.p, rows.stop - rows.start))
        Zt[:d] = design.block(rows.start, rows.stop).written_out().T
        K[first:, rows] = design.block(first, n).dot(Zt)
    K = np.tril(K) + np.tril(K, -1).T
    K *= np.outer(root, root)
    if design.intercept:  # centred rows are dependent, sum c_i z_i = 0: fill the direction, which no residual has
        K += np.outer(root, root) * (np.trace(K) / n / (root @ root))
    return K
