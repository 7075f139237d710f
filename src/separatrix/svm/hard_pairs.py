"""The hard margin of a pair of classes, in feature space or with w itself, or the proof that there is none."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix._typing import Floats
from separatrix.certificates import Inseparable, KernelInseparable, KernelMarginBracket
from separatrix.design import Design
from separatrix.errors import ConvergenceWarning, NotSeparableError, UndecidedError
from separatrix.outcome import Status
from separatrix.svm.kernel_margin import Touching, hard_margin_kernel, told_margin_kernel
from separatrix.svm.linear.hard_margin import Widest
from separatrix.svm.linear_svc import Settings as LinearSettings
from separatrix.svm.linear_svc import hard_margin
from separatrix.svm.one_vs_one import Member, Pair
from separatrix.svm.pair_task import Task
from separatrix.svm.walked import Teller
from separatrix.svm.written_out import hard_margin_written_out, written_out


def hard_pair(task: Task, pair: Pair, tell: Teller | None) -> Member:
    """The maximum margin in feature space; with a trace to fill, by single moves, once it is known to exist."""
    intercept = task.settings.fit_intercept
    rows = task.rows if len(pair.rows) == task.rows.n else task.rows.only(pair.rows)
    Z = written_out(task.rows.kernel, task.points, pair.rows)
    if Z is None:
        found = hard_margin_kernel(rows, pair.y, task.settings.tol, task.settings.single, intercept)
    else:
        found = hard_margin_written_out(Z, rows, pair.y, task.settings.tol, task.settings.single, intercept)
    kernel = task.kernel
    sides: dict[str, Any] = {
        "classes": task.targets.classes,
        "positive": pair.positive,
        "negative": pair.negative,
        "kernel": kernel,
        "fit_intercept": intercept,
    }
    if isinstance(found, Touching):
        raise _no_margin(task, pair, found.weights, sides)
    if tell is not None:
        most, single = task.settings.max_iter, task.settings.single
        found = told_margin_kernel(rows, pair.y, task.settings.tol, single, intercept, most, tell)
    certificate, lower, upper = None, found.lower, found.upper
    if kernel is not None:
        points = np.flatnonzero((found.alpha != 0) | (found.expansion != 0))
        certificate = KernelMarginBracket(
            **sides,
            lower=found.lower,
            upper=found.upper,
            direction=None,
            points=points,
            alpha=found.alpha[points],
            expansion=found.expansion[points],
            intercept=found.b,
            space="feature",
        ).stated(task.points, task.targets.classes[task.targets.values])
        lower, upper = certificate.lower, certificate.upper
    if tell is not None and not lower > 0:  # it stopped before all points were on their side
        certificate = None
    elif not lower > 0:
        raise UndecidedError(
            f"Float64 cannot tell whether the kernel separates the classes: the margin is from {lower:.1e} to "
            f"{upper:.1e}. Use SVC with a large C, or remove points with equal features."
        )
    width = (upper - lower) / upper
    margin = found.lower / float((pair.y * found.scores).min())
    if width <= task.settings.tol:
        return Member.of_expansion(found, pair.y, margin, certificate, Status.BRACKETED)
    warning = _wide(width, task.settings.tol)
    return Member.of_expansion(found, pair.y, margin, certificate, Status.UNCERTIFIED, warning)


def _no_margin(task: Task, pair: Pair, weights: Floats, sides: dict[str, Any]) -> NotSeparableError | UndecidedError:
    """The error that proves that nothing separates, or, where rounding hides it, says so."""
    if sides["kernel"] is None:
        return NotSeparableError(_inseparable(task, pair), None)
    points = np.flatnonzero(weights)
    labels = task.targets.classes[task.targets.values]
    proof = KernelInseparable(**sides, points=points, weights=weights[points], margin_bound=0.0)
    proof = proof.stated(task.points, labels)
    if proof.verify(task.points, labels):
        return NotSeparableError(_inseparable(task, pair), proof)
    return UndecidedError(
        f"Float64 cannot tell whether the kernel separates the classes: no margin is above {proof.margin_bound:.1e}. "
        "Use SVC with a large C, or remove points with equal features."
    )


def _inseparable(task: Task, pair: Pair) -> str:
    negative, positive = task.targets.classes[[pair.negative, pair.positive]].tolist()
    return (
        f"The classes {negative!r} and {positive!r} cannot be separated in the feature space of {task.rows.kernel}, so "
        "there is no hard margin; the error's certificate proves it. Use SVC with a finite C, or another kernel."
    )


def _wide(width: float, tol: float) -> Warning:
    return ConvergenceWarning(
        f"The bounds on the margin are {width:.1e} apart, relative to it, more than tol={tol:g}: raise tol, or scale "
        "the columns of X."
    )


def widest_pair(design: Design, task: Task, pair: Pair, settings: LinearSettings, tell: Teller | None) -> Widest:
    """The hard margin; if there is none, the proof names the classes of the pair."""
    try:
        labels = task.targets.classes if task.targets.binary else np.array([-1, 1])
        return hard_margin(design, pair.y, settings, labels, tell=tell)
    except NotSeparableError as error:
        proof = error.certificate
        assert isinstance(proof, Inseparable)
        if task.targets.binary:
            raise NotSeparableError(_inseparable(task, pair), proof) from None
        sides: dict[str, Any] = {
            "classes": task.targets.classes,
            "positive": pair.positive,
            "negative": pair.negative,
            "kernel": {"kernel": "linear"},
            "fit_intercept": design.intercept,
        }
        raise _no_margin(task, pair, np.asarray(proof.weights, dtype=np.float64), sides) from None
