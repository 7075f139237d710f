"""Logistic regressions for many values of C on many subsets of the rows, solved together.

min over V_f of C sum_i m_if c_i loss(y_i, z_i.V_f) + 1/2 ‖w_f‖², for folds f with the rows m_if = 1, as C grows.

The folds go in step: one pass over the rows serves them all, as a product with a matrix instead of one with a vector
for each, and no rows are copied. One Hessian, of a sample of all rows, serves all folds as preconditioner, and
neighbouring values of C too: only the ridge is added anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import linalg

from separatrix._typing import Array, Floats, Integers
from separatrix.design import Block, Design
from separatrix.design.passes import swept
from separatrix.design.reducing import Parts
from separatrix.design.row_space import narrowed
from separatrix.logistic.penalised import Settings, make_risk
from separatrix.loops.passes import LOG
from separatrix.penalties import Ridge
from separatrix.problems.risk import Risk
from separatrix.problems.scored import ScoredLoss
from separatrix.solvers.lbfgs import MEMORY, Pair, two_loops
from separatrix.solvers.newton import FACTORED_ORDER
from separatrix.solvers.precondition import diagonal
from separatrix.targets import Targets

EPS = float(np.finfo(np.float64).eps)
LEAST = 1e-290  # a product s.y whose inverse is a number to work with
ROUNDING = 1e-13  # a relative decrement that rounding may keep from falling
SMALL = 100_000  # entries of X below which accuracy costs nothing
STALE = 3  # iterations that tell that the Hessian is out of date
RENEW = 8  # iterations after which to take another


@dataclass(frozen=True)
class Step:
    """The folds' optima for one value of C."""

    C: float
    V: Floats  # weights of each fold, in the coordinates of the design: (p, F, k)
    decrement: Floats  # (F(V) - min F) / F(V) of each fold, as the quasi-Newton method knows the Hessian
    n_iter: int


@dataclass(frozen=True)
class Folds:
    """The objectives of all folds at one value of C."""

    risk: Risk  # the sum of losses over all rows, without C and penalty
    member: Array  # which rows a fold learns from: bool (n, F)
    C: float
    _kept: dict[str, Any] = field(default_factory=dict)

    @property
    def factor(self) -> float:
        """What multiplies the losses: C, and 1 where there is no penalty."""
        return 1.0 if np.isinf(self.C) else self.C

    @property
    def ridge(self) -> Floats:
        """Curvature of the penalty: 1 for a weight, 0 for the intercept."""
        ridge = np.zeros(self.risk.design.p)
        ridge[: self.risk.design.d] = 0.0 if np.isinf(self.C) else 1.0
        return ridge

    def values_and_gradients(self, V: Floats, folds: Integers) -> tuple[Floats, Floats]:
        """The objectives (f,) of some folds and their gradients (p, f, k), at V (p, f, k), in one pass."""
        p, f, k = V.shape
        columns = V.reshape(p, f * k)
        if k == 1:
            task = self.risk.task(LOG, f)._replace(weight=self._weights(folds))
            losses, gradients = swept(self.risk.design, task, columns)
        else:
            losses, gradients = self._by_blocks(columns, folds)
        penalty = self.ridge[:, None, None] * V
        values = self.factor * losses + 0.5 * _dots(penalty, V)
        return values, self.factor * gradients.reshape(p, f, k) + penalty

    def _weights(self, folds: Integers) -> Floats:
        """c_i m_if of some folds, (n, f), kept as long as the same folds are asked for."""
        if not np.array_equal(self._kept.get("folds", ()), folds):
            weights = np.ascontiguousarray(self.risk.weight[:, None] * self.member[:, folds])
            self._kept.update(folds=folds, weights=weights)
        return np.asarray(self._kept["weights"])

    def _by_blocks(self, columns: Floats, folds: Integers) -> tuple[Floats, Floats]:
        rows = self.risk.targets.values, self.risk.weight, self.member
        losses, gradients = self.risk.design.reduce(_by_fold, *rows, args=(self.risk.loss, columns, folds))
        return losses, gradients


def _by_fold(
    block: Block, codes: Array, c: Floats, member: Array, loss: ScoredLoss, columns: Floats, folds: Integers
) -> Parts:
    f, k = len(folds), loss.k
    Z = block.dot(columns).reshape(-1, k)  # row after row, fold after fold
    losses, slope = loss.pointwise(np.repeat(codes, f), Z)
    weight = c[:, None] * member[:, folds]
    slope *= weight.reshape(-1, 1)
    return np.einsum("mf,mf->f", weight, losses.reshape(-1, f)), block.tdot(slope.reshape(-1, f * k))


def risks(design: Design, targets: Targets, weight: Floats, reference: bool) -> list[Risk]:
    """The sum of losses without C and penalty: one for labels, one for each column of a 0/1 matrix."""
    settings, design = Settings(np.inf, "auto", tol=1.0, max_iter=1, reference=reference), narrowed(design)
    return [make_risk(design, column, weight, settings) for column in targets.columns]


def weights(risk: Risk, V: Floats) -> Floats:
    """The folds' weights in the user's units, (F, K, d + 1) with the intercept last, of V (p, F, k)."""
    folds = (risk.design.user_units(V[:, f] @ risk.basis.T) for f in range(V.shape[1]))
    return np.stack([np.column_stack(fold) for fold in folds])


def path(risk: Risk, member: Array, Cs: Sequence[float], tol: float, max_iter: int) -> Iterator[Step]:
    """The folds' optima for each C of an increasing sequence, each from the one before.

    Small problems go near machine precision; larger ones to tol / 100, by what the last step promised to gain. Where
    the Hessian of the mean fold does not do, as when folds become separable, each fold gets its own.
    """
    design, F = risk.design, member.shape[1]
    target = 1e-18 if design.n * design.d * risk.k <= SMALL else 1e-2 * tol
    V = np.zeros((design.p, F, risk.k))
    shared, n_iter = mean_hessian(risk, member, V), 0
    for C in Cs:
        if n_iter > STALE:
            shared = mean_hessian(risk, member, V)
        problem, n_iter = Folds(risk, member, C), 0
        precondition, limit = shared(C), RENEW if design.p <= FACTORED_ORDER else max_iter
        while True:
            V, decrement, used, finished = together(problem, V, precondition, target, min(limit, max_iter - n_iter))
            n_iter += used
            if finished or n_iter >= max_iter:
                break
            limit = max(RENEW, design.p * risk.k // 16)  # as many iterations as cost what the folds' own Hessians do
            if design.p * risk.k <= FACTORED_ORDER and n_iter >= limit:
                precondition = own_hessians(problem, V, decrement > target)
            else:
                precondition = mean_hessian(risk, member, V)(C)
        yield Step(C, V, decrement, n_iter)


def together(
    problem: Folds, V: Floats, precondition: Callable[[Floats], Floats], target: float, max_iter: int
) -> tuple[Floats, Floats, int, bool]:
    """L-BFGS on every fold at once: V_f ← V_f - t_f B_f g_f, where each fold has its own t_f, B_f and end.

    Returns V, the relative decrements 1/2 g'B g / F, the iterations of the slowest fold, and whether all are finished.
    """
    V = V.copy()
    F = V.shape[1]
    values, G = problem.values_and_gradients(V, np.arange(F))
    pairs: list[Pair] = []
    decrement, stuck = np.full(F, np.inf), np.zeros(F, dtype=bool)
    certain = problem.factor * np.log(2.0) * float(problem.risk.weight.min())  # less, and every row is on its side
    for n_iter in range(max_iter + 1):
        step = -two_loops(G, pairs, precondition, _columns)
        slope, last = _dots(G, step), decrement
        decrement = 0.5 * np.abs(slope) / np.maximum(values, np.finfo(float).tiny)
        if np.isinf(problem.C):  # separated: there is no optimum, and nothing left to learn
            decrement[values < certain] = 0.0
        rounds = (decrement <= ROUNDING) & (decrement >= last)  # it falls no further
        finished = stuck | rounds | (decrement <= target)
        folds = np.flatnonzero(~finished)
        if not len(folds) or n_iter == max_iter:
            break
        t = np.where(finished, 0.0, 1.0)
        new_values, new_G = values.copy(), G.copy()
        while len(folds):  # nearly always once
            trial = V[:, folds] + t[folds][:, None] * step[:, folds]
            new_values[folds], new_G[:, folds] = problem.values_and_gradients(trial, folds)
            allowed = values + 1e-4 * t * slope + 4 * EPS * np.abs(values)
            folds = folds[~(new_values[folds] <= allowed[folds])]
            t[folds] *= 0.5
            given_up = folds[t[folds] < 1e-6]
            stuck[given_up], t[given_up] = True, 0.0
            new_values[given_up], new_G[:, given_up] = values[given_up], G[:, given_up]
            folds = folds[t[folds] > 0]
        s, y = t[:, None] * step, new_G - G
        curvature = _dots(s, y)
        good = curvature > np.maximum(EPS * _dots(y, y), LEAST)
        pairs = [*pairs[1 - MEMORY :], (s, y, np.divide(1.0, curvature, out=np.zeros(F), where=good)[:, None])]
        V, values, G = V + s, new_values, new_G
    return V, decrement, n_iter, bool(finished.all())


def _dots(A: Floats, B: Floats) -> Floats:
    """The inner product of each fold's coefficients."""
    return np.asarray(np.einsum("pfk,pfk->f", A, B))


def _columns(A: Floats, B: Floats) -> Floats:
    """The same, (F, 1)."""
    return _dots(A, B)[:, None]


# ------------------------------------------------------------------ preconditioners
def mean_hessian(risk: Risk, member: Array, V: Floats) -> Callable[[float], Callable[[Floats], Floats]]:
    """C → solve with C H + ridge, where H is the Hessian of the mean fold at its mean weights, from a sample of rows.

    Of several classes, each has its own block of H. Too many columns to factor that: the diagonal.
    """
    share, mean = float(member.mean()), V.mean(axis=1)
    if risk.design.p > FACTORED_ORDER:
        return lambda C: _diagonal(replace(risk, weight=share * risk.weight), mean, C)
    blocks = _blocks(_sampled(risk, member.shape[1]), mean)

    def at(C: float) -> Callable[[Floats], Floats]:
        problem = Folds(risk, member, C)
        solvers = [_inverse(problem.factor * share * H + np.diag(problem.ridge)) for H in blocks]
        return lambda G: np.stack([solve(G[:, :, a]) for a, solve in enumerate(solvers)], axis=2)

    return at


def own_hessians(problem: Folds, V: Floats, active: Array) -> Callable[[Floats], Floats]:
    """Solve with the own Hessian of each fold that is not finished."""
    risk, (p, _, k), solvers = problem.risk, V.shape, {}
    for f in np.flatnonzero(active):
        weight = problem.factor * risk.weight * problem.member[:, f]
        solvers[f] = _inverse(replace(risk, weight=weight, penalty=Ridge(problem.ridge)).hessian(V[:, f]))

    def precondition(G: Floats) -> Floats:
        steps = np.zeros_like(G)
        for f, solve in solvers.items():  # a fold's columns one after the other, as its Hessian has them
            steps[:, f] = solve(G[:, f].reshape(-1, 1, order="F")).reshape(p, k, order="F")
        return steps

    return precondition


def _sampled(risk: Risk, F: int) -> Risk:
    """As many rows as make the Hessian cost about what some passes do, but enough that it is good."""
    n, p = risk.design.n, risk.design.p
    m = max(10 * p, 4 * n * F // p)
    if m >= n:
        return risk
    return risk.sample(slice(None, None, n // m))


def _blocks(risk: Risk, V: Floats) -> Sequence[Floats]:
    """For each column of V, its own p x p block of the Hessian."""
    return risk.design.reduce(_own_blocks, risk.targets.values, risk.weight, args=(risk.loss, V))


def _own_blocks(block: Block, codes: Array, c: Floats, loss: ScoredLoss, V: Floats) -> Parts:
    h = loss.own_curvature(codes, block.dot(V))
    return tuple(block.gram(c * h[:, a]) for a in range(V.shape[1]))


def _inverse(H: Floats) -> Callable[[Floats], Floats]:
    """G → H⁻¹ G by Cholesky's factor of H with unit diagonal, a little raised."""
    found = np.diag(H)
    size = 1.0 / np.sqrt(np.where(found > 0, found, 1.0))[:, None]
    A = size * H * size.T
    A[np.diag_indices_from(A)] += found <= 0
    raised = 1e-10
    while True:
        try:
            factor = linalg.cho_factor(A + raised * np.eye(len(A)), lower=True)
        except linalg.LinAlgError:  # rounding of losses that all but vanish
            raised *= 100.0
        else:
            return lambda G: np.asarray(size * linalg.cho_solve(factor, size * G))


def _diagonal(risk: Risk, V: Floats, C: float) -> Callable[[Floats], Floats]:
    problem = Folds(risk, np.ones((risk.design.n, 1), dtype=bool), C)
    solve = diagonal(replace(risk, weight=problem.factor * risk.weight, penalty=Ridge(problem.ridge)), V)
    return lambda G: np.stack([solve(G[:, f]) for f in range(G.shape[1])], axis=1)
