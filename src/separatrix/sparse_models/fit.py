"""Sparse models, from rows to a certified fit: two classes, or softmax of more."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from separatrix._typing import Floats
from separatrix.certificates import ElasticNetGap
from separatrix.certificates._data import Data
from separatrix.certificates._elastic_net import BELOW, both_sides
from separatrix.design import Design
from separatrix.geometry import Hyperplanes
from separatrix.outcome import Fit, Status
from separatrix.penalties import ElasticNet
from separatrix.solvers.claims import not_converged, statement
from separatrix.sparse_models.columns import NARROW, Columns
from separatrix.sparse_models.newton import Point
from separatrix.sparse_models.smooth import ROUNDING, LogLoss, Margins, Smooth, Softmax, SquaredHingeLoss
from separatrix.sparse_models.working_set import Solution, solve
from separatrix.targets import Targets

SMALL = 100_000  # entries of X below which accuracy costs nothing
EXACT = 1e-13  # relative gap that small problems go to, or as far as rounding lets them
SAMPLED, PER_COLUMN, LEFT = 2000, 30, 5  # rows of a sample, at least, also for each column; of at least so many times
ROUGH = 1e-3  # relative gap on a sample: it is further from the whole than that
FEW, FAR = 10, 0.1  # Newton steps, and the relative gap from which on they have led nowhere: the way is by smaller C,
GROWTH = 10.0  # each so many times the one before
Start: TypeAlias = tuple[Floats, Floats] | None  # coef and intercept
LOSSES: dict[str, type[Margins]] = {"log": LogLoss, "squared_hinge": SquaredHingeLoss}


@dataclass(frozen=True)
class Settings:
    """What the user chose."""

    C: float
    l1_ratio: float
    tol: float
    max_iter: int
    loss: str = "log"


def sparse_model(
    design: Design,
    targets: Targets,
    weight: Floats,
    settings: Settings,
    start: Start = None,
    positive: int = 1,
) -> Fit:
    """Solve, certify, and go on if the certificate asks for more; of more than two classes "log" is softmax."""
    columns, penalty = Columns(design), ElasticNet(settings.l1_ratio)
    several = settings.loss == "log" and targets.n_classes > 2
    smooth = losses_of(targets, settings.C * weight, settings.loss, positive)
    if start is None:
        start = from_sample(design, targets, settings.C * weight, settings, positive)
    w, b = np.zeros((smooth.K, design.d)), np.zeros((smooth.K, 1))
    if start is not None:
        V = columns.design.from_user_units(*start)
        w, b = np.ascontiguousarray(V[: design.d].T), V[design.d :].T if design.intercept else b
    target, n_iter, steep = first_target(design, settings), 0, False
    while True:
        most = settings.max_iter - n_iter
        found = solve(columns, smooth, penalty, (w, b), target, most if steep else min(FEW, most))
        n_iter += found.n_iter
        if not steep and n_iter < settings.max_iter and found.gap > target * found.value:
            steep = True
            if found.gap > FAR * found.value:
                found = gentle(columns, smooth, penalty, settings.max_iter - n_iter)
                n_iter += found.n_iter
            w, b = found.w, found.b
            continue
        w, b, stalled, target = found.w, found.b, found.stalled or found.gap <= ROUNDING * found.value, 0.1 * target
        coef, intercept = columns.design.user_units(np.vstack([w.T, b.T])[: design.p])
        if several:
            intercept = intercept - intercept.mean()  # what all classes have in common changes nothing
        model = Hyperplanes(design.rounded(coef), design.rounded(intercept))
        exact = None if design.dtype == np.float64 else np.column_stack([coef, intercept])
        certificate, certified = certify(design, targets, weight, model, settings, None if several else positive, exact)
        if certified or stalled or n_iter >= settings.max_iter:
            return ended(model, certificate, certified, n_iter, stalled, settings.tol)


def gentle(columns: Columns, smooth: Smooth, penalty: ElasticNet, most: int) -> Solution:
    """About the optimum of losses a little smaller, from that of losses so small that hardly a weight is not 0.

    Of separable classes and a large C, steps go along what no row bends, and soon meet a row that does: they are short,
    and thousands. The optimum of a C ten times smaller has nearly the same rows inside its margins.
    """
    w, b = np.zeros((smooth.K, columns.d)), np.zeros((smooth.K, 1))
    _, R, _ = Point(w, b, np.zeros((smooth.K, columns.n))).expand(smooth, columns.free)
    steepest, n_iter = float(np.abs(columns.slopes(R)).max(initial=0.0)), 0
    factor = GROWTH ** -max(1.0, np.ceil(np.log(max(steepest / penalty.r, 1.0)) / np.log(GROWTH)) - 1.0)
    while True:
        found = solve(columns, replace(smooth, u=factor * smooth.u), penalty, (w, b), ROUGH, most - n_iter)
        n_iter, w, b, factor = n_iter + found.n_iter, found.w, found.b, factor * GROWTH
        if factor > 0.5 or n_iter >= most:
            return replace(found, n_iter=n_iter)


def losses_of(targets: Targets, u: Floats, loss: str, positive: int) -> Smooth:
    """The losses of two classes, or "log" of more, of rows with the weights u."""
    if loss == "log" and targets.n_classes > 2:
        return Softmax(u, targets.values, targets.n_classes)
    return LOSSES[loss](u, np.where(targets.values == positive, 1.0, -1.0))


def from_sample(design: Design, targets: Targets, u: Floats, settings: Settings, positive: int) -> Start:
    """About the optimum of some rows of a tall table, whose Newton steps cost next to nothing; else None."""
    every = design.n // max(SAMPLED, PER_COLUMN * design.d)
    if every < LEFT or design.d > NARROW:
        return None
    rows = np.arange(0, design.n, every)
    some = replace(targets, values=targets.values[rows])
    if len(np.unique(some.values)) < targets.n_classes:
        return None
    sample = Columns(design.take(rows))
    smooth = losses_of(some, u[rows] * (u.sum() / u[rows].sum()), settings.loss, positive)
    zero = np.zeros((smooth.K, design.d)), np.zeros((smooth.K, 1))
    found = solve(sample, smooth, ElasticNet(settings.l1_ratio), zero, ROUGH, settings.max_iter)
    return sample.design.user_units(np.vstack([found.w.T, found.b.T])[: design.p])


def first_target(design: Design, settings: Settings) -> float:
    """The relative gap to go for at first: small tables go as far as rounding lets them."""
    return min(0.5 * settings.tol, EXACT if design.entries <= SMALL else 1.0)


def ended(
    model: Hyperplanes, certificate: ElasticNetGap | None, certified: bool, n_iter: int, stalled: bool, tol: float
) -> Fit:
    """What was found, with a warning if it is not within tol."""
    if certified:
        return Fit(model, certificate, Status.CERTIFIED, n_iter)
    remedy = "raise tol, lower C, or divide columns of large numbers"
    warning = not_converged(n_iter, certificate, stalled, tol, remedy)
    return Fit(model, certificate, Status.UNCERTIFIED, n_iter, warnings=(warning,))


def certify(
    design: Design,
    targets: Targets,
    weight: Floats,
    model: Hyperplanes,
    settings: Settings,
    positive: int | None,
    dual_weights: Floats | None = None,
    multipliers: Floats | None = None,
) -> tuple[ElasticNetGap | None, bool]:
    """A certificate of exactly these weights, if one holds, and whether it is within tol."""
    claim = ElasticNetGap(
        loss=settings.loss,
        C=settings.C,
        l1_ratio=settings.l1_ratio,
        classes=targets.classes,
        class_weight=targets.class_weight,
        positive=positive,
        task=None,
        coef=model.coef,
        intercept=model.intercept,
        fit_intercept=design.intercept,
        dual_weights=dual_weights,
        multipliers=multipliers,
        zeros=np.zeros(model.coef.shape, dtype=bool),
        primal=np.nan,
        dual=np.nan,
        tol=settings.tol,
    )
    with np.errstate(all="ignore"):
        found = both_sides(design.lend(Data, targets.values, weight), claim)
    certificate, certified = statement(claim, found.bounds)
    zeros = found.reach < (2.0 * BELOW - 1.0) * claim.l1_ratio
    return certificate and replace(certificate, zeros=zeros), certified
