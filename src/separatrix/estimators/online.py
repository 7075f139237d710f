"""What the classifiers that learn row by row share: first weights, streams, and errors explained."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from separatrix._typing import Array, Floats
from separatrix.errors import InvalidInputError
from separatrix.estimators.validation import Sample, check_entries
from separatrix.outcome import Fit, Trace
from separatrix.solvers.online import Rows

if TYPE_CHECKING:
    from separatrix.kernels.sample import KernelSample  # at run time only those that have kernels load them


def first_weights(init: str | ArrayLike, sample: Sample) -> Floats:
    """The weights (tasks, d + 1) that ``init`` stands for; the last column is 0 without an intercept."""
    design, targets = sample.design, sample.targets
    tasks = 1 if targets.binary else targets.n_classes
    weights = np.zeros((tasks, design.d + 1))
    if not isinstance(init, str):
        given = np.asarray(init, dtype=np.float64)
        if given.shape not in ((design.p,), (tasks, design.p)) or not np.isfinite(given).all():
            raise InvalidInputError(
                f"init must be 'zeros', 'ones', 'first' or {design.p} finite numbers (intercept last), "
                f"or {tasks} rows of them; got an array of shape {given.shape}.",
                "init",
            )
        weights[:, : design.p] = given
    elif init == "ones":
        weights[:, : design.p] = 1.0
    elif init == "first":
        for task, sign in enumerate(targets.signs(targets.values[:1])[0]):
            Rows(design).add(0, sign, weights[task])
    elif init != "zeros":
        raise InvalidInputError(f"init must be 'zeros', 'ones', 'first' or an array; got {init!r}.", "init")
    return weights


def stream_classes(model: Any, classes: ArrayLike | None, first: bool) -> Array:
    """The labels of a stream: given on the first call of partial_fit, the same ever after."""
    labels = None if classes is None else np.unique(np.asarray(classes))
    if first:
        if labels is None:
            raise InvalidInputError("classes must be passed on the first call to partial_fit: all labels to come.")
        if len(labels) < 2:
            raise InvalidInputError(f"classes={labels.tolist()} has only one class: at least 2 are needed.")
        return labels
    if "_weighted" in model.__dict__ or model.__dict__.get("_multilabel"):
        raise InvalidInputError("partial_fit goes on with a label a row, each class having a weight: fit anew.")
    if labels is not None and not np.array_equal(labels, model.classes_):
        raise InvalidInputError(
            f"classes={labels.tolist()} is not the same as on last call to partial_fit: {model.classes_.tolist()}."
        )
    return np.asarray(model.classes_)


def on_given_rows(fit: Fit, sample: Sample | KernelSample) -> Fit:
    """The same fit, with its points numbered as the user gave them; those of weight 0 were never used."""
    kept = sample.kept
    if isinstance(kept, slice):
        return fit
    attributes, trace = dict(fit.attributes), fit.trace
    if "dual_coef_" in attributes:
        alpha = attributes["dual_coef_"]
        attributes["dual_coef_"] = np.zeros((*alpha.shape[:-1], sample.n_given), dtype=alpha.dtype)
        attributes["dual_coef_"][..., kept] = alpha
    if trace is not None:
        columns = {name: trace[name] for name in trace}
        columns["point"] = np.where(columns["point"] < 0, -1, kept[columns["point"]])
        trace = Trace()
        for row in zip(*columns.values(), strict=True):
            trace.record(**dict(zip(columns, row, strict=True)))
    return replace(fit, attributes=attributes, trace=trace)


@contextmanager
def explained_overflow(estimator: Any, sample: Sample) -> Iterator[None]:
    """A score that is not finite comes from an entry that is not, or from numbers too large: say which."""
    try:
        yield
    except FloatingPointError as error:
        check_entries(sample.design, estimator)
        raise InvalidInputError(
            f"The scores overflow ({error}): the entries of X, the weights or eta0 are too large. "
            "Divide X by its largest entry, or lower eta0."
        ) from error
