"""Kozinec's algorithm: the nearest point to the origin of the convex hull of z_i = y_i (x_i, 1).

w is always a point of the hull. So ‖w‖ bounds the best margin from above, and min_i z_i.w / ‖w‖, the margin that w
itself has, from below; at the nearest point the two meet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from separatrix._typing import Floats, Integers
from separatrix.certificates import All, MarginBracket
from separatrix.certificates._data import EPS
from separatrix.design import Design
from separatrix.design.block import row_squares
from separatrix.design.sample import Sample
from separatrix.errors import ConvergenceWarning
from separatrix.geometry import Hyperplanes
from separatrix.outcome import Fit, Status, Trace
from separatrix.separation.sides import length
from separatrix.solvers.online import Rows

CORRAL = 300  # points of Wolfe's set, which costs the cube of their number a step
ORIGIN = 1e-12  # ‖w‖ over the length of the longest z at which w is the origin, but for rounding


@dataclass(frozen=True)
class Settings:
    """What the algorithm is told, apart from the data."""

    epsilon: float | None = None
    max_iter: int = 10_000
    rule: str = "wolfe"
    trace: bool = False


class Points:
    """z_i = y_i (x_i, 1), or y_i x_i without an intercept."""

    def __init__(self, design: Design, y: Floats, weight: Floats) -> None:
        self.design, self.rows, self.y, self.weight = design, Rows(design), y, weight
        (squares,) = design.rows(row_squares)
        self.squares = squares + design.intercept
        self.shortest = int(np.argmin(self.squares))
        self.radius = float(np.sqrt(self.squares.max()))
        self.noise = (design.p + 8) * EPS * self.radius  # a bound on the rounding error of z.v for a unit vector v

    def dot(self, v: Floats) -> Floats:
        """z_i.v for every i."""
        return np.asarray(self.y * self.design.dot(v[:, None])[:, 0])

    def distance(self, points: Integers, alpha: Floats) -> float:
        """‖sum_i alpha_i z_i‖ over some points, for alpha divided by its sum; rounded up."""
        weights = np.zeros((len(self.y), 1))
        weights[points, 0] = self.y[points] * (alpha / alpha.sum())
        error = (len(alpha) + self.design.p + 8) * EPS * self.radius  # each term is at most alpha_i ‖z_i‖ long
        return length(self.design.tdot(weights)[:, 0]) * (1.0 + 8.0 * EPS) + error

    def __getitem__(self, i: int) -> Floats:
        z = np.zeros(self.design.d + 1)
        self.rows.add(i, self.y[i], z)
        return z[: self.design.p]


@dataclass(frozen=True)
class Step:
    """A point w of the hull, sum_i alpha_i z_i over some points, and what is about to be done with it."""

    w: Floats
    points: list[int]
    alpha: Floats
    products: Floats  # z_i.w for every i

    @property
    def worst(self) -> int:
        """The point with the smallest z.w: if that is not positive, w does not separate."""
        return int(np.argmin(self.products))


# ---------------------------------------------------------------------- the two rules
def plain(z: Points) -> Iterator[Step]:
    """Move to the nearest point to the origin on the segment from w to the worst z.

    ‖(1 - k) w + k z‖² is least at k = w.(w - z) / ‖w - z‖², or at the end of the segment.
    """
    w, alpha = z[z.shortest], np.zeros(len(z.y))
    alpha[z.shortest] = 1.0
    while True:
        step = Step(w, np.flatnonzero(alpha).tolist(), alpha[alpha > 0], z.dot(w))
        yield step
        i, square = step.worst, float(w @ w)
        k = min(1.0, (square - step.products[i]) / (square - 2.0 * step.products[i] + z.squares[i]))
        w = (1.0 - k) * w + k * z[i]
        alpha *= 1.0 - k
        alpha[i] += k


def wolfe(z: Points) -> Iterator[Step]:
    """Wolfe's rule: add the worst z to a small set, and move to the nearest point of the whole set's hull.

    The nearest point of the set's affine hull is found by solving a linear system. Where it lies outside the hull, go
    towards it as far as the hull reaches, drop the points whose weight is 0 there, and look again. Each round ends at
    the nearest point of the hull of finitely many points, nearer than the one before: so it ends. A set that grows
    large makes these rounds dear; then single points are exchanged instead.
    """
    points, alpha = [z.shortest], np.ones(1)
    active = z[z.shortest][None]
    gram = active @ active.T
    while True:
        w = alpha @ active
        step = Step(w, list(points), alpha, z.dot(w))
        yield step
        if step.worst in points:
            return  # nearer than rounding can tell
        if len(points) == CORRAL:
            yield from exchange(z, step)
            return
        new = z[step.worst]
        products = active @ new
        gram = np.block([[gram, products[:, None]], [products, new @ new]])
        points, alpha, active = [*points, step.worst], np.append(alpha, 0.0), np.vstack([active, new])
        while True:
            target = _affine_minimum(gram)
            if target is None:
                return  # affinely dependent, but for rounding
            if (target > 0).all():
                alpha = target
                break
            falling = target <= 0
            drop = alpha[falling] - target[falling]  # 0 for a weight that is 0 and stays so: it leaves at once
            reach = float(np.divide(alpha[falling], drop, out=np.zeros(len(drop)), where=drop > 0).min())
            alpha = (1.0 - reach) * alpha + reach * target
            kept = alpha > EPS
            kept[np.argmax(alpha)] = True
            if kept.all():
                return
            points, active, gram = [points[k] for k in np.flatnonzero(kept)], active[kept], gram[np.ix_(kept, kept)]
            alpha = alpha[kept] / alpha[kept].sum()


def _affine_minimum(gram: Floats) -> Floats | None:
    """The weights, of sum 1, of the point nearest to the origin in the affine hull of points with this Gram matrix.

    They solve G u = c e up to the scale c; adding a multiple of e e' to G changes the scale only, and makes the matrix
    positive definite if the points are affinely independent.
    """
    try:
        factor = linalg.cho_factor(gram + np.trace(gram) / len(gram), check_finite=False)
    except linalg.LinAlgError:
        return None
    u = linalg.cho_solve(factor, np.ones(len(gram)), check_finite=False)
    total = u.sum()
    return np.asarray(u / total) if np.isfinite(total) and total != 0 else None


def exchange(z: Points, step: Step) -> Iterator[Step]:
    """Move weight from the point of w with the largest z.w to the worst z, as much as brings w nearest to the origin.

    ‖w + k (z_i - z_j)‖² is least at k = w.(z_j - z_i) / ‖z_i - z_j‖²; no more than alpha_j can be moved.
    """
    w, alpha = step.w, np.zeros(len(z.y))
    alpha[step.points] = step.alpha
    products = step.products
    while True:
        points = np.flatnonzero(alpha)
        i, j = int(np.argmin(products)), int(points[np.argmax(products[points])])
        change = z[i] - z[j]
        square = float(change @ change)
        if not (products[j] > products[i] and square > 0):
            return
        k = min(float(alpha[j]), float(products[j] - products[i]) / square)
        w = w + k * change
        alpha[i] += k
        alpha[j] -= k
        products = z.dot(w)
        yield Step(w, np.flatnonzero(alpha).tolist(), alpha[alpha > 0], products)


RULES = {"wolfe": wolfe, "plain": plain}


# ---------------------------------------------------------------------- steps until the bracket is close
@dataclass
class Search:
    """The best of the steps of one task: the nearest point of the hull, and the direction with the best margin."""

    nearest: Step
    direction: Floats
    mistakes: float  # the weight of the rows on the wrong side of it
    lower: float
    upper: float
    steps: int = 0
    exhausted: bool = False  # stopped by max_iter


def search(z: Points, settings: Settings, trace: Trace | None, task: int | None) -> Search:
    """Steps of the rule until the bracket is as close as asked, the origin is reached, or `max_iter`."""
    best: Search | None = None
    for number, step in enumerate(RULES[settings.rule](z)):
        upper = length(step.w)
        lower = float(step.products[step.worst]) / upper - z.noise if upper > 0 else -z.radius
        mistakes = float(z.weight[step.products <= 0].sum())
        if best is None:
            best = Search(step, step.w, mistakes, lower, upper)
        if (-mistakes, lower) > (-best.mistakes, best.lower):
            best.direction, best.mistakes, best.lower = step.w, mistakes, lower
        if upper <= best.upper:
            best.nearest, best.upper = step, upper
        best.steps, best.exhausted = number, number == settings.max_iter
        if trace is not None:
            head = {} if task is None else {"task": task}
            trace.record(
                **head, step=number, point=step.worst, objective=upper, gap=upper - lower, mistakes=mistakes,
                margin=lower, weights=step.w,
            )  # fmt: skip
        if close(best.lower, best.upper, settings) or upper <= ORIGIN * z.radius or best.exhausted:
            break
    assert best is not None
    return best


def close(lower: float, upper: float, settings: Settings) -> bool:
    """Whether the bracket is what was asked: any separating w, or upper - lower <= epsilon * upper."""
    return lower > 0 and (settings.epsilon is None or upper - lower <= settings.epsilon * upper)


def learn(sample: Sample, settings: Settings) -> Fit:
    """The margin of each task, bracketed."""
    design, targets, weight = sample.design, sample.targets, sample.weight
    tasks = targets.tasks
    trace = Trace() if settings.trace else None
    coef, intercept = np.zeros((tasks, design.d)), np.zeros(tasks)
    parts, statuses, steps, warnings = [], [], 0, []
    for task in range(tasks):
        z = Points(design, targets.task_signs(task), weight)
        found = search(z, settings, trace, task if tasks > 1 else None)
        direction = design.rounded(found.direction)
        coef[task], intercept[task] = direction[: design.d], direction[design.d] if design.intercept else 0.0
        if not direction.any():  # the origin is one of the points: any direction proves as much
            direction = np.ones_like(direction)
        lower = float(z.dot(direction).min()) / length(direction) - z.noise
        points, alpha = np.array(found.nearest.points), found.nearest.alpha
        upper = z.distance(points, alpha)
        sides = targets.classes, targets.positive(task)
        parts.append(MarginBracket(*sides, design.intercept, lower, upper, direction, points, alpha))
        steps = max(steps, found.steps)
        if close(lower, upper, settings):
            statuses.append(Status.SEPARATED if settings.epsilon is None else Status.BRACKETED)
        elif upper <= ORIGIN * z.radius:
            statuses.append(Status.NO_MARGIN)
        else:
            statuses.append(Status.UNCERTIFIED)
        if statuses[-1] in (Status.NO_MARGIN, Status.UNCERTIFIED):
            which = "" if tasks == 1 else f" (class {targets.classes[task]} against the rest)"
            warnings.append(_warning(parts[-1], statuses[-1], found, which))
    worst = next((s for s in (Status.UNCERTIFIED, Status.NO_MARGIN) if s in statuses), statuses[0])
    return Fit(Hyperplanes(coef, intercept), All.of(parts), worst, steps, trace, warnings=tuple(warnings))


def _warning(bracket: MarginBracket, status: Status, found: Search, which: str) -> Warning:
    margins = f"the best margin is between {bracket.lower:.3g} and {bracket.upper:.3g}"
    if status is Status.NO_MARGIN:
        return ConvergenceWarning(
            f"The convex hull of the points y (x, 1) reaches the origin up to rounding{which}: {margins}, so no "
            "hyperplane separates the classes with a margin above rounding. separatrix.separability(X, y, exact=True) "
            "settles whether one separates them at all; PocketPerceptron or LinearSVC take such data."
        )
    remedy = "Raise max_iter, or epsilon, or use rule='wolfe'" if found.exhausted else "Rounding allows no more steps"
    return ConvergenceWarning(
        f"Kozinec's algorithm stopped after {found.steps} steps{which}: {margins}, and the weights leave "
        f"{found.mistakes:g} rows on the wrong side. {remedy}; separatrix.separability(X, y) says whether the classes "
        "can be separated at all."
    )
