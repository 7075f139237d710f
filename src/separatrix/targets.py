"""Labels as fits see them: classes, codes, and one column of signs for each task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix._typing import Array, Floats, Integers

__all__ = ["Targets", "membership", "signs"]


@dataclass(frozen=True)
class Targets:
    """What the rows are labelled with.

    Parameters
    ----------
    classes : array of shape (k,)
        The labels in sorted order; for a 0/1 matrix y, the numbers of its columns.
    values : integer array of shape (n,), or 0/1 array of shape (n, k)
        The class code of each row, or the matrix y itself.
    class_weight : array of shape (k,) or None
        The factor of each class, which the rows' weights already have in them.
    given : array or None
        The labels of y, if some of them are of rows of weight 0 only.
    """

    classes: Array
    values: Array
    class_weight: Floats | None = None
    given: Array | None = None

    @property
    def multilabel(self) -> bool:
        """Whether each row may have several labels: y is a 0/1 matrix."""
        return self.values.ndim == 2

    @property
    def n_classes(self) -> int:
        """Number of classes, or of columns of a 0/1 matrix y."""
        return len(self.classes)

    @property
    def binary(self) -> bool:
        """Two classes, hence one task: classes[1] against classes[0]."""
        return self.n_classes == 2 and not self.multilabel

    @property
    def tasks(self) -> int:
        """How many hyperplanes: one for two classes, else each class against the rest, or each column of a matrix."""
        return 1 if self.binary else self.n_classes

    @property
    def columns(self) -> list[Targets]:
        """The columns of a 0/1 matrix, each with the classes 0 and 1; for labels, the targets themselves."""
        return [Targets(np.array([0, 1]), column) for column in self.values.T] if self.multilabel else [self]

    def positive(self, task: int) -> int:
        """The code of the class with y_i = +1: of two classes the second, of more the task's own."""
        return 1 if self.binary else task

    def task_signs(self, task: int) -> Floats:
        """y_i = ±1 of one task."""
        return np.where(self.values == self.positive(task), 1.0, -1.0)

    def of_tasks(self, values: Sequence[Any]) -> Any:
        """What a fit publishes of one value a task: the number itself for two classes, else an array."""
        return values[0] if self.binary else np.array(values)

    def signs(self, values: Array) -> Floats:
        """The ±1 targets (m, tasks) of some rows' `values`: two classes are one task, more are one each."""
        return signs(values, self.n_classes)


def signs(values: Array, k: int, low: float = -1.0) -> Floats:
    """1 for the second of two classes, the own one of k, or a 1 of a matrix; ``low`` otherwise: (m, tasks)."""
    if values.ndim == 1:
        values = values[:, None] == (1 if k == 2 else np.arange(k))
    return np.where(values, 1.0, low)


def membership(codes: Integers, weight: Floats, k: int) -> Floats:
    """(m, k) matrix with weight_i in column codes_i of row i: R'x sums a class in each row."""
    R = np.zeros((len(codes), k))
    R[np.arange(len(codes)), codes] = weight
    return R
