"""How many mistakes the perceptron can make: R² / gamma²."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.certificates import Check, MarginBracket, Verification
from separatrix.certificates._margins import radius_above
from separatrix.certificates.margin_bracket import LAST_DIGITS, beyond
from separatrix.errors import InvalidInputError, UndecidedError
from separatrix.functions.separability import checked
from separatrix.loops.threads import single_threaded_blas
from separatrix.separation.search import search
from separatrix.svm.minimum_norm import NearestPoint, nearest_point

__all__ = ["MistakeBound", "mistake_bound"]

TOL = 1e-7
EPS = float(np.finfo(np.float64).eps)


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
        if not isinstance(self.certificate, MarginBracket) or self.certificate.space != "homogeneous":
            raise ValueError("The field 'certificate' must be a MarginBracket of the points (x, 1) or x.")
        lower, upper = (float(bound) for bound in self.margin)
        radius, bound = float(self.radius), float(self.bound)
        proved = self.certificate.verify(X, y).checks
        largest = radius_above(X, float(self.certificate.fit_intercept))
        with np.errstate(all="ignore"):
            least = float(np.square(np.float64(radius) / lower)) if lower > 0 else np.inf
            off = abs(float(np.float64(bound) / least) - 1) if np.isfinite(least) else float(bound != np.inf)
        same = (lower, upper) == (self.certificate.lower, self.certificate.upper)
        return Verification(
            (
                *proved,
                Check("margin other than the certificate's", float(not same)),
                beyond("radius as stated, off by", abs(radius - largest), largest),
                Check("bound as stated, off by", off, 0.0, LAST_DIGITS),
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
    return _result(sample, near.direction, near.rows, near.alpha)


def _hidden(sample: Any, near: NearestPoint) -> MistakeBound:
    """Where rounding hides the sign of the margin: the proof of separability, or of its absence, decides."""
    finding = search(sample.design, sample.targets)
    if finding.verdict == "separable" and finding.direction is not None:
        coef, intercept = finding.direction
        v = np.append(coef[0], intercept[0]) if sample.design.intercept else coef[0]
        found = _result(sample, v, near.rows, near.alpha)
        if not found.margin[0] > 0:
            raise UndecidedError(
                "A hyperplane separates the classes, but none with weights in float64 was found to: the margin is at "
                f"most {found.margin[1]:.1e}. Remove columns that hardly vary, or scale them."
            )
        return found
    weights = np.asarray(finding.certificate.weights)  # type: ignore[union-attr]
    rows = np.flatnonzero(weights)
    return _result(sample, near.direction, rows, weights[rows])


def _result(sample: Any, v: Any, rows: Any, alpha: Any) -> MistakeBound:
    """What these witnesses prove about the margin, and what that says about mistakes; all rounded outward."""
    sides = sample.targets.classes, 1, sample.design.intercept
    labels = sample.targets.classes[sample.targets.values]
    certificate = sample.design.lend(MarginBracket(*sides, 0.0, 0.0, v, rows, alpha).stated, labels)
    radius = sample.design.lend(radius_above, float(sample.design.intercept))
    lower, upper = certificate.lower, certificate.upper
    with np.errstate(over="ignore"):
        bound = float(np.square(np.float64(radius) / lower)) * (1 + 8 * EPS) if lower > 0 else np.inf
    return MistakeBound(radius, (lower, upper), bound, certificate)
