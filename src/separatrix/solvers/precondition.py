"""Approximate inverse Hessians for L-BFGS, from a sample of the rows or from the diagonal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import numpy as np
from scipy import linalg, sparse

from separatrix._typing import Array, Floats
from separatrix.design import Block
from separatrix.design.base import Parts, product
from separatrix.design.sparse import SparseDesign
from separatrix.problems.risk import Risk
from separatrix.solvers.driver import State, run
from separatrix.solvers.lbfgs import Preconditioner, lbfgs

# L-BFGS preconditioned by the Hessian of r p rows takes about 5 + 700/r² passes (measured). A pass moves 8 n p bytes,
# two Hessians take 4 r p³ operations, and the cores do some 5 operations in the time they read a byte:
# the sum is least at r³ = 14000 n / p².
BALANCE = 14_000.0
SHORT = 5  # steps that leave a sample closer to its own optimum than that is to everyone's
LONGER = 20  # by the diagonal alone, which costs less than a Hessian where nobody knows yet which rows will matter
FAINT = 0.2  # of the mean curvature: what rows with less hold together is less than that of the whole
MOST = 0.5  # of the rows are enough in any case
FRESH = 16  # passes in which it should have done, or it is time to look where the curvature is by now


def sampled(risk: Risk, V: Floats) -> tuple[Floats, Preconditioner]:
    """A start nearly solved on a sample of the rows, and the inverse Hessian there, of other rows.

    Rows that V was fitted to would seem surer of their class than they are: their Hessian is too small. Sparse rows
    cost little in a Hessian, so there it is that of the rows that make up most of it.
    """
    n, p = risk.design.n, risk.design.p
    size = int(p * max(3.0, (BALANCE * n / p**2) ** (1 / 3)))
    step = max(1, n // size)
    fitted = risk.sample(slice(0, None, step))
    if isinstance(risk.design, SparseDesign):
        V = run(lbfgs(fitted, V, diagonal(fitted, V)), lambda state: False, LONGER)[0].V
        return V, kronecker(*_most_curved(risk, V))
    V = run(lbfgs(fitted, V, kronecker(fitted, fitted.expand(V)[2])), lambda state: False, SHORT)[0].V
    others = risk.sample(slice(step // 2, None, step))
    return V, kronecker(others, others.expand(V)[2])


def renewed(risk: Risk, V: Floats) -> Iterator[State]:
    """L-BFGS on sparse rows, whose preconditioner is computed again where the last one has not been enough.

    For one column, where it is all of the Hessian; of several, the pairs of L-BFGS know more and had better be kept.
    """
    V, precondition = sampled(risk, V)
    first = 0
    while True:
        for state in islice(lbfgs(risk, V, precondition), first, FRESH):
            yield state
        V, first = state.V, 1
        precondition = kronecker(*_most_curved(risk, V))


def _most_curved(risk: Risk, V: Floats) -> tuple[Risk, Floats]:
    """The risk of the rows in which the losses bend most, as heavy as they are, and how they bend at V.

    So its Hessian is at most that of all rows, and most of it.
    """
    bend = risk.expand(V)[2]
    bends = risk.weight * risk.mean_bend(bend, risk.weight)[1]
    count = min(int(MOST * len(bends)), int(np.count_nonzero(bends >= FAINT * bends.mean())))
    rows = np.sort(np.argpartition(-bends, count)[:count])
    return replace(risk.sample(rows), weight=risk.weight[rows]), bend[rows]


def kronecker(risk: Risk, bend: Floats) -> Preconditioner:
    """(A ⊗ G + ridge)⁻¹: A (k, k) the mean curvature of the loss, G = sum_i c_i h_i z_i z_i' with h_i its trace.

    The Hessian is sum_i c_i A_i ⊗ z_i z_i'; for one column A ⊗ G is exactly that. A's eigenvectors split the system
    into k of order p.
    """
    A, traces = risk.mean_bend(bend, risk.weight)
    G = risk.design.gram(risk.weight * traces)
    shares, Q = np.linalg.eigh(A / max(np.trace(A), np.finfo(np.float64).tiny))
    ridge = risk.ridge + 1e-10 * np.diag(G)  # rounding must not make it indefinite
    ridge[ridge <= 0] = 1.0  # no row sees this coordinate
    factors = [linalg.cho_factor(share * G + np.diag(ridge), lower=True) for share in shares]

    def precondition(R: Floats) -> Floats:
        rotated = (R @ Q).T
        return np.column_stack([linalg.cho_solve(f, r) for f, r in zip(factors, rotated, strict=True)]) @ Q.T

    return precondition


def diagonal(risk: Risk, V: Floats) -> Preconditioner:
    """Division by the diagonal of the Hessian."""
    D = _diagonal(risk, V)
    return lambda G: G / D


def _diagonal(risk: Risk, V: Floats) -> Floats:
    """The diagonal of the Hessian, (p, k)."""
    d = risk.design.d

    def add(block: Block, values: Array, c: Floats) -> Parts:
        A = risk.curvature(values, block.dot(V))
        R = c[:, None] * np.diagonal(A, axis1=1, axis2=2)
        squares = block.xt.power(2) if sparse.issparse(block.xt) else block.xt**2
        return product(squares, R), R.sum(axis=0)

    squares, totals = risk.design.reduce(add, risk.targets.values, risk.weight)
    D = np.empty((risk.design.p, risk.k))
    D[:d] = squares
    D[d:] = totals
    D += risk.ridge[:, None]
    return np.where(D > 0, D, 1.0)
