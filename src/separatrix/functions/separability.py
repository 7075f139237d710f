"""Is there a hyperplane with every point strictly on its own side? The answer, and its proof."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from separatrix._typing import Array
from separatrix.cached import cached_property
from separatrix.certificates import Inseparable, Separator, Verification
from separatrix.estimators.parameters import positive
from separatrix.estimators.stored import reachable
from separatrix.estimators.validation import Sample, check_training
from separatrix.geometry import Hyperplane
from separatrix.loops.threads import single_threaded_blas
from separatrix.separation.search import search

__all__ = ["Separability", "separability"]


@dataclass(frozen=True, eq=False)
class Separability:
    """What `separability` found.

    Parameters
    ----------
    certificate : Separator or Inseparable
        The proof: everything else here is read from it.
    """

    certificate: Separator | Inseparable

    @property
    def verdict(self) -> str:
        """One of "separable", "quasi-separable" and "overlapping"."""
        return self.certificate.verdict

    @property
    def exact(self) -> bool:
        """Whether the proof holds in rational arithmetic; that of a separating hyperplane always does."""
        return self.certificate.exact

    @property
    def hyperplane(self) -> Hyperplane | None:
        """Of two classes, the hyperplane that separates or quasi-separates them, rounded to floats; else None."""
        coef = self.certificate.coef
        if coef is None or len(coef) != 1:
            return None
        return Hyperplane(np.asarray(coef[0], dtype=np.float64), float(self.certificate.intercept[0]))

    @property
    def margin(self) -> float:
        """A lower bound on the distance of the nearest point to the hyperplane found; 0 if none separates."""
        return self.certificate.margin if isinstance(self.certificate, Separator) else 0.0

    @cached_property
    def weights(self) -> Array | None:
        """lambda, (n,) or (n, k): floats, or Fractions if the proof is exact; None if separable."""
        if isinstance(self.certificate, Separator):
            return None
        floats = np.asarray(self.certificate.weights)
        if not self.certificate.exact:
            return floats
        weights = np.array([Fraction(weight) for weight in floats.ravel().tolist()], dtype=object)
        weights[self.certificate.exact_at] = self.certificate.exact_weights
        return weights.reshape(floats.shape)

    def verify(self, X: Any, y: Any) -> Verification:
        """Check the proof against the data: true when it holds, listing every check."""
        return self.certificate.verify(X, y)

    def __repr__(self) -> str:
        return f"Separability({self.verdict!r}, exact={self.exact}): {self.certificate.claim}"


@single_threaded_blas()  # two threads may take many times longer than one on small matrices
def separability(
    X: Any, y: Any, exact: bool = False, fit_intercept: bool = True, *, max_work: float | None = None
) -> Separability:
    """Whether some (w, b) has y_i (w.x_i + b) > 0 for every row i, with a proof either way.

    - *separable*: such a (w, b).
    - *quasi-separable*: y_i (w.x_i + b) >= 0 everywhere and > 0 somewhere, and weights lambda >= 0, not all 0,
      with sum_i lambda_i y_i (x_i, 1) = 0, which rule a strict separation out.
    - *overlapping*: such weights, all above 0. Then, and only then, the maximum-likelihood logistic regression exists.

    More than two classes in the softmax sense: is there an argmax of linear scores without error?

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
    y : array-like of shape (n,)
        Labels of two classes or more.
    exact : bool, default=False
        Prove it in rational arithmetic, in which floats are exact, with weights written out as Fractions. Otherwise
        the sums of the weights may be 0 up to rounding only, if weights near these are proved to make them 0 exactly.
        Problems that floats cannot tell are decided exactly anyway if they are small, and raise
        `UndecidedError` if not.
    fit_intercept : bool, default=True
        Whether b is free; otherwise it is 0 and the sums are of lambda_i y_i x_i.
    max_work : float or None, default=None
        After about so many products of whole numbers (ten million take some seconds) it gives up with
        `UndecidedError`; None for no limit. A count, so that the answer does not depend on the machine.

    Returns
    -------
    Separability
        With ``verdict``, ``hyperplane``, ``margin``, ``weights``, ``certificate``, ``exact`` and ``verify(X, y)``.

    Raises
    ------
    InvalidInputError
        A `ValueError`: the data have one class only, or are not finite numbers that float64 holds without rounding.
    UndecidedError
        float64 cannot tell and the problem is large: ask for ``exact=True``. Or ``max_work`` was not enough.

    Examples
    --------
    >>> from separatrix import separability
    >>> separability([[0.0], [1.0], [2.0]], [0, 1, 1]).verdict
    'separable'
    >>> xor = separability([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], exact=True)
    >>> xor.verdict, [str(weight) for weight in xor.weights]
    ('overlapping', ['1', '1', '1', '1'])
    """
    most = np.inf if max_work is None else positive("max_work", max_work)
    with reachable(named("separability"), X, y, None) as (X, y, _):
        sample = checked(X, y, fit_intercept, "separability")
        return Separability(search(sample.design, sample.targets, exact, most))


def named(name: str) -> Any:
    """What stands for an estimator in messages about a function."""
    return type(name, (ClassifierMixin, BaseEstimator), {})()


def checked(X: Any, y: Any, fit_intercept: bool, name: str) -> Sample:
    """X and y validated as an estimator's are, with messages under the name of the function that was called."""
    return check_training(named(name), X, y, None, intercept=fit_intercept)
