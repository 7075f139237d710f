"""What may be claimed of weights that minimise the squared error of the probabilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy import linalg

from separatrix._typing import Array, Floats
from separatrix.certificates import Stationarity
from separatrix.design import Block, Design
from separatrix.design.base import Parts
from separatrix.errors import ConvergenceWarning, SeparationWarning
from separatrix.geometry import Hyperplanes
from separatrix.learners.logistic import Settings
from separatrix.learners.sides import separator
from separatrix.outcome import Fit, Status, Trace
from separatrix.problems.sigmoid_squared import SigmoidSquaredRisk

EPS = float(np.finfo(np.float64).eps)
SHARP = 1e-8  # a relative gradient that counts as zero up to rounding
LARGEST = 2000  # order of a Hessian whose eigenvalues are looked at
ZERO = 2e-8  # of the largest eigenvalue: a smaller one counts as 0
STILL = 0.05  # a Newton step that moves no score by more stays at the same point


@dataclass(frozen=True)
class RelativeGradient:
    """max_j |dE/dv_j| / (‖slopes‖ ‖column j‖ + |w_j|), both about the mean: 0 at a stationary point, at most 1.

    ‖slopes‖² = sum_i C c_i (dloss_i/dz)², ‖column‖² = sum_i C c_i z_ij². As both shrink together, weights that run
    off to infinity do not pass for stationary.
    """

    name: ClassVar[str] = "gradient"
    risk: SigmoidSquaredRisk

    @cached_property
    def lengths(self) -> Floats:
        """‖column j‖ (p,)."""
        design = self.risk.design
        parts = [part for part in (design.offset, design.rest) if part is not None]
        centre = sum(parts, np.zeros(design.d))[None]

        def add(block: Block, c: Floats) -> Parts:
            return block.spread(c[:, None], centre, np.zeros(len(c), dtype=np.intp)), float(c.sum())

        squares, total = design.reduce(add, self.risk.weight)
        return np.sqrt(np.append(squares[0], [total] * design.intercept))

    def measure(self, coef: Floats, intercept: Floats) -> tuple[float, float, float]:
        """E at these weights in the user's units, and the relative gradient, twice."""
        return self.at(self.risk.design.from_user_units(coef, intercept))

    def at(self, V: Floats) -> tuple[float, float, float]:
        """The same, at V."""
        value, relative, _ = self.parts(V)
        return value, relative, relative

    def parts(self, V: Floats) -> tuple[float, float, Floats]:
        """E, the relative gradient, and the gradient (p,)."""
        risk = self.risk

        def add(block: Block, values: Array, c: Floats) -> Parts:
            loss, slope = risk.pointwise(values, block.dot(V))
            return float(c @ loss), block.tdot(c[:, None] * slope), float(c @ slope[:, 0] ** 2)

        value, gradient, squares = risk.design.reduce(add, risk.targets.values, risk.weight)
        pull = risk.ridge * V[:, 0]
        gradient = gradient[:, 0] + pull
        scale = np.sqrt(squares) * self.lengths + np.abs(pull)
        # of a weight that should be 0 only rounding is left, which has no scale of its own
        above = np.maximum(np.abs(gradient) - 4 * EPS * risk.ridge * np.linalg.norm(pull), 0.0)
        relative = float(np.max(np.where(scale > 0, above / np.where(scale > 0, scale, 1.0), above > 0)))
        return value + 0.5 * float(pull @ V[:, 0]), relative, gradient


@dataclass(frozen=True)
class Nature:
    """What the Hessian says of a stationary point.

    Parameters
    ----------
    kind : str
        "local minimum"; "saddle"; "flat" in some direction; "unsettled", if the Hessian is positive definite but a
        minimum still some way off; or "unexamined", if there are too many columns.
    moved : float
        The largest change of a score by the next Newton step.
    restless : bool
        Whether E goes on falling, ever more slowly, in a direction that the rows see: it is not a point of rest at all.
    """

    kind: str
    moved: float = 0.0
    restless: bool = False


def nature(criterion: RelativeGradient, V: Floats) -> Nature:
    """By the eigenvalues of the Hessian, in units of the mean curvature of the rows, and by the Newton step."""
    risk, design = criterion.risk, criterion.risk.design
    if design.p > LARGEST:
        return Nature("unexamined")
    curved, total = design.reduce(
        lambda block, values, c: (float(c @ np.abs(risk.curvature(values, block.dot(V))[:, 0, 0])), float(c.sum())),
        risk.targets.values,
        risk.weight,
    )
    D = curved / total * criterion.lengths**2 + risk.ridge
    size = np.sqrt(np.where(D > 0, D, 1.0))
    values, Q = linalg.eigh(risk.hessian(V) / np.outer(size, size))
    least = ZERO * max(1.0, values[-1])
    if values[0] < -least:
        return Nature("saddle")
    T, live = Q / size[:, None], values > least
    step = T[:, live] @ ((T[:, live].T @ criterion.parts(V)[2]) / values[live])
    moved = float(np.abs(design.dot(step[:, None])).max())
    if live.all() and moved <= STILL:
        return Nature("local minimum", moved)
    unpenalised = not risk.ridge.any()
    if live.all():
        return Nature("unsettled", moved, unpenalised)
    # a flat direction that no row sees is one of collinear columns; any other leads to infinity
    seen = curved / total * (risk.weight @ design.dot(T[:, ~live]) ** 2) > 1e-10
    return Nature("flat", moved, unpenalised and (moved > STILL or bool(seen.any())))


def conclude(
    criterion: RelativeGradient,
    design: Design,
    weights: tuple[Floats, Floats],
    settings: Settings,
    n_iter: int,
    trace: Trace | None,
    *,
    rested: bool = False,
    unfinished: Callable[[str, Settings], ConvergenceWarning] | None = None,
) -> Fit:
    """The weights as the model holds them, with what holds of exactly these.

    ``rested`` says that the solver could do no more; ``unfinished`` words the warning if it could.
    """
    risk, targets = criterion.risk, criterion.risk.targets
    coef, intercept = (design.rounded(part) for part in weights)
    V = risk.design.from_user_units(coef, intercept)
    model = Hyperplanes(coef, intercept)
    value, relative, _ = criterion.parts(V)
    if not risk.ridge.any() and value < 0.25 * risk.weight.min():  # then no row is on the wrong side
        proof = separator(design, targets, 0, coef[0], float(intercept[0]))
        if proof is not None:
            return Fit(model, proof, Status.NO_MINIMUM, n_iter, trace, warnings=(_separable(),))
    found = nature(criterion, V)
    if found.restless and rested:
        return Fit(model, None, Status.NO_MINIMUM, n_iter, trace, warnings=(_endless(value),))
    if relative > settings.tol or found.restless:
        reached = f"a relative gradient of {relative:.1e} (a Newton step would change a score by {found.moved:.1e})"
        warning = unfinished(reached, settings) if unfinished else _unfinished(reached, n_iter, settings, rested)
        return Fit(model, None, Status.UNCERTIFIED, n_iter, trace, warnings=(warning,))
    certificate = Stationarity(
        problem="squared_error",
        classes=targets.classes,
        class_weight=targets.class_weight,
        unit=float(np.finfo(design.dtype).eps),
        witness={
            "coef": coef,
            "intercept": intercept,
            "fit_intercept": design.intercept,
            "C": settings.C,
            "task": None,
            "tol": SHARP if relative <= SHARP else settings.tol,
            "kind": found.kind,
        },
    )
    warnings = (_saddle(),) if found.kind == "saddle" else ()
    return Fit(model, certificate, Status.STATIONARY, n_iter, trace, warnings=warnings)


def _separable() -> SeparationWarning:
    return SeparationWarning(
        "The squared error has no finite minimum: these weights separate the classes, so it falls to 0 as they grow "
        "for ever. The certificate proves the separation. Use C < inf."
    )


def _endless(value: float) -> SeparationWarning:
    return SeparationWarning(
        f"No finite minimum is in sight: the squared error is {value:.6g} here, and goes on falling, ever more slowly, "
        "as some weights grow for ever. There is no certificate. Use C < inf."
    )


def _saddle() -> ConvergenceWarning:
    return ConvergenceWarning(
        "The fit ended at a saddle of the squared error, as the certificate says: use solver='newton', which leaves "
        "saddles, or another init."
    )


def _unfinished(reached: str, n_iter: int, settings: Settings, rested: bool) -> ConvergenceWarning:
    advice = "rounding the weights allows no better: raise tol, or pass X as float64." if rested else "raise max_iter."
    end = f"Stopped after {n_iter} iterations at {reached}, above tol={settings.tol:g}"
    return ConvergenceWarning(f"{end}, so there is no certificate; {advice}")
