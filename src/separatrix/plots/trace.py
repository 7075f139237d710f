"""The steps of a fit."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from separatrix.drawing import COLOURS, axes, legend_beside
from separatrix.errors import InvalidInputError

LOGARITHMIC = ("gap", "gradient")


class TraceDisplay:
    """A column of ``trace_`` against the step: the gap, the objective, the mistakes, ...

    Parameters
    ----------
    step, values : arrays of shape (m,)
    column : str
        What the values are.
    title : str
    task : array of shape (m,), or None
        Of several machines, which one a step is of: each has a line.

    Attributes
    ----------
    ax_, figure_, lines_ : matplotlib axes, figure and lines

    Examples
    --------
    >>> from separatrix import Perceptron
    >>> from separatrix.plots import TraceDisplay
    >>> model = Perceptron(trace=True).fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    >>> display = TraceDisplay.from_estimator(model, column="mistakes")  # doctest: +SKIP
    """

    def __init__(self, *, step: Any, values: Any, column: str, title: str = "", task: Any = None) -> None:
        self.step, self.values, self.column, self.title, self.task = step, values, column, title, task

    @classmethod
    def from_estimator(cls, estimator: Any, *, column: str | None = None, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the trace of a classifier fitted with ``trace=True``.

        Parameters
        ----------
        estimator : fitted classifier
        column : str, default=None
            A column of its ``trace_``; by default the gap if it has one, then the errors (of a pocket), then the
            objective, then the bound (of a hard margin), then the mistakes.
        ax : matplotlib axes, default=None
            Where to draw; a new figure by default.
        **kwargs
            For the lines.

        Returns
        -------
        TraceDisplay
        """
        check_is_fitted(estimator)
        trace = getattr(estimator, "trace_", None)
        name = type(estimator).__name__
        if trace is None:
            raise InvalidInputError(f"This {name} kept no trace: fit it with trace=True, if it has that parameter.")
        known = [key for key in trace if key not in ("step", "task") and trace[key].ndim == 1]
        if column is None:
            column = next(
                (key for key in ("gap", "errors", "objective", "bound", "mistakes") if key in known), known[0]
            )
        if column not in known:
            raise InvalidInputError(f"The trace has no column {column!r} to draw; it has {', '.join(known)}.")
        step = trace["step"] if "step" in trace else np.arange(trace.n_steps)
        task = trace.get("task")
        return cls(step=step, values=trace[column], column=column, title=name, task=task).plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw; gaps on a logarithmic scale.

        Parameters
        ----------
        ax : matplotlib axes, default=None
        **kwargs
            For the lines.

        Returns
        -------
        self
        """
        ax = axes(ax)
        step, values = np.asarray(self.step), np.asarray(self.values, dtype=np.float64)
        logarithmic = self.column in LOGARITHMIC and bool((values > 0).any())
        shown = np.isfinite(values) & ((values > 0) | (not logarithmic))  # a gap of 0 has no logarithm
        tasks = np.zeros(len(values)) if self.task is None else np.asarray(self.task)
        self.lines_ = []
        for j, task in enumerate(np.unique(tasks)):
            mine = shown & (tasks == task)
            style = {"color": COLOURS[j % len(COLOURS)], "label": f"task {task:g}", **kwargs}
            self.lines_ += ax.plot(step[mine], values[mine], **style)
        if len(self.lines_) > 1:
            legend_beside(ax)
        if logarithmic:
            ax.set_yscale("log")
        ax.set_xlabel("step")
        ax.set_ylabel(self.column)
        if self.title:
            ax.set_title(self.title)
        self.ax_, self.figure_ = ax, ax.figure
        return self
