"""The plan: Newton steps first, linear programs for what they leave open, exact arithmetic where floats cannot tell.

Nothing is returned that its certificate does not verify.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from separatrix._typing import Array, Floats, Integers
from separatrix.certificates import Inseparable, Separator
from separatrix.certificates._held import blocks_of, dense
from separatrix.design import Block, Design, as_design
from separatrix.design.reducing import Parts
from separatrix.design.row_space import ROTATED
from separatrix.errors import UndecidedError
from separatrix.separation.cone import Cone, conditioned, powers_of_two
from separatrix.separation.directions import separator, shortest, user_units, with_first_class
from separatrix.separation.faces import prove
from separatrix.separation.integers import Pair, WholeRows, independent
from separatrix.separation.newton import newton
from separatrix.separation.programs import ZERO, LeadProgram, largest_lead
from separatrix.separation.repair import ExactWeights, filled, only_support, repaired
from separatrix.separation.touching import balance, one_column
from separatrix.separation.twins import between_twins
from separatrix.separation.work import Work
from separatrix.targets import Targets

SMALL_ORDER = 150  # coefficients, and
SMALL_ENTRIES = 20_000_000  # entries, up to which exact arithmetic is tried without being asked for
SMALL_BALANCE = 30_000_000  # steps of elimination, the same
HINTS = 400  # rows that the exact method starts from
TOLERANCE = 2.0**-44  # to which the sums of float weights are claimed to be 0


def search(design: Design, targets: Targets, exact: bool = False, max_work: float = np.inf) -> Separator | Inseparable:
    """The proof whether the classes are separable: by hyperplane for two, in the softmax sense for more.

    Raises `UndecidedError` if floats cannot tell, the problem is large, and exact arithmetic was not asked for; and
    after ``max_work`` products of whole numbers, or what takes as long.
    """
    return Search(design, targets.values, targets.classes, exact, Work(max_work)).run()


@dataclass(frozen=True)
class Search:
    """Rows, class codes and labels, whether the proof must be exact, and what it may cost."""

    design: Design
    codes: Integers
    classes: Array
    exact: bool
    work: Work

    def run(self) -> Separator | Inseparable:
        """The certificate of the verdict."""
        if self.design.d > self.design.n and self.design.n * self.design.d <= ROTATED:
            found = self._on_few_columns()
            if found is not None:
                return found
        return self._on_all_columns()

    def _on_few_columns(self) -> Separator | Inseparable | None:
        """Independent rows can have any scores, so they are separable; None unless that, or few columns, tell.

        As many columns as rows span the others, and an answer for these is one for all, if it verifies.
        """
        x = self.design.array()
        size = powers_of_two(self.design)
        x1 = np.column_stack([x * size, np.full((self.design.n, int(self.design.intercept)), 1.0)])
        own = np.eye(len(self.classes))[self.codes]
        found: Separator | Inseparable | None
        try:
            weights = linalg.cho_solve(linalg.cho_factor(x1 @ x1.T), own[:, 1:] - own[:, :1])
            found = self._separated(Cone(self.design.scaled(size), self.codes, len(self.classes)), x1.T @ weights)
        except linalg.LinAlgError:
            found = None
        if found is None and len(self.classes) == 2:
            level = between_twins(self.design, self.codes)
            found = None if level is None else self._inseparable(ExactWeights(level[0], (), ()), level[1])
        if found is not None:
            return found
        columns = np.sort(independent((x * size).T))
        if not len(columns):
            return None
        few = replace(self, design=as_design(np.ascontiguousarray(x[:, columns]), self.design.intercept))
        try:
            found = few._on_all_columns()
        except UndecidedError:
            return None
        if found.coef is not None:
            coef = np.zeros((len(found.coef), self.design.d), dtype=found.coef.dtype)
            coef[:, columns] = found.coef
            found = replace(found, coef=coef)
        return found if self.design.lend(found.verify, self.classes[self.codes]) else None

    def _on_all_columns(self) -> Separator | Inseparable:
        cone = conditioned(self.design, self.codes, len(self.classes))
        steps = newton(cone)
        found: Separator | Inseparable | None = None
        if steps.separates:
            found = self._separated(cone, steps.V)
        elif steps.weights is not None:
            if not self.exact and (steps.clear or cone.q > SMALL_ORDER):
                near = ExactWeights(steps.weights, (), ())
                found = self._inseparable(near, bound=self._margin_bound(steps.weights))
            if found is None and (self.exact or cone.q <= SMALL_ORDER):
                found = self._inseparable(repaired(WholeRows(cone), steps.weights))
        if found is not None:
            return found
        program = largest_lead(cone, steps.V, self.work)
        hints: list[Pair] = []
        if program is not None:
            found = self._separated(cone, program.V) if program.separates else self._touching(cone, program)
            if found is not None:
                return found
            hints = [(int(i), int(c)) for i, c in zip(program.rows[:HINTS], program.rivals[:HINTS], strict=True)]
        if not (self.exact or (cone.q <= SMALL_ORDER and cone.size * cone.q <= SMALL_ENTRIES)):
            raise UndecidedError(
                f"Rounding in float64 hides whether these {self.design.n} rows can be separated: call "
                "separability(X, y, exact=True), which decides in rational arithmetic and may take long."
            )
        return self._proved(cone, hints, steps.weights)

    def _separated(self, cone: Cone, V: Floats) -> Separator | None:
        with np.errstate(over="ignore", invalid="ignore"):
            coef, intercept = cone.design.user_units(V)
        if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
            return None
        return separator(self.design, self.codes, self.classes, coef, intercept)

    def _touching(self, cone: Cone, program: LeadProgram) -> Inseparable | None:
        """Quasi-separation by one column, if the rows that bind in the program balance exactly."""
        support = [(int(i), int(c)) for i, c in zip(*program.support, strict=True)]
        if program.margin > ZERO or not (self.exact or len(support) ** 2 * cone.q <= SMALL_BALANCE):
            return None
        direction = one_column(self.design, self.codes, len(self.classes))
        if direction is None or not support:
            return None
        whole = WholeRows(cone)
        weights = balance(whole, support)
        if weights is None:
            return None
        return self._inseparable(only_support(whole, tuple(weights), tuple(weights.values())), direction)

    def _proved(self, cone: Cone, hints: list[Pair], near: Floats | None) -> Separator | Inseparable:
        """The verdict in rational arithmetic."""
        whole = WholeRows(cone)
        faces = prove(whole, hints, self.work)
        found: Separator | Inseparable | None
        if faces.direction is not None and not faces.support:
            coef, intercept = user_units(whole, shortest(whole, faces.direction))
            found = separator(self.design, self.codes, self.classes, coef, intercept)
        elif faces.direction is None:
            found = self._inseparable(filled(whole, near, faces.support, faces.weights))
        else:
            weights = only_support(whole, faces.support, faces.weights)
            found = self._inseparable(weights, user_units(whole, faces.direction))
        assert found is not None, "an exact proof verifies"
        return found

    def _inseparable(
        self, weights: ExactWeights | None, direction: tuple[Array, Array] | None = None, bound: float = 0.0
    ) -> Inseparable | None:
        """The certificate of these weights, quasi-separable in a direction if there is one; None if it does not hold.

        With a bound on the margin their sums are 0 up to rounding, else exactly.
        """
        if weights is None:
            return None
        k, (coef, intercept) = len(self.classes), direction or (None, None)
        binary = k == 2
        if direction is not None and not binary:
            coef, intercept = with_first_class(*direction)
        fractions = np.empty(len(weights.fractions), dtype=object)
        fractions[:] = weights.fractions
        certificate = Inseparable(
            classes=self.classes,
            positive=1 if binary else None,
            fit_intercept=self.design.intercept,
            verdict="overlapping" if direction is None else "quasi-separable",
            exact=bound == 0.0,
            weights=weights.floats.sum(axis=1) if binary else weights.floats,  # of two classes one of each pair is 0
            exact_at=np.array([i if binary else i * k + c for i, c in weights.at], dtype=np.intp),
            exact_weights=fractions,
            coef=coef,
            intercept=intercept,
            margin_bound=bound,
        )
        return certificate if self.design.lend(certificate.verify, self.classes[self.codes]) else None

    def _margin_bound(self, weights: Floats) -> float:
        """What sums of at most TOLERANCE times their terms' sizes prove: see `Inseparable`."""
        first = np.asarray(self.design.block(0, 1).tdot(np.ones((1, 1))))[: self.design.d, 0]
        if not self.design.intercept:
            first = first * 0
        size, total, reach = self.design.reduce(_sizes, self.codes, weights, args=(first,), rules=("sum", "sum", "max"))
        if len(self.classes) == 2:
            return float(1.001 * TOLERANCE * np.linalg.norm(size[0]) / total * np.hypot(1.0, reach))
        return float(1.001 * TOLERANCE * np.linalg.norm(size) / total)


def _sizes(block: Block, codes: Array, lam: Floats, first: Floats) -> Parts:
    """The sizes of what the sums of each class consist of, the total weight, and the longest row about the first."""
    out, reach = np.zeros((lam.shape[1], len(first) + 1)), 0.0
    for rows in blocks_of(len(codes), 1, 1024):
        about = np.abs(dense(block.x[rows]) - first)
        reach = max(reach, float(np.linalg.norm(about, axis=1).max()))
        both = lam[rows].copy()
        both[np.arange(len(both)), codes[rows]] += both.sum(axis=1)
        out += both.T @ np.column_stack([about, np.ones(len(about))])
    return out, lam.sum(), reach
