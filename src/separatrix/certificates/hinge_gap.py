"""The duality gap of a support vector machine, with its Karush-Kuhn-Tucker conditions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.certificates._blocks import RowBlocks, in_blocks
from separatrix.certificates._data import ALLOWED, TINY, read_rows, two_classes
from separatrix.certificates._hinge import CLOSE, Sums, Task, kernel_sums, linear_sums
from separatrix.certificates._kernels import (
    checked_kernel,
    count,
    finite_rows,
    indefiniteness,
    only,
    points_of,
    semidefinite_check,
)
from separatrix.certificates._witness import factors, flag, number, positions, shaped, sides, tolerance
from separatrix.certificates.base import Check, Verification
from separatrix.certificates.duality_gap import DualityGap


@dataclass(frozen=True, eq=False, repr=False)
class HingeGap(DualityGap):
    """dual <= min of 1/2 ‖w‖² + C sum_i c_i loss(y_i f(x_i)) <= primal, where f(x) = w.x + b.

    For "hinge", loss(m) = max(0, 1 - m): for any alpha with 0 <= alpha_i <= C c_i and (b being free) sum_i alpha_i y_i
    = 0, the minimum is at least sum_i alpha_i - 1/2 ‖sum_i alpha_i y_i x_i‖². For "squared_hinge", loss(m) =
    max(0, 1 - m)², alpha has no upper bound, and sum_i alpha_i² / (4 C c_i) is subtracted.

    The numbers stated are bounds, rounded outward. Rounding in the check may take a tenth of `tol`; where float64 would
    need more, the check fails.

    Parameters
    ----------
    loss : str
        "hinge" or "squared_hinge".
    C : float
        Weight of the losses.
    classes : array of shape (k,)
        The labels.
    class_weight : array of shape (k,) or None
        The factor of each class in the weights c_i.
    positive, negative : int, and int or None
        Positions in `classes` of the labels with y_i = +1 and -1; None for all others. Rows of neither play no part.
    fit_intercept : bool
        Whether b is free.
    coef : array of shape (d,) or None
        w; None with a kernel.
    intercept : float
        b.
    kernel : dict or None
        Name and settings of the kernel; None for a hyperplane.
    points, alpha : arrays of shape (m,)
        The rows with alpha_i > 0, counted in the data as given, and their alpha_i.
    expansion : array of shape (m,) or None
        With a kernel, f(x) = sum_i expansion_i k(x_i, x) + b over the same points.
    primal, dual, tol : float
        As for every `DualityGap`.
    """

    loss: str
    C: float
    classes: Any
    class_weight: Any
    positive: int
    negative: int | None
    fit_intercept: bool
    coef: Any
    intercept: float
    kernel: Any
    points: Any
    alpha: Any
    expansion: Any

    @property
    def claim(self) -> str:
        """What is claimed, in one sentence."""
        power = "²" if self.loss == "squared_hinge" else ""
        return (
            f"1/2 ‖w‖² + {self.C:g} sum_i c_i max(0, 1 - y_i f(x_i)){power} is {self.primal:.10g} here, and at least "
            f"{self.dual:.10g} everywhere: a relative gap of {self.relative_gap:.1e}."
        )

    @property
    def in_sums(self) -> bool:
        """Whether the check is sums over a few rows at a time."""
        return self.kernel is None

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        self._require_fields()
        if in_blocks(X):
            X, y, sample_weight = RowBlocks.of(X, y, sample_weight, read_rows)
        y = np.asarray(y.toarray() if hasattr(y, "toarray") else y).ravel()
        task, kept, expansion, below = self._task(y, sample_weight)
        used = slice(0) if task.squared else task.alpha > 0  # where C c_i underflows to 0, alpha_i = 0 is within it
        over = float((task.alpha[used] / task.bound[used] - 1.0).max(initial=0.0))
        tilt = abs(float(task.signs @ task.alpha)) if task.intercept else 0.0
        balance = tilt / max(float(task.alpha.sum()), TINY)
        sums, kernel = self._recomputed(X, len(y), task, kept, expansion)
        scale = max(abs(self.primal), TINY)
        allowed, gap, error = ALLOWED * self.tol * scale, self.tol * scale, sums.error
        spare = allowed + 2 * error  # the gap recomputed may be above the one stated by so much
        checks = (
            Check("dual feasibility: alpha below 0 or outside the problem, by", below),
            Check("dual feasibility: alpha above C c_i, relative to it, by", over, 0.0, CLOSE),
            Check("dual feasibility: sum of alpha_i y_i, relative to that of alpha_i", balance, 0.0, 1e-9),
            Check("stationarity: ‖w - sum alpha_i y_i x_i‖² / 2", sums.pull, gap, sums.pull_error + spare),
            Check(
                "complementary slackness, largest alpha_i (y_i f - 1 + xi_i)",
                sums.slackness,
                gap,
                sums.slackness_error + spare,
            ),
            Check("primal as stated, off by", abs(sums.primal - self.primal), allowed, sums.primal_error),
            Check("stated lower bound above the bound, by", self.dual - sums.dual, 0.0, sums.dual_error),
            Check("relative gap", (self.primal - self.dual) / scale, self.tol),
            Check("rounding errors, relative to the objective", error / scale, ALLOWED * self.tol),
            *kernel,
        )
        return Verification(checks)

    def _require_fields(self) -> None:
        """`ValueError` for a field that no claim can have."""
        sides(self)
        factors(self.class_weight, len(self.classes))
        if self.loss not in ("hinge", "squared_hinge"):
            raise ValueError(f"The field 'loss' must be 'hinge' or 'squared_hinge'; it is {self.loss!r:.80}.")
        number(self.C, "C", 0.0)
        tolerance(self.tol)
        for name in ("intercept", "primal", "dual"):
            number(getattr(self, name), name)
        if not flag(self.fit_intercept, "fit_intercept") and self.intercept != 0:
            raise ValueError("The field 'intercept' must be 0, as 'fit_intercept' is False.")
        m = np.size(self.points)
        shaped(self.alpha, "alpha", m)
        linear = self.kernel is None
        if (self.coef is None) is linear or (self.expansion is None) is not linear:
            raise ValueError("A certificate has the field 'coef', or 'kernel' and 'expansion', and not both.")
        if linear:
            shaped(self.coef, "coef", np.size(self.coef))
        else:
            checked_kernel(self.kernel)
            shaped(self.expansion, "expansion", m)

    def _recomputed(self, X: Any, n: int, task: Task, kept: Any, expansion: Any) -> tuple[Sums, tuple[Check, ...]]:
        """Both sides, and with a kernel whether it is one."""
        if self.kernel is None:
            rows = X if isinstance(X, RowBlocks) else finite_rows(X)
            if rows.shape != (n, np.size(self.coef)):
                raise ValueError(f"X of shape {rows.shape} does not fit {n} labels and {np.size(self.coef)} weights.")
            if kept is not None:
                rows = rows.only(kept) if isinstance(rows, RowBlocks) else rows[kept]
            w = np.asarray(self.coef, dtype=np.float64)
            return linear_sums(rows, task, w, float(self.intercept), self.tol), ()
        rows = points_of(self.kernel, X)
        if count(rows) != n:
            raise ValueError(f"{count(rows)} points and {n} labels do not fit together.")
        if kept is not None:
            rows = only(self.kernel, rows, kept)
        figure, shift = indefiniteness(self.kernel, rows, len(task.alpha))
        sums = kernel_sums(self.kernel, rows, task, expansion, float(self.intercept), self.tol, shift)
        return sums, (semidefinite_check(figure, shift),)

    def _task(self, y: Any, sample_weight: Any) -> tuple[Task, Any, Any, float]:
        """Signs, bounds and multipliers of the rows that count; which these are, None for all; the expansion of a
        kernel; how far alpha is below 0, or of other rows.
        """
        kept, signs, weight = two_classes(self, y, len(y), sample_weight, self.class_weight)
        if not len(kept):
            raise ValueError("No row of these data is of the certificate's classes.")
        points = positions(self.points, "points", len(y))
        alpha = _placed(points, self.alpha, len(y))
        expansion = None if self.expansion is None else _placed(points, self.expansion, len(y))
        below = max(0.0, -float(alpha.min(initial=0.0)))
        every = len(kept) == len(y)
        if not every:
            below += float(np.abs(np.delete(alpha, kept)).sum())
            alpha = alpha[kept]
            if expansion is not None:
                below += float(np.abs(np.delete(expansion, kept)).sum())
                expansion = expansion[kept]
        squared = self.loss == "squared_hinge"
        task = Task(signs, float(self.C) * weight, alpha, bool(self.fit_intercept), squared)
        return task, None if every else kept, expansion, below


def _placed(points: Any, values: Any, n: int) -> Any:
    """Values of some of n rows, 0 for the others."""
    found = np.zeros(n)
    found[points] = values
    return found
