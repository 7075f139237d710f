"""Certificates with something in them changed, on the data they are about or on others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
from soundness.claims import verified
from soundness.data import Table

Rng = np.random.Generator
EXTREME = (0.0, -1.0, 1e300, -1e300, 1e-300, np.nan, np.inf, -np.inf)
FACTORS = (-1.0, 0.5, 0.9, 0.99, 0.999, 1.001, 1.01, 1.1, 2.0, 1e3, 1e-3, 1e9)
NAMES = {
    "loss": ("log", "hinge", "squared_hinge", "nonsense"),
    "bound": ("fenchel", "decrement", "nonsense"),
    "space": ("input", "homogeneous", "nonsense"),
    "verdict": ("overlapping", "quasi-separable", "separable", "nonsense"),
    "proof": ("nothing", "identical rows", "enumeration", "nonsense"),
    "problem": (
        "cascade",
        "categories",
        "centroids",
        "complement",
        "firth",
        "least_squares",
        "medians",
        "naive_bayes",
        "shrunken_centroids",
        "shrunken_medians",
        "ridge",
        "squared_error",
        "nonsense",
    ),
    "kind": ("local minimum", "saddle", "flat", "unsettled", "nonsense"),
    "kernel": ("linear", "poly", "rbf", "laplacian", "nonsense"),
    "families": ("gaussian", "poisson", "nonsense"),
}


@dataclass
class Forgery:
    """A certificate and the data it is shown with; `near` if false by a few allowances, by construction."""

    certificate: Any
    table: Table
    what: str
    near: bool = False
    room: float = 0.0  # what `verify` allows for rounding in the honest certificate's own figures


def changed_number(value: float, rng: Rng) -> float:
    if rng.random() < 0.4:
        return float(rng.choice(EXTREME))
    return float(value) * float(rng.choice(FACTORS)) if value else float(rng.choice([1.0, -1.0, 1e-6, 5.0]))


def changed_array(values: Any, rng: Rng) -> Any:
    values = np.array(values, copy=True)
    kind = int(rng.integers(0, 6))
    if not values.size:
        return np.ones(1)
    if kind == 0:
        return values.ravel()[:-1] if values.ndim == 1 else values[:, :-1]
    if kind == 1:
        return np.concatenate([values, values[-1:]])
    if kind == 2:
        return values[::-1].copy() if values.ndim == 1 else values[:, ::-1].copy()
    if values.dtype.kind in "iu":
        flat = values.ravel()
        flat[int(rng.integers(0, flat.size))] += int(rng.choice([-1, 1, 7, 10**6]))
        return values
    if values.dtype.kind not in "fO" or values.dtype.kind == "O":
        return values[::-1].copy()
    if kind == 3:
        return values * float(rng.choice(FACTORS))
    flat = values.ravel()
    i = int(rng.integers(0, flat.size))
    flat[i] = changed_number(float(flat[i]), rng)
    return values


def changed(name: str, value: Any, rng: Rng) -> Any:
    """Another value for the field."""
    if name in NAMES and isinstance(value, str):
        return str(rng.choice([other for other in NAMES[name] if other != value]))
    if name == "classes":
        labels = np.asarray(value)
        wrong = (labels[::-1].copy(), labels[[0] * len(labels)], np.concatenate([labels, labels[:1]]))
        return wrong[int(rng.integers(0, 3))]
    if is_dataclass(value):
        field = str(rng.choice([field.name for field in fields(value)]))
        return replace(value, **{field: changed(field, getattr(value, field), rng)})
    if isinstance(value, (bool, np.bool_)):
        return not value
    if isinstance(value, (int, np.integer)):
        return int(value) + int(rng.choice([-1, 1, 7, -8, 10**9]))
    if isinstance(value, (float, np.floating)):
        return changed_number(float(value), rng)
    if isinstance(value, Mapping):
        key = str(rng.choice(sorted(value)))
        return {**value, key: changed(key, value[key], rng)}
    if value is None:
        return {"class_weight": np.array([1.0, 0.0]), "task": 0, "negative": 0, "positive": 7}.get(name, 1.0)
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], str):
        i = int(rng.integers(0, len(value)))
        return [*value[:i], str(rng.choice(NAMES["families"])), *value[i + 1 :]]
    if isinstance(value, str):
        return "nonsense"
    return changed_array(np.atleast_1d(np.asarray(value)), rng)


def far(certificate: Any, table: Table, rng: Rng) -> Forgery:
    """One field changed, or several, or the data."""
    kind = rng.random()
    room = max((float(check.tolerance + check.rounding) for check in verified(certificate, table).checks), default=0.0)
    if kind < 0.2:
        return Forgery(certificate, *other_data(table, rng), room=room)
    names = [field.name for field in fields(certificate)]
    chosen = rng.choice(names, size=1 if kind < 0.85 else 2, replace=False).tolist()
    new = {name: changed(name, getattr(certificate, name), rng) for name in chosen}
    what = ", ".join(f"{name}={value!r:.80}" for name, value in new.items())
    return Forgery(replace(certificate, **new), table, what, room=room)


def other_data(table: Table, rng: Rng) -> tuple[Table, str]:
    """The same table with a row moved, a label changed, or a weight."""
    X = table.X.toarray() if hasattr(table.X, "toarray") else np.array(table.X)
    y, weight = np.array(table.y, copy=True), None if table.sample_weight is None else np.array(table.sample_weight)
    i = int(rng.integers(0, len(y)))
    kind = int(rng.integers(0, 5))
    if kind == 0:
        X = X.astype(np.float64)
        X[i] = X[int(rng.integers(0, len(y)))] + (np.abs(X).mean(axis=0) + 1.0) * rng.normal(size=X.shape[1])
        what = f"row {i} moved"
    elif kind == 1:
        X = X.astype(np.float64)
        X[i, int(rng.integers(0, X.shape[1]))] = float(rng.choice([np.nan, np.inf]))
        what = f"NaN or infinity in row {i}"
    elif kind == 2:
        y = y[::-1].copy()
        what = "labels reversed"
    elif kind == 3:
        others = [label for label in np.unique(y) if label != y[i]]
        y[i] = others[int(rng.integers(0, len(others)))]
        what = f"label {i} changed"
    else:
        weight = np.ones(len(y)) if weight is None else weight
        weight[i] = (weight[i] or 1.0) * float(rng.choice([3.0, 100.0]))
        what = f"weight {i} changed"
    return Table(f"{table.name}, {what}", X, y, weight), what
