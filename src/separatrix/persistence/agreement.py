"""Whether a model is the one that its certificate is about.

A certificate holds the weights of which it claims something, and `verify` looks at nothing else: a file with other
weights beside it would pass. So the two are compared, field by field, by the names that certificates use: ``coef`` and
``intercept`` are rows of ``coef_`` and ``intercept_``, ``expansion`` the coefficients of the support vectors, and so
on. A certificate that nothing ties to the model is not about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from scipy import sparse

from separatrix._typing import Array
from separatrix.certificates import Inseparable, Separator
from separatrix.estimators.elastic_net import l1_ratio
from separatrix.estimators.naive_bayes_names import SMALLEST_ALPHA
from separatrix.geometry import Expansion, Layers
from separatrix.kernels import Precomputed
from separatrix.outcome import Status
from separatrix.persistence.fields import dense

ROUNDING = 1e-9  # relative, between two ways to compute the same number
#: What a certificate calls it, and what the model does.
_PUBLISHED = {
    "C": "C_",
    "centroids": "centroids_",
    "errors": "errors_",
    "l1_ratio": "l1_ratio_",
    "lower_bound": "lower_bound_",
    "n_categories": "n_categories_",
    "absolute": "within_class_abs_dev_",
    "deviation": "within_class_std_dev_",
    "parameters": "parameters_",
    "prior": "class_prior_",
    "variances": "variances_",
}


def about_the_data_only(model: Any) -> bool:
    """Whether the certificate says that there is no optimum to find, and nothing of the weights that the model has."""
    return model.status_.no_optimum and isinstance(model.certificate_, (Separator, Inseparable))


# ---------------------------------------------------------------------- what was fitted
def differences(model: Any) -> list[str]:
    """What of the fitted attributes is not as the certificate has it, in words."""
    parts = _parts(model)
    found = []
    if any(not _same_labels(part["classes"], model.classes_) for part in parts):
        found.append("its classes_ are not those of its certificate")
    if not parts or about_the_data_only(model) or found:
        return found
    scores = len(model.__dict__.get("intercept_", ())) or (1 if len(model.classes_) == 2 else len(model.classes_))
    rows = [_row(part, len(model.classes_)) for part in parts]
    if rows != list(range(scores)) and rows != [None]:
        return ["its certificate is not about each of its hyperplanes"]
    for part, row in zip(parts, rows, strict=True):
        found += _differences(model, part, row)
    return list(dict.fromkeys(found))


def _differences(model: Any, part: Mapping[str, Any], row: int | None) -> Iterator[str]:
    attributes, (coef, intercept) = model.__dict__, _hyperplane(part)
    at = slice(None) if row is None else slice(row, row + 1)
    if "coef_" in attributes:
        if coef is None or not _same(coef, dense(attributes["coef_"])[at]):
            yield "its coef_ is not that of its certificate"
        if intercept is None or not _same(intercept, attributes["intercept_"][at]):
            yield "its intercept_ is not that of its certificate"
        own = _multipliers(model, row) if "alpha" in part else None
        if own is not None and not _same_multipliers(part, np.abs(own), attributes["support_"]):
            yield "its dual_coef_ is not that of its certificate"
    elif isinstance(model._model, Expansion):
        own, stated = model._model.dual_coef[at], part.get("expansion", part.get("dual_coef"))
        # which rows they belong to is known from the data only
        if stated is None or row is None or not _same(_present(stated), _present(own)):
            yield "its dual_coef_ is not that of its certificate"
        if intercept is None or not _same(intercept, model._model.intercept[at]):
            yield "its intercept_ is not that of its certificate"
        kernel = model._model.support.kernel
        if part.get("kernel") != (kernel.to_dict() if kernel.name else None):
            yield "its kernel is not that of its certificate"
    elif isinstance(model._model, Layers):
        for name in ("coefs", "intercepts"):
            own = np.concatenate([layer.ravel() for layer in attributes[f"{name}_"]])
            if name not in part or not _same(part[name], own):
                yield f"its {name}_ are not those of its certificate"
    elif coef is not None or not {"parameters", "centroids"} & set(part):
        yield "its certificate is about another kind of model"
    for name, published in _PUBLISHED.items():
        own = attributes.get(published)
        if name not in part or (own is None and (published not in attributes or part[name] is None)):
            continue
        if isinstance(own, np.ndarray) and row is not None and len(own) > 1:
            own = own[row]
        if own is None or part[name] is None or not _same(part[name], own):
            yield f"its {published} is not that of its certificate"
    if "families" in part and list(part["families"]) != [family.name for family in attributes.get("_families", ())]:
        yield "its families are not those of its certificate"
    if part.get("problem") in ("centroids", "medians", "shrunken_centroids", "shrunken_medians"):
        own, stated = attributes.get("_prior"), part.get("prior")
        if (own is None) != (stated is None) or (own is not None and not _same(stated, own)):
            yield "its priors are not those of its certificate"
    if part.get("norm") != attributes.get("_norm"):
        yield "its weights are not those of its certificate"


def _multipliers(model: Any, row: int | None) -> Any:
    """alpha_i y_i of the support vectors of a linear machine, in the number type they are published in."""
    if "support_" not in model.__dict__ or "dual_coef_" not in model.__dict__ or row is None:
        return None
    published = np.atleast_2d(dense(model.dual_coef_))
    own = model._model.dual_coef if isinstance(model._model, Expansion) else published
    return own[row].astype(published.dtype) if row < len(own) else None


def _same_multipliers(part: Mapping[str, Any], own: Any, support: Any) -> bool:
    """Whether |dual_coef_| are the alpha in the order of the rows.

    The certificate may count them otherwise: without those of weight 0, and of a pair only its own.
    """
    alpha = np.asarray(part["alpha"], dtype=np.float64)[np.argsort(part["points"])]
    own = own[np.argsort(support)]
    return _same(alpha[alpha != 0], own[own != 0])


def _parts(model: Any) -> list[Mapping[str, Any]]:
    """The fields of each part of the certificate, those of a witness among them."""
    parts = () if model.certificate_ is None else model.certificate_.all_parts
    plain = [{field.name: getattr(part, field.name) for field in fields(part)} for part in parts]
    return [{**part, **part.pop("witness", {})} for part in plain]


def _row(part: Mapping[str, Any], k: int) -> int | None:
    """The hyperplane that a part is about: of a column, a class against the rest, or a pair; None for all of them."""
    if part.get("task") is not None:
        return int(part["task"])
    a, c = part.get("positive"), part.get("negative")
    if a is None:
        return None
    if k == 2:
        return 0 if a == 1 and c in (None, 0) else -1
    if c is None:
        return int(a)
    return a * (2 * k - a - 1) // 2 + c - a - 1 if 0 <= a < c < k else -1  # (0, 1), (0, 2), ..., (1, 2), ...


def _hyperplane(part: Mapping[str, Any]) -> tuple[Any, Any]:
    """w and b as rows; of a direction, its parts."""
    coef, intercept = part.get("coef"), part.get("intercept")
    if part.get("direction") is not None:
        v = np.asarray(part["direction"], dtype=np.float64)
        coef, intercept = (v[:-1], v[-1]) if part.get("fit_intercept") else (v, 0.0)
    return None if coef is None else np.atleast_2d(coef), None if intercept is None else np.atleast_1d(intercept)


def _same(stated: Any, own: Any) -> bool:
    """Equal, once the stated numbers are rounded to the type of the model's own."""
    stated, own = np.asarray(stated), np.asarray(own)
    if stated.size == own.size == 1:
        stated, own = stated.ravel(), own.ravel()
    if stated.shape != own.shape or own.dtype.kind not in "iuf" or stated.dtype.kind not in "iufO":
        return False
    with np.errstate(over="ignore"):
        return bool((stated.astype(np.float64).astype(own.dtype) == own).all())


def _present(coefficients: Any) -> Array:
    """Those that are not 0, in order of size."""
    values = np.ravel(coefficients)
    return np.sort(values[values != 0])


def _same_labels(stated: Any, own: Any) -> bool:
    one, other = ([(type(label), label) for label in np.asarray(labels).tolist()] for labels in (stated, own))
    return one == other


# ---------------------------------------------------------------------- what was asked for
def parameter_differences(model: Any, y: Any = None) -> list[str]:
    """Which parameters are not those that the certificate is about: they may have been set after the fit."""
    params = model.get_params(deep=False)
    found: dict[str, None] = {}
    for part in _parts(model):
        for name, agrees in _PARAMETERS.items():
            if name in params and not agrees(part, params[name], model):
                found[f"its parameter {name}={params[name]!r:.40} is not what its certificate is about"] = None
        if "class_weight" in part and "class_weight" in params:
            expected = _class_weight(params["class_weight"], model.classes_, y)
            stated = np.ones(len(model.classes_)) if part["class_weight"] is None else part["class_weight"]
            if expected is not None and not np.allclose(stated, expected, rtol=ROUNDING, atol=0.0):
                found["its parameter class_weight is not what its certificate is about"] = None
    return list(found)


def _stated(name: str) -> Callable[[Mapping[str, Any], Any, Any], bool]:
    """The certificate says nothing of it, or the same."""
    return lambda part, value, model: name not in part or part[name] == value


def _loss(part: Mapping[str, Any], value: Any, model: Any) -> bool:
    if part.get("problem") == "squared_error" or "loss" not in part:
        return "problem" not in part or (value == "squared_error") == (part["problem"] == "squared_error")
    return bool(part["loss"] == value)


def _alpha(part: Mapping[str, Any], value: Any, model: Any) -> bool:
    """What was added to counts: with force_alpha=False, more than asked for if that was next to nothing."""
    if part.get("problem") not in ("categories", "complement", "naive_bayes", "ridge"):
        return True
    return bool(part["alpha"] == (value if getattr(model, "force_alpha", True) else max(value, SMALLEST_ALPHA)))


def _tol(part: Mapping[str, Any], value: Any, model: Any) -> bool:
    """A gap that is called certified is within what was asked for."""
    return model.status_ is not Status.CERTIFIED or "tol" not in part or part["tol"] <= value * (1 + ROUNDING)


def _l1_ratio(part: Mapping[str, Any], value: Any, model: Any) -> bool:
    """The share of ‖w‖₁, where there is a penalty at all; a perceptron has none."""
    if "C" not in part or np.isinf(part["C"]):
        return True
    return bool(part.get("l1_ratio", 0.0) == l1_ratio(model.penalty, value))


def _penalty(part: Mapping[str, Any], value: Any, model: Any) -> bool:
    """Of a machine; of logistic regression it says what l1_ratio is."""
    return part.get("loss") not in ("hinge", "squared_hinge") or ("l1_ratio" in part) == (value == "l1")


def _kernel(part: Mapping[str, Any], value: Any, model: Any) -> bool:
    return not isinstance(value, str) or not part.get("kernel") or part["kernel"]["kernel"] == value


def _number_of_kernel(name: str) -> Callable[[Mapping[str, Any], Any, Any], bool]:
    def agrees(part: Mapping[str, Any], value: Any, model: Any) -> bool:
        by_name = isinstance(model.get_params(deep=False).get("kernel"), str)
        stated = (part.get("kernel") or {}).get(name)
        return not by_name or stated is None or isinstance(value, str) or stated == value

    return agrees


_PARAMETERS: Mapping[str, Callable[[Mapping[str, Any], Any, Any], bool]] = {
    "C": lambda part, value, model: (
        "C" not in part or "C_" in model.__dict__ or part["C"] == (value if getattr(model, "penalty", "l2") else np.inf)
    ),
    "alpha": _alpha,
    "bias_reduction": lambda part, value, model: (value == "firth") == (part.get("problem") == "firth"),
    "coef0": _number_of_kernel("coef0"),
    "degree": _number_of_kernel("degree"),
    "fit_intercept": _stated("fit_intercept"),
    "gamma": _number_of_kernel("gamma"),
    "identifiability": lambda part, value, model: not part.get("reference") or value == "reference",
    "kernel": _kernel,
    "l1_ratio": _l1_ratio,
    "loss": _loss,
    "norm": _stated("norm"),
    "penalty": _penalty,
    "shared_variance": _stated("shared_variance"),
    "tol": _tol,
    "var_smoothing": lambda part, value, model: (
        part.get("problem") != "naive_bayes" or part.get("smoothing", 0.0) == value
    ),
}


def _class_weight(value: Any, classes: Any, y: Any) -> Array | None:
    """The factor of each class that a parameter stands for; None if only the labels could tell."""
    if value is None:
        return np.ones(len(classes))
    if isinstance(value, Mapping):
        return np.array([float(value.get(label, 1.0)) for label in classes.tolist()])
    if y is None:
        return None
    counts = np.array([np.sum(np.asarray(y) == label) for label in classes])
    return np.asarray(counts.sum() / (len(classes) * np.maximum(counts, 1)))


# ---------------------------------------------------------------------- what it was fitted to
def row_differences(model: Any, X: Any, y: Any) -> list[str]:
    """Whether the support vectors are the rows that the certificate names; all rows are taken to have a weight."""
    attributes = model.__dict__
    kernel = isinstance(model._model, Expansion)
    if not kernel and not ("support_" in attributes and any("alpha" in part for part in _parts(model))):
        return []  # of a linear machine without multipliers, the weights say it all
    support = attributes["support_"]
    n = len(X) if isinstance(X, list) else X.shape[0]
    if len(support) and support.max() >= n:
        return ["its support vectors are not rows of these data"]
    found = []
    points = kernel and not isinstance(model._model.support.kernel, Precomputed)
    if points and not _same_points(attributes["support_vectors_"], X, support):
        found.append("its support vectors are not those rows of these data")
    try:
        if not all(_same_rows(model, part, support, n, y) for part in _parts(model)):
            found.append("its dual_coef_ is not that of its certificate, row by row")
    except (IndexError, ValueError):
        found.append("its certificate does not name rows of these data")
    return found


def _same_rows(model: Any, part: Mapping[str, Any], support: Any, n: int, y: Any) -> bool:
    """Whether a part has the coefficients of the support vectors, each with its row."""
    coefficients = _multipliers(model, _row(part, len(model.classes_)))
    own, stated = np.zeros(n, dtype=coefficients.dtype), np.zeros(n)
    own[support] = coefficients
    places = np.asarray(part["support"] if "support" in part else part["points"])
    if "lower" in part and part.get("negative") is not None:  # a margin, whose points are counted among the two classes
        sides = np.asarray(part["classes"])[[part["positive"], part["negative"]]]
        places = np.flatnonzero(np.isin(y, sides))[places]
    signed = part.get("expansion", part.get("dual_coef"))
    stated[places] = part["alpha"] if signed is None else signed
    return _same(stated, own if signed is not None else np.abs(own))


def _same_points(vectors: Any, X: Any, support: Any) -> bool:
    if isinstance(vectors, list):
        return vectors == [X[i] for i in support]
    rows = X[support]
    if sparse.issparse(rows) != sparse.issparse(vectors):
        rows, vectors = (np.asarray(x.toarray() if sparse.issparse(x) else x) for x in (rows, vectors))
    if rows.shape != vectors.shape:
        return False
    return (rows.astype(vectors.dtype) != vectors).nnz == 0 if sparse.issparse(rows) else _same(rows, vectors)
