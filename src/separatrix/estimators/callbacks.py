"""scikit-learn's callbacks, which are experimental there: all that the package knows of them is in this file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from sklearn.callback import CallbackSupportMixin, with_callbacks

Result = TypeVar("Result")


@dataclass
class Task:
    """A part of a fit that callbacks see begin and end; it may have parts of its own.

    Parameters
    ----------
    estimator : Observed
    context : CallbackContext
    data : mapping
        ``X``, ``y`` and ``metadata`` of the task, or functions that make them: they are called if a callback asks.
    model : callable or None
        Makes the attributes of an estimator that is fitted as far as the task went.
    stopped : bool
        Whether a callback asked, when the task ended, to leave its siblings out.
    """

    estimator: Any
    context: Any
    data: Mapping[str, Any]
    model: Callable[[], Mapping[str, Any]] | None = None
    stopped: bool = False

    @contextmanager
    def part(self, name: str, parts: int = 0, data: Mapping[str, Any] | None = None) -> Iterator[Task]:
        """A task within this one, with so many parts of its own."""
        context = self.context.subcontext(task_name=name, max_subtasks=parts)
        task = Task(self.estimator, context, self.data if data is None else data)
        with task.running():
            yield task

    @contextmanager
    def running(self) -> Iterator[None]:
        """Tell the callbacks when it begins and when it ends."""
        self.context.call_on_fit_task_begin(estimator=self.estimator, **self.data)
        yield
        self.stopped = self.context.call_on_fit_task_end(
            estimator=self.estimator, **self.data, reconstruction_attributes=self.model
        )


class Observed(CallbackSupportMixin):
    """An estimator that has ``set_callbacks``, for progress bars and the like."""

    @with_callbacks
    def _observed(self, work: Callable[[Task], Result], parts: int, X: Any, y: Any, sample_weight: Any) -> Result:
        """work(task), with a task of so many parts. Whatever happens, the callbacks are told when it is over."""
        data = {"X": X, "y": y, "metadata": None if sample_weight is None else {"sample_weight": sample_weight}}
        task = Task(self, self._init_callback_context(max_subtasks=parts), data)
        with task.running():
            return work(task)
