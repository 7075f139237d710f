"""What a trace records of a perceptron: every update, with the state of all rows after it."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.design import Design
from separatrix.outcome import Trace
from separatrix.solvers.online import State


class Recorder:
    """Writes one row of a trace for each update: O(nd) work each, since every row is scored.

    Parameters
    ----------
    trace : Trace
    design : Design
    step : array of shape (n,)
        c_i y_i.
    state : State
        The walk, which knows the weights that belong to its steps.
    task : int or None
        The number of the task, if there are several.
    """

    def __init__(self, trace: Trace, design: Design, step: Floats, state: State, task: int | None) -> None:
        self.trace, self.design, self.state = trace, design, state
        self.labels, self.weight = np.sign(step)[:, None], np.abs(step)[:, None]
        self.head: dict[str, Any] = {} if task is None else {"task": task}
        self.step, self.mistakes = -1, 0

    def __call__(self, points: Integers, history: Floats, mistakes: int, **columns: Array) -> None:
        """Record updates with these points (-1: all), the steps so far after each, and the mistakes each answers."""
        history = self.state.scaled(history)
        margins = self.labels * self.design.dot(history[:, : self.design.p].T)
        risk = (self.weight * np.maximum(0.0, -margins)).sum(axis=0)
        length = np.linalg.norm(history[:, :-1], axis=1)
        nearest = np.divide(margins.min(axis=0), length, out=np.zeros(len(length)), where=length > 0)
        for k, point in enumerate(points):
            self.step, self.mistakes = self.step + 1, self.mistakes + mistakes
            self.trace.record(
                **self.head,
                step=self.step,
                point=int(point),
                objective=risk[k],
                mistakes=self.mistakes,
                margin=nearest[k],
                weights=history[k],
                **{name: values[k] for name, values in columns.items()},
            )
