"""Every classifier x solver x start x step: what to fit, with a label for the count."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from contract import estimator_classes
from soundness.data import Table

import separatrix

Rng = np.random.Generator
RATES = (0.001, 0.01, 0.1, 0.5, 1.0)
ORDINARY = (1e-2, 1.0, 1e2, np.inf)
PENALTIES = (1e-100, 1e-20, 1e-6, 1e-2, 1.0, 1e2, 1e6, 1e12, 1e100, np.inf)
QUESTIONS = 0.05  # share of `separability` and `mistake_bound`
KERNELS = ("linear", "poly", "rbf", "laplacian", "sigmoid")


@dataclass(frozen=True)
class Configuration:
    """How to make the classifier, and where it counts: classifier, solver, start."""

    make: Callable[[], Any]
    row: tuple[str, str, str]
    options: str


def _penalty(rng: Rng, table: Table) -> float:
    return float(rng.choice(ORDINARY if table.ordinary else PENALTIES))


def _sparse_logistic(rng: Rng, table: Table) -> Configuration:
    finite = [C for C in (ORDINARY if table.ordinary else PENALTIES) if np.inf > C]
    options = {
        "C": float(rng.choice(finite)) if rng.random() < 0.5 else float(10.0 ** rng.uniform(-2, 2)),
        "l1_ratio": float(rng.choice([1.0, 1.0, 0.5, 0.9, 0.01])),
        "fit_intercept": bool(rng.random() < 0.8),
    }
    if rng.random() < 0.3:
        options["tol"] = float(rng.choice([1e-2, 1e-6, 1e-8]))
    if rng.random() < 0.1 and not table.ordinary:
        options["max_iter"] = int(rng.choice([1, 3]))
    kind = "l1" if options["l1_ratio"] == 1 else "elastic net"
    return _made(separatrix.LogisticRegression, options, (f"LogisticRegression {kind}", "auto", ""), rng)


def _logistic(rng: Rng, table: Table) -> Configuration:
    if rng.random() < 0.3:
        return _sparse_logistic(rng, table)
    classes = len(set(np.asarray(table.y).tolist()))
    d = table.X.shape[1]
    loss = "squared_error" if classes == 2 and rng.random() < 0.3 else "log"
    solvers = ("auto", "newton", "lbfgs", "gradient", "sgd")
    solver = str(rng.choice(solvers if loss == "log" else ("auto", "newton", "gauss-newton", "gradient", "sgd")))
    options: dict[str, Any] = {"loss": loss, "solver": solver}
    options["C"] = _penalty(rng, table) if rng.random() < 0.6 else np.inf if rng.random() < 0.7 else 1.0
    options["fit_intercept"] = bool(rng.random() < 0.8)
    if solver in ("gradient", "sgd"):
        options["max_iter"] = 300 if table.ordinary else int(rng.choice([5, 50]))
        if rng.random() < 0.8:
            options["learning_rate"] = float(rng.choice(RATES))
        options["random_state"] = 0
    elif rng.random() < 0.2 and not table.ordinary:
        options["max_iter"] = int(rng.choice([1, 3, 20]))
    start = str(rng.choice(["auto", "zeros", "least_squares", "saturated", "random"], p=[0.4, 0.1, 0.1, 0.3, 0.1]))
    if start in ("auto", "zeros", "least_squares"):
        options["init"] = start
    else:
        p, rows = d + options["fit_intercept"], 1 if classes == 2 else classes
        init = np.zeros((rows, p)) if start == "saturated" else rng.normal(size=(rows, p)) * 10.0 ** rng.uniform(-3, 3)
        if start == "saturated":
            init[:, -1] = float(rng.choice([-60, -300, -800, 60, 800]))
        options["init"] = init[0] if rows == 1 else init
    if classes > 2 and rng.random() < 0.4:
        options["identifiability"] = "reference"
    if loss == "log" and classes == 2 and solver in ("auto", "newton") and rng.random() < 0.2:
        options.update(bias_reduction="firth", C=np.inf)
    if rng.random() < 0.3:
        options["tol"] = float(rng.choice([1e-2, 1e-6, 1e-8]))
    name = "LogisticRegression" + (
        " squared_error" if loss != "log" else " firth" if "bias_reduction" in options else ""
    )
    return _made(
        separatrix.LogisticRegression, options, (name + (" ML" if np.isinf(options["C"]) else ""), solver, start), rng
    )


def _kernel(rng: Rng) -> dict[str, Any]:
    options: dict[str, Any] = {"kernel": str(rng.choice(KERNELS))}
    if rng.random() < 0.3:
        options["gamma"] = float(10.0 ** rng.uniform(-6, 3))
    if options["kernel"] == "poly":
        options["degree"] = int(rng.integers(1, 5))
        options["coef0"] = float(rng.choice([0.0, 1.0]))
    return options


def _svc(rng: Rng, table: Table) -> Configuration:
    options = _kernel(rng) | {"C": _penalty(rng, table)}
    return _made(separatrix.SVC, _intercept(separatrix.SVC, options, rng), ("SVC", options["kernel"], ""), rng)


def _hard_margin(rng: Rng, table: Table) -> Configuration:
    options = _kernel(rng)
    if rng.random() < 0.5:
        options = {"kernel": "linear"}
    row = ("HardMarginSVC", options["kernel"], "")
    return _made(separatrix.HardMarginSVC, _intercept(separatrix.HardMarginSVC, options, rng), row, rng)


def _kernel_perceptron(rng: Rng, table: Table) -> Configuration:
    options = _kernel(rng) | {"max_iter": 100}
    options["fit_intercept"] = bool(rng.random() < 0.7)
    return _made(separatrix.KernelPerceptron, options, ("KernelPerceptron", options["kernel"], ""), rng)


def _intercept(estimator: Any, options: dict[str, Any], rng: Rng) -> dict[str, Any]:
    free = bool(rng.random() < 0.7)
    if "fit_intercept" in inspect.signature(estimator).parameters:
        options["fit_intercept"] = free
    return options


def _linear_svc(rng: Rng, table: Table) -> Configuration:
    options = {
        "C": _penalty(rng, table),
        "loss": str(rng.choice(["hinge", "squared_hinge"])),
        "fit_intercept": bool(rng.random() < 0.7),
    }
    if rng.random() < 0.3:
        options["tol"] = float(rng.choice([1e-2, 1e-6, 1e-8]))
    if rng.random() < 0.4:
        options["penalty"] = "l1"
        options["C"] = float(rng.choice([C for C in PENALTIES if np.inf > C]))
        return _made(separatrix.LinearSVC, options, ("LinearSVC l1", str(options["loss"]), ""), rng)
    hard = " hard" if np.isinf(options["C"]) else ""
    return _made(separatrix.LinearSVC, options, ("LinearSVC" + hard, str(options["loss"]), ""), rng)


def _perceptron(rng: Rng, table: Table) -> Configuration:
    start = str(rng.choice(["zeros", "ones", "first", "array"]))
    options: dict[str, Any] = {
        "update": str(rng.choice(["online", "batch", "worst"])),
        "eta0": float(rng.choice([1.0, 0.1, 0.3, 1e-3])),
        "boundary": str(rng.choice(["mistake", "positive", "correct"])),
        "max_iter": 100,
        "average": bool(rng.random() < 0.2),
        "shuffle": bool(rng.random() < 0.2),
        "random_state": 0,
        "fit_intercept": bool(rng.random() < 0.8),
    }
    p = table.X.shape[1] + options["fit_intercept"]
    options["init"] = start if start != "array" else rng.normal(size=p) * 10.0 ** rng.uniform(-3, 3)
    return _made(separatrix.Perceptron, options, ("Perceptron", options["update"], start), rng)


def _pocket(rng: Rng, table: Table) -> Configuration:
    options = {
        "method": str(rng.choice(["ratchet", "run"])),
        "eta0": float(rng.choice([1.0, 0.1])),
        "max_iter": 20,
        "random_state": 0,
        "fit_intercept": bool(rng.random() < 0.8),
    }
    return _made(separatrix.PocketPerceptron, options, ("PocketPerceptron", str(options["method"]), ""), rng)


def _kozinec(rng: Rng, table: Table) -> Configuration:
    options = {
        "epsilon": [None, 0.5, 1e-3, 1e-8][int(rng.integers(0, 4))],
        "rule": str(rng.choice(["wolfe", "plain"])),
        "max_iter": 300,
        "fit_intercept": bool(rng.random() < 0.8),
    }
    return _made(separatrix.Kozinec, options, ("Kozinec", str(options["rule"]), ""), rng)


def _fewest_errors(rng: Rng, table: Table) -> Configuration:
    options: dict[str, Any] = {"fit_intercept": bool(rng.random() < 0.6)}
    if "time_limit" in inspect.signature(separatrix.MinimumErrorClassifier).parameters:
        options["time_limit"] = 5.0
    return _made(separatrix.MinimumErrorClassifier, options, ("MinimumErrorClassifier", "", ""), rng)


def _least_squares(rng: Rng, table: Table) -> Configuration:
    options = {"fit_intercept": bool(rng.random() < 0.8)}
    return _made(separatrix.LeastSquaresClassifier, options, ("LeastSquaresClassifier", "", ""), rng)


def _ridge(rng: Rng, table: Table) -> Configuration:
    options = {"alpha": float(10.0 ** rng.integers(-8, 9)), "fit_intercept": bool(rng.random() < 0.8)}
    return _made(separatrix.RidgeClassifier, options, ("RidgeClassifier", "", ""), rng)


def _naive_bayes(rng: Rng, table: Table) -> Configuration:
    entries = table.X.data if hasattr(table.X, "data") and hasattr(table.X, "indptr") else np.asarray(table.X)
    counts = bool(np.all(entries >= 0))
    family = str(rng.choice(["gaussian", "poisson", "multinomial"])) if counts else "gaussian"
    options = {
        "family": family,
        "shared_variance": bool(rng.random() < 0.7),
        "alpha": float(rng.choice([1.0, 0.5, 1e-9])),
    }
    return _made(separatrix.NaiveBayes, options, ("NaiveBayes", family, ""), rng)


def _complement(rng: Rng, table: Table) -> Configuration:
    options = {"alpha": float(rng.choice([1.0, 0.5, 1e-9])), "norm": bool(rng.random() < 0.5)}
    return _made(separatrix.ComplementNB, options, ("ComplementNB", "", ""), rng)


def _categories(rng: Rng, table: Table) -> Configuration:
    options = {"alpha": float(rng.choice([1.0, 0.5, 1e-9])), "fit_prior": bool(rng.random() < 0.5)}
    return _made(separatrix.CategoricalNB, options, ("CategoricalNB", "", ""), rng)


def _centroid(rng: Rng, table: Table) -> Configuration:
    metric = "manhattan" if rng.random() < 0.4 else "euclidean"
    kind = str(rng.choice(["plain", "shrunken", "priors", "both"], p=[0.4, 0.2, 0.2, 0.2]))
    options: dict[str, Any] = {"metric": metric}
    if kind in ("shrunken", "both"):
        options["shrink_threshold"] = float(rng.choice([0.1, 1.0, 5.0]))
    if kind in ("priors", "both"):
        options["priors"] = "empirical"
    return _made(separatrix.NearestCentroid, options, ("NearestCentroid", metric, kind), rng)


def _cascade(rng: Rng, table: Table) -> Configuration:
    solver = str(rng.choice(["lbfgs", "lbfgs", "gradient"]))
    options = {
        "hidden": [(), 1, 3, (2, 2)][rng.integers(4)],
        "C": float(10.0 ** rng.integers(-3, 4)),
        "loss": str(rng.choice(["log", "squared_error"])),
        "solver": solver,
        "learning_rate": float(rng.choice([1e-3, 1.0])) if solver == "gradient" and rng.random() < 0.3 else None,
        "tol": float(rng.choice([1e-3, 1e-5, 1e-8])),
        "n_init": 1,
        "max_iter": int(rng.choice([3, 300])),
        "random_state": int(rng.integers(100)),
    }
    return _made(separatrix.Cascade, options, ("Cascade", solver, ""), rng)


def _cross_validated(rng: Rng, table: Table) -> Configuration:
    options = {"Cs": [1e-3, 1.0, 1e3] if rng.random() < 0.7 else [1e-300, 1.0], "cv": 2}
    return _made(separatrix.LogisticRegressionCV, options, ("LogisticRegressionCV", "", ""), rng)


class Asked:
    """`separability` or `mistake_bound` in the clothes of a classifier, on the rows that have a weight."""

    def __init__(self, question: Callable[..., Any], **options: Any) -> None:
        self.question, self.options = question, options

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Asked:
        kept = np.arange(X.shape[0]) if sample_weight is None else np.flatnonzero(sample_weight)
        answer = self.question(X[kept], np.asarray(y)[kept], **self.options)
        self.certificate_ = answer.certificate if self.question is separatrix.separability else answer
        self.status_ = SimpleNamespace(name="ANSWERED")
        return self


def _question(rng: Rng, table: Table) -> Configuration:
    options: dict[str, Any] = {"fit_intercept": bool(rng.random() < 0.7)}
    question = separatrix.separability
    if rng.random() < 0.3 and len(set(np.asarray(table.y).tolist())) == 2:
        question = separatrix.mistake_bound
    else:
        options["exact"] = bool(rng.random() < 0.5)
    exact = " exact" if options.get("exact") else ""
    row = (question.__name__ + exact, "", "")
    return Configuration(lambda: Asked(question, **options), row, f"{question.__name__}({options})")


CHOICES: dict[str, tuple[float, Callable[[Rng, Table], Configuration]]] = {
    "LogisticRegression": (10, _logistic),
    "LogisticRegressionCV": (0.3, _cross_validated),
    "LinearSVC": (3, _linear_svc),
    "SVC": (3, _svc),
    "HardMarginSVC": (2, _hard_margin),
    "KernelPerceptron": (1.5, _kernel_perceptron),
    "Perceptron": (2, _perceptron),
    "PocketPerceptron": (1, _pocket),
    "Kozinec": (1.5, _kozinec),
    "MinimumErrorClassifier": (0.7, _fewest_errors),
    "LeastSquaresClassifier": (1, _least_squares),
    "RidgeClassifier": (1, _ridge),
    "NaiveBayes": (1, _naive_bayes),
    "NearestCentroid": (0.7, _centroid),
    "ComplementNB": (0.5, _complement),
    "CategoricalNB": (0.5, _categories),
    "Cascade": (0.7, _cascade),
    # names over NaiveBayes
    **dict.fromkeys(("BernoulliNB", "GaussianNB", "MultinomialNB", "PoissonNB"), (0, _naive_bayes)),
}


def _made(estimator: Any, options: dict[str, Any], row: tuple[str, str, str], rng: Rng) -> Configuration:
    if "class_weight" in inspect.signature(estimator).parameters and rng.random() < 0.1:
        options["class_weight"] = "balanced"
    text = ", ".join(f"{name}={value!r}" for name, value in options.items())
    return Configuration(lambda: estimator(**options), row, f"{estimator.__name__}({text})")


def configuration(rng: Rng, table: Table) -> Configuration:
    """One at random; every classifier of the package has its turn."""
    names = [estimator.__name__ for estimator in estimator_classes()]
    missing = set(names) - set(CHOICES)
    assert not missing, f"Say in soundness/configurations.py how to fit {sorted(missing)}."
    if rng.random() < QUESTIONS:
        return _question(rng, table)
    share = np.array([CHOICES[name][0] for name in names])
    return CHOICES[str(rng.choice(names, p=share / share.sum()))][1](rng, table)
