"""The errors and warnings of separatrix: each message says what is wrong, where, and what to do."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning

__all__ = [
    "ConvergenceWarning",
    "InvalidInputError",
    "LikelihoodWarning",
    "NoDirectionError",
    "SeparatrixError",
    "UnsupportedParameterError",
]


class SeparatrixError(Exception):
    """Base class of every error that separatrix raises on purpose."""


class InvalidInputError(SeparatrixError, ValueError):
    """Data, labels, weights or a parameter that no fit can use."""


class NoDirectionError(SeparatrixError, ValueError):
    """w = 0 has no direction: there is no hyperplane to measure a distance from."""


class UnsupportedParameterError(SeparatrixError, TypeError):
    """A scikit-learn parameter that has no meaning here; the message says what to use."""


class LikelihoodWarning(UserWarning):
    """The likelihood has no finite maximum; the message says which parameters were held at a bound."""
