"""The names of the classifiers on the command line, and their parameters as options."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from separatrix.cli.common import bad_option


def number(word: str) -> float:
    """A number; "inf" is one."""
    value = float(word)
    if math.isnan(value):
        raise ValueError
    return value


def switch(word: str) -> bool:
    """True or false."""
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    return words[word.lower()]


def kernel_name(given: str) -> str:
    """A kernel of rows of numbers."""
    if given not in ("linear", "poly", "rbf", "laplacian", "sigmoid"):
        raise ValueError
    return given


def number_or_word(given: str) -> float | str | None:
    """A number, "none", or a word."""
    if given.lower() == "none":
        return None
    try:
        return number(given)
    except ValueError:
        return given


Reader = Callable[[str], Any]  # of what is given for an option; words are checked by the classifier
KINDS: Mapping[Reader, str] = {
    number: "a number",
    int: "a whole number",
    switch: "true or false",
    str: "a word",
    number_or_word: "a number or a word",
    kernel_name: "a kernel: linear, poly, rbf, laplacian or sigmoid",
}
INTERCEPT: dict[str, Reader] = {"fit_intercept": switch}
BALANCE: dict[str, Reader] = {"class_weight": str}
KERNEL: dict[str, Reader] = {"kernel": kernel_name, "gamma": number_or_word, "degree": int, "coef0": number}
PASSES: dict[str, Reader] = {"max_iter": int, "random_state": int}
OTHERWISE = {"distance": "metric"}  # options for parameters whose own names are options of the command


@dataclass(frozen=True)
class Model:
    """A classifier by its public name, and the options it takes."""

    estimator: str
    options: Mapping[str, Reader]


MODELS: Mapping[str, Model] = {
    "logistic": Model(
        "LogisticRegression",
        {
            "C": number,
            "l1_ratio": number,
            "loss": str,
            "solver": str,
            "init": str,
            "identifiability": str,
            "bias_reduction": str,
            "learning_rate": number,
            "damping": switch,
            "schedule": str,
            "replacement": switch,
            "tol": number,
            **PASSES,
            **INTERCEPT,
            **BALANCE,
        },
    ),
    "linear-svm": Model(
        "LinearSVC",
        {"C": number, "loss": str, "penalty": str, "tol": number, "max_iter": int, **INTERCEPT, **BALANCE},
    ),
    "svm": Model("SVC", {"C": number, **KERNEL, "tol": number, "max_iter": int, **BALANCE}),
    "hard-margin": Model("HardMarginSVC", {**KERNEL, "tol": number}),
    "perceptron": Model(
        "Perceptron",
        {
            "update": str,
            "eta0": number,
            "init": str,
            "boundary": str,
            "shuffle": switch,
            "average": switch,
            **PASSES,
            **INTERCEPT,
            **BALANCE,
        },
    ),
    "pocket": Model(
        "PocketPerceptron", {"method": str, "eta0": number, "shuffle": switch, **PASSES, **INTERCEPT, **BALANCE}
    ),
    "kozinec": Model("Kozinec", {"epsilon": number_or_word, "rule": str, "max_iter": int, **INTERCEPT}),
    "kernel-perceptron": Model("KernelPerceptron", {**KERNEL, "shuffle": switch, **PASSES, **INTERCEPT, **BALANCE}),
    "centroid": Model("NearestCentroid", {"distance": str, "shrink_threshold": number, "priors": str}),
    "least-squares": Model("LeastSquaresClassifier", {"max_iter": int, **INTERCEPT, **BALANCE}),
    "ridge": Model("RidgeClassifier", {"alpha": number, "max_iter": int, **INTERCEPT, **BALANCE}),
    "naive-bayes": Model(
        "NaiveBayes", {"family": str, "shared_variance": switch, "alpha": number, "var_smoothing": number}
    ),
    "minimum-error": Model("MinimumErrorClassifier", {"max_nodes": int, "time_limit": number, **INTERCEPT, **BALANCE}),
    "cascade": Model(
        "Cascade",
        {
            "hidden": int,
            "C": number,
            "loss": str,
            "solver": str,
            "learning_rate": number,
            "tol": number,
            "n_init": int,
            **PASSES,
            **BALANCE,
        },
    ),
}


def find_model(name: str) -> Model:
    """The classifier of this name, or a usage error that lists them."""
    if name not in MODELS:
        raise bad_option(f"No model is called {name!r}. There are: {', '.join(MODELS)}.")
    return MODELS[name]


def read_options(name: str, words: Sequence[str]) -> dict[str, Any]:
    """``--C 0.5 --fit-intercept=false --average`` as parameters of the classifier.

    A switch without a value is on, and ``--no-...`` turns it off.
    """
    options, found = find_model(name).options, {}
    position = 0
    while position < len(words):
        flag, equals, value = words[position].partition("=")
        position += 1
        if not flag.startswith("--"):
            raise bad_option(f"{flag!r} is not expected here: parameters are given as --name value.")
        parameter, off = _parameter(name, flag[2:])
        reader = options[parameter]
        if off:
            if equals:
                raise bad_option(f"{flag} takes no value.")
            value = "false"
        elif not equals:
            following = words[position] if position < len(words) else "--"
            if not following.startswith("--"):
                value, position = following, position + 1
            elif reader is switch:
                value = "true"
            else:
                raise bad_option(f"{flag} needs {KINDS[reader]}.")
        parameter = OTHERWISE.get(parameter, parameter)
        if parameter in found:
            raise bad_option(f"{flag} is given twice.")
        try:
            found[parameter] = reader(value)
        except (ValueError, KeyError):
            raise bad_option(f"{flag} needs {KINDS[reader]}; got {value!r}.") from None
    return found


def _parameter(name: str, flag: str) -> tuple[str, bool]:
    """The parameter that a flag means, and whether it turns it off."""
    options = MODELS[name].options
    spelled = flag.replace("-", "_")
    if spelled in options:
        return spelled, False
    if spelled.startswith("no_") and options.get(spelled[3:]) is switch:
        return spelled[3:], True
    known = ", ".join("--" + option.replace("_", "-") for option in options) or "none"
    owners = [other for other, model in MODELS.items() if spelled in model.options]
    hint = f" It is a parameter of {', '.join(owners)}." if owners else ""
    raise bad_option(f"--{flag} is not a parameter of {name}, which takes: {known}.{hint}")
