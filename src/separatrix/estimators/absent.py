"""Classes all of whose rows have weight 0: labels that a model knows of, and never predicts.

The fit is that of the other classes, bit for bit. Afterwards each such class gets its place in ``classes_``, with
weights 0 and an intercept of -infinity: a score below all others, and a probability of exactly 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from separatrix._typing import Array, Floats, Integers

Model = TypeVar("Model")
#: Attributes with one entry for each class, which is 0 for a class without weight.
BY_CLASS = ("centroids_", "deviations_", "class_count_", "class_prior_", "n_support_", "parameters_")


def seat(model: Any, given: Array | None) -> None:
    """Make room for the labels ``given`` in a model that was fitted to fewer of them; the others are in ``_weighted``.

    Two fitted classes have one hyperplane, w.x + b: as two of several, they have -s (w.x + b) and s (w.x + b), where s
    is 1/2 for log-odds and 1 for others. Attributes of pairs of classes, or of machines, are of those that were fitted.
    """
    fitted = model.__dict__
    if given is None or len(given) == len(fitted["classes_"]):
        return
    places, k = np.searchsorted(given, fitted["classes_"]), len(given)
    seated = {"classes_": given, "_given": given}
    for name in BY_CLASS:
        if isinstance(fitted.get(name), np.ndarray):
            seated[name] = _spread(fitted[name], places, k, 0.0)
    if np.ndim(fitted.get("variances_")) == 2:  # one for each class
        seated["variances_"] = _spread(fitted["variances_"], places, k, 0.0)
    if "coef_" in fitted and "n_support_" not in fitted:  # one for each class, not for each pair
        seated["coef_"] = _spread(_each(fitted["coef_"], model._share), places, k, 0.0)
        seated["intercept_"] = _spread(_each(fitted["intercept_"], model._share), places, k, -np.inf)
    weighted = {name: fitted[name] for name in seated if name in fitted}
    fitted.update(seated, _weighted=weighted)
    fitted["_published"] = (*fitted.get("_published", ()), "_given", "_weighted")


def seated(weights: Floats, places: Integers, k: int, share: float) -> Floats:
    """(k, d + 1) weights of k classes, the intercept last, from those of the fitted ones, which have these places."""
    filled = _spread(_each(weights, share), places, k, 0.0)
    filled[np.setdiff1d(np.arange(k), places), -1] = -np.inf
    return filled


def bare(model: Model) -> Model:
    """A copy that is the fit of the classes with a weight, as a certificate is about it."""
    if "_weighted" not in model.__dict__:
        return model
    copied = copy(model)
    copied.__dict__.update(copied.__dict__.pop("_weighted"))
    copied.__dict__["_published"] = tuple(name for name in copied.__dict__.get("_published", ()) if name != "_weighted")
    return copied


def fitted_weights(model: Any) -> tuple[Floats, Floats]:
    """coef and intercept of the classes with a weight, for a fit that goes on from them."""
    fitted = bare(model)
    coef = fitted.coef_.toarray() if sparse.issparse(fitted.coef_) else fitted.coef_
    return np.asarray(coef, dtype=np.float64), np.asarray(fitted.intercept_, dtype=np.float64)


def spread(values: Floats, fitted: Mapping[str, Any], lowest: float, share: float = 1.0) -> Floats:
    """(n, k) scores or probabilities of all classes from those of the fitted ones; ``lowest`` for the others."""
    if "_weighted" not in fitted:
        return values
    places = np.searchsorted(fitted["classes_"], fitted["_weighted"]["classes_"])
    return _spread(_each(values.T, share), places, len(fitted["classes_"]), lowest).T


def _each(rows: Floats, share: float) -> Floats:
    """One row for each fitted class: of two classes there is only that of the second."""
    return np.concatenate([-share * rows, share * rows]) if len(rows) == 1 else rows


def _spread(rows: Floats, places: Integers, k: int, value: float) -> Floats:
    """The rows in their places among k, the others filled with ``value``."""
    filled = np.full((k, *rows.shape[1:]), value, dtype=rows.dtype)
    filled[places] = rows
    return filled
