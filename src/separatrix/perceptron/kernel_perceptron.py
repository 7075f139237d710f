"""The dual perceptron: alpha_i += c_i at a mistake y_i f(x_i) <= 0, where f(x) = sum_j alpha_j y_j (k(x_j, x) + 1).

The values f(x_i) of all points are kept, so that a score costs nothing and an update one row of the kernel matrix. The
1 is the bias, a constant feature. With the linear kernel these are the steps of the perceptron on (x, 1).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix._typing import Floats, Integers
from separatrix.certificates import All, KernelSeparator
from separatrix.certificates._kernels import known
from separatrix.errors import ConvergenceWarning
from separatrix.geometry import Expansion
from separatrix.kernels import FromFunction, Kernel, KernelRows
from separatrix.kernels.sample import KernelSample
from separatrix.outcome import Fit, Status, Trace

CACHE_BYTES = 200 * 2**20  # rows of the kernel matrix that are kept
TOGETHER = 800  # points whose kernel matrix, 5 MB at most, is made as a whole
AHEAD = 256  # points looked at together in search of the next mistake


@dataclass(frozen=True)
class Settings:
    """What a kernel perceptron is told, apart from the data."""

    max_iter: int = 1000
    intercept: bool = True
    shuffle: np.random.RandomState | None = None
    trace: bool = False


class RowCache:
    """Rows of the kernel matrix, the recently used ones kept."""

    def __init__(self, rows: KernelRows) -> None:
        self._rows = rows
        self._kept: OrderedDict[int, Floats] = OrderedDict()
        self._room = max(1, CACHE_BYTES // (8 * rows.n))

    def __getitem__(self, i: int) -> Floats:
        row = self._kept.pop(i, None)
        if row is None:
            row = self._made(i)
            if len(self._kept) >= self._room:
                self._kept.popitem(last=False)
        self._kept[i] = row
        return row

    def _made(self, i: int) -> Floats:
        """Row i; of few points all rows at once, which takes as long as some tens of them one by one."""
        if self._rows.n > TOGETHER:
            return np.asarray(self._rows.rows([i])[0], dtype=np.float64)
        every = np.asarray(self._rows.rows(np.arange(self._rows.n)), dtype=np.float64)
        self._kept.update(enumerate(every))
        return self._kept.pop(i)


class Task:
    """One dual perceptron: alpha, and f at every point."""

    def __init__(self, cache: RowCache, y: Floats, weight: Floats, settings: Settings) -> None:
        self.cache, self.y, self.weight, self.settings = cache, y, weight, settings
        self.one = float(settings.intercept)
        self.alpha, self.f = np.zeros(len(y)), np.zeros(len(y))
        self.updates = self.mistakes = self.passes = 0

    def update(self, i: int) -> None:
        """One more of alpha_i, and what that does to every score."""
        self.alpha[i] += self.weight[i]
        self.f += self.weight[i] * self.y[i] * (self.cache[i] + self.one)
        self.updates += 1

    def sweep(self, watch: Watch | None) -> int:
        """One pass over the points in turn; returns its mistakes."""
        n, shuffle = len(self.y), self.settings.shuffle
        order = np.arange(n) if shuffle is None else shuffle.permutation(n)
        mistakes = position = 0
        while position < n:
            ahead = order[position : position + AHEAD]
            wrong = self.y[ahead] * self.f[ahead] <= 0
            first = int(np.argmax(wrong))
            if not wrong[first]:
                position += len(ahead)
                continue
            i = int(ahead[first])
            self.update(i)
            if watch:
                watch(self, i)
            mistakes += 1
            position += first + 1
        if not np.isfinite(self.f).all():
            raise FloatingPointError("a sum of kernel values is not finite")
        return mistakes

    def train(self, watch: Watch | None) -> None:
        """Pass after pass, until one without mistakes or `max_iter`."""
        for _ in range(self.settings.max_iter):
            self.mistakes = self.sweep(watch)
            self.passes += 1
            if self.mistakes == 0:
                break


class Watch:
    """Writes one row of the trace for each update; the weights are alpha_i y_i, one for each point."""

    def __init__(self, trace: Trace, task: int | None) -> None:
        self.trace, self.head = trace, {} if task is None else {"task": task}

    def __call__(self, task: Task, point: int) -> None:
        """Record the state after an update with this point (-1: before the first)."""
        margins, c = task.y * task.f, task.alpha * task.y
        square = float(c @ (task.f - task.one * c.sum()))  # ‖w‖² in feature space, without the bias
        self.trace.record(
            **self.head,
            step=task.updates,
            point=point,
            objective=float((task.weight * np.maximum(0.0, -margins)).sum()),
            mistakes=task.updates,
            margin=float(margins.min()) / np.sqrt(square) if square > 0 else 0.0,
            weights=c,
        )


def learn(sample: KernelSample, settings: Settings) -> Fit:
    """Train one dual perceptron for each task."""
    targets, weight, rows = sample.targets, sample.weight, KernelRows(sample.kernel, sample.points)
    cache, tasks = RowCache(rows), []
    trace = Trace() if settings.trace else None
    for number in range(targets.tasks):
        task = Task(cache, targets.task_signs(number), weight, settings)
        watch = None
        if trace is not None:
            watch = Watch(trace, number if targets.tasks > 1 else None)
            watch(task, -1)
        task.train(watch)
        tasks.append(task)
    support = np.flatnonzero(np.any([task.alpha > 0 for task in tasks], axis=0))
    dual_coef = np.array([(task.alpha * task.y)[support] for task in tasks])
    intercept = np.array([task.one * (task.alpha * task.y).sum() for task in tasks])
    certificate, status, warnings = _verdict(sample, tasks, support, dual_coef, intercept)
    compared, given, points = sample.support(support)
    attributes = {
        "support_": given,
        "support_vectors_": points,
        "dual_coef_": dual_coef,
        "intercept_": intercept,
        "n_updates_": targets.of_tasks([task.updates for task in tasks]),
    }
    passes = max(task.passes for task in tasks)
    return Fit(Expansion(compared, dual_coef, intercept), certificate, status, passes, trace, attributes, warnings)


def _verdict(
    sample: KernelSample, tasks: list[Task], support: Integers, dual_coef: Floats, intercept: Floats
) -> tuple[Any, Status, tuple[Warning, ...]]:
    targets = sample.targets
    dirty = [task for task in tasks if task.mistakes]
    if dirty:
        return None, Status.UNCERTIFIED, (_out_of_passes(dirty),)
    settings = plain_settings(sample.kernel)
    if settings is None:
        return None, Status.UNSTRICT, (_not_checkable(sample.kernel),)
    labels = targets.classes[targets.values]
    parts = [
        KernelSeparator(
            classes=targets.classes,
            positive=targets.positive(number),
            kernel=settings,
            support=support,
            dual_coef=dual_coef[number],
            intercept=float(intercept[number]),
            smallest=0.0,
        ).stated(sample.points, labels)
        for number in range(len(tasks))
    ]
    if not all(part.smallest > 0 for part in parts):
        return None, Status.UNSTRICT, (_too_close(),)
    return All.of(parts), Status.SEPARATED, ()


def plain_settings(kernel: Kernel) -> Mapping[str, Any] | None:
    """The kernel as its certificate holds it, or None if the checker does not know it."""
    if isinstance(kernel, FromFunction):
        return {"kernel": kernel.function}
    settings = kernel.to_dict() if kernel.name else {"kernel": ""}
    return settings if known(settings) else None


def _out_of_passes(dirty: list[Task]) -> Warning:
    mistakes, task = sum(task.mistakes for task in dirty), dirty[0]
    return ConvergenceWarning(
        f"The kernel perceptron stopped after max_iter={task.settings.max_iter} passes with {mistakes} mistakes on "
        f"{len(task.y)} points in the last pass, so nothing is proved. Raise max_iter, or use a kernel that separates "
        "more (a larger gamma or degree); with the linear kernel separatrix.separability(X, y) says whether the "
        "classes can be separated at all, separatrix.mistake_bound(X, y) how many updates that takes at most, and "
        "PocketPerceptron takes data that cannot."
    )


def _not_checkable(kernel: Kernel) -> Warning:
    return ConvergenceWarning(
        f"The last pass was clean, but the checker does not know the kernel {kernel}, so there is no certificate: pass "
        "a function k(A, B), which it can call, or kernel='precomputed'."
    )


def _too_close() -> Warning:
    return ConvergenceWarning(
        "The last pass was clean, but some scores are so close to 0 that rounding could change their sign, so there is "
        "no certificate: scale the columns, or choose another gamma."
    )
