"""Gradient boosting as scikit-learn has it, on one thread: on a busy machine its threads wait for one another."""

from __future__ import annotations

from functools import cache
from typing import Any, Self

from threadpoolctl import ThreadpoolController

from separatrix._typing import Array, Floats


class GradientBoosting:
    """What a model that is not linear makes of a table; the same bits with any number of threads."""

    def __init__(self, seed: int) -> None:
        from sklearn.ensemble import HistGradientBoostingClassifier

        self._model = HistGradientBoostingClassifier(random_state=seed)

    @property
    def classes_(self) -> Array:
        """The labels."""
        return self._model.classes_

    def fit(self, X: Any, y: Array) -> Self:
        """Learn from rows of numbers, dense or not."""
        with _openmp().limit(limits=1, user_api="openmp"):
            self._model.fit(_dense(X), y)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """(n, k)."""
        with _openmp().limit(limits=1, user_api="openmp"):
            return self._model.predict_proba(_dense(X))


@cache
def _openmp() -> ThreadpoolController:
    """The libraries that are loaded once a model is made: to look for them each time takes 10 ms."""
    return ThreadpoolController()


def _dense(X: Any) -> Any:
    return X.toarray() if hasattr(X, "toarray") else X
