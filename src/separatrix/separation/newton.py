"""min over V of sum_ic log(1 + exp(-z_ic.V)) by Newton steps, until the leads or the weights decide.

If some V separates, the sum can be made as small as one likes, and an iterate with all leads positive turns up on the
way. If the minimum exists, lambda_ic = 1 / (1 + exp(z_ic.V)) > 0 has sum lambda_ic z_ic = 0 there: the proof that the
classes overlap. Between the two lies quasi-separation, where the steps do not shrink: left to linear programs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import expit

from separatrix._typing import Array, Floats
from separatrix.design import Block
from separatrix.design.reducing import Parts
from separatrix.separation.cone import Cone, leads, pull
from separatrix.solvers.newton import FACTORED_ORDER

STEPS = 60
CLEAR = 1e-10  # a reciprocal condition above this is not rounding
SMALL = 1e-8  # a squared Newton decrement after which the weights are finished by linear steps


@dataclass(frozen=True)
class Outcome:
    """Where the Newton steps ended.

    Parameters
    ----------
    V : array of shape (p, k - 1)
        The last iterate.
    separates : bool
        Whether every lead is positive, as floats see it.
    weights : array of shape (n, k) or None
        Positive weights whose sum of rows is 0 up to rounding.
    clear : bool
        Whether an exact sum of 0 is sure to exist near these weights.
    """

    V: Floats
    separates: bool
    weights: Floats | None = None
    clear: bool = False


@dataclass(frozen=True)
class State:
    """Objective, gradient and Hessian at V, and how many leads are not positive."""

    V: Floats
    loss: float
    gradient: Floats
    hessian: Floats | None
    wrong: int


def newton(cone: Cone) -> Outcome:
    """Damped Newton steps from V = 0."""
    state = visit(cone, np.zeros((cone.design.p, cone.k - 1)))
    previous, stalled = np.inf, 0
    fewest, since = state.wrong, 0
    for _ in range(STEPS):
        solve, clear = solver(cone, state)
        step = solve(-state.gradient)
        decrement = -float((step * state.gradient).sum())
        if not np.isfinite(decrement):
            return Outcome(state.V, False)
        if decrement < SMALL:
            weights = finish(cone, state.V, solve)
            return Outcome(state.V, False, weights, clear and weights is not None)
        for halving in range(30):
            trial = visit(cone, state.V + step * 0.5**halving)
            if trial.wrong == 0:
                return Outcome(trial.V, True)
            if trial.loss < state.loss - 1e-4 * 0.5**halving * decrement:
                break
        else:
            return Outcome(state.V, False)
        # where the minimum is at infinity, the decrement falls by a factor e a step and no faster
        stalled = stalled + 1 if 0.2 < decrement / previous < 0.8 else 0
        state, previous = trial, decrement
        fewest, since = (state.wrong, 0) if state.wrong < fewest else (fewest, since + 1)
        if stalled > 6 and state.wrong * 50 < cone.size and since > 2:
            break
    return Outcome(state.V, False)


def visit(cone: Cone, V: Floats) -> State:
    """One pass over the rows."""
    form = cone.q <= FACTORED_ORDER
    k, p = cone.k, cone.design.p
    loss, wrong, total, *rest = cone.design.reduce(_terms, cone.codes, args=(V, form))
    matrix: Floats | None = None
    if form:
        H = rest[0]
        blocks = np.empty((k - 1, p, k - 1, p))
        for at, (a, c) in enumerate(pairs(k)):
            blocks[a, :, c] = H[at]
            blocks[c, :, a] = H[at].T
        matrix = blocks.reshape(cone.q, cone.q)
    return State(V, float(loss), -total, matrix, int(wrong))


def _terms(block: Block, codes: Array, V: Floats, form: bool) -> Parts:
    lead = leads(block, codes, V)
    weight = expit(-lead)
    parts = np.logaddexp(0.0, -lead).sum(), (lead <= 0).sum(), pull(block, codes, weight)
    return (*parts, hessian(block, codes, weight * (1 - weight), lead.shape[1])) if form else parts


def pairs(k: int) -> list[tuple[int, int]]:
    """The blocks (a, c), a <= c, of a Hessian for the classes 1, ..., k - 1, counted from 0."""
    return [(a, c) for a in range(k - 1) for c in range(a, k - 1)]


def hessian(block: Block, codes: Array, h: Floats, k: int) -> Floats:
    """sum_ic h_ic z_ic z_ic', block by block of `pairs`."""
    own = np.arange(k) == codes[:, None]
    total = np.where(own, h.sum(axis=1)[:, None], h)
    out = []
    for a, c in pairs(k):
        if a == c:
            out.append(block.gram(total[:, a + 1]))
        else:
            out.append(-block.gram(np.where(own[:, a + 1], h[:, c + 1], 0) + np.where(own[:, c + 1], h[:, a + 1], 0)))
    return np.array(out)


def solver(cone: Cone, state: State) -> tuple[Callable[[Floats], Floats], bool]:
    """A function that applies the inverse Hessian, and whether the Hessian is clearly of full rank."""
    shape = state.V.shape
    if state.hessian is None:
        return lambda R: _conjugate_gradient(cone, state.V, R), False
    length = np.sqrt(np.maximum(np.diag(state.hessian), 0.0))
    unit = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
    scaled = state.hessian * np.outer(unit, unit)
    ridge = 0.0
    for _ in range(8):
        try:
            L = linalg.cholesky(scaled + ridge * np.eye(len(scaled)), lower=True)
            break
        except linalg.LinAlgError:
            ridge = max(1e-14, 100 * ridge)
    else:
        L = np.eye(len(scaled))
    condition, _ = linalg.lapack.dpocon(L, max(1.0, np.abs(scaled).sum(axis=0).max()), uplo="L")

    def solve(R: Floats) -> Floats:
        flat = unit * linalg.cho_solve((L, True), unit * R.T.ravel())
        return flat.reshape(shape[::-1]).T

    return solve, bool(ridge == 0 and condition > CLEAR)


def _conjugate_gradient(cone: Cone, V: Floats, R: Floats) -> Floats:
    def product(flat: Floats) -> Floats:
        U = flat.reshape(V.shape)
        return np.asarray(cone.design.reduce(_bent, cone.codes, args=(V, U))[0] + 1e-10 * U).ravel()

    H = LinearOperator((V.size, V.size), matvec=product, dtype=np.float64)
    step, _ = cg(H, R.ravel(), rtol=1e-3, maxiter=60)
    return np.asarray(step).reshape(V.shape)


def finish(cone: Cone, V: Floats, solve: Callable[[Floats], Floats]) -> Floats | None:
    """Weights lambda(V) moved until their sum of rows is 0 up to rounding, all above 0; None if they do not settle.

    With H = sum h z z', subtracting h_ic z_ic.delta from lambda_ic for H delta = sum lambda z makes the sum 0.
    """
    (weights,) = cone.design.rows(_weights, cone.codes, args=(V,))
    previous = 0.1  # the first change is small, or the weights are not near a sum of 0
    for _ in range(8):
        delta = solve(cone.total(weights))
        change, lead = cone.design.reduce(_change, cone.codes, args=(V, delta), rules=("rows", "max"))
        weights -= change
        moved = float(lead)
        if not moved < previous:
            break
        previous = moved
        if moved < 1e-15:
            break
    if previous > 1e-9:
        return None
    return weights if (weights <= 0).sum() == cone.design.n else None  # the own class of a row always is 0


def _weights(block: Block, codes: Array, V: Floats) -> Parts:
    return (expit(-leads(block, codes, V)),)


def _rival_leads(block: Block, codes: Array, V: Floats) -> Floats:
    """The leads, 0 for a row's own class."""
    lead = leads(block, codes, V)
    lead[np.arange(len(codes)), codes] = 0.0
    return lead


def _bent(block: Block, codes: Array, V: Floats, U: Floats) -> Parts:
    """The Hessian at V times U."""
    (lam,) = _weights(block, codes, V)
    return (pull(block, codes, lam * (1 - lam) * _rival_leads(block, codes, U)),)


def _change(block: Block, codes: Array, V: Floats, delta: Floats) -> Parts:
    """h_ic z_ic.delta, h being that at V, and the largest |z_ic.delta|."""
    (lam,), lead = _weights(block, codes, V), _rival_leads(block, codes, delta)
    return lam * (1 - lam) * lead, float(np.abs(lead).max())
