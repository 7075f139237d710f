"""`partial_fit` of classifiers whose objective is a sum over rows: stochastic gradient descent, a step for each row."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from separatrix._typing import Floats
from separatrix.errors import InvalidInputError
from separatrix.estimators.absent import fitted_weights
from separatrix.estimators.online import stream_classes
from separatrix.estimators.validation import Sample, check_training
from separatrix.geometry import Hyperplanes
from separatrix.outcome import Fit, Status


def _weighted_by_row(model: Any) -> bool:
    if isinstance(model.class_weight, str):
        raise AttributeError(
            "class_weight='balanced' needs all rows at once: give partial_fit a dict of class weights."
        )
    return True


class Stream:
    """A classifier with hyperplanes that can learn from rows which come a few at a time; subclasses say how."""

    @abstractmethod
    def _descend(self, sample: Sample, W: Floats, calls: int) -> None:
        """One step for each row of the sample, in their order, from the weights W (tasks, d + 1), in place."""

    @available_if(_weighted_by_row)
    def partial_fit(self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: Any = None) -> Self:
        """One step of stochastic gradient descent for each row, in their order, from the weights as they are.

        The objective is that of `fit` on the rows of this call, each row's term with an equal share of the penalty. The
        m-th call takes steps of 10 / (9 + m) times 1/L, L the largest curvature of a row's term; or as the parameters
        ``learning_rate`` and ``schedule`` say, where there are such. Nothing is certified: the rows are gone, and
        ``status_`` says so.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        classes : array-like of shape (k,), default=None
            All labels that will come; needed on the first call only.
        sample_weight : array-like of shape (n,), default=None
            Factors of the rows' losses.

        Returns
        -------
        self
        """
        model: Any = self
        first = "coef_" not in model.__dict__
        labels = stream_classes(model, classes, first)
        with model._fitting():
            intercept = bool(model.fit_intercept)
            sample = check_training(model, X, y, sample_weight, intercept=intercept, reset=first, classes=labels)
            if sample.targets.multilabel:
                raise InvalidInputError("partial_fit takes a label a row: fit takes a 0/1 matrix y.")
            if not sample.design.in_memory:
                raise InvalidInputError("partial_fit takes rows in memory: give it those of rows.blocks() in turn.")
            calls = 0 if first or model.status_ is not Status.STREAM else int(np.max(model.n_iter_))
            W = np.zeros((sample.targets.tasks, sample.design.d + 1))
            if not first:
                coef, b = fitted_weights(model)
                W[:, :-1], W[:, -1] = coef, b if intercept else 0.0
            try:
                model._descend(sample, W, calls + 1)
            except FloatingPointError as error:
                raise InvalidInputError(
                    f"The weights diverge ({error}): bring the columns of X to mean 0 and similar size, or take "
                    "shorter steps."
                ) from error
            design = sample.design
            planes = Hyperplanes(design.rounded(W[:, :-1]), design.rounded(W[:, -1]))
            return model._publish(self._streamed(planes, calls + 1), sample)

    def _streamed(self, model: Hyperplanes, calls: int) -> Fit:
        return Fit(model, None, Status.STREAM, calls)
