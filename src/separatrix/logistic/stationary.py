"""What may be claimed of weights that minimise the squared error of the probabilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import linalg

from separatrix._typing import Array, Floats
from separatrix.cached import cached_property
from separatrix.design import Block, Design
from separatrix.design.reducing import Parts
from separatrix.design.rounding import check_lengths, depth, exact_units, score_sizes
from separatrix.errors import ConvergenceWarning, SeparationWarning
from separatrix.formulas.claims import stationarity, within
from separatrix.geometry import Hyperplanes
from separatrix.logistic.penalised import Settings
from separatrix.outcome import Fit, Status, Trace
from separatrix.problems.risk import Risk
from separatrix.problems.scored import ScoredLoss
from separatrix.separation.sides import separator
from separatrix.solvers.newton import FACTORED_ORDER

EPS = float(np.finfo(np.float64).eps)
PLAIN = 1e-200  # a larger sum of squared slopes has not vanished: no logarithms are needed
ZERO = 2e-8  # of the largest eigenvalue: a smaller one counts as 0
STILL = 0.05  # a Newton step that moves no score by more stays at the same point
FAINT = 1e-3  # curvature of the rows beside which the penalty's is all there is


@dataclass(frozen=True)
class Slopes:
    """Of each row, in units of exp(top): the slope by its score, and the curvature.

    With u = ±z the score on the side of its class, p = sigma(u) and q = 1 - p, they are -y 2 p q² and 2 p q² (2p - q).
    They vanish exponentially where the sigmoid saturates, the gradient with them: hence by logarithms. The largest
    sqrt(c_i) |slope_i| is 1.
    """

    slope: Floats
    bend: Floats
    top: float

    @property
    def size(self) -> Floats:
        """|slope_i|."""
        return np.abs(self.slope)


@dataclass(frozen=True)
class RelativeGradient:
    """max_j |dE/dv_j| / (‖slopes‖ ‖column j‖ + |w_j|), both about the mean: 0 at a stationary point, at most 1.

    ‖slopes‖² = sum_i C c_i (dloss_i/dz)², ‖column‖² = sum_i C c_i z_ij². As both shrink together, weights that run
    off to infinity do not pass for stationary; nor does a plateau, however small its slopes.
    """

    name: ClassVar[str] = "gradient"
    risk: Risk

    @cached_property
    def weight(self) -> Floats:
        """C c_i in units of the largest."""
        return self.risk.weight / self.risk.weight.max()

    @cached_property
    def lengths(self) -> Floats:
        """‖column j‖ (p,), with these weights."""
        design = self.risk.design
        (squares,) = design.reduce(_column_squares, self.weight, args=(design.shift,))
        check_lengths(design, np.sqrt(squares))
        return np.sqrt(np.append(squares, [self.weight.sum()] * design.intercept))

    def measure(self, coef: Floats, intercept: Floats) -> tuple[float, float, float]:
        """E at these weights in the user's units, and the relative gradient, twice."""
        return self.at(self.risk.design.from_user_units(coef, intercept))

    def at(self, V: Floats) -> tuple[float, float, float]:
        """The same, at V."""
        value, relative, *_ = self.parts(V)
        return value, relative, relative

    def slopes(self, scores: Floats) -> Slopes:
        """At these scores (n,)."""
        y = 2.0 * self.risk.targets.values - 1.0
        u = y * scores
        log_p, log_q = -np.logaddexp(0.0, -u), -np.logaddexp(0.0, u)
        logs = log_p + 2 * log_q
        top = float(np.max(logs + 0.5 * np.log(self.weight)))
        size = np.exp(logs - top)
        return Slopes(-y * size, size * (3 * np.exp(log_p) - 1), top + np.log(2.0))

    def pull(self, w: Floats, top: float) -> Floats:
        """ridge * w in the units of the gradient; infinite if nothing else counts beside it."""
        held = (self.risk.ridge > 0) & (w != 0)
        exponent = np.log(np.where(held, self.risk.ridge * np.abs(w), 1.0)) - np.log(self.risk.weight.max()) - top
        with np.errstate(over="ignore"):
            return np.where(held, np.copysign(np.exp(exponent), w), 0.0)

    def parts(self, V: Floats) -> tuple[float, float, Floats, float]:
        """E, the relative gradient, the gradient (p,) in units of exp(top) and of the largest weight, and top."""
        value, gradient, squares, top = self._sums(V)
        pull = self.pull(V[:, 0], top)
        scale = np.sqrt(squares) * self.lengths + np.abs(pull)
        with np.errstate(invalid="ignore"):
            relative = np.abs(gradient + pull) / np.where(scale > 0, scale, 1.0)
        relative = np.where(np.isinf(pull), 1.0, relative)
        penalty = 0.5 * float((self.risk.ridge * V[:, 0]) @ V[:, 0])
        return value + penalty, float(np.max(relative)), gradient + pull, top

    def _sums(self, V: Floats) -> tuple[float, Floats, float, float]:
        """sum_i C c_i loss_i; and of the slopes in units of exp(top), sum_i c_i slope_i z_i and sum_i c_i slope_i²."""
        risk, c = self.risk, self.weight
        loss, gradient, squares = risk.design.reduce(_slopes, risk.targets.values, c, args=(risk.loss, V))
        value = float(loss * risk.weight.max())
        if squares > PLAIN:
            return value, gradient[:, 0], float(squares), 0.0
        at = self.slopes(risk.design.dot(V)[:, 0])
        return value, risk.design.tdot((c * at.slope)[:, None])[:, 0], float(c @ at.slope**2), at.top

    def rounding(self, V: Floats) -> tuple[float, float]:
        """Bounds on the rounding errors of the relative gradient, and of the Hessian's scaled eigenvalues."""
        design, c = self.risk.design, self.weight
        at, deep = self.slopes(design.dot(V)[:, 0]), depth(design) * EPS
        offset, rest = (np.zeros(design.d) if part is None else part for part in (design.offset, design.rest))
        with np.errstate(over="ignore", invalid="ignore"):
            off = (design.d + 8) * EPS * score_sizes(design, V)[:, 0]
            error = float(
                np.linalg.norm(np.sqrt(c) * at.size * np.expm1(2 * off)) / np.linalg.norm(np.sqrt(c) * at.slope)
            )
            rows = np.column_stack([c * at.size * 3 * np.expm1(4 * off), c * at.size, c])
            moved, about, total = design.reduce(_spreads, rows, args=(offset, rest))
            moved, (_, sizes, spans) = (
                np.append(moved, [total[0]] * design.intercept),
                np.column_stack([about, total[:, None].repeat(design.intercept, axis=1)]),
            )
            # how much larger than a column its entries were before the mean was subtracted
            far = np.sqrt(np.divide(spans, self.lengths**2, out=np.ones_like(spans), where=self.lengths > 0).max())
            D = float(c @ np.abs(at.bend)) / float(c.sum()) * self.lengths**2
            D = D + np.abs(self.pull(np.ones(design.p), at.top))
            trace = np.divide(moved + 16 * deep * sizes, D, out=np.zeros_like(D), where=D > 0).sum()
            return error + (4 + 6 * far) * deep, float(trace)


@dataclass(frozen=True)
class Nature:
    """What the Hessian says of a stationary point.

    "local minimum"; "saddle"; "flat" in some direction; "unsettled", if the Hessian is positive definite but a minimum
    still some way off; or "unexamined", if there are too many columns.
    """

    kind: str
    moved: float = 0.0  # the largest change of a score by the next Newton step
    restless: bool = False  # whether E goes on falling, ever more slowly, in a direction that the rows see


def nature(criterion: RelativeGradient, V: Floats) -> Nature:
    """By the eigenvalues of the Hessian, in units of the mean curvature of the rows, and by the Newton step."""
    risk, design, c = criterion.risk, criterion.risk.design, criterion.weight
    if design.p > FACTORED_ORDER:
        return Nature("unexamined")
    at = criterion.slopes(design.dot(V)[:, 0])
    mean = float(c @ np.abs(at.bend)) / float(c.sum())
    ridge = np.abs(criterion.pull(np.ones(design.p), at.top))
    D = mean * criterion.lengths**2 + ridge
    if not np.isfinite(D).all():
        return Nature("unexamined")
    size = np.sqrt(np.where(D > 0, D, 1.0))
    H = design.gram(c * at.bend)
    H.ravel()[:: len(H) + 1] += ridge
    values, Q = linalg.eigh(H / np.outer(size, size))
    least = ZERO * max(1.0, values[-1])
    if values[0] < -least:
        return Nature("saddle")
    T, live = Q / size[:, None], values > least
    *_, gradient, top = criterion.parts(V)
    gradient = gradient * np.exp(top - at.top)  # in the units of the Hessian
    step = T[:, live] @ ((T[:, live].T @ gradient) / values[live])
    moved = float(np.abs(design.dot(step[:, None])).max())
    if live.all() and moved <= STILL:
        return Nature("local minimum", moved)
    unpenalised = not risk.ridge.any()
    if live.all():
        return Nature("unsettled", moved, unpenalised)
    # a flat direction that no row sees is one of collinear columns; any other leads to infinity
    seen = mean * (c @ design.dot(T[:, ~live]) ** 2) > 1e-10
    return Nature("flat", moved, unpenalised and (moved > STILL or bool(seen.any())))


def settled(criterion: RelativeGradient, design: Design, coef: Floats, intercept: Floats) -> tuple[Floats, Floats]:
    """The same weights, but w_j = -C sum_i c_i slope_i x_ij where the rows' own curvature is next to nothing.

    There the equation of a stationary point is its own best solution: steps in coordinates of all columns leave such a
    weight with the rounding errors of larger ones. For a constant column it is exactly 0.
    """
    risk, d = criterion.risk, design.d
    faint = risk.weight.max() * criterion.lengths[:d] ** 2 < FAINT
    if not risk.ridge.any() or not faint.any():
        return coef, intercept
    for _ in range(4):
        V = risk.design.from_user_units(coef, intercept)
        at = criterion.slopes(risk.design.dot(V)[:, 0])
        slope = np.exp(at.top + np.log(risk.weight.max())) * (criterion.weight * at.slope)
        w = -risk.design.tdot(slope[:, None])[:d, 0]
        moved = np.where(faint, w, V[:d, 0])
        V[:d, 0] = moved
        coef, intercept = risk.design.user_units(V)
        coef, intercept = design.rounded(coef), design.rounded(intercept)
    return coef, intercept


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
    coef, intercept = settled(criterion, design, *(design.rounded(part) for part in weights))
    V = exact_units(risk.design, coef, intercept)
    model = Hyperplanes(coef, intercept)
    value, relative, *_ = criterion.parts(V)
    rounding, of_kind = criterion.rounding(V)
    claim = within(relative, rounding, settings.tol)
    if not risk.ridge.any() and value < 0.25 * risk.weight.min():  # then no row is on the wrong side
        proof = separator(design, targets, 0, coef[0], float(intercept[0]))
        if proof is not None:
            return Fit(model, proof, Status.NO_MINIMUM, n_iter, trace, warnings=(_separable(),))
    found = nature(criterion, V)
    kind = found.kind if of_kind < 0.1 * ZERO else "unexamined"  # rounding hides the eigenvalues
    if found.restless and rested:
        return Fit(model, None, Status.NO_MINIMUM, n_iter, trace, warnings=(_endless(value),))
    if claim is None or found.restless:
        reached = f"a relative gradient of {relative:.1e} (a Newton step would change a score by {found.moved:.1e})"
        warning = unfinished(reached, settings) if unfinished else _unfinished(reached, n_iter, settings, rested)
        return Fit(model, None, Status.UNCERTIFIED, n_iter, trace, warnings=(warning,))
    certificate = stationarity(
        "squared_error", design, targets, coef=coef, intercept=intercept, fit_intercept=design.intercept,
        C=settings.C, task=None, tol=claim, kind=kind,
    )  # fmt: skip
    warnings = (_saddle(),) if kind == "saddle" else ()
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


def _column_squares(block: Block, c: Floats, centre: Floats) -> Parts:
    """sum_i c_i (x_ij - centre_j)²."""
    return (block.spread(c[:, None], centre[None], np.zeros(len(c), dtype=np.intp))[0],)


def _slopes(block: Block, codes: Array, c: Floats, loss: ScoredLoss, V: Floats) -> Parts:
    """sum_i c_i loss_i, the gradient, and sum_i c_i slope_i²."""
    losses, slope = loss.pointwise(codes, block.dot(V))
    return float(c @ losses), block.tdot(c[:, None] * slope), float(c @ slope[:, 0] ** 2)


def _spreads(block: Block, h: Floats, offset: Floats, rest: Floats) -> Parts:
    """sum_i h_i (x_i - shift)² of the first column of h; of all, about the offset with rest² added; their sums."""
    codes = np.zeros(len(h), dtype=np.intp)
    about = block.spread(h, offset[None], codes) + h.sum(axis=0)[:, None] * rest**2
    return block.spread(h[:, :1], (offset + rest)[None], codes)[0], about, h.sum(axis=0)
