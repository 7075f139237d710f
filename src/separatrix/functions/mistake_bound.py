"""How many mistakes the perceptron can make: R² / gamma²."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.certificates import Check, MarginBracket, Verification
from separatrix.design.threads import single_threaded_blas
from separatrix.errors import InvalidInputError
from separatrix.functions.separability import checked
from separatrix.learners.minimum_norm import NearestPoint, nearest_point
from separatrix.learners.separation.search import search

__all__ = ["MistakeBound", "mistake_bound"]

TOL = 1e-7


@dataclass(frozen=True, eq=False)
class MistakeBound:
    """R² / gamma², with R = max ‖(x_i, 1)‖ and gamma the best margin in the space of (x, 1).

    Parameters
    ----------
    radius : float
        R.
    margin : pair of float
        A lower and an upper bound on gamma = max over ‖v‖ = 1 of min_i y_i v.(x_i, 1); no positive lower bound
        exists if the classes are not separable.
    bound : float
        R² / lower², infinite if the classes are not separable: no order of the points makes the perceptron, started
        at 0, err more often.
    certificate : MarginBracket
        The proof of the bounds on gamma.
    """

    radius: float
    margin: tuple[float, float]
    bound: float
    certificate: MarginBracket

    def verify(self, X: Any, y: Any) -> Verification:
        """Check the margin's bounds, the radius and the quotient against the data."""
        ones = 1.0 if self.certificate.fit_intercept else 0.0
        X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
        radius = 0.0
        for first in range(0, X.shape[0], 10_000):
            x = X[first : first + 10_000]
            x = np.asarray(x.toarray() if hasattr(x, "toarray") else x, dtype=np.float64)
            radius = max(radius, float(np.sqrt((x * x).sum(axis=1) + ones).max()))
        lower = self.margin[0]
        bound = (radius / lower) ** 2 if lower > 0 else np.inf
        off = 0.0 if bound == self.bound else abs(bound / self.bound - 1)
        eps = (X.shape[1] + 4) * float(np.finfo(np.float64).eps)
        return Verification(
            (
                *self.certificate.verify(X, y).checks,
                Check("radius as stated, off by", abs(radius / self.radius - 1) if self.radius else radius, 0.0, eps),
                Check("bound as stated, off by", off, 0.0, 4 * eps),
            )
        )

    def __repr__(self) -> str:
        lower, upper = self.margin
        return (
            f"MistakeBound(radius={self.radius:.6g}, margin=({lower:.6g}, {upper:.6g}), bound={self.bound:.6g}): "
            + ("at most that many mistakes from zero weights." if self.bound < np.inf else "the classes overlap.")
        )


@single_threaded_blas()  # two threads may take many times longer than one on small matrices
def mistake_bound(X: Any, y: Any, fit_intercept: bool = True) -> MistakeBound:
    """R² / gamma²: the perceptron started at 0 makes at most that many mistakes, in whatever order it sees the points.

    With an intercept, the fictitious coordinate 1 is one of the point's: R = max ‖(x_i, 1)‖, and gamma is the best
    margin max over ‖v‖ = 1 of min_i y_i v.(x_i, 1). From weights w0 and with steps eta the bound is
    R²/gamma² + 2‖w0‖/(eta gamma).

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
    y : array-like of shape (n,)
        Labels of two classes.
    fit_intercept : bool, default=True
        Whether points are (x, 1) or x.

    Returns
    -------
    MistakeBound
        With ``radius``, ``margin`` (lower and upper bound), ``bound``, ``certificate`` and ``verify(X, y)``.

    Examples
    --------
    >>> from separatrix import mistake_bound
    >>> result = mistake_bound([[1.0], [-1.0]], [1, 0])
    >>> round(result.bound, 6)
    2.0
    """
    sample = checked(X, y, fit_intercept, "mistake_bound")
    if not sample.targets.binary:
        raise InvalidInputError(
            f"mistake_bound is about two classes; y has {sample.targets.n_classes}: compare two at a time."
        )
    signs = sample.targets.signs(sample.targets.values)[:, 0]
    near = nearest_point(sample.design, signs, TOL)
    if near.lower <= 2 * near.rounding:
        return _hidden(sample, near)
    return _result(sample, near, near.lower, near.upper, near.direction, near.rows, near.alpha)


def _hidden(sample: Any, near: NearestPoint) -> MistakeBound:
    """Where rounding hides the sign of the margin: the proof of separability, or of its absence, decides."""
    finding = search(sample.design, sample.targets)
    if finding.verdict == "separable" and finding.direction is not None:
        coef, intercept = finding.direction
        v = np.append(coef[0], intercept[0]) if sample.design.intercept else coef[0]
        lower = finding.certificate.margin * float(np.linalg.norm(coef[0]) / np.linalg.norm(v))  # type: ignore[union-attr]
        return _result(sample, near, lower, max(near.upper, lower), v, near.rows, near.alpha)
    weights = np.asarray(finding.certificate.weights)  # type: ignore[union-attr]
    rows = np.flatnonzero(weights)
    alpha = weights[rows] / weights[rows].sum()
    upper = near.upper if near.upper <= 1e-12 * near.radius else 1e-12 * near.radius
    return _result(sample, near, min(near.lower, 0.0), upper, near.direction, rows, alpha)


def _result(sample: Any, near: NearestPoint, lower: float, upper: float, v: Any, rows: Any, alpha: Any) -> MistakeBound:
    certificate = MarginBracket(
        classes=sample.targets.classes,
        positive=1,
        fit_intercept=sample.design.intercept,
        lower=lower,
        upper=upper,
        direction=v,
        points=rows,
        alpha=alpha,
    )
    bound = (near.radius / lower) ** 2 if lower > 0 else np.inf
    return MistakeBound(near.radius, (lower, upper), bound, certificate)
