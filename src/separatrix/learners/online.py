"""Rosenblatt's rule, one point after the other: score each point; where it is a mistake, w <- w + c_i y_i (x_i, 1).

The loop is written twice, for dense rows and for CSR rows, and runs in two ways from the same source: compiled on
arrays, or, while there is little work, by Python on lists (which Python reads faster than arrays). Where mistakes are
few, `Leaps` from one to the next take its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import frexp
from typing import Any

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.compiled import Effort, Loop, compiled, prefetch, unsigned
from separatrix.design import Design
from separatrix.learners import leaps

INFINITY = float("inf")
ELEMENTS = 30  # entries per unit of work: Python then spends a quarter of a second before the compiler is called
AHEAD = 4  # rows that are on their way from memory while one is worked on
LIST_ENTRIES = 1_000_000  # a list takes four times the memory of an array: only for small tables

# a score of 0 is a mistake for the points whose signed step is below this: all, those with y = -1, none
TIES = {"mistake": np.inf, "positive": 0.0, "correct": -np.inf}


def online_dense(
    x: Any, one: Any, step: Any, offset: Any, tie: Any, order: Any, start: Any, w: Any, alpha: Any, drift: Any,
    seen: Any, history: Any, when: Any,
) -> Any:  # fmt: skip
    """Points order[start:] of the dense rows x; see `Rows.run`."""
    d, end = len(w) - 1, len(step) if order is None else len(order)
    updates = 0
    for t in range(start, end):
        i = t if order is None else order[t]
        row = x[i]
        score = one * w[d]
        for j in range(d):
            score += row[j] * w[j]
        if offset is not None:
            score += offset[i]
        if not abs(score) < INFINITY:
            return t, -1
        if (score < 0.0) == (step[i] > 0.0) if score != 0.0 else step[i] < tie:
            change = step[i]
            for j in range(d):
                w[j] += change * row[j]
            w[d] += change * one
            alpha[i] += 1
            updates += 1
            if drift is not None:
                for j in range(d):
                    drift[j] += (seen + t) * (change * row[j])
                drift[d] += (seen + t) * (change * one)
            if when is not None:
                for j in range(d + 1):
                    history[updates - 1, j] = w[j]
                when[updates - 1] = t
                if updates == len(when):
                    return t + 1, updates
    return end, updates


def online_csr(
    data: Any, indices: Any, indptr: Any, one: Any, step: Any, offset: Any, tie: Any, order: Any, start: Any, w: Any,
    alpha: Any, drift: Any, seen: Any, history: Any, when: Any,
) -> Any:  # fmt: skip
    """Points order[start:] of the CSR rows (data, indices, indptr); see `Rows.run`."""
    d, end = len(w) - 1, len(step) if order is None else len(order)
    updates = 0
    for t in range(start, end):
        i = t if order is None else order[t]
        if t + AHEAD < end:
            later = t + AHEAD if order is None else order[t + AHEAD]
            prefetch(indptr[later], indptr[later + 1], data, indices)
        first, last = indptr[i], indptr[i + 1]
        middle = (first + last) >> 1
        score, other = one * w[d], 0.0  # two sums: an addition need not wait for the one before
        for p, q in zip(range(first, middle), range(middle, last)):  # noqa: B905  the second may have one more
            score += data[p] * w[indices[p]]
            other += data[q] * w[indices[q]]
        for q in range(middle + (middle - first), last):
            other += data[q] * w[indices[q]]
        score += other
        if offset is not None:
            score += offset[i]
        if not abs(score) < INFINITY:
            return t, -1
        if (score < 0.0) == (step[i] > 0.0) if score != 0.0 else step[i] < tie:
            change = step[i]
            for p in range(first, last):
                w[indices[p]] += change * data[p]
            w[d] += change * one
            alpha[i] += 1
            updates += 1
            if drift is not None:
                for p in range(first, last):
                    drift[indices[p]] += (seen + t) * (change * data[p])
                drift[d] += (seen + t) * (change * one)
            if when is not None:
                for j in range(d + 1):
                    history[updates - 1, j] = w[j]
                when[updates - 1] = t
                if updates == len(when):
                    return t + 1, updates
    return end, updates


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
        every point. Empty when nobody asks for it.
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
        X = design.X
        dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)
        self.n, self.d = design.n, design.d
        self.ahead = 0  # passes that will most likely follow
        self.mistakes = self.n  # of the last run: a guess for the next
        self.effort = Effort()
        self.one = float(design.intercept)
        self.sparse = hasattr(X, "indptr")
        self.arrays: tuple[Array, ...]
        self._leaping: leaps.Leaps | None = None
        if self.sparse:
            self.arrays = (X.data.astype(dtype, copy=False), unsigned(X.indices), unsigned(X.indptr))
        else:
            self.arrays = (np.ascontiguousarray(X, dtype=dtype),)

    @cached_property
    def _lists(self) -> tuple[list[Any], ...]:
        return tuple(array.tolist() for array in self.arrays)

    def _leaps(self, step: Floats, offset: Floats | None, tie: float) -> leaps.Leaps:
        known = self._leaping
        if known is None or known.step is not step or known.offset is not offset or known.tie != tie:
            self._leaping = known = leaps.Leaps(self.arrays[0], self.one, step, offset, tie)
        return known

    def add(self, i: int, change: float, w: Floats) -> None:
        """w <- w + change (x_i, one)."""
        if self.sparse:
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
            Where in `order` to begin.
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
        loop: Loop = online_csr if self.sparse else online_dense
        left, entries = (self.n if order is None else len(order)) - start, self.arrays[0].size
        one_by_one = (entries / self.n + 5) * left
        in_leaps = np.inf if self.sparse or len(state.drift) or len(when) else leaps.cost(entries, self.mistakes)
        work = min(one_by_one, in_leaps) / ELEMENTS
        # None for what nobody asks for: then there is less to compile
        drift = state.drift if len(state.drift) else None
        record = (history, when) if len(when) else (None, None)
        rest = (state.alpha, drift, state.seen, *record)
        if entries > LIST_ENTRIES or self.effort.pays(work, ahead=self.ahead * work):
            run = compiled(loop, np.inf, in_order=self.sparse)  # to gather weights into vectors takes longer
            stop, updates = run(*self.arrays, self.one, step, offset, tie, order, start, state.w, *rest)
        elif in_leaps < one_by_one and (leaping := self._leaps(step, offset, tie)).finite(state.w):
            stop, updates = start + left, leaping.run(order, start, state.w, state.alpha)
        else:
            w, turns = state.w.tolist(), None if order is None else order.tolist()
            bases = None if offset is None else offset.tolist()
            stop, updates = loop(*self._lists, self.one, step.tolist(), bases, tie, turns, start, w, *rest)
            state.w[:] = w
        if updates < 0:
            raise FloatingPointError(f"the score of row {stop if order is None else order[stop]} is not finite")
        self.mistakes = int(updates)
        return int(stop), int(updates)
