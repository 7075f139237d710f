"""Maximum likelihood, C = inf: when it exists, with its covariance; when it does not, with the direction that shows it.

The log-likelihood of logistic regression is generalised self-concordant, |f'''| <= rho f'' along any direction of unit
length in the norm of the Hessian, where rho is the largest length of a row in the dual norm (for several classes, of a
difference of two classes' rows). So from the point where the gradient has the length lambda in the dual norm,
with x = lambda rho < 1, the maximum exists and is at most (x + (1 - x) log(1 - x)) / rho² above.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from separatrix._typing import Floats
from separatrix.certificates import Inseparable, Separator
from separatrix.design import Block, Design
from separatrix.design.base import Parts
from separatrix.errors import SeparationWarning, UndecidedError
from separatrix.geometry import Hyperplanes
from separatrix.learners.logistic import (
    Record,
    Settings,
    Start,
    choose,
    first,
    make_risk,
    not_converged,
    polished,
    statement,
)
from separatrix.learners.separation.search import search
from separatrix.outcome import Fit, Status
from separatrix.problems.risk import Risk
from separatrix.problems.softmax import SoftmaxRisk
from separatrix.solvers.driver import State, run
from separatrix.targets import Targets

STEPS = 100  # Newton steps after which the maximum is in doubt
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Information:
    """The Fisher information H at V, factored on the directions that the data determine.

    Parameters
    ----------
    root : array of shape (r, k p)
        root' root = H⁺, so that root H root' = 1.
    null : array of shape (k p, m)
        Directions that no row sees, as columns.
    """

    root: Floats
    null: Floats

    @property
    def covariance(self) -> Floats:
        """H⁺ (k p, k p)."""
        return np.asarray(self.root.T @ self.root)


def information(risk: Risk, V: Floats) -> Information:
    """Factor the Hessian of the unpenalised risk, with unit diagonal so that the columns' units do not matter."""
    H = risk.hessian(V)
    size = np.sqrt(np.where(np.diag(H) > 0, np.diag(H), 1.0))
    values, Q = linalg.eigh(H / np.outer(size, size))
    live = values > 8 * len(values) * EPS * values[-1]
    return Information((Q[:, live] / np.sqrt(values[live])).T / size, Q[:, ~live] / size[:, None])


def suboptimality(risk: Risk, gradient: Floats, known: Information) -> float:
    """The bound of the module on F(V) - min F; inf where it does not apply."""
    p, k = gradient.shape
    length = float(np.linalg.norm(known.root @ gradient.ravel(order="F")))
    # the unit of each class: its column of scores, as the basis of several classes has them
    directions = class_basis(risk)
    columns = known.root.reshape(-1, k, p)

    def longest(block: Block) -> Parts:
        rows = [block.dot(np.einsum("rap,a->pr", columns, direction)) for direction in directions]
        lengths.append(max(float((row**2).sum(axis=1).max()) for row in rows))
        return ()

    lengths: list[float] = []
    risk.design.reduce(longest)
    rho = np.sqrt(max(lengths)) * (1.0 if k == 1 else 2.0)
    x = length * rho
    if not x < 1.0:
        return float("inf")
    if x < 1e-4:
        return 0.5 * length**2 * (1 + x)  # the series, where the formula cancels
    return float((x + (1 - x) * np.log1p(-x)) / rho**2)


def maximum_likelihood(
    design: Design, targets: Targets, weight: Floats, settings: Settings, start: Start = None, record: Record = None
) -> Fit:
    """Solve without a penalty; certify by the bound of the module, or prove that there is no maximum."""
    risk = make_risk(design.anchored(), targets, weight, settings)
    solver, accuracy = choose(risk, settings.solver)
    certain = float(weight.min()) * np.log(2.0)  # a smaller sum of losses leaves every row on its side

    def done(state: State) -> bool:
        precise = polished(state) if accuracy == 0 else state.decrement <= 0.1 * settings.tol * state.value
        return state.value < certain or precise

    state, n_iter = run(solver(risk, first(risk, start)), done, min(settings.max_iter, STEPS), record)
    if state.value >= certain:
        known = information(risk, state.V)
        model = _model(risk, design, minimum_norm(risk, state.V, known))
        primal, gradient = risk.value_and_gradient(first(risk, (model.coef, model.intercept)))
        gap = suboptimality(risk, gradient, known)
        certificate = statement(risk, model.coef, model.intercept, settings, primal, primal - gap, "decrement")
        if certificate.relative_gap <= settings.tol:
            attributes = {
                "log_likelihood_": -primal,
                "rank_": len(known.root) // risk.k,
                "standard_errors_": standard_errors(risk, known),
            }
            return Fit(model, certificate, Status.CERTIFIED, n_iter, attributes=attributes)
    # near a maximum at infinity the information is no guide to what the rows determine: the weights as they are
    model = _model(risk, design, state.V)
    try:
        found = search(design, targets).certificate
    except UndecidedError as error:
        warning = SeparationWarning(
            f"After {n_iter} steps the likelihood still grows, so there is probably no finite maximum, but that is not "
            f"proved: {error} Use C < inf, or bias_reduction='firth'."
        )
        return Fit(model, None, Status.UNCERTIFIED, n_iter, warnings=(warning,))
    if isinstance(found, Inseparable) and found.verdict == "overlapping":
        slow = not_converged(n_iter, certificate, state, settings)
        return Fit(model, None, Status.UNCERTIFIED, n_iter, warnings=(slow,))
    return Fit(
        model,
        found,
        Status.NO_MAXIMUM,
        n_iter,
        attributes={"log_likelihood_": -state.value, "standard_errors_": None},
        warnings=(separation_warning(found, design),),
    )


def _model(risk: Risk, design: Design, V: Floats) -> Hyperplanes:
    coef, intercept = risk.design.user_units(V @ class_basis(risk).T)
    return Hyperplanes(design.rounded(coef), design.rounded(intercept))


def class_basis(risk: Risk) -> Floats:
    """(K, k): how the classes' weights follow from the columns of V; (1, 1) for two classes."""
    return risk.basis if isinstance(risk, SoftmaxRisk) else np.ones((1, 1))


def minimum_norm(risk: Risk, V: Floats, known: Information) -> Floats:
    """Of all V that give the rows the same scores, the one with the smallest weights."""
    p, k = V.shape
    d = risk.design.d
    if not known.null.shape[1]:
        return V
    directions = known.null.T.reshape(-1, k, p)
    unseen = directions[:, :, :d].reshape(len(directions), -1).T  # (k d, m)
    share, *_ = linalg.lstsq(unseen, V[:d].ravel(order="F"))
    return V - np.einsum("m,mkp->pk", share, directions)


def standard_errors(risk: Risk, known: Information) -> Floats:
    """Root of the diagonal of H⁺, the intercept last: (p,) or (K, p); inf for what the data do not determine."""
    p, k = risk.design.p, risk.k
    errors = []
    for direction in class_basis(risk):
        image = _in_user_units(risk, np.einsum("rkp,k->rp", known.root.reshape(-1, k, p), direction))
        unseen = _in_user_units(risk, np.einsum("mkp,k->mp", known.null.T.reshape(-1, k, p), direction))
        size = np.linalg.norm(unseen, axis=0)
        free = size > 1e-7 * np.linalg.norm(unseen, axis=1).max(initial=0.0)
        errors.append(np.where(free, np.inf, np.linalg.norm(image, axis=0)))
    return errors[0] if len(errors) == 1 else np.array(errors)


def _in_user_units(risk: Risk, rows: Floats) -> Floats:
    """Linear forms of V's coordinates as those of (w, b): b = V_d - offset.w."""
    offset, d = risk.design.offset, risk.design.d
    if offset is None or not risk.design.intercept:
        return rows
    rows = rows.copy()
    rows[:, d] -= rows[:, :d] @ offset
    return rows


def separation_warning(found: Separator | Inseparable, design: Design) -> SeparationWarning:
    """Which coefficients run off, and what to do."""
    direction = np.abs(np.asarray(found.coef, dtype=np.float64))
    runaway = np.flatnonzero((direction > 1e-9 * direction.max()).any(axis=0))
    named = ", ".join(design.column(int(j)) for j in runaway[:5]) + (", ..." if len(runaway) > 5 else "")
    verdict = "separable" if isinstance(found, Separator) else found.verdict
    return SeparationWarning(
        f"There is no finite maximum likelihood: the classes are {verdict}, so the likelihood grows for ever as "
        f"the weights of {named} go to infinity along the direction (coef, intercept) of certificate_. The weights "
        "here classify, but have no standard errors. Use C < inf, or bias_reduction='firth'."
    )
