"""The errors and warnings of separatrix: each message says what is wrong, where, and what to do."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning

__all__ = [
    "ClusterError",
    "ConvergenceWarning",
    "DataError",
    "InvalidInputError",
    "LibraryError",
    "LikelihoodWarning",
    "ModelFileError",
    "NoDirectionError",
    "NotSeparableError",
    "SeparationWarning",
    "SeparatrixError",
    "StorageError",
    "UndecidedError",
    "UnsupportedParameterError",
]


class SeparatrixError(Exception):
    """Base class of every error that separatrix raises on purpose."""


class InvalidInputError(SeparatrixError, ValueError):
    """Data, labels, weights or a parameter that no fit can use.

    Attributes
    ----------
    parameter : str or None
        The parameter of the classifier or kernel that has to change; None if that is the data.
    """

    def __init__(self, message: str, parameter: str | None = None) -> None:
        super().__init__(message)
        self.parameter = parameter


class DataError(SeparatrixError, ValueError):
    """A table that cannot be read or used; the message names the file, the row and the column, and the remedy."""


class StorageError(SeparatrixError, OSError):
    """Rows in a file that cannot be written or read back as they were: a full disk, a file cut off or changed."""


class ClusterError(SeparatrixError, RuntimeError):
    """Rows on the workers of a cluster that cannot be gone through: workers or data are gone, or data have changed."""


class ModelFileError(SeparatrixError, ValueError):
    """A model file that is damaged or not one, or a model that cannot be written to one."""


class LibraryError(SeparatrixError, ImportError):
    """The compiled loops are missing, damaged, or older than their sources; the message says what to do."""


class NoDirectionError(SeparatrixError, ValueError):
    """w = 0 has no direction: there is no hyperplane to measure a distance from."""


class UndecidedError(SeparatrixError, ArithmeticError):
    """float64 cannot tell, and rational arithmetic was not asked for; the message says how to ask.

    Attributes
    ----------
    max_work : float or None
        The limit that ended the search, in products of numbers; None if none did.
    """

    def __init__(self, message: str, max_work: float | None = None) -> None:
        super().__init__(message)
        self.max_work = max_work


class NotSeparableError(SeparatrixError, ValueError):
    """No hyperplane, or none in the kernel's feature space, has every point on its side.

    Attributes
    ----------
    certificate : certificate
        The proof.
    """

    def __init__(self, message: str, certificate: object) -> None:
        super().__init__(message)
        self.certificate = certificate

    def __reduce__(self) -> tuple[type[NotSeparableError], tuple[str, object]]:
        return type(self), (str(self), self.certificate)  # a pickle calls the class with what is given here


class UnsupportedParameterError(SeparatrixError, ValueError, TypeError):
    """A parameter of scikit-learn, or a value of one, that has no meaning here; the message says what to use."""


class LikelihoodWarning(UserWarning):
    """The likelihood has no finite maximum; the message says which parameters were held at a bound."""


class SeparationWarning(UserWarning):
    """The classes are separable or quasi-separable, so that the maximum likelihood is at infinity."""
