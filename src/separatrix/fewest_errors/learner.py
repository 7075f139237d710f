"""The plan: merge, try what is fast, enumerate if there are few columns, else cover conflicts, within max_nodes."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

import numpy as np

from separatrix._typing import Floats
from separatrix.certificates import All
from separatrix.certificates._data import EPS
from separatrix.certificates._fewest_errors import repeatable
from separatrix.design import Design
from separatrix.design.sample import Sample
from separatrix.errors import ConvergenceWarning
from separatrix.fewest_errors.budget import SIGNS, Budget
from separatrix.fewest_errors.climbing import climb
from separatrix.fewest_errors.conflicts import PROVABLE, decide
from separatrix.fewest_errors.cover import Cover, common_measure, met, right
from separatrix.fewest_errors.enumeration import LARGEST, Enumeration, work
from separatrix.fewest_errors.points import Points, distinct
from separatrix.geometry import Hyperplanes
from separatrix.outcome import Fit, Status
from separatrix.separation.cone import Cone, conditioned
from separatrix.separation.integers import WholeRows
from separatrix.separation.newton import newton
from separatrix.separation.programs import largest_lead
from separatrix.separation.sides import error_bound, wrong

SHARE = 0.1  # of the nodes, for a first attempt at what may take all of them


@dataclass(frozen=True)
class Answer:
    """(w, b) in the user's units, as the model holds them; the weight of their errors; and what bounds it below."""

    w: Floats
    b: float
    errors: float
    lower: float
    proof: str
    ended: str  # why: "complete" (everything was searched), "spent", or "gave up" (HiGHS did)

    @property
    def optimal(self) -> bool:
        """Whether the bounds meet."""
        return met(self.lower, self.errors)


@dataclass(frozen=True)
class Found:
    """Coefficients (exact: of whole numbers), a lower bound on the errors beyond the forced ones, what it rests on."""

    v: Floats
    exact: bool
    lower: float
    proof: str
    ended: str = "complete"
    second: Floats | None = None  # should v, exact, not survive being rounded


@dataclass(frozen=True)
class Settings:
    """Work that may be done for the whole fit, and seconds it may take."""

    max_nodes: int
    time_limit: float | None


def learn(sample: Sample, settings: Settings) -> Fit:
    """The fewest errors for each task: one for two classes, each class against the rest for more."""
    design, targets, weight = sample.design, sample.targets, sample.weight
    budget = Budget(settings.max_nodes, settings.time_limit)
    answers = []
    for task in range(targets.tasks):
        with budget.only(1.0 / (targets.tasks - task)):
            answers.append(solve(design, targets.task_signs(task), weight, budget))
    certificates = [
        error_bound(design, targets, task, a.w, a.b, a.errors, a.lower, a.proof) for task, a in enumerate(answers)
    ]
    model = Hyperplanes(np.array([a.w for a in answers]), np.array([a.b for a in answers]))
    errors, lower = [a.errors for a in answers], [a.lower for a in answers]
    attributes = {
        "errors_": targets.of_tasks(errors),
        "lower_bound_": targets.of_tasks(lower),
        "n_nodes_": budget.nodes,
    }
    certificate = All.of(certificates)
    if all(answer.optimal for answer in answers):
        return Fit(model, certificate, Status.FEWEST_ERRORS, attributes=attributes)
    open_tasks = [task for task, answer in enumerate(answers) if not answer.optimal]
    worst = max(open_tasks, key=lambda task: answers[task].errors - answers[task].lower)
    which = "" if targets.binary else f" for class {targets.classes[worst]!r} against the rest"
    warning = ConvergenceWarning(
        f"The fewest errors are not settled{which}: {errors[worst]:g} found, and at least {lower[worst]:g} are proven "
        f"necessary. {_remedy(answers[worst], budget, settings)}"
    )
    return Fit(model, certificate, Status.BETWEEN_BOUNDS, attributes=attributes, warnings=(warning,))


def _remedy(answer: Answer, budget: Budget, settings: Settings) -> str:
    if answer.ended == "gave up":
        return (
            "HiGHS could not solve a linear program of the search: bring the columns of X to similar, moderate sizes."
        )
    if answer.ended == "complete":
        return (
            "The search is complete, so more nodes would not help: rows lie on the best hyperplane or next to it, and "
            "its weights have more digits than a float. Pass float64, or numbers with fewer digits."
        )
    if budget.out_of_time:
        return f"The time ran out after {budget.nodes} nodes: raise time_limit (now {settings.time_limit:g} s)."
    return (
        f"All max_nodes={settings.max_nodes} nodes are spent: raise max_nodes (the time grows with it), or use fewer "
        "columns or rows."
    )


def solve(design: Design, signs: Floats, weight: Floats, budget: Budget) -> Answer:
    """One task."""
    points = distinct(design, signs, weight)
    cone = _cone(design, points)
    if cone is None:  # one side outweighs the other in every point
        w, b = _constant(design, points, signs, weight)
        return _answer(design, signs, weight, w, b, points.forced, points.proof, "complete")
    found = _search(cone, points, budget)
    proof = found.proof if found.lower > 0 else points.proof
    answers = []
    for v, exact in ((found.v, found.exact), (found.second, False)):
        if v is not None:
            w, b = _centred_between(cone, v, exact)
            answers.append(_answer(design, signs, weight, w, b, points.forced + found.lower, proof, found.ended))
    return min(answers, key=lambda answer: answer.errors)


def _constant(design: Design, points: Points, signs: Floats, weight: Floats) -> tuple[Floats, float]:
    """A hyperplane beyond all points, which predicts one class everywhere: w = 0 and b = ±1.

    Without an intercept only rows of zeros are left, and every w scores them 0.
    """
    w = np.zeros(design.d)
    if not design.intercept:
        w[0] = 1.0
        return w, 0.0
    return w, float(points.signs[0]) if len(points.signs) else float(signs[np.argmax(weight)])


def _cone(design: Design, points: Points) -> Cone | None:
    """The points as a cone of two classes; None if all have one label and b alone gets them right."""
    if not len(points.signs) or (design.intercept and len(np.unique(points.signs)) < 2):
        return None
    return conditioned(design.take(points.rows), ((points.signs + 1) / 2).astype(np.intp), 2)


def _search(cone: Cone, points: Points, budget: Budget) -> Found:
    """What is fast first, then everything."""
    weight, n, p = points.weight, cone.design.n, cone.q
    steps = newton(cone)
    v = steps.V[:, 0]
    if steps.separates:
        return Found(v, False, 0.0, "nothing")
    Z = cone.dense(np.arange(n), 1 - cone.codes)
    centroid = (weight[:, None] * Z).mean(axis=0)
    starts = [some for some in (v, centroid, Z[0]) if some.any()][:2]
    with budget.only(SHARE):
        v, upper = climb(Z, weight, starts, budget)
    if upper == 0:
        return Found(v, False, 0.0, "nothing")
    cover = Cover(cone, weight, v, upper, budget)
    proof = "enumeration" if repeatable(points.count, cone.design.d + cone.design.intercept) else "search"
    tries = work(n, p) / SIGNS if p <= LARGEST else np.inf
    if tries > SHARE * budget.left:  # few conflicts are soon covered, many columns are slow to enumerate
        with budget.only(SHARE):
            cover.run()
    if not cover.settled and tries <= budget.left and _enumerated(cone, points, cover):
        return Found(cover.v, cover.exact, cover.lower, proof, second=cover.second)
    cover.run()
    ended = "complete" if cover.settled else "gave up" if cover.gave_up else "spent"
    return Found(cover.v, cover.exact, cover.lower, "search", ended, cover.second)


def _enumerated(cone: Cone, points: Points, cover: Cover) -> bool:
    """Try every hyperplane; False if the nodes did not suffice, though what was found is in the cover then."""
    whole = WholeRows(cone)
    P = np.array([whole.point(i)[0] for i in range(cone.design.n)], dtype=object)
    found = Enumeration(P, points.signs, points.weight, cover.upper, cover.budget, cone.design.intercept).run()
    if found.predicted is not None:
        rows = np.flatnonzero(found.predicted == points.signs)
        program = largest_lead(cone.only(rows), np.zeros((cone.q, 1)))
        if program is not None:
            cover.offer(program.V[:, 0])
        if not met(found.best, cover.upper) and cone.q <= PROVABLE:  # rows on the hyperplane
            v = decide(cone, rows, cover.budget).v
            if v is not None:
                cover.offer(v, exact=True)
    if found.complete:
        cover.lower = max(cover.lower, found.best)
    return found.complete


def _centred_between(cone: Cone, v: Floats, exact: bool) -> tuple[Floats, float]:
    """(w, b) that gets the same rows right with the largest lead, so that rounding moves none to the other side."""
    Z = cone.dense(np.arange(cone.design.n), 1 - cone.codes)
    rows = np.flatnonzero(right(cone, Z, v, exact))
    program = largest_lead(cone.only(rows), v[:, None]) if len(rows) else None
    V = program.V if program is not None and program.separates else v[:, None]  # rows on it leave no room
    coef, intercept = cone.design.user_units(V)
    return coef[0], float(intercept[0])


def _answer(
    design: Design, signs: Floats, weight: Floats, w: Floats, b: float, lower: float, proof: str, ended: str
) -> Answer:
    """The errors of (w, b) as the model will hold them, counted without rounding."""
    w, b = design.rounded(w), float(design.rounded(np.array([b]))[0])
    errors = fsum(weight[wrong(design, signs, w, b)].tolist())
    if not common_measure(weight):  # else sums of them are free of rounding; a lower bound is rounded down
        lower *= 1.0 - 4 * (len(weight) + 4) * EPS
    return Answer(w, b, errors, min(lower, errors), proof, ended)
