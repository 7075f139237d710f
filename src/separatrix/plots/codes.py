"""The rows of a picture by their classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.errors import InvalidInputError


def codes_of(estimator: Any, y: Any) -> Any:
    """Positions of the labels in the estimator's classes; an error for one that it does not know."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise InvalidInputError(f"y must hold one label a row; its shape is {labels.shape}.")
    known = np.isin(labels, estimator.classes_)
    if not known.all():
        raise InvalidInputError(f"The classifier does not know the label {labels[~known][0]!r}.")
    return np.searchsorted(estimator.classes_, labels)
