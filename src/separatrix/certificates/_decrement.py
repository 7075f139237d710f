"""Newton's decrement as a bound: F - min F <= (t + (1 - t) log(1 - t)) / rho², t = lambda rho < 1.

lambda is the length of the gradient, rho that of the longest row, in the norm of the inverse Hessian: along a direction
of unit length in the Hessian's norm no score changes by more than rho, so the curvature falls by at most exp(-rho t).
Both are computed in coordinates in which the rows are about orthonormal, so that the data's own units and correlations
cost no digits. The Hessian may be replaced by any smaller matrix; here it is made so much smaller that rounding cannot
have made it larger, and no bound is given if then it is not positive definite.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.certificates._data import EPS
from separatrix.certificates._logistic import Problem, probabilities, residuals
from separatrix.certificates._row_basis import ENTRIES, RowBasis, row_basis

LARGEST = 600  # order of a Hessian of several classes that is formed; of more, each class has a bound of its own
WIDEST = 3000  # columns, of which a basis is computed


def decrement(problem: Problem, basis: RowBasis | None = None) -> float:
    """An upper bound on F - min F at the weights of the problem; inf where there is none."""
    if problem.d > WIDEST:
        return float("inf")
    if basis is None:
        basis = row_basis(problem.data, problem.free, problem.C if problem.penalised else np.inf)
    if not np.isfinite(basis.T).all():  # more columns than could be told apart, but not proved to be combinations
        return float("inf")
    space = Space(problem, basis)
    if space.order > LARGEST and problem.penalised and problem.K > 1:
        return float("inf")
    if space.order == 0:  # no row sees any direction: the objective is constant
        return space.common()
    H, g, fuzz, off = space.derivatives()
    if not (np.isfinite(H).all() and np.isfinite(g).all() and np.isfinite([fuzz, off]).all()):
        return float("inf")
    values, U = np.linalg.eigh(H)
    unit = 16 * H.shape[-1] * EPS
    least, fuzz = float(values.min()), fuzz + unit * float(np.abs(values).max())
    if not least > 4.0 * fuzz:  # a curvature that rounding may have made
        return float("inf")
    # the Hessian is at least what was computed, less fuzz, and so at least (1 - fuzz / least) times that
    grown = (1.0 + unit) / float(np.sqrt(1.0 - fuzz / least))
    along = np.einsum("bij,bi->bj", U, g) / np.sqrt(values)
    length = float(np.linalg.norm(along)) + (off + unit * float(np.linalg.norm(g))) / float(np.sqrt(least))
    inverse = (U / values[:, None, :]) @ U.transpose(0, 2, 1)
    rho = space.longest(inverse, unit / least, least) * grown
    return suboptimality(length * grown, rho) + space.common()


def suboptimality(length: float, rho: float) -> float:
    """(t + (1 - t) log(1 - t)) / rho² with t = length rho, rounded up; inf unless t < 1."""
    t = length * rho
    if not t < 1.0:
        return float("inf")
    if t < 1e-4:
        return 0.5 * length**2 * (1.0 + t)  # above the series t²/2 + t³/6 + ..., where the formula cancels
    return (t + (1.0 - t) * float(np.log1p(-t))) / rho**2 * (1.0 + 1e-6)


class Space:
    """The free coordinates: V of W = V' basis, with the classes' scores relative to that of one, or to their mean.

    A penalty prefers weights that sum to 0 over the classes, so that nothing is lost if these are all that is looked
    at, but 1/2 K ‖mean of W‖², which is what rounding has left of the rest.
    """

    def __init__(self, problem: Problem, rows: RowBasis) -> None:
        self.problem, self.rows = problem, rows
        K = problem.K
        self.mean = problem.penalised and not problem.reference and K > 1
        self.left_out = K - 1 if problem.reference else 0
        self.classes = [a for a in range(K) if K == 1 or self.mean or a != self.left_out]
        self.contrasts = _contrasts(K) if self.mean else np.eye(K)[:, self.classes]
        self.order = self.contrasts.shape[1] * rows.order

    def common(self) -> float:
        """What the mean of the classes' weights costs."""
        if not self.mean:
            return 0.0
        mean = self.problem.W.sum(axis=0)
        mean = np.abs(mean) + self.problem.K * EPS * np.abs(self.problem.W).sum(axis=0)
        return 0.5 * float((mean**2).sum()) / self.problem.K * (1.0 + 1e-6)

    def derivatives(self) -> tuple[Any, Any, float, float]:
        """A matrix below the Hessian but for an error of this norm, and the gradient with such an error.

        The matrix is (1, order, order). For many classes it is (k, r, r): the blocks of the matrix that bounds the
        Hessian from below as diag(P) - P P' >= P_a diag(P) does on the classes other than a.
        """
        problem, basis, classes = self.problem, self.rows, self.classes
        K, k, r = problem.K, len(classes), basis.order
        whole = self.order <= LARGEST
        blocks, gradient = np.zeros((k, r, r)), np.zeros((k, r))
        cross = np.zeros((k * r, k * r)) if whole and k > 1 else None
        fuzz = off = sizes = 0.0
        longest = count = 0
        for x, Y, weight, S, error in problem.pieces(self.order if whole else r * 8):
            q, q_error = basis.rows(x)
            norms = np.sqrt((q**2).sum(axis=1))
            slope, P = residuals(S, Y), probabilities(S)
            c = problem.C * weight
            gradient += (c[:, None] * slope[:, classes]).T @ q
            # a change e of the scores multiplies residuals by at most exp(2 e), and curvatures by at least exp(-2 e)
            slopes = c * np.sqrt((slope**2).sum(axis=1))
            relative = np.where(error < 1.0, np.expm1(2.0 * np.minimum(error, 1.0)), np.inf) + (K + 16) * EPS
            off += float((slopes * (relative * norms + (1.0 + relative) * q_error)).sum())
            sizes += float((slopes * norms).sum())
            c = c * np.exp(-2.0 * error)
            if K == 1:
                curved = P * probabilities(-S)
            elif cross is None:
                curved = P[:, classes] * P[:, [self.left_out]]
            else:
                curved = P[:, classes] * (P @ (1.0 - np.eye(K)))[:, classes]  # 1 - P, where P rounds to 1 too
                A = (P[:, classes, None] * q[:, None, :]).reshape(len(q), -1)
                cross -= (A * c[:, None]).T @ A
            for a in range(k):
                blocks[a] += (q * (c * curved[:, a])[:, None]).T @ q
            trace = c * curved.sum(axis=1)
            fuzz += float((trace * (2.0 * norms + q_error) * q_error).sum())
            fuzz += (len(x) + 2 * K + 32) * EPS * float((trace * norms**2).sum())
            longest, count = max(longest, len(x)), count + 1
        off += (longest + count + 16) * EPS * sizes
        fuzz += count * EPS * float(np.trace(blocks, axis1=1, axis2=2).sum())
        if problem.penalised:
            T, pull = basis.T, problem.W[classes]
            w = slice(0, T.shape[1])
            blocks[:, w, w] += T.T @ T
            gradient[:, w] += pull @ T
            off += (problem.d + 16) * EPS * float(np.linalg.norm(np.abs(pull) @ np.abs(T)))
            fuzz += (problem.d + 16) * EPS * float((T**2).sum())
        if cross is None:
            return blocks, gradient, fuzz, off
        H = cross.reshape(k, r, k, r)
        H[np.arange(k), :, np.arange(k)] = blocks
        if self.mean:
            B = self.contrasts
            fuzz += 8 * K * EPS * float(np.abs(H).sum(axis=(2, 3)).max())
            off += 8 * K * EPS * float(np.abs(gradient).sum())
            H, gradient = np.einsum("ac,arbs,bd->crds", B, H, B, optimize=True), B.T @ gradient
        return H.reshape(1, self.order, self.order), gradient.reshape(1, -1), fuzz, off

    def longest(self, inverse: Any, unit: float, least: float) -> float:
        """How much a direction of unit length can change the difference of two scores of a row, at most."""
        r, B = self.rows.order, self.contrasts
        if len(inverse) == 1 and len(B) > 1:
            k = B.shape[1]
            inverse = np.einsum("ac,crds,ad->ars", B, inverse.reshape(k, r, k, r), B, optimize=True)
        rho = 0.0
        for _, x in self.problem.data.rows(ENTRIES, r * 8):
            q, q_error = self.rows.rows(x)
            squares = np.max([((q @ G) * q).sum(axis=1) for G in inverse], axis=0)
            squares = np.maximum(squares, 0.0) + unit * (q**2).sum(axis=1)
            rho = max(rho, float((np.sqrt(squares) + q_error / np.sqrt(least)).max()))
        return rho if self.problem.K == 1 else 2.0 * rho


def _contrasts(K: int) -> Any:
    """Orthonormal columns (K, K - 1) that each sum to 0."""
    return np.linalg.qr(np.eye(K) - 1.0 / K)[0][:, : K - 1]
