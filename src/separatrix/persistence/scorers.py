"""How a classifier scores points, and what it needs to go on learning, as plain values and back."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from separatrix.errors import ModelFileError
from separatrix.formulas.categories import Categories, CategoryCounts
from separatrix.formulas.families import Gaussian
from separatrix.formulas.medians import Medians
from separatrix.formulas.moments import ClassMoments
from separatrix.formulas.naive_bayes import Additive, Settings
from separatrix.geometry import Expansion, Hyperplanes, Layers
from separatrix.kernels import Kernel, KernelRows, Precomputed, PrecomputedColumns
from separatrix.persistence.fields import Check, Sizes, a, dense, either, families, nothing, numbers
from separatrix.solvers.online import State

ROUNDING = 1e-12  # by which logarithms differ from one machine to another
_RANGES = {"bernoulli": (0.0, 1.0), "multinomial": (0.0, 1.0), "poisson": (0.0, np.inf)}  # of the mean of t(x)
_EXPANSION: Mapping[str, Check] = {
    "kernel": a(Kernel),
    "dual_coef": numbers("r*"),
    "intercept": numbers("r"),
}
_ADDITIVE: Mapping[str, Check] = {
    "families": families,
    "log_prior": numbers("k"),
    "parameters": numbers("kd"),
    "natural": numbers("kd"),
    "log_partition": numbers("kd"),
    "variances": either(nothing, numbers("d", "kd", least=0)),
}
_MOMENTS: Mapping[str, Check] = {
    "anchor": numbers("d"),
    "counts": numbers("k", least=0),
    "means": numbers("kd"),
    "spreads": either(nothing, numbers("kd", least=0)),
}
_CATEGORY_COUNTS: Mapping[str, Check] = {
    "counts": numbers("k", least=0),
    "table": numbers("k*", least=0),
    "n_categories": numbers("d", kinds="iu", least=1),
}
_STATE: Mapping[str, Check] = {
    "w": numbers("p"),
    "drift": either(numbers("p"), lambda value, sizes: isinstance(value, np.ndarray) and value.shape == (0,)),
    "start": numbers("p"),
    "eta": lambda value, sizes: type(value) is float and 0 < value < np.inf,
    "seen": lambda value, sizes: type(value) is int and 0 <= value < 1 << 62,
}


def describe(model: Any) -> dict[str, Any]:
    """What `rebuild` needs beside the published attributes."""
    scorer = model.__dict__["_model"]
    plain: dict[str, Any] = {}
    if isinstance(scorer, Expansion):
        kernel = scorer.support.kernel
        plain["expansion"] = {"kernel": kernel, "dual_coef": scorer.dual_coef, "intercept": scorer.intercept}
    elif isinstance(scorer, Additive):
        plain["additive"] = {name: getattr(scorer, name) for name in _ADDITIVE if name != "families"}
        plain["additive"]["families"] = scorer.settings.families
    elif not isinstance(scorer, (Hyperplanes, Layers, Categories, Medians)):
        raise ModelFileError(f"A model that scores points by a {type(scorer).__name__} cannot be saved.")
    if "_moments" in model.__dict__:
        named = _CATEGORY_COUNTS if isinstance(model._moments, CategoryCounts) else _MOMENTS
        plain["moments"] = {name: getattr(model._moments, name) for name in named}
    if "_states" in model.__dict__:
        plain["states"] = [{name: getattr(state, name) for name in _STATE} for state in model._states]
    return plain


def rebuild(plain: Any, attributes: Mapping[str, Any], sizes: Sizes, shared_variance: Any) -> dict[str, Any]:
    """The private attributes of the classifier that `describe` was given."""
    if not isinstance(plain, dict) or set(plain) - {"expansion", "additive", "moments", "states"}:
        raise ModelFileError("its way to score points is malformed")
    if sizes.d is None and set(plain) - {"expansion"}:
        raise ModelFileError("it lacks n_features_in_")
    private: dict[str, Any] = {}
    _check_width(attributes, sizes)
    if "_families" in attributes:
        _check_bayes(attributes["_families"], attributes.get("parameters_"), attributes.get("variances_"))
    if "expansion" in plain:
        private["_model"] = _expansion(_checked(plain["expansion"], _EXPANSION, sizes), attributes, sizes)
    elif "additive" in plain:
        parts = _checked(plain["additive"], _ADDITIVE, sizes)
        _check_additive(parts, attributes)
        settings = Settings(parts.pop("families"), bool(shared_variance), 1.0, None)
        private["_model"] = Additive(settings, **parts)
    elif "coefs_" in attributes:
        private["_model"] = _layers(attributes, sizes)
    elif "n_categories_" in attributes:
        private["_model"] = _categories(attributes)
    elif "centroids_" in attributes and "coef_" not in attributes:
        private["_model"] = _medians(attributes)
    elif "coef_" in attributes:
        private["_model"] = Hyperplanes(dense(attributes["coef_"]), attributes["intercept_"])
    else:
        raise ModelFileError("it has no way to score points")
    if "moments" in plain:
        private["_moments"] = _moments(plain["moments"], attributes, sizes)
    if "states" in plain:
        private["_states"] = _states(plain["states"], sizes)
    return private


def _check_width(attributes: Mapping[str, Any], sizes: Sizes) -> None:
    """parameters_ has a column for each of X, or for each category of these."""
    parameters, n = attributes.get("parameters_"), attributes.get("n_categories_")
    if n is not None and parameters is None:
        raise ModelFileError("it has categories without their probabilities")
    width = sizes.d if n is None else sum(n.tolist())
    if parameters is not None and parameters.shape[1] != width:
        raise ModelFileError("its parameters_ is malformed: wrong type, shape or range")


def _medians(attributes: Mapping[str, Any]) -> Medians:
    centroids, prior = attributes["centroids_"].astype(np.float64), attributes.get("_prior")
    if prior is None:
        return Medians(centroids)
    if not (prior > 0).all() or attributes.get("within_class_abs_dev_") is None:
        raise ModelFileError("its priors are malformed: above 0, with within_class_abs_dev_")
    return Medians(centroids, attributes["within_class_abs_dev_"], prior)


def _categories(attributes: Mapping[str, Any]) -> Categories:
    probability, prior = attributes["parameters_"], attributes.get("class_prior_")
    if prior is None or not (prior > 0).all() or not ((probability > 0) & (probability <= 1)).all():
        raise ModelFileError("its probabilities of categories are malformed: above 0, and up to 1")
    return Categories(np.log(prior), np.log(probability), attributes["n_categories_"])


def _moments(plain: Any, attributes: Mapping[str, Any], sizes: Sizes) -> ClassMoments | CategoryCounts:
    if "n_categories_" not in attributes:
        return ClassMoments(**_checked(plain, _MOMENTS, sizes))
    counted = CategoryCounts(**_checked(plain, _CATEGORY_COUNTS, sizes))
    if counted.table.shape != attributes["parameters_"].shape or not np.array_equal(
        counted.n_categories, attributes["n_categories_"]
    ):
        raise ModelFileError("its counts of categories are not of those that it has")
    return counted


def _checked(plain: Any, wanted: Mapping[str, Check], sizes: Sizes) -> dict[str, Any]:
    if not isinstance(plain, dict) or set(plain) != set(wanted):
        raise ModelFileError("its way to score points is malformed")
    for name, value in plain.items():
        if not wanted[name](value, sizes):
            raise ModelFileError(f"its {name} is malformed: wrong type, shape or range")
    return dict(plain)


def _check_bayes(families: list[Any], parameters: Any, variances: Any) -> None:
    """Parameters in the range of each column's family; variances of normal distributions only, 0 if it never varies."""
    gaussian = np.array([isinstance(family, Gaussian) for family in families])
    if parameters is None or (variances is None) == bool(gaussian.any()):
        raise ModelFileError("it has a family for each column, but not the parameters of all")
    live = np.zeros((1, len(families)), dtype=bool) if variances is None else np.atleast_2d(variances) > 0
    if (live & ~gaussian).any() or (live.any(axis=0) & ~live.all(axis=0)).any():
        raise ModelFileError("its variances_ are malformed: above 0 in every class, for normal distributions only")
    for name, (least, most) in _RANGES.items():
        own = parameters[:, [family.name == name for family in families]]
        if not ((own >= least) & (own <= most)).all():
            raise ModelFileError(
                f"its parameters_ are malformed: those of a {name} column are from {least:g} to {most:g}"
            )


def _check_additive(parts: Mapping[str, Any], attributes: Mapping[str, Any]) -> None:
    """What scores points follows from the parameters that are published: nothing else could be checked by anyone."""
    families, parameters = parts["families"], parts["parameters"]
    published = {"_families": families, "parameters_": parameters, "variances_": parts["variances"]}
    for name, value in published.items():
        own: Any = attributes.get(name)
        if not (own == value if isinstance(value, list) or value is None else np.array_equal(own, value)):
            raise ModelFileError(f"its {name} are not those that it scores points by")
    expected: dict[str, Any] = {name: np.zeros_like(parameters) for name in ("natural", "log_partition")}
    for family in {family.name: family for family in families if not isinstance(family, Gaussian)}.values():
        at = [other is family for other in families]
        theta = family.natural(parameters[:, at])
        silent = (parameters[:, at] == 0).all(axis=0) & (family.name == "poisson")  # counts that never came
        expected["natural"][:, at] = theta
        expected["log_partition"][:, at] = np.where(silent, 0.0, family.log_partition(theta))
    with np.errstate(divide="ignore"):
        expected["log_prior"] = np.log(attributes["class_prior_"])
    for name, value in expected.items():
        if not np.allclose(parts[name], value, rtol=ROUNDING, atol=ROUNDING):
            raise ModelFileError(f"its {name} is not what follows from its parameters")


def _expansion(parts: dict[str, Any], attributes: Mapping[str, Any], sizes: Sizes) -> Expansion:
    kernel, support, vectors = parts["kernel"], attributes.get("support_"), attributes.get("support_vectors_")
    if support is None or vectors is None or parts["dual_coef"].shape[1] != len(support):
        raise ModelFileError("its support vectors are missing, or are not as many as its coefficients")
    _check_expansion(parts, attributes, sizes)
    if isinstance(kernel, Precomputed):
        if sizes.d is None:
            raise ModelFileError("it lacks n_features_in_")
        points: Any = PrecomputedColumns(support, sizes.d)
    elif isinstance(vectors, list):
        points = vectors
    else:
        points = vectors.astype(np.float64)  # as they were learned from
    if kernel.structured != isinstance(points, list):
        raise ModelFileError("its support vectors are not what its kernel takes")
    try:
        rows = KernelRows(kernel, points)
        if not isinstance(kernel, Precomputed):
            kernel.diagonal(points)  # overflows if points are beyond the kernel's range
    except (TypeError, ValueError, IndexError) as error:
        raise ModelFileError(f"its support vectors are not what its kernel takes: {error}") from error
    if rows.n != len(support):
        raise ModelFileError("its support vectors are not as many as its coefficients")
    return Expansion(rows, parts["dual_coef"], parts["intercept"])


def _layers(attributes: Mapping[str, Any], sizes: Sizes) -> Layers:
    """Those that are published, if the outputs of each are the inputs of the next, from d to the scores."""
    coefs, intercepts = attributes["coefs_"], attributes.get("intercepts_", [])
    ends = [sizes.d, *(len(b) for b in intercepts)]
    if not coefs or [W.shape for W in coefs] != list(pairwise(ends)) or ends[-1] != sizes.r:
        raise ModelFileError("its layers do not fit together")
    return Layers(tuple(coefs), tuple(intercepts))


def _check_expansion(parts: Mapping[str, Any], attributes: Mapping[str, Any], sizes: Sizes) -> None:
    """What is published is what scores points.

    Of a machine for each pair of classes, ``dual_coef_`` has for each support vector a coefficient with each other
    class.
    """
    kernel, intercept = attributes.get("kernel_", parts["kernel"]), attributes.get("intercept_")
    published: Any = dense(attributes.get("dual_coef_"))
    n_support, m = attributes.get("n_support_"), parts["dual_coef"].shape[1]
    if kernel != parts["kernel"] or intercept is None or (intercept != parts["intercept"]).any():
        raise ModelFileError("its kernel_ or intercept_ is not that by which it scores points")
    expected = published
    if n_support is not None and sizes.k > 2:
        if n_support.sum() != m or not isinstance(published, np.ndarray) or published.shape != (sizes.k - 1, m):
            raise ModelFileError("its n_support_ or dual_coef_ is malformed")
        own = np.repeat(np.arange(sizes.k), n_support)
        pairs = combinations(range(sizes.k), 2)
        expected = np.array(
            [np.where(own == a, published[c - 1], np.where(own == c, published[a], 0.0)) for a, c in pairs]
        )
    if not np.array_equal(expected, parts["dual_coef"]):
        raise ModelFileError("its dual_coef_ is not that by which it scores points")


def _states(plain: Any, sizes: Sizes) -> list[State]:
    """Where streams of rows go on. Loops compiled without bounds rely on these shapes and types."""
    if not isinstance(plain, list) or len(plain) != sizes.r:
        raise ModelFileError("its states are malformed")
    states = []
    for entry in plain:
        parts = _checked(entry, _STATE, sizes)
        w, drift, start = (np.ascontiguousarray(parts[name], dtype=np.float64) for name in ("w", "drift", "start"))
        states.append(State(w, np.zeros(0, dtype=np.int64), drift, start, parts["eta"], parts["seen"]))
    return states
