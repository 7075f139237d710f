"""A primal-dual interior-point method for support vector machines.

    min over v, xi of  1/2 v'R v + sum_i c_i xi_i   subject to  y_i z_i.v >= 1 - xi_i,  xi_i >= 0

with a diagonal R >= 0 (0 for the intercept). With multipliers beta, the optimum has R v = sum_i beta_i y_i z_i and
y_i z_i.v - 1 = s_i - u_i, where s_i >= 0 is 0 unless beta_i = 0, and u_i >= 0 is 0 unless beta_i = c_i. Newton steps
on these equations (Mehrotra's predictor and corrector) solve (R + Z'DZ) dv = g for a positive diagonal D; with a
kernel, where v has as many coordinates as one likes, the same step is a system in beta. v and beta are kept apart, so
that R may be as small as rounding allows. c_i = inf is a hard margin: then u_i = 0. With c_i = inf and a cost of
xi_i² / (2 soft_i), the squared hinge, y_i z_i.v - 1 = s_i - soft_i beta_i instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from scipy import linalg

from separatrix._typing import Array, Floats
from separatrix.design import Design

Solve: TypeAlias = Callable[[Floats, Floats], tuple[Floats, Floats]]


class Margins(Protocol):
    """The margins y_i z_i.v as a linear function of a state, and the Newton system that goes with it."""

    def start(self) -> Floats:
        """The state v = 0."""

    def margins(self, state: Floats) -> Floats:
        """y_i z_i.v."""

    def residual(self, state: Floats, beta: Floats) -> Floats:
        """sum_i beta_i y_i z_i - R v: what stationarity lacks."""

    def factor(self, D: Floats) -> Solve:
        """Given r and the residual, (dbeta, dstate) with dbeta = D (r - y Z dv), R dv = Z'Y dbeta + residual."""


@dataclass(frozen=True)
class LinearMargins:
    """State v itself, (p,), for rows z_i of a design."""

    design: Design
    y: Floats
    ridge: Floats

    def start(self) -> Floats:
        return np.zeros(self.design.p)

    def margins(self, state: Floats) -> Floats:
        return self.y * self.design.dot(state[:, None])[:, 0]

    def residual(self, state: Floats, beta: Floats) -> Floats:
        return self.design.tdot((self.y * beta)[:, None])[:, 0] - self.ridge * state

    def factor(self, D: Floats) -> Solve:
        M = self.design.gram(D)
        M[np.diag_indices_from(M)] += self.ridge
        solve = positive_definite(M)

        def step(r: Floats, residual: Floats) -> tuple[Floats, Floats]:
            dv = solve(self.design.tdot((D * self.y * r)[:, None])[:, 0] + residual)
            return D * (r - self.margins(dv)), dv

        return step


@dataclass(frozen=True)
class KernelMargins:
    """State (beta', b): the v of feature space is sum_i beta'_i y_i phi(x_i) / ridge; K is held in full."""

    K: Floats
    y: Floats
    ridge: float
    intercept: bool

    def start(self) -> Floats:
        return np.zeros(len(self.y) + 1)

    def margins(self, state: Floats) -> Floats:
        return self.y * (self.K @ (self.y * state[:-1]) / self.ridge + state[-1])

    def residual(self, state: Floats, beta: Floats) -> Floats:
        # in the coordinates of beta; the last entry is that of the intercept
        return np.append(beta - state[:-1], self.y @ beta if self.intercept else 0.0)

    def factor(self, D: Floats) -> Solve:
        M = self.K / self.ridge
        M[np.diag_indices_from(M)] += 1.0 / D
        solve = positive_definite(M)
        ones = solve(np.ones(len(D))) if self.intercept else np.zeros(len(D))

        def step(r: Floats, residual: Floats) -> tuple[Floats, Floats]:
            # (K/ridge + 1/D) (Y dbeta) + de 1 = Y r - K Y residual / ridge, and 1'Y dbeta = -y'beta
            right = self.y * r - self.K @ (self.y * residual[:-1]) / self.ridge
            move = solve(right)
            de = (move.sum() + residual[-1]) / ones.sum() if self.intercept else 0.0
            dbeta = self.y * (move - de * ones)
            return dbeta, np.append(dbeta + residual[:-1], de)

        return step


@dataclass(frozen=True)
class Iterate:
    """State and multipliers after an iteration, and the mean complementarity, which goes to 0."""

    state: Floats
    beta: Floats
    complementarity: float


def interior_point(problem: Margins, c: Floats, soft: Floats | float = 0.0) -> Iterator[Iterate]:
    """Iterates strictly inside the bounds; each is about a tenth as far from complementary as the one before."""
    bounded = np.isfinite(c)
    pairs = len(c) + int(bounded.sum())
    beta = np.where(bounded, 0.5 * c, 1.0)
    room = np.where(bounded, c - beta, 1.0)
    state = problem.start()
    excess = problem.margins(state) - 1.0
    s = np.maximum(excess, 0.0) + 1.0
    u = np.where(bounded, np.maximum(-excess, 0.0) + 1.0, 0.0)
    while True:
        mu = float(beta @ s + room @ u) / pairs
        yield Iterate(state, beta, mu)
        infeasible = excess - s + u + soft * beta
        residual = problem.residual(state, beta)
        solve = problem.factor(1.0 / (s / beta + u / room + soft))

        def direction(to_s: Floats, to_u: Floats) -> tuple[Floats, Floats, Floats, Floats]:
            """Changes that take beta s and room u by to_s and to_u, to first order."""
            db, dv = solve(-infeasible + to_s / beta - to_u / room, residual)  # noqa: B023
            return db, dv, (to_s - s * db) / beta, np.where(bounded, (to_u + u * db) / room, 0.0)  # noqa: B023

        # predictor: straight to complementarity 0; how far that goes says how much to centre
        db, dv, ds, du = direction(-beta * s, -room * u)
        t = min(1.0, _longest(beta, db), _longest(s, ds), _longest(room, -db, bounded), _longest(u, du, bounded))
        ahead = float((beta + t * db) @ (s + t * ds) + ((room - t * db) * (u + t * du))[bounded].sum()) / pairs
        aim = mu * min(1.0, ahead / mu) ** 3
        db, dv, ds, du = direction(aim - beta * s - db * ds, np.where(bounded, aim - room * u + db * du, 0.0))
        t_beta = min(1.0, 0.995 * min(_longest(beta, db), _longest(room, -db, bounded)))
        t_slack = min(1.0, 0.995 * min(_longest(s, ds), _longest(u, du, bounded)))
        t = min(t_beta, t_slack)  # one length for all: stationarity ties v to beta
        state, beta, s, u = state + t * dv, beta + t * db, s + t * ds, u + t * du
        room = np.where(bounded, room - t * db, 1.0)  # not c - beta, which would round to 0
        excess = problem.margins(state) - 1.0


def _longest(x: Floats, d: Floats, where: Array | bool = True) -> float:
    """The largest t with x + t d >= 0, of the chosen entries."""
    falling = (d < 0) & where
    return float((-x[falling] / d[falling]).min(initial=np.inf))


def positive_definite(M: Floats) -> Callable[[Floats], Floats]:
    """Solve with M, scaled to unit diagonal; where rounding made it indefinite, with its nearest neighbour."""
    size = np.sqrt(M.diagonal())
    size = np.where(size > 0, size, 1.0)
    M = M / size[:, None] / size
    factor, failed = linalg.lapack.dpotrf(M.T)  # straight: for a hundred points, what surrounds it takes longer
    if not failed:
        return lambda g: linalg.lapack.dpotrs(factor, g / size)[0] / size
    values, Q = linalg.eigh(M)
    if not values[-1] > 0:  # M = 0, as of rows that are all 0: nothing to solve for
        return np.zeros_like
    values = np.maximum(values, 1e-15 * values[-1])
    return lambda g: Q @ ((Q.T @ (g / size)) / values) / size
