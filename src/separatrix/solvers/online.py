"""Rosenblatt's rule, one point after the other: score each point; where it is a mistake, w <- w + c_i y_i (x_i, 1).

The loop is in `loops.online`; here are the walk's state, and the rows as the loop reads them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import frexp
from typing import Any

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.design import Design
from separatrix.loops.online import UPDATES, begun, online_csr, online_dense
from separatrix.loops.rows import BUDGET, csr_arrays, floats
from separatrix.solvers.online_stored import walk_stored

# a score of 0 is a mistake for the points whose signed step is below this: all, those with y = -1, none
TIES = {"mistake": np.inf, "positive": 0.0, "correct": -np.inf}


@dataclass
class State:
    """The weights v = start + eta w of one perceptron, and how they came about.

    The walk itself is that of eta = 1: w is the sum of the steps c_i y_i (x_i, 1), and a score is eta times
    w.(x, 1) + start.(x, 1) / eta. So eta changes lengths and nothing else, in floats too: for whole numbers w is free
    of rounding, where sums of multiples of .1 or .3 are not.

    Parameters
    ----------
    w : array of shape (d + 1,)
        The steps so far, in units of eta; the last stays 0 without an intercept.
    alpha : integer array of shape (n,)
        How often each point was used.
    drift : array of shape (d + 1,) or (0,)
        sum over the updates of (points seen before it) * change: w - drift / seen is the average of the steps after
        every point. Empty if it is not asked for.
    start : array of shape (d + 1,)
        Where the walk began.
    eta : float
    seen : int
        Points seen.
    """

    w: Floats
    alpha: Integers
    drift: Floats
    start: Floats
    eta: float = 1.0
    seen: int = 0

    @classmethod
    def begin(cls, start: Floats, eta: float, average: bool) -> State:
        """No update yet, from the weights ``start``, which are copied.

        A power of two divides them without rounding: then they are the first of the steps, and start is 0.
        """
        w = np.zeros(len(start))
        with np.errstate(all="ignore"):
            if frexp(eta)[0] == 0.5 and (start / eta * eta == start).all():
                start, w = w, start / eta
        return cls(w, np.zeros(0, dtype=np.int64), np.zeros(len(w) if average else 0), start.copy(), eta)

    def scaled(self, w: Floats) -> Floats:
        """The weights start + eta w that belong to steps w, a row or several."""
        with np.errstate(over="ignore", invalid="ignore"):
            weights = self.start + self.eta * w
        if not np.isfinite(weights).all():
            raise FloatingPointError("a weight is not finite")
        return np.asarray(weights)

    def weights(self) -> Floats:
        """The weights of the last step."""
        return self.scaled(self.w)

    def averaged(self) -> Floats:
        """The mean of the weights after every point seen, if the drift was kept; else the weights."""
        return self.scaled(self.w - self.drift / self.seen) if len(self.drift) and self.seen else self.weights()

    def with_step(self, eta: float) -> State:
        """A copy, of no single point, that goes on with the step eta: the same walk if it is the same step."""
        if eta == self.eta:
            return State(
                self.w.copy(), np.zeros(0, dtype=np.int64), self.drift.copy(), self.start.copy(), eta, self.seen
            )
        new = State.begin(self.weights(), eta, average=False)
        new.drift, new.seen = self.drift * (self.eta / eta), self.seen
        return new

    def again(self, average: bool) -> State:
        """A copy, of no single point, that counts anew the points whose weights are averaged."""
        drift = np.zeros(len(self.w) if average else 0)
        return State(self.w.copy(), np.zeros(0, dtype=np.int64), drift, self.start.copy(), self.eta)

    def offsets(self, design: Design) -> Floats | None:
        """start.(x_i, 1) / eta for each row, which the score of w lacks; None if start is 0."""
        if not self.start.any():
            return None
        with np.errstate(all="ignore"):  # where that is not finite, the walk will say so
            return np.asarray(design.dot(self.start[: design.p, None])[:, 0] / self.eta)


class Rows:
    """The points (x_i, one) of a design as arrays that a loop reads row by row: C-ordered or CSR, float32 or float64.

    Parameters
    ----------
    design : Design
        The rows as they are; any conditioning is ignored. Copied only if order or number type demand it.
    """

    def __init__(self, design: Design) -> None:
        self.n, self.d = design.n, design.d
        self.one = float(design.intercept)
        self.sparse = design.sparse
        self.stored = None if design.in_memory else design
        self.arrays: tuple[Array, ...] = ()
        if design.in_memory:
            self.arrays = design.lend(csr_arrays) if self.sparse else (design.lend(floats),)

    def add(self, i: int, change: float, w: Floats) -> None:
        """w <- w + change (x_i, one)."""
        if self.stored is not None:
            w[: self.d] += change * self.stored.row(i)
        elif self.sparse:
            data, indices, indptr = self.arrays
            row = slice(indptr[i], indptr[i + 1])
            np.add.at(w, indices[row], change * data[row].astype(np.float64))  # a column may come twice
        else:
            w[: self.d] += change * self.arrays[0][i].astype(np.float64)
        w[self.d] += change * self.one

    def run(
        self, step: Floats, offset: Floats | None, tie: float, order: Integers | None, start: int, state: State,
        history: Floats, when: Integers,
    ) -> tuple[int, int]:  # fmt: skip
        """Apply the rule to the points order[start:], in place; return where it stopped, and the number of updates.

        Parameters
        ----------
        step : array of shape (n,)
            c_i y_i: the sign is the label's.
        offset : array of shape (n,) or None
            What the walk's start adds to the scores of its steps (see `State.offsets`).
        tie : float
            A score of 0 is a mistake for steps below it (see `TIES`).
        order : integer array or None
            The points in the order of their turn; None for 0, 1, ...
        start : int
            How many of them have had their turn.
        state : State
            Changed in place, except for `seen`.
        history, when : arrays of shape (m, d + 1) and (m,)
            Filled with the weights after each update and its place in `order`; the run stops when they are full.
            With m = 0 nothing is written, and the run goes to the end.

        Raises
        ------
        FloatingPointError
            If a score is not finite.
        """
        stop, counts = self._walk(step, offset, tie, order, start, 1, state, history, when)
        return stop, int(counts[UPDATES])

    def passes(
        self, step: Floats, offset: Floats | None, tie: float, most: int, state: State, cycles: bool
    ) -> Integers:
        """All points in turn until a pass has no mistake, `most` times at most; the counts of `loops.online`.

        With ``cycles``, also until the weights after a pass are what they were before. The other parameters, and the
        error, are those of `run`.
        """
        saved = state.w.copy() if cycles else None
        nothing = np.empty((0, 0)), np.empty(0, dtype=np.int64)
        return self._walk(step, offset, tie, None, 0, most, state, *nothing, saved)[1]

    def _walk(
        self, step: Floats, offset: Floats | None, tie: float, order: Integers | None, start: int, passes: int,
        state: State, history: Floats, when: Integers, saved: Floats | None = None,
    ) -> tuple[int, Integers]:  # fmt: skip
        if self.stored is not None:
            return walk_stored(self.stored, step, offset, tie, order, start, passes, state, history, when, saved)
        loop: Any = online_csr if self.sparse else online_dense
        room, counts = len(when), begun()
        end, drift = self.n if order is None else len(order), state.drift if len(state.drift) else None
        stop = start
        while True:
            stop = loop(
                *self.arrays, self.d, self.one, step, offset, tie, order, stop, end, passes, state.w, state.alpha,
                drift, state.seen, history, when, room, counts, saved, BUDGET,
            )  # fmt: skip
            updates = counts[UPDATES]
            if updates < 0:
                raise FloatingPointError(f"the score of row {stop if order is None else order[stop]} is not finite")
            if stop == end or (room and updates == room):
                return stop, counts
