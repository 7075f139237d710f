"""How many mistakes the perceptron can make: R² / gamma² + 2 ‖w0‖ / (eta gamma)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import hypot
from numbers import Real
from typing import Any

import numpy as np

from separatrix.certificates import Check, MarginBracket, Separator, Verification
from separatrix.certificates._data import EPS
from separatrix.certificates._margins import radius_above
from separatrix.certificates.margin_bracket import LAST_DIGITS, beyond
from separatrix.errors import InvalidInputError, UndecidedError
from separatrix.functions.separability import checked
from separatrix.loops.threads import single_threaded_blas
from separatrix.separation.search import search
from separatrix.svm.minimum_norm import NearestPoint, nearest_point

__all__ = ["MistakeBound", "mistake_bound"]

TOL = 1e-7


@dataclass(frozen=True, eq=False)
class MistakeBound:
    """R² / gamma² + 2 ‖w0‖ / (eta gamma), with R = max ‖(x_i, 1)‖ and gamma the best margin in the space of (x, 1).

    Parameters
    ----------
    radius : float
        R.
    margin : pair of float
        A lower and an upper bound on gamma = max over ‖v‖ = 1 of min_i y_i v.(x_i, 1); no positive lower bound
        exists if the classes are not separable.
    bound : float
        R² / lower² + 2 ‖w0‖ / (eta lower), infinite if the classes are not separable: no order of the points makes the
        perceptron, started at w0, err more often.
    certificate : MarginBracket
        The proof of the bounds on gamma.
    w0 : array of shape (d + 1,), or (d,) without intercept, or None
        Where the perceptron starts; None for 0.
    eta : float
        Its step.
    """

    radius: float
    margin: tuple[float, float]
    bound: float
    certificate: MarginBracket
    w0: Any = None
    eta: float = 1.0

    def verify(self, X: Any, y: Any) -> Verification:
        """Check the margin's bounds, the radius and the quotient against the data."""
        if not isinstance(self.certificate, MarginBracket) or self.certificate.space != "homogeneous":
            raise ValueError("The field 'certificate' must be a MarginBracket of the points (x, 1) or x.")
        lower, upper = (float(bound) for bound in self.margin)
        radius, bound = float(self.radius), float(self.bound)
        proved = self.certificate.verify(X, y).checks
        largest = radius_above(X, float(self.certificate.fit_intercept))
        start = _start(self.w0, self.eta, np.size(self.certificate.direction))
        with np.errstate(all="ignore"):
            least = _most(radius, lower, start, float(self.eta)) if lower > 0 else np.inf
            off = abs(float(np.float64(bound) / least) - 1) if np.isfinite(least) else float(bound != np.inf)
        same = (lower, upper) == (self.certificate.lower, self.certificate.upper)
        checks = (
            *proved,
            Check("margin other than the certificate's", float(not same)),
            beyond("radius as stated, off by", abs(radius - largest), largest),
            Check("bound as stated, off by", off, 0.0, LAST_DIGITS),
        )
        return Verification(checks)

    def __repr__(self) -> str:
        lower, upper = self.margin
        start = "zero weights" if self.w0 is None else f"these weights with steps of {self.eta:g}"
        return (
            f"MistakeBound(radius={self.radius:.6g}, margin=({lower:.6g}, {upper:.6g}), bound={self.bound:.6g}): "
            + (f"at most that many mistakes from {start}." if lower > 0 else "the classes overlap.")
        )


@single_threaded_blas()  # two threads may take many times longer than one on small matrices
def mistake_bound(X: Any, y: Any, fit_intercept: bool = True, *, w0: Any = None, eta: float = 1.0) -> MistakeBound:
    """R² / gamma²: the perceptron started at 0 makes at most that many mistakes, in whatever order it sees the points.

    With an intercept, the fictitious coordinate 1 is one of the point's: R = max ‖(x_i, 1)‖, and gamma is the best
    margin max over ‖v‖ = 1 of min_i y_i v.(x_i, 1). From weights w0 and with steps eta the bound is
    R²/gamma² + 2‖w0‖/(eta gamma): for the best direction u, each mistake adds at least eta gamma to u.w, so that
    u.w >= l eta gamma - ‖w0‖ after l of them; and at most eta² R² to ‖w‖², so that ‖w‖² <= ‖w0‖² + l eta² R². As
    u.w <= ‖w‖, either l < ‖w0‖/(eta gamma) or (l eta gamma - ‖w0‖)² <= ‖w0‖² + l eta² R², which is the bound.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
    y : array-like of shape (n,)
        Labels of two classes.
    fit_intercept : bool, default=True
        Whether points are (x, 1) or x.
    w0 : array-like of shape (d + 1,), or (d,) without intercept, default=None
        The weights it starts from, intercept last; None for 0.
    eta : float, default=1.0
        Its step. From 0 it does not matter.

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
    >>> round(mistake_bound([[1.0], [-1.0]], [1, 0], w0=[3.0, 4.0], eta=0.5).bound, 6)
    22.0
    """
    sample = checked(X, y, fit_intercept, "mistake_bound")
    if not sample.targets.binary:
        raise InvalidInputError(
            f"mistake_bound is about two classes; y has {sample.targets.n_classes}: compare two at a time."
        )
    start = _start(w0, eta, sample.design.p)
    signs = sample.targets.signs(sample.targets.values)[:, 0]
    near = nearest_point(sample.design, signs, TOL)
    found = (
        _hidden(sample, near)
        if near.lower <= 2 * near.rounding
        else _result(sample, near.direction, near.rows, near.alpha)
    )
    if start is None or not np.isfinite(found.bound):
        return replace(found, w0=start, eta=float(eta))
    bound = _most(found.radius, found.margin[0], start, float(eta)) * (1 + 8 * EPS)
    return replace(found, bound=bound, w0=start, eta=float(eta))


def _start(w0: Any, eta: Any, p: int) -> Any:
    """The first weights as an array; refused if they, or the step, are none."""
    if isinstance(eta, bool) or not isinstance(eta, Real) or not 0 < float(eta) < np.inf:
        raise InvalidInputError(f"eta must be a finite number above 0; got {eta!r}.", "eta")
    if w0 is None:
        return None
    try:
        start = np.array(w0, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"w0 must be {p} finite numbers; got {w0!r:.80}.", "w0") from error
    if start.shape != (p,) or not np.isfinite(start).all():
        raise InvalidInputError(f"w0 must be {p} finite numbers; got an array of shape {start.shape}.", "w0")
    return start


def _most(radius: float, margin: float, w0: Any, eta: float) -> float:
    """R² / gamma² + 2 ‖w0‖ / (eta gamma)."""
    with np.errstate(over="ignore"):
        most = np.square(np.float64(radius) / margin)
        if w0 is not None:
            length = np.float64(hypot(*w0.tolist()))  # right to an ulp, however long
            most += 2 * (length / eta / margin)
    return float(most)


def _hidden(sample: Any, near: NearestPoint) -> MistakeBound:
    """Where rounding hides the sign of the margin: the proof of separability, or of its absence, decides."""
    proof = search(sample.design, sample.targets)
    if isinstance(proof, Separator):
        v = np.append(proof.coef[0], proof.intercept[0] if sample.design.intercept else ()).astype(np.float64)
        found = _result(sample, v, near.rows, near.alpha)
        if not found.margin[0] > 0:
            raise UndecidedError(
                "A hyperplane separates the classes, but none with weights in float64 was found to: the margin is at "
                f"most {found.margin[1]:.1e}. Remove columns that hardly vary, or scale them."
            )
        return found
    weights = np.asarray(proof.weights)
    rows = np.flatnonzero(weights)
    return _result(sample, near.direction, rows, weights[rows])


def _result(sample: Any, v: Any, rows: Any, alpha: Any) -> MistakeBound:
    """What these witnesses prove about the margin, and what that says about mistakes; all rounded outward."""
    sides = sample.targets.classes, 1, sample.design.intercept
    labels = sample.targets.classes[sample.targets.values]
    certificate = sample.design.lend(MarginBracket(*sides, 0.0, 0.0, v, rows, alpha).stated, labels)
    radius = sample.design.lend(radius_above, float(sample.design.intercept))
    lower, upper = certificate.lower, certificate.upper
    bound = _most(radius, lower, None, 1.0) * (1 + 8 * EPS) if lower > 0 else np.inf
    return MistakeBound(radius, (lower, upper), bound, certificate)
