"""From labels to linear support vector machines: one for two classes, one for each class against the rest of more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from separatrix._typing import Array, Floats
from separatrix.certificates import All, Certificate, Inseparable, MarginBracket
from separatrix.certificates._data import ALLOWED
from separatrix.design import Design
from separatrix.design.sample import Sample
from separatrix.errors import ConvergenceWarning, InvalidInputError, NotSeparableError, UndecidedError
from separatrix.geometry import Hyperplanes
from separatrix.outcome import Fit, Status, Trace
from separatrix.separation.search import search
from separatrix.solvers.newton import FACTORED_ORDER
from separatrix.solvers.soft_margin import attributes_of
from separatrix.svm.claims import hinge_gap
from separatrix.svm.linear.hard_margin import Widest, of_hull, proved, widest
from separatrix.svm.linear.machine import Machine, Start, of_multipliers, outward
from separatrix.svm.linear.small_table import SmallTable, small_table
from separatrix.svm.linear.soft import soft_margin
from separatrix.svm.walked import Teller, walked_linear
from separatrix.targets import Targets


@dataclass(frozen=True)
class Settings:
    """What the user chose."""

    C: float
    loss: str
    tol: float
    max_iter: int
    starts: Sequence[Start] | None = None  # where an earlier fit ended, one for each task
    trace: Trace | None = None  # filled by single moves, if there is one


def learn(sample: Sample, settings: Settings) -> Fit:
    """The machines of all tasks."""
    design, targets, weight, starts = sample.design, sample.targets, sample.weight, settings.starts
    kept = np.arange(sample.n_given)[sample.kept]
    signs = targets.signs(targets.values)
    hard = np.isinf(settings.C)
    bound = weight if hard else settings.C * weight
    table = None if hard else small_table(design, bound)
    machines: list[Machine | Widest] = []
    certificates: list[Certificate | None] = []
    squared = settings.loss == "squared_hinge"
    if squared and not hard and bound.min() < np.finfo(np.float64).tiny:
        least = int(bound.argmin())
        raise InvalidInputError(
            f"C times the weight of row {kept[least]} is {bound[least]:.3g}, too small for float64: use a larger C or "
            "larger weights.",
            "C",
        )
    many: list[Machine | None] = [None] * targets.tasks
    if table is not None and settings.trace is None:
        many = table.machines(np.ascontiguousarray(signs.T), settings.tol, settings.max_iter, squared)
    for task, y in enumerate(np.ascontiguousarray(signs.T)):
        positive = targets.positive(task)
        several = task if targets.tasks > 1 else None
        tell = None if settings.trace is None else Teller(settings.trace, kept, sample.n_given, several)
        if hard:
            wide = hard_margin(design, y, settings, targets.classes, positive, tell)
            machines.append(wide)
            certificates.append(bracket(wide, design, targets, positive))
        else:
            start = None if starts is None else starts[task]
            machine = many[task] or soft(design, y, bound, settings, start, table, tell)
            machines.append(machine)
            certificates.append(hinge_gap(machine, targets, settings, design.intercept, (positive, None), kept))
    coef, intercept = np.array([m.w for m in machines]), np.array([m.b for m in machines])
    scores = design.anchored()
    V = scores.from_user_units(coef, intercept)
    slack = np.maximum(0.0, 1.0 - signs * scores.dot(V))
    worst = max(m.relative_gap for m in machines)
    alpha = np.array([m.alpha for m in machines])
    certified = worst <= settings.tol
    warning = ConvergenceWarning(
        f"Stopped after {max(m.n_iter for m in machines)} iterations at a relative gap of {worst:.1e}, above "
        f"tol={settings.tol:g}: raise max_iter or tol, lower C, or scale the columns of X to moderate size."
    )
    proved = [certificate for certificate in certificates if certificate is not None]
    return Fit(
        Hyperplanes(coef, intercept),
        All.of(proved) if len(proved) == len(machines) else None,
        Status.CERTIFIED if certified else Status.UNCERTIFIED,
        n_iter=max(1, *(m.n_iter for m in machines)),
        trace=settings.trace,
        attributes=attributes_of(targets, signs, alpha, slack, coef, kept, design.dtype),
        warnings=() if certified else (warning,),
        sure=certified and not hard,  # what is stated of a soft margin are the sums of the check, or near them
    )


def soft(
    design: Design,
    y: Floats,
    bound: Floats,
    settings: Settings,
    start: Start | None = None,
    table: SmallTable | None = None,
    tell: Teller | None = None,
) -> Machine:
    """The soft margin, with an objective and a bound on its minimum that are rounded outward.

    With a trace to fill, by single moves of pairs; else by the fastest way.
    """
    inside = replace(settings, tol=(1.0 - ALLOWED) * settings.tol)  # the rest is for rounding
    squared = settings.loss == "squared_hinge"
    if tell is not None:
        alpha, steps = walked_linear(design, y, bound, 0.5 * inside.tol, settings.max_iter, tell, squared)
        told = of_multipliers(design, y, alpha, bound, steps, squared=squared)
        return outward(told, design, y, bound, settings.tol, squared)
    found = None if table is None else table.machine(y, inside.tol, settings.max_iter, squared)
    if found is None:
        found = _soft(design, y, bound, inside, start)
        if not found.summed:  # w as the sum of alpha_i y_i x_i to the last digit, unless that costs accuracy
            summed = of_multipliers(design, y, found.alpha, bound, found.n_iter, squared=squared)
            if summed.relative_gap <= min(max(2.0 * found.relative_gap, 1e-12), inside.tol):
                found = summed
    return outward(found, design, y, bound, settings.tol, squared)


def _soft(design: Design, y: Floats, bound: Floats, settings: Settings, start: Start | None) -> Machine:
    """If C is so large that only the hard margin is in reach of rounding, through that, while there are iterations."""
    squared = settings.loss == "squared_hinge"
    machine = soft_margin(design, y, bound, settings.tol, settings.max_iter, squared, start)
    if machine.relative_gap <= settings.tol or squared or machine.n_iter >= settings.max_iter:
        return machine
    if min(design.n, design.p) > FACTORED_ORDER:  # the hard margin takes a matrix of this order
        return machine
    try:
        proof = search(design, Targets(np.array([-1, 1]), (y > 0).astype(np.intp)))
    except UndecidedError:  # the soft margin is there whether the classes can be separated or not
        return machine
    if isinstance(proof, Inseparable):
        return machine
    wide = widest(design, y, settings.tol, settings.max_iter)
    if (wide.alpha > bound).any():
        return machine
    # no multiplier reaches its bound, so the soft margin is the hard one; a slack that is only rounding would cost C
    w, b = design.rounded(wide.w * (1 + 1e-12)), float(design.rounded(np.array([wide.b * (1 + 1e-12)]))[0])
    anchored = design.anchored()
    scores = anchored.dot(anchored.from_user_units(w[None], np.array([b])))[:, 0]
    primal = 0.5 * float(w @ w) + float(bound @ np.maximum(0.0, 1.0 - y * scores))
    u = anchored.tdot((y * wide.alpha)[:, None])[: design.d, 0]
    dual = float(wide.alpha.sum()) - 0.5 * float(u @ u)
    hard = Machine(w, b, wide.alpha, primal, min(dual, primal), wide.n_iter)
    return hard if hard.relative_gap < machine.relative_gap else machine


def hard_margin(
    design: Design, y: Floats, settings: Settings, classes: Array, positive: int = 1, tell: Teller | None = None
) -> Widest:
    """The maximum margin of a class against the others, or `NotSeparableError` with the proof that there is none.

    With a trace to fill, by single moves of pairs, once it is known that there is one.
    """
    if design.p > design.n and tell is None:  # so few rows are nearly always separable: then w itself proves it
        wide = proved(design, y, widest(design, y, settings.tol, settings.max_iter))
        if wide.lower > 0:
            return wide
    found = search(design, Targets(np.array([-1, 1]), (y > 0).astype(np.intp)))
    if isinstance(found, Inseparable):
        label = classes[positive].item() if hasattr(classes[positive], "item") else classes[positive]
        rest = "other" if len(classes) == 2 else "others"
        raise NotSeparableError(
            f"No hyperplane separates the class {label!r} from the {rest}, so there "
            "is no hard margin: the error's certificate proves it. Use a finite C, or LogisticRegression.",
            replace(found, classes=classes, positive=positive),
        )
    if tell is not None:
        alpha, steps = walked_linear(design, y, None, 0.5 * settings.tol, settings.max_iter, tell)
        return proved(design, y, of_hull(design, y, alpha, steps))
    return proved(design, y, widest(design, y, settings.tol, settings.max_iter))


def bracket(
    machine: Widest, design: Design, targets: Targets, positive: int, negative: int | None = None
) -> MarginBracket | None:
    """What the hyperplane and its multipliers prove about the maximum margin; None if that is nothing."""
    if not np.isfinite([machine.lower, machine.upper]).all():
        return None
    points = np.flatnonzero(machine.alpha)
    return MarginBracket(
        classes=targets.classes,
        positive=positive,
        fit_intercept=design.intercept,
        lower=machine.lower,
        upper=machine.upper,
        direction=np.append(machine.w, machine.b) if design.intercept else machine.w,
        points=points,
        alpha=machine.alpha[points],
        space="input",
        negative=negative,
    )
