"""Maximum likelihood, C = inf: when it exists, with its covariance; when it does not, with the direction that shows it.

The log-likelihood of logistic regression is generalised self-concordant, |f'''| <= rho f'' along any direction of unit
length in the norm of the Hessian, where rho is the largest length of a row in the dual norm (for several classes, of a
difference of two classes' rows). So from the point where the gradient has the length lambda in the dual norm,
with x = lambda rho < 1, the maximum exists and is at most (x + (1 - x) log(1 - x)) / rho² above.

That holds on the space that the rows span, and what they span is decided by the rows: in coordinates in which they are
orthonormal, the Hessian is as well conditioned as the probabilities are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from separatrix._typing import Floats
from separatrix.cached import cached_property
from separatrix.certificates import Inseparable, LogisticGap, Separator
from separatrix.certificates._data import Data
from separatrix.certificates._decrement import WIDEST, decrement
from separatrix.certificates._logistic import Bounds, Problem
from separatrix.certificates._row_basis import RowBasis, row_basis
from separatrix.design import Design
from separatrix.errors import ConvergenceWarning, SeparationWarning, UndecidedError
from separatrix.geometry import Hyperplanes
from separatrix.logistic.choose import choose
from separatrix.logistic.penalised import (
    Settings,
    Watch,
    draft,
    first,
    in_user_units,
    make_risk,
    on_states,
    polished,
    recovered,
)
from separatrix.logistic.row_coordinates import RowCoordinates, row_coordinates
from separatrix.outcome import Fit, Status
from separatrix.problems.risk import Risk
from separatrix.separation.search import search
from separatrix.solvers.claims import not_converged, statement
from separatrix.solvers.driver import State, run
from separatrix.targets import Targets

STEPS = 100  # Newton steps after which the maximum is in doubt
ATTEMPTS = 3  # certificates that are tried before the maximum is
ROTATED = 1 << 26  # bytes of rows that are held in coordinates of their own
CLOSE = 1e-12  # of F, to which it is solved where the gradient tells
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Likelihood:
    """The rows, and what they determine; the same for all weights that are asked about."""

    design: Design
    targets: Targets
    weight: Floats
    settings: Settings

    @property
    def data(self) -> Data:
        """As the check reads them."""
        return self.design.lend(Data, self.targets.values, self.weight)

    @cached_property
    def proof(self) -> Separator | Inseparable | UndecidedError:
        """Whether the classes can be separated, or why that is not known."""
        try:
            return search(self.design, self.targets)
        except UndecidedError as error:
            return error

    @property
    def unbounded(self) -> bool:
        """Whether it is proved that there is no maximum."""
        return not isinstance(self.proof, UndecidedError) and self.proof.verdict != "overlapping"

    @cached_property
    def basis(self) -> RowBasis | None:
        """The space that the rows span; None if there are too many columns to tell, or there is no use for it.

        Rows of as many coefficients are nearly always separable, and that is soon proved.
        """
        if self.design.d > WIDEST or (self.design.p >= self.design.n and self.unbounded):
            return None
        with np.errstate(all="ignore"):
            return row_basis(self.data, self.design.intercept)

    @cached_property
    def risk(self) -> Risk:
        """The objective, in coordinates in which the rows are orthonormal if they fit in memory twice."""
        design, basis = self.design, self.basis
        fits = basis is not None and len(basis.live) > 0 and 8 * design.n * basis.order <= ROTATED
        if basis is None or not fits or not np.isfinite(basis.T).all():
            return make_risk(design.anchored(), self.targets, self.weight, self.settings)
        return make_risk(row_coordinates(design, basis, self.weight), self.targets, self.weight, self.settings)

    def primal(self, model: Hyperplanes) -> float:
        """F at these weights."""
        claim = draft(self.design, self.targets, model.coef, model.intercept, self.settings)
        with np.errstate(all="ignore"):
            return Problem(self.data, claim).primal()[0]

    def bounds(self, coef: Floats, intercept: Floats) -> tuple[LogisticGap, Bounds]:
        """F at these weights, and what it is everywhere at least."""
        claim = draft(self.design, self.targets, coef, intercept, self.settings)
        with np.errstate(all="ignore"):
            problem = Problem(self.data, claim)
            primal, error = problem.primal()
            gap = decrement(problem, self.basis) if self.basis is not None else np.inf
            least = primal - 1.01 * gap
        return claim, Bounds(primal, error, least, error) if least > error else Bounds(primal, error, 0.0, 0.0)

    def doubts(self) -> str:
        """Which columns may be a combination of others or not."""
        if self.basis is None or not self.basis.unproved:
            return ""
        j, others = self.basis.unproved[0]
        column = self.design.column
        named = " and ".join(map(column, others[:3])) or "a constant"
        return (
            f" {column(j).capitalize()} equals {'a combination of ' if len(others) > 1 else ''}{named} up to rounding, "
            "but not exactly, and the maximum depends on the difference: drop it, or use C < inf."
        )


@dataclass(frozen=True)
class Information:
    """The Fisher information H at V, factored on the directions that the data determine."""

    root: Floats  # root' root = H⁺, so that root H root' = 1: (r, k p)
    null: Floats  # directions that no row sees, as columns: (k p, m)

    @property
    def covariance(self) -> Floats:
        """H⁺ (k p, k p)."""
        return np.asarray(self.root.T @ self.root)


def information(risk: Risk, V: Floats) -> Information:
    """Factor the Hessian of the unpenalised risk, with unit diagonal so that the columns' units do not matter."""
    H = risk.hessian(V)
    size = np.sqrt(np.where(np.diag(H) > 0, np.diag(H), 1.0))
    A = H / np.outer(size, size)
    L, singular = linalg.lapack.dpotrf(A, lower=True, clean=True)
    if not singular and L.diagonal().min() > 1e-4:
        return Information(linalg.lapack.dtrtri(L, lower=True)[0] / size, np.empty((len(H), 0)))
    values, Q = linalg.eigh(A)
    live = values > 8 * len(values) * EPS * values[-1]
    return Information((Q[:, live] / np.sqrt(values[live])).T / size, Q[:, ~live] / size[:, None])


def maximum_likelihood(
    design: Design, targets: Targets, weight: Floats, settings: Settings, watch: Watch | None = None
) -> Fit:
    """Solve without a penalty; certify by the bound of the module, or prove that there is no maximum."""
    likelihood = Likelihood(design, targets, weight, settings)
    risk = likelihood.risk
    told = isinstance(risk.design, RowCoordinates) and settings.solver == "auto"
    target, total = min(0.1 * settings.tol, CLOSE if told else 1.0), float(weight.sum())

    def within(gradient: Floats, value: float) -> bool:  # of orthonormal rows; curvatures are about 1 / K
        return targets.n_classes * float(np.vdot(gradient, gradient)) <= target * total * value

    solver, accuracy = choose(risk, settings.solver, within if told else None)
    exact = accuracy == 0
    certain = float(weight.min()) * np.log(2.0)  # a smaller sum of losses leaves every row on its side

    def done(state: State) -> bool:
        if exact:
            precise = polished(state)
        else:
            precise = within(state.gradient, state.value) if told else state.decrement <= target * state.value
        return state.value < certain or precise

    states = recovered(solver, risk, first(risk, settings.start))
    record = on_states(risk, watch)
    limit = min(settings.max_iter, STEPS) if exact else settings.max_iter
    n_iter = -1
    for _ in range(ATTEMPTS):
        state, n_iter = run(states, done, limit, record, first=n_iter + 1)
        if state.value < certain:
            break
        model = _shortest(likelihood, in_user_units(risk, design, state.V))
        fit = certified(likelihood, model, n_iter)
        if fit is not None:
            return fit
        if state.stalled or n_iter >= limit:
            break
        target *= 0.01
    return without_certificate(likelihood, in_user_units(risk, design, state.V), n_iter, stalled=n_iter < limit)


def certified(likelihood: Likelihood, model: Hyperplanes, n_iter: int) -> Fit | None:
    """The fit of these weights, if they are within tol of the maximum."""
    claim, found = likelihood.bounds(model.coef, model.intercept)
    certificate, within = statement(claim, found)
    if not within:
        return None
    risk, basis = likelihood.risk, likelihood.basis
    assert basis is not None
    attributes: dict[str, Any] = {"log_likelihood_": -found.primal, "rank_": basis.order}
    if risk.design.p * risk.k <= WIDEST:
        known = information(risk, first(risk, (model.coef, model.intercept)))
        attributes["standard_errors_"] = standard_errors(risk, known, _unseen(likelihood))
    return Fit(model, certificate, Status.CERTIFIED, n_iter, attributes=attributes)


def without_certificate(likelihood: Likelihood, model: Hyperplanes, n_iter: int, stalled: bool) -> Fit:
    """The fit of these weights, with a proof that there is no maximum if there is none."""
    design, settings = likelihood.design, likelihood.settings
    doubts = likelihood.doubts()
    found = likelihood.proof
    if isinstance(found, UndecidedError):
        warning = SeparationWarning(
            f"After {n_iter} steps the likelihood still grows, so there is probably no finite maximum, but that is not "
            f"proved: {found} Use C < inf, or bias_reduction='firth'.{doubts}"
        )
        return Fit(model, None, Status.UNCERTIFIED, n_iter, warnings=(warning,))
    if found.verdict == "overlapping":
        certificate, _ = statement(*likelihood.bounds(model.coef, model.intercept))
        slow = not_converged(n_iter, certificate, stalled, settings.tol)
        return Fit(model, None, Status.UNCERTIFIED, n_iter, warnings=(ConvergenceWarning(f"{slow}{doubts}"),))
    return Fit(
        model,
        found,
        Status.NO_MAXIMUM,
        n_iter,
        attributes={"log_likelihood_": -likelihood.primal(model), "standard_errors_": None},
        warnings=(separation_warning(found, design),),
    )


def _shortest(likelihood: Likelihood, model: Hyperplanes) -> Hyperplanes:
    """Of all weights that give the rows the same scores, the shortest."""
    basis = likelihood.basis
    if basis is None or not basis.null.shape[1]:
        return model
    share, *_ = linalg.lstsq(basis.null, model.coef.T)
    coef = model.coef - (basis.null @ share).T
    moved = _first_row(likelihood.design) @ basis.null @ share  # the rows' common score along these directions
    intercept = model.intercept + moved if likelihood.design.intercept else model.intercept
    return Hyperplanes(likelihood.design.rounded(coef), likelihood.design.rounded(intercept))


def _first_row(design: Design) -> Floats:
    x, _, _ = next(design.take(slice(0, 1)).lend(Data, np.zeros(1), np.ones(1)).blocks())
    return np.asarray(x[0])


def _unseen(likelihood: Likelihood) -> Floats:
    """Directions (m, p) of the weights of a class that change no score, the intercept last."""
    assert likelihood.basis is not None
    null = likelihood.basis.null
    if not likelihood.design.intercept:
        return np.asarray(null.T)
    constant = _first_row(likelihood.design) @ null
    size = np.abs(_first_row(likelihood.design)) @ np.abs(null)
    constant = np.where(np.abs(constant) > 8 * len(null) * EPS * size, constant, 0.0)
    return np.column_stack([null.T, -constant])


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


def standard_errors(risk: Risk, known: Information, unseen: Floats | None = None) -> Floats:
    """Root of the diagonal of H⁺, the intercept last: (p,) or (K, p); inf for what the data do not determine.

    ``unseen`` (m, p) are directions of the weights, in the user's units, that no row sees.
    """
    p, k = risk.design.p, risk.k
    size = np.zeros(1) if unseen is None else np.linalg.norm(unseen, axis=0)
    free = size > 1e-7 * size.max(initial=0.0)
    errors = []
    for root in np.tensordot(risk.basis, known.root.reshape(-1, k, p), axes=(1, 1)):
        coef, intercept = risk.design.user_units(root.T)
        image = np.column_stack([coef, intercept]) if risk.design.intercept else coef
        errors.append(np.where(free, np.inf, np.linalg.norm(image, axis=0)))
    return errors[0] if len(errors) == 1 else np.array(errors)


def separation_warning(found: Separator | Inseparable, design: Design) -> SeparationWarning:
    """Which coefficients run off, and what to do."""
    direction = np.abs(np.asarray(found.coef, dtype=np.float64))
    runaway = np.flatnonzero((direction > 1e-9 * direction.max()).any(axis=0))
    named = ", ".join(design.column(int(j)) for j in runaway[:5]) + (", ..." if len(runaway) > 5 else "")
    return SeparationWarning(
        f"There is no finite maximum likelihood: the classes are {found.verdict}, so the likelihood grows for ever as "
        f"the weights of {named} go to infinity along the direction (coef, intercept) of certificate_. The weights "
        "here classify, but have no standard errors. Use C < inf, or bias_reduction='firth'."
    )
