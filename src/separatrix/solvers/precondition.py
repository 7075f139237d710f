"""Approximate inverse Hessians for L-BFGS, from a sample of the rows or from the diagonal."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
from scipy import linalg, sparse

from separatrix._typing import Array, Floats
from separatrix.design import Block
from separatrix.design.block import product
from separatrix.design.reducing import Parts
from separatrix.problems.risk import Risk
from separatrix.problems.scored import ScoredLoss
from separatrix.solvers.driver import run
from separatrix.solvers.lbfgs import Preconditioner, lbfgs

# L-BFGS preconditioned by the Hessian of r p rows takes about 5 + 700/r² passes (measured). A pass moves 8 n p bytes,
# two Hessians take 4 r p³ operations, and the cores do some 5 operations in the time they read a byte:
# the sum is least at r³ = 14000 n / p².
BALANCE = 14_000.0
TRIAL = 8  # passes over the sample that it takes to ask whether the diagonal will do
LEFT = 1e-4  # of F, as a gap at the sample's optimum, is what passes over all rows have to get rid of
SHORT = 5  # steps that leave a sample closer to its own optimum than that is to everyone's


def sampled(risk: Risk, V: Floats) -> tuple[Floats, Preconditioner]:
    """A start nearly solved on a sample of the rows, and the inverse Hessian there, of other rows.

    On the rows that V was fitted to, probabilities are too close to 0 and 1, and so their Hessian is too small.
    """
    step = _spacing(risk)[0]
    fitted, others = risk.samples(slice(0, None, step), _others(step))
    half = fitted.sample(slice(0, None, 2))  # does for these steps
    V = run(lbfgs(fitted, V, kronecker(half, half.expand(V)[2])), lambda state: False, SHORT)[0].V
    return V, kronecker(others, others.expand(V)[2])


def sampled_at(risk: Risk, V: Floats) -> Preconditioner:
    """The inverse Hessian at V of rows that V was not fitted to."""
    others = risk.sample(_others(_spacing(risk)[0]))
    return kronecker(others, others.expand(V)[2])


def easy(risk: Risk, V: Floats) -> tuple[Floats, Preconditioner, int] | None:
    """A start, the diagonal there, and the passes that it is worth; None if a sampled Hessian is worth its price.

    A sample of the rows tells: k steps there that leave a share δ of F to gain leave δ^(1/k) of it each, and so will
    those on all rows. Where the first step promises to gain more than F, which is never negative, a
    diagonal does not do.
    """
    step, price = _spacing(risk)
    if risk.design.p < 20 * TRIAL * risk.k:
        return None
    fitted, others = risk.samples(slice(0, None, step), _others(step))
    precondition = diagonal(fitted, V)
    value, gradient = fitted.value_and_gradient(V)
    if 0.5 * float(np.vdot(gradient, precondition(gradient))) > value:
        return None
    for k, state in enumerate(islice(lbfgs(fitted, V, precondition), SHORT + 1)):
        if k > 1 and 0.5 * state.decrement > state.value * LEFT ** (k / price):
            return None
    return state.V, diagonal(others, state.V), math.ceil(price)


def _spacing(risk: Risk) -> tuple[int, float]:
    return spacing(risk.design.n, risk.design.p, risk.k)


def spacing(n: int, p: int, k: int) -> tuple[int, float]:
    """Which fraction of the rows to sample, and how many passes over all rows it costs to solve with their Hessian."""
    ratio = max(3.0, (BALANCE * n / p**2) ** (1 / 3))
    return max(1, n // int(ratio * p)), 5.0 + 700.0 / ratio**2 + ratio * p**2 / (10.0 * n * k)


def _others(step: int) -> slice:
    return slice(step // 2, None, step)


def kronecker(risk: Risk, bend: Floats) -> Preconditioner:
    """(A ⊗ G + ridge)⁻¹: A (k, k) the mean curvature of the loss, G = sum_i c_i h_i z_i z_i' with h_i its trace.

    The Hessian is sum_i c_i A_i ⊗ z_i z_i'; for one column A ⊗ G is exactly that. A's eigenvectors split the system
    into k of order p.
    """
    A, traces = risk.loss.mean_bend(bend, risk.weight)
    G = risk.design.gram(risk.weight * traces)
    shares, Q = np.linalg.eigh(A / max(np.trace(A), np.finfo(np.float64).tiny))
    ridge = risk.ridge + 1e-10 * np.diag(G)  # rounding must not make it indefinite
    ridge[ridge <= 0] = 1.0  # no row sees this coordinate
    factors = [linalg.cho_factor(share * G + np.diag(ridge), lower=True)[0] for share in shares]

    def precondition(R: Floats) -> Floats:
        rotated = (R @ Q).T
        solved = [linalg.lapack.dpotrs(factor, r, lower=True)[0] for factor, r in zip(factors, rotated, strict=True)]
        return np.column_stack(solved) @ Q.T

    return precondition


def diagonal(risk: Risk, V: Floats) -> Preconditioner:
    """Division by the diagonal of the Hessian, about the columns' means m if the intercept is free to absorb them.

    With b' = b + m.w, the weights w and the intercept b' do not meet in the Hessian. The derivative by w, b' kept, is
    dF/dw - m dF/db.
    """
    squares, means, totals = _moments(risk, V)
    d, ridge = risk.design.d, risk.ridge[:, None]
    D = squares - totals.sum(axis=0) * means**2
    D = np.maximum(D, 1e-10 * squares) + ridge[:d]  # rounding must not make it negative
    T = totals + ridge[d:]
    D[D <= 0], T[T <= 0] = 1.0, 1.0  # no row sees this coordinate

    def precondition(G: Floats) -> Floats:
        W = (G[:d] - means * G[d:].sum(axis=0)) / D
        return np.vstack([W, G[d:] / T - (means * W).sum(axis=0, keepdims=True)])

    return precondition


def _moments(risk: Risk, V: Floats) -> tuple[Floats, Floats, Floats]:
    """sum_i h_i x_i² (d, k) for curvatures h_i, the means sum_i h_i x_i / sum_i h_i (d, k), and sum_i h_i (1, k).

    Without an intercept the means are 0, and there is no sum: (0, k).
    """
    d = risk.design.d
    squares, sums = risk.design.reduce(_curved, risk.targets.values, risk.weight, args=(risk.loss, V))
    totals = sums[d:]
    means = sums[:d] / np.maximum(totals, np.finfo(np.float64).tiny) if len(totals) else np.zeros_like(squares)
    return squares, means, totals


def _curved(block: Block, codes: Array, c: Floats, loss: ScoredLoss, V: Floats) -> Parts:
    R = c[:, None] * loss.own_curvature(codes, block.dot(V))
    squares = block.xt.power(2) if sparse.issparse(block.xt) else block.xt**2
    return product(squares, R), block.tdot(R)
