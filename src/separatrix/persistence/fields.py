"""What a fitted classifier consists of: each attribute by name, and what must be true of its value.

A classifier with an attribute that is not listed here can neither be saved nor loaded: add a line for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from separatrix.certificates import Certificate
from separatrix.errors import ModelFileError
from separatrix.formulas.families import ExponentialFamily
from separatrix.kernels import Graph, Kernel
from separatrix.outcome import Status

#: Not saved: recorded steps, and what scikit-learn attaches for its own purposes.
LEFT_OUT = frozenset({"trace_", "_skl_callbacks", "_metadata_request", "_published", "_model", "_moments", "_states"})


@dataclass(frozen=True)
class Sizes:
    """The sizes that shapes are made of: d columns, k classes, and r scores of a point (1, k, or one for each pair)."""

    d: int | None
    k: int
    r: int

    @classmethod
    def of(cls, attributes: Mapping[str, Any]) -> Sizes:
        """The sizes of a classifier, from its labels and its intercepts or weights."""
        labels = attributes.get("classes_")
        if not isinstance(labels, np.ndarray) or labels.ndim != 1 or len(labels) < 1:
            raise ModelFileError("its classes_ are missing or malformed")
        d, k = attributes.get("n_features_in_"), len(labels)
        if d is not None and (type(d) is not int or d < 1):
            raise ModelFileError("its n_features_in_ is malformed")
        rows = attributes.get("intercept_")
        r = len(rows) if isinstance(rows, np.ndarray) and rows.ndim == 1 else 1 if k == 2 else k
        multilabel = attributes.get("_multilabel") is True
        if r not in ({k} if multilabel else {1} if k == 2 else {k, k * (k - 1) // 2}):
            raise ModelFileError(f"it has {r} hyperplanes for {k} classes")
        return cls(d, k, r)

    def fit(self, shape: tuple[int, ...], expected: str) -> bool:
        """Whether a shape is as expected, "rd" for (r, d); "*" stands for any size, "p" for d + 1."""
        sizes = {"d": self.d, "p": None if self.d is None else self.d + 1, "k": self.k, "r": self.r}
        return len(shape) == len(expected) and all(
            symbol == "*" or n == sizes[symbol] for n, symbol in zip(shape, expected, strict=True)
        )


Check = Callable[[Any, Sizes], bool]


def numbers(*shapes: str, kinds: str = "f", finite: bool = True, least: float = -np.inf, most: float = np.inf) -> Check:
    """Arrays of one of these shapes ("" for a plain number), from ``least`` to ``most``, and finite unless said so."""

    def check(value: Any, sizes: Sizes) -> bool:
        if type(value) in (int, float) and "" in shapes:
            array = np.asarray(value)
        elif isinstance(value, np.ndarray):
            array = value
        else:
            return False
        if array.dtype.kind not in kinds or not any(sizes.fit(array.shape, shape) for shape in shapes):
            return False
        if array.dtype.kind == "f" and not (np.isfinite(array).all() if finite else not np.isnan(array).any()):
            return False
        return not array.size or bool(array.min() >= least and array.max() <= most)

    return check


def counts(*shapes: str) -> Check:
    """Whole numbers from 0 up."""
    return numbers(*shapes, kinds="iu", least=0)


def either(*checks: Check) -> Check:
    """One of them holds."""
    return lambda value, sizes: any(check(value, sizes) for check in checks)


def a(kind: type) -> Check:
    """An object of this kind."""
    return lambda value, sizes: isinstance(value, kind)


def nothing(value: Any, sizes: Sizes) -> bool:
    """None."""
    return value is None


def labels(value: Any, sizes: Sizes) -> bool:
    """Different labels in sorted order; text, numbers or truth values."""
    if value.dtype.kind not in "biufUO" or (value.dtype.kind == "f" and not np.isfinite(value).all()):
        return False
    if value.dtype.kind == "O" and not all(isinstance(label, (str, bool, int, float)) for label in value):
        return False
    listed = value.tolist()
    try:
        return all(before < after for before, after in pairwise(listed))
    except TypeError:
        return False


def names(value: Any, sizes: Sizes) -> bool:
    """One text for each column."""
    each = isinstance(value, np.ndarray) and value.shape == (sizes.d,) and value.dtype.kind == "O"
    return each and all(isinstance(name, str) for name in value)


def dense(value: Any) -> Any:
    """An array also for a sparse matrix."""
    return value.toarray() if sparse.issparse(value) else value


def points(value: Any, sizes: Sizes) -> bool:
    """Rows of d numbers, a list of texts or graphs, or nothing for a precomputed kernel."""
    if isinstance(value, list):
        return all(isinstance(point, (str, Graph)) for point in value)
    if sparse.issparse(value):
        return bool(value.shape[1] == sizes.d and value.dtype.kind == "f" and np.isfinite(value.data).all())
    return numbers("*d")(value, sizes) or (isinstance(value, np.ndarray) and value.shape == (0, 0))


def families(value: Any, sizes: Sizes) -> bool:
    """One for each column."""
    each = isinstance(value, list) and len(value) == sizes.d
    return each and all(isinstance(family, ExponentialFamily) for family in value)


FIELDS: Mapping[str, Check] = {
    "C_": numbers("", finite=False, least=0),
    "Cs_": numbers("*", finite=False, least=0),
    "_families": families,
    "_given": lambda value, sizes: isinstance(value, np.ndarray) and value.ndim == 1 and labels(value, sizes),
    "_multilabel": a(bool),
    "_norm": a(bool),
    "centroids_": numbers("kd"),
    "certificate_": either(nothing, a(Certificate)),
    "coefs_": lambda value, sizes: isinstance(value, list) and all(numbers("**")(W, sizes) for W in value),
    "class_count_": numbers("k", least=0),
    "class_prior_": numbers("k", least=0, most=1),
    "classes_": labels,
    "coef_": lambda value, sizes: numbers("rd")(dense(value), sizes),  # sparse after sparsify
    # -inf: a class that a fold lacks
    "coefs_paths_": numbers("**rp", "***rp", finite=False, most=np.finfo(np.float64).max),
    "_prior": either(nothing, numbers("k", least=0, most=1)),
    "deviations_": numbers("kd", finite=False),
    "dual_coef_": lambda value, sizes: numbers("*", "**", kinds="iuf")(dense(value), sizes),
    "errors_": numbers("", "r", kinds="iuf", least=0),
    "false_negatives_": counts("", "r"),
    "false_positives_": counts("", "r"),
    "feature_names_in_": names,
    "intercept_": numbers("r"),
    "intercepts_": lambda value, sizes: isinstance(value, list) and all(numbers("*")(b, sizes) for b in value),
    "kernel_": a(Kernel),
    "l1_ratio_": numbers("", least=0, most=1),
    "l1_ratios_": numbers("*", least=0, most=1),
    "log_likelihood_": numbers(""),
    "lower_bound_": numbers("", "r", kinds="iuf", least=0),
    "margin_": numbers("", "r", finite=False, least=0),
    "n_categories_": numbers("d", kinds="iu", least=1),
    "n_features_in_": counts(""),
    "n_iter_": counts("", "*"),
    "n_support_": counts("k"),
    "n_nodes_": counts(""),
    "n_nonzero_": counts(""),
    "n_updates_": counts("", "r"),
    "objective_": numbers(""),
    "parameters_": numbers("k*"),  # as many as columns, or categories
    "penalized_log_likelihood_": numbers(""),
    "probA_": numbers("*"),
    "probB_": numbers("*"),
    "rank_": either(nothing, counts("")),
    "scores_": numbers("**", "***"),
    "slack_": numbers("*", "**", least=0),
    "standard_errors_": either(nothing, numbers("d", "p", "rd", "rp", finite=False, least=0)),
    "status_": a(Status),
    "support_": counts("*"),
    "support_vectors_": points,
    "within_class_abs_dev_": numbers("d", least=0),
    "within_class_std_dev_": either(nothing, numbers("d", least=0)),
    "variances_": either(nothing, numbers("d", "kd", least=0)),
}


def check_fields(attributes: Mapping[str, Any], wanted: Mapping[str, Check] = FIELDS) -> Sizes:
    """The sizes of a classifier whose attributes are all known, and as they must be."""
    for name in attributes:
        if name not in wanted:
            raise ModelFileError(f"it has an unknown attribute, {name!r:.80}")
    missing = {"classes_", "n_iter_", "status_", "certificate_", "_multilabel"} - set(attributes)
    if missing:
        raise ModelFileError(f"it lacks {', '.join(sorted(missing))}")
    sizes = Sizes.of(attributes)
    for name, value in attributes.items():
        if not wanted[name](value, sizes):
            raise ModelFileError(f"its {name} is malformed: wrong type, shape or range")
    if "coef_" in attributes and "intercept_" not in attributes:
        raise ModelFileError("it has coef_ without intercept_")
    return sizes
