"""Linear classifiers that prove what they found.

Names are imported when first used, so that ``import separatrix`` costs next to nothing.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from separatrix import certificates, data, features, kernels, losses, persistence, plots, testing
    from separatrix.certificates import (
        All,
        DualityGap,
        ErrorBound,
        HingeGap,
        Inseparable,
        KernelInseparable,
        KernelMarginBracket,
        KernelSeparator,
        MarginBracket,
        Separator,
        Stationarity,
    )
    from separatrix.errors import (
        ClusterError,
        ConvergenceWarning,
        DataError,
        InvalidInputError,
        LibraryError,
        LikelihoodWarning,
        ModelFileError,
        NoDirectionError,
        NotSeparableError,
        SeparationWarning,
        SeparatrixError,
        StorageError,
        UndecidedError,
        UnsupportedParameterError,
    )
    from separatrix.estimators.cascade import Cascade
    from separatrix.estimators.categorical import CategoricalNB
    from separatrix.estimators.centroid import NearestCentroid
    from separatrix.estimators.complement import ComplementNB
    from separatrix.estimators.hard_margin import HardMarginSVC
    from separatrix.estimators.kernel_perceptron import KernelPerceptron
    from separatrix.estimators.kozinec import Kozinec
    from separatrix.estimators.least_squares import LeastSquaresClassifier
    from separatrix.estimators.linear_svc import LinearSVC
    from separatrix.estimators.logistic import LogisticRegression
    from separatrix.estimators.logistic_cv import LogisticRegressionCV
    from separatrix.estimators.minimum_error import MinimumErrorClassifier
    from separatrix.estimators.naive_bayes import NaiveBayes
    from separatrix.estimators.naive_bayes_names import (
        BernoulliNB,
        GaussianNB,
        MultinomialNB,
        PoissonNB,
    )
    from separatrix.estimators.perceptron import Perceptron
    from separatrix.estimators.pocket import PocketPerceptron
    from separatrix.estimators.ridge import RidgeClassifier
    from separatrix.estimators.svc import SVC
    from separatrix.formulas.families import ExponentialFamily
    from separatrix.functions.logistic_path import LogisticPath, logistic_path
    from separatrix.functions.mistake_bound import MistakeBound, mistake_bound
    from separatrix.functions.separability import Separability, separability
    from separatrix.geometry import Hyperplane
    from separatrix.loops.threads import set_threads
    from separatrix.outcome import Status, Trace
    from separatrix.persistence import load, save
    from separatrix.scoring.scorer import Scorer

# where each public name lives; None for a module of the package
_HOMES = {
    "KernelMarginBracket": "certificates",
    "KernelInseparable": "certificates",
    "HingeGap": "certificates",
    "HardMarginSVC": "estimators.hard_margin",
    "SVC": "estimators.svc",
    "KernelSeparator": "certificates",
    "KernelPerceptron": "estimators.kernel_perceptron",
    "Kozinec": "estimators.kozinec",
    "PocketPerceptron": "estimators.pocket",
    "ClusterError": "errors",
    "ConvergenceWarning": "errors",
    "DataError": "errors",
    "ModelFileError": "errors",
    "Scorer": "scoring.scorer",
    "load": "persistence",
    "save": "persistence",
    "ExponentialFamily": "formulas.families",
    "Hyperplane": "geometry",
    "InvalidInputError": "errors",
    "LibraryError": "errors",
    "LeastSquaresClassifier": "estimators.least_squares",
    "LikelihoodWarning": "errors",
    "LinearSVC": "estimators.linear_svc",
    "LogisticRegression": "estimators.logistic",
    "LogisticRegressionCV": "estimators.logistic_cv",
    "MinimumErrorClassifier": "estimators.minimum_error",
    "NaiveBayes": "estimators.naive_bayes",
    "BernoulliNB": "estimators.naive_bayes_names",
    "CategoricalNB": "estimators.categorical",
    "ComplementNB": "estimators.complement",
    "GaussianNB": "estimators.naive_bayes_names",
    "MultinomialNB": "estimators.naive_bayes_names",
    "Cascade": "estimators.cascade",
    "PoissonNB": "estimators.naive_bayes_names",
    "NearestCentroid": "estimators.centroid",
    "NoDirectionError": "errors",
    "Perceptron": "estimators.perceptron",
    "RidgeClassifier": "estimators.ridge",
    "NotSeparableError": "errors",
    "SeparationWarning": "errors",
    "SeparatrixError": "errors",
    "StorageError": "errors",
    "All": "certificates",
    "DualityGap": "certificates",
    "ErrorBound": "certificates",
    "Inseparable": "certificates",
    "MarginBracket": "certificates",
    "Separator": "certificates",
    "Stationarity": "certificates",
    "Status": "outcome",
    "Trace": "outcome",
    "UndecidedError": "errors",
    "UnsupportedParameterError": "errors",
    "LogisticPath": "functions.logistic_path",
    "logistic_path": "functions.logistic_path",
    "MistakeBound": "functions.mistake_bound",
    "Separability": "functions.separability",
    "mistake_bound": "functions.mistake_bound",
    "separability": "functions.separability",
    "set_threads": "loops.threads",
    "certificates": None,
    "data": None,
    "features": None,
    "kernels": None,
    "losses": None,
    "persistence": None,
    "plots": None,
    "testing": None,
}

__all__ = [
    "SVC",
    "All",
    "BernoulliNB",
    "Cascade",
    "CategoricalNB",
    "ClusterError",
    "ComplementNB",
    "ConvergenceWarning",
    "DataError",
    "DualityGap",
    "ErrorBound",
    "ExponentialFamily",
    "GaussianNB",
    "HardMarginSVC",
    "HingeGap",
    "Hyperplane",
    "Inseparable",
    "InvalidInputError",
    "KernelInseparable",
    "KernelMarginBracket",
    "KernelPerceptron",
    "KernelSeparator",
    "Kozinec",
    "LeastSquaresClassifier",
    "LibraryError",
    "LikelihoodWarning",
    "LinearSVC",
    "LogisticPath",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MarginBracket",
    "MinimumErrorClassifier",
    "MistakeBound",
    "ModelFileError",
    "MultinomialNB",
    "NaiveBayes",
    "NearestCentroid",
    "NoDirectionError",
    "NotSeparableError",
    "Perceptron",
    "PocketPerceptron",
    "PoissonNB",
    "RidgeClassifier",
    "Scorer",
    "Separability",
    "SeparationWarning",
    "Separator",
    "SeparatrixError",
    "Stationarity",
    "Status",
    "StorageError",
    "Trace",
    "UndecidedError",
    "UnsupportedParameterError",
    "certificates",
    "data",
    "features",
    "kernels",
    "load",
    "logistic_path",
    "losses",
    "mistake_bound",
    "persistence",
    "plots",
    "save",
    "separability",
    "set_threads",
    "testing",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'separatrix' has no attribute {name!r}")
    home = _HOMES[name]
    with _uncollected():
        if home is not None and home.startswith("estimators."):
            import sklearn.base  # noqa: F401 (from within our own imports, deep in Python's stack, it takes .07 s more)
        module = import_module(f"separatrix.{home or name}")
    globals()[name] = value = module if home is None else getattr(module, name)
    return value


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the garbage collector, which takes .1 s to find nothing among what scikit-learn imports.

    What was imported is then old to it, as after the collections that did not take place.
    """
    if not gc.isenabled() or gc.get_freeze_count():
        yield
        return
    gc.disable()
    try:
        yield
        gc.freeze()
        gc.unfreeze()
    finally:
        gc.enable()


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
