"""`SVC` and `HardMarginSVC`: the machine of each pair of classes, with its certificate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from separatrix._typing import Floats
from separatrix.certificates import Certificate
from separatrix.certificates._kernels import VECTORS, take
from separatrix.design import as_design
from separatrix.errors import ConvergenceWarning, InvalidInputError, SeparatrixError
from separatrix.geometry import Expansion
from separatrix.kernels import KernelRows, Linear, Precomputed
from separatrix.kernels.sample import KernelSample
from separatrix.outcome import Fit, Status
from separatrix.svm.claims import hinge_gap
from separatrix.svm.hard_pairs import hard_pair, widest_pair
from separatrix.svm.kernel_claims import claimed
from separatrix.svm.kernel_svm import Machine, Settings, soft_margin
from separatrix.svm.linear.hard_margin import Widest
from separatrix.svm.linear.machine import Machine as LinearMachine
from separatrix.svm.linear.small_table import small_table
from separatrix.svm.linear_svc import Settings as LinearSettings
from separatrix.svm.linear_svc import bracket, soft
from separatrix.svm.one_vs_one import Member, Pair, assembled, pairs
from separatrix.svm.pair_matrices import PairMatrices
from separatrix.svm.pair_task import Task
from separatrix.svm.together import Solved, all_pairs
from separatrix.svm.walked import Teller

LINEAR_ITERATIONS = 1000


def learn(sample: KernelSample, settings: Settings) -> Fit:
    """One machine for each pair of classes, and all as one expansion over their support vectors."""
    linear, single = isinstance(sample.kernel, Linear), settings.single
    points = sample.points.astype(np.float32) if linear and single else sample.points
    kept = np.arange(sample.n_given)[sample.kept]
    try:
        rows = KernelRows(sample.kernel, sample.points)
        fit, coef = _machines(Task(rows, points, sample.targets, sample.weight, kept, settings, sample.n_given))
    except SeparatrixError:
        raise
    except ValueError as error:  # of the kernel, on these points
        raise InvalidInputError(str(error)) from error
    support, given, vectors = sample.support(fit.attributes["support_"])
    if single and not isinstance(vectors, list):
        vectors = vectors.astype(np.float32)
    attributes = {**fit.attributes, "support_": given, "support_vectors_": vectors, "kernel_": sample.kernel}
    intercept = attributes["intercept_"].astype(np.float64)
    model = Expansion(support, coef.astype(attributes["dual_coef_"].dtype, copy=False), intercept)
    if sparse.issparse(sample.points):  # as scikit-learn has it
        attributes["dual_coef_"] = sparse.csr_matrix(attributes["dual_coef_"])
    return replace(fit, model=model, attributes=attributes, trace=settings.trace)


def _machines(task: Task) -> tuple[Fit, Floats]:
    """Of each pair; see `assembled`."""
    linear, hard = isinstance(task.rows.kernel, Linear), np.isinf(task.settings.C)
    found = pairs(task.targets, by_class=not hard)  # certificates of hard margins count the rows of a pair in order
    if hard:
        members = [
            _linear(task, pair, hard) if linear else hard_pair(task, pair, _teller(task, pair)) for pair in found
        ]
    else:
        members = _soft_pairs(task, found)
    return assembled(task.targets, found, members, task.settings.single)


def _soft_pairs(task: Task, found: list[Pair]) -> list[Member]:
    """The soft margin of each pair; of more than two classes, with each block of the kernel matrix computed once."""
    if task.settings.trace is None:
        solved = all_pairs(task.rows, task.points, task.weight, task.targets, found, task.settings)
    else:  # each is to be watched
        solved = [None] * len(found)
    if isinstance(task.rows.kernel, Linear):
        return [
            _linear(task, pair, False) if one is None else _of_many(task, pair, one, None)
            for pair, one in zip(found, solved, strict=True)
        ]
    kernel, matrices = task.kernel, None
    if not task.targets.binary and (kernel is None or None in solved):
        classes = [np.flatnonzero(task.targets.values == a) for a in range(task.targets.n_classes)]
        matrices = PairMatrices(task.rows, classes, task.settings.cache_bytes)
    return [
        _soft(task, pair, None if matrices is None else partial(matrices, pair.positive, pair.negative))
        if one is None or kernel is None
        else _of_many(task, pair, one, kernel)
        for pair, one in zip(found, solved, strict=True)
    ]


def _of_many(task: Task, pair: Pair, solved: Solved, kernel: Mapping[str, Any] | None) -> Member:
    """A machine that was solved with all others."""
    margin = solved.square**-0.5 if solved.square > 0 else np.inf
    sure = kernel is None or kernel["kernel"] in VECTORS
    claim = _gap(task, pair, solved, kernel)
    return Member.of_expansion(solved, pair.y, margin, claim, Status.CERTIFIED, weights=solved.w, sure=sure)


def _soft(task: Task, pair: Pair, matrix: Callable[[], Floats] | None) -> Member:
    """1/2 ‖w‖² + C sum_i c_i max(0, 1 - y_i f(x_i)) in feature space."""
    settings = task.settings
    bound = settings.C * task.weight[pair.rows]
    rows = task.rows if len(pair.rows) == task.rows.n else task.rows.only(pair.rows)
    start = settings.starts.get((pair.positive, pair.negative))
    start = None if start is None else start[pair.rows]
    machine = soft_margin(rows, pair.y, bound, settings, start, matrix, _teller(task, pair))
    kernel = task.kernel
    if machine.semidefinite and kernel is not None:
        points = partial(_points, task, pair)
        machine = claimed(machine, rows, task.unit, points, kernel, pair.y, bound, settings)
    status, warning = _verdict(machine, settings, kernel is not None, task.rows.kernel)
    certificate = _gap(task, pair, machine, kernel) if machine.semidefinite and kernel is not None else None
    margin = 1.0 / float(np.sqrt(machine.square)) if machine.square > 0 else np.inf
    return Member.of_expansion(machine, pair.y, margin, certificate, status, warning)


def _teller(task: Task, pair: Pair) -> Teller | None:
    """Who records the moves of this pair's machine, if they are to be."""
    if task.settings.trace is None:
        return None
    k = task.targets.n_classes
    a, c = pair.positive, pair.negative
    number = None if k == 2 else a * (2 * k - a - 1) // 2 + c - a - 1
    return Teller(task.settings.trace, task.kept[pair.rows], task.n_given, number)


def _points(task: Task, pair: Pair) -> Any:
    """The points of the pair as the checker takes them; of a precomputed kernel, the columns too."""
    if len(pair.rows) == task.rows.n:
        return task.points
    if isinstance(task.rows.kernel, Precomputed):
        return task.points[pair.rows][:, pair.rows]
    return take(task.points, pair.rows)


def _gap(task: Task, pair: Pair, machine: Any, kernel: Mapping[str, Any] | None) -> Certificate | None:
    sides, rows = (pair.positive, pair.negative), task.kept[pair.rows]
    return hinge_gap(machine, task.targets, task.settings, task.settings.fit_intercept, sides, rows, kernel)


def _verdict(machine: Machine, settings: Settings, checkable: bool, kernel: Any) -> tuple[Status, Warning | None]:
    if machine.semidefinite is False:
        return Status.LOCAL, ConvergenceWarning(
            f"The kernel {kernel} is not positive semidefinite on these points, so the problem is not convex: this is "
            "a local solution of its dual, and nothing is claimed about others. Use another kernel, or other settings."
        )
    if machine.semidefinite is None:
        return Status.LOCAL, ConvergenceWarning(
            f"Whether the kernel {kernel} is positive semidefinite is not known, and there are too many points to test "
            "it: this is a stationary point of the dual, and nothing is claimed about others."
        )
    if machine.relative_gap > settings.tol:
        return Status.UNCERTIFIED, ConvergenceWarning(
            f"Stopped after {machine.n_iter} iterations at a relative gap of {machine.relative_gap:.1e}, above "
            f"tol={settings.tol:g}: raise max_iter or tol, lower C, or scale the columns of X."
        )
    if not checkable:
        return Status.UNCERTIFIED, ConvergenceWarning(
            f"The relative gap is {machine.relative_gap:.1e}, but the checker does not know the kernel {kernel}, so "
            "there is no certificate: pass a function k(A, B), which it can call, or kernel='precomputed'."
        )
    return Status.CERTIFIED, None


def _linear(task: Task, pair: Pair, hard: bool) -> Member:
    """The same with k(a, b) = a.b, where w is a vector: through the methods of `LinearSVC`."""
    settings = task.settings
    whole = len(pair.rows) == len(task.weight)
    design = as_design(task.points if whole else task.points[pair.rows], settings.fit_intercept)
    most = LINEAR_ITERATIONS if settings.trace is None else settings.max_iter
    linear = LinearSettings(settings.C, "hinge", settings.tol, most)
    found: Widest | LinearMachine
    certificate: Certificate | None
    if hard:
        found = wide = widest_pair(design, task, pair, linear, _teller(task, pair))
        certificate = bracket(wide, design, task.targets, pair.positive, pair.negative)
    else:
        bound = settings.C * task.weight[pair.rows]
        found = soft(design, pair.y, bound, linear, table=small_table(design, bound), tell=_teller(task, pair))
        certificate = _gap(task, pair, found, None)
    scores = design.anchored()
    f = scores.dot(scores.from_user_units(found.w[None], np.array([found.b])))[:, 0]
    length = float(np.linalg.norm(found.w))
    warning = ConvergenceWarning(
        f"Stopped after {found.n_iter} iterations at a relative gap of {found.relative_gap:.1e}, above "
        f"tol={settings.tol:g}: raise tol, lower C, or scale the columns of X to moderate size."
    )
    within = found.relative_gap <= settings.tol
    return Member(
        coef=found.alpha * pair.y,
        support=found.alpha > 0,
        intercept=found.b,
        slack=np.maximum(0.0, 1.0 - pair.y * f),
        margin=1.0 / length if length > 0 else np.inf,
        weights=found.w,
        certificate=certificate,
        status=(Status.BRACKETED if hard else Status.CERTIFIED) if within else Status.UNCERTIFIED,
        warning=None if within else warning,
        n_iter=max(1, found.n_iter),
        sure=within and not hard,  # what is stated of a soft margin are the sums of the check
    )
