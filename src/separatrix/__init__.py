"""Linear classifiers that prove what they found.

Names are imported when first used, so that ``import separatrix`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from separatrix import certificates, kernels, losses, testing
    from separatrix.certificates import All, ErrorBound, MarginBracket, Separator, Stationarity
    from separatrix.errors import (
        ConvergenceWarning,
        InvalidInputError,
        LikelihoodWarning,
        NoDirectionError,
        SeparatrixError,
        UnsupportedParameterError,
    )
    from separatrix.estimators.centroid import NearestCentroid
    from separatrix.estimators.least_squares import LeastSquaresClassifier
    from separatrix.estimators.naive_bayes import NaiveBayes
    from separatrix.geometry import Hyperplane
    from separatrix.learners.families import ExponentialFamily
    from separatrix.outcome import Status, Trace

# where each public name lives; None for a module of the package
_HOMES = {
    "ConvergenceWarning": "errors",
    "ExponentialFamily": "learners.families",
    "Hyperplane": "geometry",
    "InvalidInputError": "errors",
    "LeastSquaresClassifier": "estimators.least_squares",
    "LikelihoodWarning": "errors",
    "NaiveBayes": "estimators.naive_bayes",
    "NearestCentroid": "estimators.centroid",
    "NoDirectionError": "errors",
    "SeparatrixError": "errors",
    "All": "certificates",
    "ErrorBound": "certificates",
    "MarginBracket": "certificates",
    "Separator": "certificates",
    "Stationarity": "certificates",
    "Status": "outcome",
    "Trace": "outcome",
    "UnsupportedParameterError": "errors",
    "certificates": None,
    "kernels": None,
    "losses": None,
    "testing": None,
}

__all__ = [
    "All",
    "ConvergenceWarning",
    "ErrorBound",
    "ExponentialFamily",
    "Hyperplane",
    "InvalidInputError",
    "LeastSquaresClassifier",
    "LikelihoodWarning",
    "MarginBracket",
    "NaiveBayes",
    "NearestCentroid",
    "NoDirectionError",
    "Separator",
    "SeparatrixError",
    "Stationarity",
    "Status",
    "Trace",
    "UnsupportedParameterError",
    "certificates",
    "kernels",
    "losses",
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
