"""Linear regression on the ±1 labels: min over (w, b) of sum_i c_i (y_i - w.x_i - b)², then min ‖w‖.

Three routes to the same answer, by shape: normal equations for tall data, the dual (w is a combination of
rows) for wide data, and LSMR where neither matrix fits. The first two are refined against the data itself
until the correction is at rounding level, so squaring the condition number costs no accuracy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator, lsmr

from separatrix._typing import Array, Floats
from separatrix.certificates import Stationarity
from separatrix.design import Block, Design
from separatrix.design.base import Parts
from separatrix.errors import ConvergenceWarning
from separatrix.geometry import Hyperplanes
from separatrix.outcome import Fit, Status
from separatrix.targets import Targets

DIRECT = 4000  # order of a matrix that is always factored
DENSE = 1 << 22  # entries of a wide matrix that goes through the singular value decomposition
CLEAR = 1e-10  # a reciprocal condition above this is not rounding: the matrix has full rank
EPS = float(np.finfo(np.float64).eps)

Step: TypeAlias = Callable[[Floats], Floats]  # from V to the change of w that a factorisation proposes


@dataclass(frozen=True)
class Problem:
    """sum_i c_i (y_i - z_i.V)² over the rows z_i of a centred design, all tasks at once."""

    design: Design
    targets: Targets
    weight: Floats

    def start(self) -> Floats:
        """w = 0, and as b the weighted mean target, which is optimal for centred rows."""
        (total,) = self.design.reduce(
            lambda _, values, w: (w @ self.targets.signs(values),), self.targets.values, self.weight
        )
        V = np.zeros((self.design.p, len(total)))
        if self.design.intercept:
            V[self.design.d] = total / self.weight.sum()
        return V

    def residual(self, V: Floats) -> Floats:
        """sqrt(c_i) (y_i - z_i.V), (n, tasks)."""
        out = np.empty((self.design.n, V.shape[1]))

        def write(block: Block, values: Array, w: Floats) -> Parts:
            out[block.rows] = np.sqrt(w)[:, None] * (self.targets.signs(values) - block.dot(V))
            return ()

        self.design.reduce(write, self.targets.values, self.weight)
        return out

    def gradient(self, V: Floats) -> Floats:
        """sum_i c_i (y_i - z_i.V) z_i, without the intercept's row: (d, tasks)."""

        def add(block: Block, values: Array, w: Floats) -> Parts:
            return (block.tdot(w[:, None] * (self.targets.signs(values) - block.dot(V))),)

        (total,) = self.design.reduce(add, self.targets.values, self.weight)
        return np.asarray(total[: self.design.d])

    def gram_of(self, T: Floats) -> Floats:
        """(Z T)' C (Z T) for T (d, m), formed from the rows themselves."""
        padded = np.zeros((self.design.p, T.shape[1]))
        padded[: self.design.d] = T

        def gram(block: Block, w: Floats) -> Parts:
            rows = block.dot(padded)
            return (rows.T @ (w[:, None] * rows),)

        (total,) = self.design.reduce(gram, self.weight)
        return np.asarray(total)


def least_squares(design: Design, targets: Targets, weight: Floats, *, max_iter: int) -> Fit:
    """Solve for all tasks at once; see the module for the objective and the routes."""
    problem = Problem(design.centred(weight), targets, weight)
    V = problem.start()
    order = min(design.n, design.d)
    converged = True
    rank: int | None = None
    if order > DIRECT and order**2 > design.nbytes / 32:  # a quarter of the data
        n_iter, converged = _lsmr(problem, V, max_iter)
    else:
        step, rank = _wide(problem) if design.n < design.d else _tall(problem)
        n_iter = _refine(step, V[: design.d], V)
    coef, intercept = problem.design.user_units(V)
    coef, intercept = design.rounded(coef), design.rounded(intercept)
    certificate = Stationarity(
        problem="least_squares",
        objective="sum_i c_i (y_i - w.x_i - b)², y_i = ±1",
        classes=targets.classes,
        class_weight=targets.class_weight,
        unit=float(np.finfo(design.dtype).eps),
        witness={
            "coef": coef,
            "intercept": intercept,
            "fit_intercept": design.intercept,
            "multilabel": targets.multilabel,
        },
    )
    model, attributes = Hyperplanes(coef, intercept), {"rank_": rank}
    if not converged:
        warning = ConvergenceWarning(
            f"LSMR stopped after {n_iter} iterations, before the normal equations held to rounding, so the fit "
            "has no certificate: raise max_iter, or scale the columns of X to equal length."
        )
        return Fit(model, None, Status.UNCERTIFIED, n_iter, attributes=attributes, warnings=(warning,))
    singular = rank is not None and rank < design.d
    return Fit(model, certificate, Status.MINIMUM_NORM if singular else Status.FORMULA, n_iter, attributes=attributes)


def _refine(step: Step, W: Floats, V: Floats) -> int:
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


def _tall(problem: Problem) -> tuple[Step, int]:
    """W += (Z'CZ)^+ gradient, by Cholesky if Z'CZ is clearly of full rank.

    Otherwise by repeated equilibration. The eigenvalues of a Gram matrix are known to about eps of the largest,
    so singular values below sqrt(eps) of it drown. Dividing each eigenvector by its root and forming the Gram
    matrix anew, of the rows Z T, brings them up: after two rounds singular values down to eps are told from 0.
    """
    d, n = problem.design.d, problem.design.n
    weight = problem.weight
    G = problem.design.gram(None if (weight == 1).all() else weight)[:d, :d]
    length = np.sqrt(np.diag(G))
    alive = length > 0  # the others are constant: their weight is 0
    T = np.diag(np.divide(1.0, length, out=np.zeros(d), where=alive))[:, alive]
    G = G[np.ix_(alive, alive)] / np.outer(length[alive], length[alive])
    factor = _cholesky(G)
    if factor is not None:
        return lambda V: T @ linalg.cho_solve((factor, True), T.T @ problem.gradient(V)), T.shape[1]

    for _ in range(2):
        values, Q = linalg.eigh(G)
        T = T @ (Q / np.sqrt(np.maximum(values, 1e-13 * values[-1])))
        G = problem.gram_of(T)
    values, Q = linalg.eigh(G)
    T = T @ Q
    # ‖Z t‖ over the length of t where columns have unit length: a singular value, up to a factor sqrt(d)
    sigma = np.sqrt(np.maximum(values, 0.0)) / np.linalg.norm(length[:, None] * T, axis=0)
    live = sigma > max(n, d) * EPS
    null, _ = linalg.qr(T[:, ~live] / np.linalg.norm(T[:, ~live], axis=0), mode="economic")
    T, values = T[:, live], values[live]

    def step(V: Floats) -> Floats:
        W = V[:d] + T @ ((T.T @ problem.gradient(V)) / values[:, None])
        return np.asarray(W - null @ (null.T @ W) - V[:d])  # what the rows do not see only adds to the norm

    return step, int(live.sum())


def _wide(problem: Problem) -> tuple[Step, int]:
    """W += Z'(ZZ')^+ residual: of all solutions, the one in the span of the rows has minimum norm."""
    design, root = problem.design, np.sqrt(problem.weight)
    d, n = design.d, design.n
    if n * d <= DENSE:
        Z = root[:, None] * design.tdot(np.eye(n))[:d].T
        U, s, Vt = linalg.svd(Z, full_matrices=False)
        live = s > max(n, d) * EPS * s[0]
        U, s, Vt = U[:, live], s[live], Vt[live]
        return lambda V: Vt.T @ ((U.T @ problem.residual(V)) / s[:, None]), len(s)

    K = np.empty((n, n))
    for first in range(0, n, 256):
        rows = slice(first, min(first + 256, n))
        Zt = design.block(rows.start, rows.stop).tdot(np.eye(rows.stop - rows.start))
        Zt[d:] = 0.0
        K[:, rows] = design.dot(Zt)
    K *= np.outer(root, root)
    if design.intercept:  # centred rows are dependent, sum c_i z_i = 0: fill the direction, which no residual has
        K += np.outer(root, root) * (np.trace(K) / n / (root @ root))
    factor = _cholesky(K)
    if factor is not None:
        solve: Step = lambda R: linalg.cho_solve((factor, True), R)  # noqa: E731
        rank = n
    else:
        values, Q = linalg.eigh(K)
        live = values > n * EPS * values[-1]
        values, Q = values[live], Q[:, live]
        solve = lambda R: Q @ ((Q.T @ R) / values[:, None])  # noqa: E731
        rank = len(values)
    return lambda V: design.tdot(root[:, None] * solve(problem.residual(V)))[:d], rank - design.intercept


def _cholesky(G: Floats) -> Floats | None:
    """The lower factor of G if G is clearly of full rank, else None."""
    try:
        L = linalg.cholesky(G, lower=True)
    except linalg.LinAlgError:
        return None
    reciprocal_condition, _ = linalg.lapack.dpocon(L, np.abs(G).sum(axis=0).max(), uplo="L")
    return L if reciprocal_condition > CLEAR else None


def _lsmr(problem: Problem, V: Floats, max_iter: int) -> tuple[int, bool]:
    """Each task by LSMR from w = 0, which stays in the span of the rows and so ends at minimum norm."""
    design, root = problem.design, np.sqrt(problem.weight)
    d = design.d
    tail = np.zeros(design.intercept)

    def forward(w: Floats) -> Floats:
        return np.asarray(root * design.dot(np.append(w, tail)[:, None])[:, 0])

    def backward(r: Floats) -> Floats:
        return np.asarray(design.tdot((root * r)[:, None])[:d, 0])

    Z = LinearOperator((design.n, d), matvec=forward, rmatvec=backward, dtype=np.float64)
    n_iter, converged = 0, True
    for task, r in enumerate(problem.residual(V).T):
        w, reason, iterations, *_ = lsmr(Z, r, atol=1e-13, btol=1e-13, conlim=0, maxiter=max_iter)
        V[:d, task] = w
        n_iter, converged = max(n_iter, iterations), converged and reason != 7
    return n_iter, converged
