"""The algorithms of the lab: which classifier, with which settings, and how much of it a page can show at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from separatrix._typing import Floats
from separatrix.errors import InvalidInputError
from separatrix.lab.request import Sample

DRAWS = 20_000  # points looked at, and
STEPS = 400  # steps on all points, that a walk is recorded for: more would not be shown in time
NODES = 20_000  # points of all nodes together that a search looks at
DRAFT_DRAWS, DRAFT_STEPS = 2000, 20  # of both while a point is being dragged
DRAFT_POINTS = 120  # that a first answer learns from where its time grows with their square or cube


@dataclass(frozen=True)
class Algorithm:
    """A classifier as the lab runs it.

    Parameters
    ----------
    estimator : str
        The public name of the classifier.
    settings : mapping
        What the page may set, with the lab's defaults.
    fixed : mapping
        Parameters that the lab always gives.
    classes : int
        The most classes it takes here.
    draws : bool
        Whether it draws one point at a time, so that passes are limited by the number of points.
    hurried : mapping
        What parameters are while a point is being dragged: a first answer, refined after.
    few : function of settings
        Whether that first answer learns from `DRAFT_POINTS` points only.
    adapt : function of settings
        Turns the page's settings into parameters.
    """

    estimator: str
    settings: Mapping[str, Any]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    classes: int = 2
    draws: bool = False
    hurried: Mapping[str, int] = field(default_factory=dict)
    few: Callable[[Mapping[str, Any]], bool] = lambda settings: False
    adapt: Callable[[dict[str, Any]], dict[str, Any]] = dict

    def parameters(self, settings: Mapping[str, Any], sample: Sample, draft: bool) -> dict[str, Any]:
        """The parameters of the classifier, its steps held to what can be shown; while dragging, to fewer."""
        if sample.classes > self.classes:
            raise InvalidInputError(
                f"{self.estimator} is shown here for {self.classes} classes; there are {sample.classes}. Erase the "
                "points of one, or choose an algorithm for several: softmax, centroids, naive Bayes."
            )
        given = {**self.fixed, **self.adapt(dict(settings))}
        if "max_iter" in given:
            draws, steps = (DRAFT_DRAWS, DRAFT_STEPS) if draft else (DRAWS, STEPS)
            most = max(1, draws // len(sample.y)) if self.draws else steps
            if given.get("solver") == "sgd":  # draws as well, and each computes the objective of all points
                most = max(1, draws // ((16 if draft else 4) * len(sample.y)))
            given["max_iter"] = min(whole(given["max_iter"], "max_iter"), most)
        if "max_nodes" in given:
            given["max_nodes"] = min(given["max_nodes"], max(1, NODES // len(sample.y)))
        if draft:
            given |= self.hurried
        return given


def whole(value: Any, name: str) -> int:
    """A whole number of at least 1: JSON does not tell 3 from 3.0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != int(value) or value < 1:
        raise InvalidInputError(f"{name} must be a whole number of at least 1; it is {value!r:.40}.")
    return int(value)


def _infinite(settings: dict[str, Any]) -> dict[str, Any]:
    """C is inf where the page sends None: JSON has no infinity."""
    return {**settings, "C": np.inf} if settings.get("C", 1.0) is None else settings


def _kernel(settings: dict[str, Any]) -> dict[str, Any]:
    """Only the settings that the kernel has."""
    needed = {"rbf": ("gamma",), "poly": ("gamma", "degree", "coef0"), "linear": ()}
    kernel = settings["kernel"]
    if kernel not in needed:
        raise InvalidInputError(f"The kernel must be one of {', '.join(needed)}; it is {kernel!r:.40}.")
    dropped = {"gamma", "degree", "coef0"} - set(needed[kernel])
    kept = {name: value for name, value in settings.items() if name not in dropped}
    return {**kept, "degree": whole(kept["degree"], "degree")} if "degree" in kept else kept


def _logistic(settings: dict[str, Any]) -> dict[str, Any]:
    """Gauss-Newton is for the squared error; a learning rate is for the plain rules."""
    given = _infinite(settings)
    if given["solver"] == "gauss-newton" and given["loss"] != "squared_error":
        raise InvalidInputError("Gauss-Newton is for the squared error: choose that loss, or Newton's method.")
    if given["solver"] not in ("gradient", "sgd"):
        given.pop("learning_rate")
    if given["solver"] != "sgd":
        given.pop("random_state")
    return given


PERCEPTRON = {
    "update": "online",
    "eta0": 1.0,
    "init": "zeros",
    "boundary": "mistake",
    "shuffle": False,
    "random_state": 0,
    "max_iter": 100,
}
KERNEL = {"kernel": "rbf", "gamma": 1.0, "degree": 2, "coef0": 1.0}
LOGISTIC = {
    "solver": "gradient",
    "loss": "log",
    "C": 1.0,
    "learning_rate": None,
    "init": "zeros",
    "max_iter": 60,
    "random_state": 0,
    "threshold": 0.5,
}

ALGORITHMS: Mapping[str, Algorithm] = {
    "perceptron": Algorithm("Perceptron", PERCEPTRON, {"trace": True}, draws=True),
    "pocket": Algorithm(
        "PocketPerceptron",
        {"shuffle": True, "random_state": 0, "eta0": 1.0, "max_iter": 20},
        {"method": "ratchet", "trace": True},
        draws=True,
    ),
    "kozinec": Algorithm("Kozinec", {"rule": "plain", "epsilon": 0.05, "max_iter": 200}, {"trace": True}),
    "kernel_perceptron": Algorithm(
        "KernelPerceptron", {**KERNEL, "max_iter": 100}, {"trace": True}, draws=True, adapt=_kernel
    ),
    "svc": Algorithm(
        "SVC",
        {**KERNEL, "kernel": "linear", "C": 1.0},
        {"tol": 1e-4},
        few=lambda settings: settings["kernel"] != "linear",
        adapt=_kernel,
    ),
    "hard_margin": Algorithm("HardMarginSVC", {}),
    "logistic": Algorithm(
        "LogisticRegression",
        LOGISTIC,
        {"trace": True},
        few=lambda settings: settings["solver"] == "sgd",
        adapt=_logistic,
    ),
    "least_squares": Algorithm("LeastSquaresClassifier", {}),
    "centroid": Algorithm("NearestCentroid", {}, classes=6),
    "naive_bayes": Algorithm("NaiveBayes", {"shared_variance": True}, {"family": "gaussian"}, classes=6),
    "fewest_errors": Algorithm(
        "MinimumErrorClassifier",
        {"max_nodes": 300},
        hurried={"max_nodes": 1},
        adapt=lambda s: {"max_nodes": whole(s["max_nodes"], "max_nodes")},
    ),
    "softmax": Algorithm(
        "LogisticRegression",
        {"C": 1.0, "identifiability": "symmetric"},
        {"solver": "newton", "init": "zeros", "trace": True},
        classes=6,
        adapt=_infinite,
    ),
    "lift": Algorithm("HardMarginSVC", {"map": "paraboloid"}, adapt=lambda s: {}),
}

MAPS: Mapping[str, tuple[str, Callable[[Floats], Floats]]] = {
    "paraboloid": ("X[:, 0] ** 2 + X[:, 1] ** 2", lambda X: X[:, 0] ** 2 + X[:, 1] ** 2),
    "product": ("X[:, 0] * X[:, 1]", lambda X: X[:, 0] * X[:, 1]),
}


def lifted(X: Floats, name: Any) -> Floats:
    """phi(x) = (x_1, x_2, m(x)): the plane as a surface in space."""
    if name not in MAPS:
        raise InvalidInputError(f"The map must be one of {', '.join(MAPS)}; it is {name!r:.40}.")
    return np.column_stack([X, MAPS[name][1](X)])
