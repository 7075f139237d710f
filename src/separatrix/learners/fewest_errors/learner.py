"""The plan: merge, try what is fast, enumerate if there are few columns, else cover conflicts until time runs out."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.certificates import All, ErrorBound
from separatrix.design import Block, Design
from separatrix.design.base import Parts
from separatrix.errors import ConvergenceWarning
from separatrix.geometry import Hyperplanes
from separatrix.learners.fewest_errors.climbing import climb
from separatrix.learners.fewest_errors.cover import Cover
from separatrix.learners.fewest_errors.enumeration import LARGEST, Enumeration, work
from separatrix.learners.fewest_errors.points import Points, distinct
from separatrix.learners.quiet import quiet
from separatrix.learners.separation.cone import Cone, conditioned
from separatrix.learners.separation.integers import WholeRows
from separatrix.learners.separation.newton import newton
from separatrix.learners.separation.programs import largest_lead
from separatrix.outcome import Fit, Status
from separatrix.targets import Targets

RATE = 1e7  # signs a second that enumeration computes, at the least
PLANE = 3  # rows (x, 1) up to this length are enumerated at once
CHECKED = 30_000  # signs up to which the certificate repeats the enumeration
ROWS = 200_000  # entries of the rows that line searches run on
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Answer:
    """(w, b) in the user's units, as the model holds them; the weight of their errors; and what bounds it below."""

    w: Floats
    b: float
    errors: float
    lower: float
    proof: str

    @property
    def optimal(self) -> bool:
        """Whether the bounds meet."""
        return self.lower >= self.errors - 1e-9 * max(1.0, self.errors)


def fewest_errors(design: Design, targets: Targets, weight: Floats, *, time_limit: float) -> Fit:
    """The fewest errors for each task: one for two classes, each class against the rest for more."""
    tasks = 1 if targets.binary else targets.n_classes
    end = time.monotonic() + time_limit
    answers = []
    for task in range(tasks):
        positive = 1 if targets.binary else task
        signs = np.where(targets.values == positive, 1.0, -1.0)
        now = time.monotonic()
        answers.append(solve(design, signs, weight, now + max(0.0, end - now) / (tasks - task)))
    certificates = [
        ErrorBound(
            classes=targets.classes,
            coef=answer.w[None],
            intercept=np.array([answer.b]),
            positive=1 if targets.binary else task,
            class_weight=targets.class_weight,
            errors=answer.errors,
            lower_bound=answer.lower,
            proof=answer.proof,
            fit_intercept=design.intercept,
        )
        for task, answer in enumerate(answers)
    ]
    model = Hyperplanes(np.array([a.w for a in answers]), np.array([a.b for a in answers]))
    errors, lower = np.array([a.errors for a in answers]), np.array([a.lower for a in answers])
    attributes = {
        "errors_": float(errors[0]) if targets.binary else errors,
        "lower_bound_": float(lower[0]) if targets.binary else lower,
    }
    certificate = certificates[0] if targets.binary else All(certificates)
    if all(answer.optimal for answer in answers):
        return Fit(model, certificate, Status.FEWEST_ERRORS, attributes=attributes)
    worst = int(np.argmax(errors - lower))
    which = "" if targets.binary else f" for class {targets.classes[worst]!r} against the rest"
    warning = ConvergenceWarning(
        f"The fewest errors are not settled{which}: {errors[worst]:g} found, and at least {lower[worst]:g} are proven "
        f"necessary. Raise time_limit (now {time_limit:g} s), or use fewer columns or rows."
    )
    return Fit(model, certificate, Status.BETWEEN_BOUNDS, attributes=attributes, warnings=(warning,))


def solve(design: Design, signs: Floats, weight: Floats, until: float) -> Answer:
    """One task."""
    points = distinct(design, signs, weight)
    cone = _cone(design, points)
    if cone is None:  # one side outweighs the other in every point
        always = 1.0 if signs[np.argmax(weight)] > 0 else -1.0
        b = _constant(design, points, always)
        return _answer(design, signs, weight, np.zeros(design.d), b, points.forced, points.proof)
    v, upper, lower, proof = _search(cone, points, until)
    if not design.intercept and points.weight[points.signs < 0].sum() < upper:  # w = 0: every score is 0, positive
        w, b = np.zeros(design.d), 0.0
    else:
        w, b = _centred_between(cone, cone.dense(np.arange(cone.design.n), 1 - cone.codes) @ v > 0, v)
    return _answer(design, signs, weight, w, b, points.forced + lower, proof if lower > 0 else points.proof)


def _constant(design: Design, points: Points, always: float) -> float:
    """The intercept that predicts one class everywhere; without an intercept w = 0 predicts the positive one."""
    if len(points.signs):
        always = float(points.signs[0])
    return always if design.intercept else 0.0


def _cone(design: Design, points: Points) -> Cone | None:
    """The points as a cone of two classes; None if all have one label and b alone gets them right."""
    if design.intercept and len(np.unique(points.signs)) < 2:
        return None
    if not len(points.signs):
        return None
    part = replace(design, X=design.X[points.rows])
    return conditioned(part, ((points.signs + 1) / 2).astype(np.intp), 2)


def _search(cone: Cone, points: Points, until: float) -> tuple[Floats, float, float, str]:
    """Coefficients, their errors beyond the forced ones, a lower bound on these, and what it rests on."""
    weight, n, p = points.weight, cone.design.n, cone.q
    steps = newton(cone)
    v = steps.V[:, 0]
    if steps.separates:
        return v, 0.0, 0.0, "nothing"
    Z = cone.dense(np.arange(n), 1 - cone.codes)
    centroid = (weight[:, None] * Z).mean(axis=0)
    starts = [v if v.any() else centroid, centroid]
    budget = min(until, time.monotonic() + 0.1 * max(0.0, until - time.monotonic()))
    v, upper = climb(Z, weight, starts, budget, 0.0)
    if upper == 0:
        return v, 0.0, 0.0, "nothing"
    cover = Cover(cone, weight, v, upper, 0.0, until)
    if (
        p > PLANE and work(points.count, p) > CHECKED
    ):  # few conflicts are soon covered, many columns are slow to enumerate
        cover.until = min(until, time.monotonic() + 0.1 * max(0.0, until - time.monotonic()))
        cover.run()
        if cover.settled:
            return cover.v, cover.upper, cover.lower, "search"
    if p <= LARGEST and work(n, p) <= RATE * max(0.0, until - time.monotonic()):
        found = _enumerated(cone, points, cover, until)
        if found is not None:
            return found
    cover.until = until
    cover.run()
    return cover.v, cover.upper, cover.lower, "search"


def _enumerated(cone: Cone, points: Points, cover: Cover, until: float) -> tuple[Floats, float, float, str] | None:
    """The same by enumeration; None if time ran out, though what it found is in the cover then."""
    whole = WholeRows(cone)
    P = np.array([whole.point(i)[0] for i in range(cone.design.n)], dtype=object)
    found = Enumeration(P, points.signs, points.weight, cover.upper, until).run()
    if found.predicted is not None:
        right = np.flatnonzero(found.predicted == points.signs)
        with quiet():
            program = largest_lead(cone.only(right), np.zeros((cone.q, 1)))
        if program is not None:
            cover.offer(program.V[:, 0])
    if not found.complete:
        return None
    small = work(points.count, cone.q) <= CHECKED
    return cover.v, cover.upper, found.best, "enumeration" if small else "search"


def _centred_between(cone: Cone, kept: Array, v: Floats) -> tuple[Floats, float]:
    """(w, b) that gets the same rows right with the largest lead, so that rounding moves none to the other side."""
    with quiet():
        program = largest_lead(cone.only(np.flatnonzero(kept)), v[:, None])
    V = program.V if program is not None and program.separates else v[:, None]
    coef, intercept = cone.design.user_units(V)
    return coef[0], float(intercept[0])


def _answer(design: Design, signs: Floats, weight: Floats, w: Floats, b: float, lower: float, proof: str) -> Answer:
    """The errors of (w, b) as the model will hold them, counted without rounding."""
    w, b = design.rounded(w), float(design.rounded(np.array([b]))[0])
    errors = count_errors(design, signs, weight, w, b)
    return Answer(w, b, errors, min(lower, errors), proof)


def count_errors(design: Design, signs: Floats, weight: Floats, w: Floats, b: float) -> float:
    """sum_i weight_i [w.x_i + b has the wrong sign], 0 counting as positive; without rounding where that matters."""
    plain = replace(design, offset=None, rest=None, scale=None)
    wrong = np.zeros(design.n, dtype=bool)
    doubt: list[Integers] = []

    def sweep(block: Block, y: Floats) -> Parts:
        x = block.x
        score = np.asarray(x @ w) + b
        error = (design.d + 4) * (EPS * (np.asarray(abs(x) @ np.abs(w)) + abs(b)) + 1e-300)
        wrong[block.rows] = (score >= 0) != (y > 0)
        doubt.append(block.rows.start + np.flatnonzero(~(np.abs(score) > error)))
        return ()

    plain.reduce(sweep, signs)
    exact = [Fraction(entry) for entry in w.tolist()]
    for i in np.concatenate(doubt):
        x = design.X[[i]]
        x = np.asarray(x.toarray() if hasattr(x, "toarray") else x, dtype=np.float64)[0].tolist()
        score_i = Fraction(b) + sum(Fraction(a) * c for a, c in zip(x, exact, strict=True) if a and c)
        wrong[i] = (score_i >= 0) != (signs[i] > 0)
    return float(weight[wrong].sum())
