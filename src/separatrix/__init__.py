"""Linear classifiers that prove what they found.

Names are imported when first used, so that ``import separatrix`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from separatrix import certificates, data, kernels, losses, persistence, plots, testing
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
        UndecidedError,
        UnsupportedParameterError,
    )
    from separatrix.estimators.centroid import NearestCentroid
    from separatrix.estimators.hard_margin import HardMarginSVC
    from separatrix.estimators.kernel_perceptron import KernelPerceptron
    from separatrix.estimators.kozinec import Kozinec
    from separatrix.estimators.least_squares import LeastSquaresClassifier
    from separatrix.estimators.linear_svc import LinearSVC
    from separatrix.estimators.logistic import LogisticRegression
    from separatrix.estimators.logistic_cv import LogisticRegressionCV
    from separatrix.estimators.minimum_error import MinimumErrorClassifier
    from separatrix.estimators.naive_bayes import NaiveBayes
    from separatrix.estimators.naive_bayes_names import BernoulliNB, GaussianNB, MultinomialNB
    from separatrix.estimators.perceptron import Perceptron
    from separatrix.estimators.pocket import PocketPerceptron
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
    "GaussianNB": "estimators.naive_bayes_names",
    "MultinomialNB": "estimators.naive_bayes_names",
    "NearestCentroid": "estimators.centroid",
    "NoDirectionError": "errors",
    "Perceptron": "estimators.perceptron",
    "NotSeparableError": "errors",
    "SeparationWarning": "errors",
    "SeparatrixError": "errors",
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
    "Scorer",
    "Separability",
    "SeparationWarning",
    "Separator",
    "SeparatrixError",
    "Stationarity",
    "Status",
    "Trace",
    "UndecidedError",
    "UnsupportedParameterError",
    "certificates",
    "data",
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
    value = import_module(f"separatrix.{name}") if home is None else getattr(import_module(f"separatrix.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
