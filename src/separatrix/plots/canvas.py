"""Where to draw: the axes given, or new ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.errors import InvalidInputError, SeparatrixError

COLOURS = ("#1f5fa8", "#b4500f", "#2b7a4b", "#7a3fa0", "#8a6d00", "#a3305f", "#3a7f8c", "#6b6b6b")


def axes(ax: Any) -> Any:
    """The axes given, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:  # pragma: no cover - the extra is installed wherever this is tested
        raise SeparatrixError("Plots need matplotlib: pip install 'separatrix[cli]'.") from error
    return plt.subplots()[1]


def codes_of(estimator: Any, y: Any) -> Any:
    """Positions of the labels in the estimator's classes; an error for one that it does not know."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise InvalidInputError(f"y must hold one label a row; its shape is {labels.shape}.")
    known = np.isin(labels, estimator.classes_)
    if not known.all():
        raise InvalidInputError(f"The classifier does not know the label {labels[~known][0]!r}.")
    return np.searchsorted(estimator.classes_, labels)
