"""What theorems say of the drawn points, beside the fit: the mistake bound, and the constants of descent."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix import LogisticRegression, Perceptron, mistake_bound, separability
from separatrix._typing import Floats, Integers
from separatrix.errors import SeparatrixError

WORK = 1e6  # of an exact proof: it is there while the finger still moves


def facts(name: str, X: Floats, y: Integers, model: Any) -> dict[str, Any]:
    """What the view of this algorithm compares the fitted model's steps with."""
    if name == "kernel_perceptron":
        return mapped_walk(X, y, model)
    if name == "perceptron":
        known = verdict(X, y)
        # without a margin there is no bound, nor for steps on all mistakes at once
        bounded = known["verdict"] in ("separable", None) and model.update != "batch"
        return {**known, **(novikoff(X, y, model) if bounded else {"bound": None, "best": None})}
    if name in ("pocket", "logistic", "softmax", "hard_margin", "lift", "fewest_errors", "kozinec"):
        return verdict(X, y)
    if name == "least_squares":
        return logistic_beside(X, y)
    return {}


def novikoff(X: Floats, y: Integers, walk: Perceptron) -> dict[str, Any]:
    """R, gamma and R²/gamma² + 2‖w0‖/(eta gamma) of the points (x, 1), and the direction w* with the margin gamma."""
    found = mistake_bound(X, y, w0=walk.trace_["weights"][0], eta=walk.eta0)
    lower, upper = found.margin
    direction = np.asarray(found.certificate.direction, dtype=np.float64)
    length = float(np.linalg.norm(direction))
    return {
        "radius": float(found.radius),
        "margin": float(max(lower, 0.0)),
        "margin_above": float(upper),
        "bound": float(found.bound) if np.isfinite(found.bound) else None,
        "best": (direction / length).tolist() if length > 0 and lower > 0 else None,
    }


def verdict(X: Floats, y: Integers) -> dict[str, Any]:
    """Whether some hyperplane separates these points, with the certificate that proves it."""
    try:
        found = separability(X, y, exact=True, max_work=WORK)
    except SeparatrixError:
        found = None
    if found is None:
        return {"verdict": None, "proof": None}
    return {"verdict": found.verdict, "proof": found.certificate.to_dict()}


def mapped_walk(X: Floats, y: Integers, model: Any) -> dict[str, Any]:
    """Whether the perceptron on phi(x) makes the same mistakes, one by one, for k(x, z) = phi(x).phi(z); {} for others.

    (g x.z + c)² = phi(x).phi(z) with phi(x) = (g x_1², g x_2², sqrt(2) g x_1 x_2, sqrt(2 g c) x_1, sqrt(2 g c) x_2, c).
    """
    kernel = model.kernel
    if kernel == "linear":
        phi, words = X, "x"
    elif kernel == "poly" and model.degree == 2:
        g, c, (a, b) = float(model.gamma), float(model.coef0), X.T
        sides = np.sqrt(2 * g * c) * X
        phi = np.column_stack([g * a * a, g * b * b, np.sqrt(2) * g * a * b, sides, np.full(len(X), c)])
        words = "(x₁², x₂², √2 x₁x₂, x₁, x₂, 1), scaled,"
    else:
        return {}
    walk = Perceptron(max_iter=model.max_iter, trace=True).fit(phi, y).trace_["point"]
    return {"map": words, "same_walk": bool(np.array_equal(walk, model.trace_["point"]))}


def logistic_beside(X: Floats, y: Integers) -> dict[str, Any]:
    """The line of logistic regression (C = 1) on the same points, to compare least squares with."""
    model = LogisticRegression().fit(X, y)
    return {"logistic": [*model.coef_[0].tolist(), float(model.intercept_[0])]}
